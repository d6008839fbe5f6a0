bool positive = x[id] > 0;
ulong votes = ulong(simd_ballot(positive));
uint below = uint(votes) & ((1u << lane) - 1);
o[0, id] = popcount(uint(votes));
o[1, id] = popcount(below);
o[2, id] = simd_all(positive) + 2 * simd_any(positive);
o[3, id] = simd_max(int(lane) * (positive ? 1 : 0)) + simd_or(positive ? 1 << (lane % 8) : 0);
