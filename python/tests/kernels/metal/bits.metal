uint v = x[id];
o[0, id] = popcount(v);
o[1, id] = clz(v);
o[2, id] = rotate(v, 7u) & 0xffffu;
o[3, id] = extract_bits(v, 4, 8);
o[4, id] = reverse_bits(v) >> 16;
o[5, id] = max(min(v, 1000u), 10u) + absdiff(v & 255u, 128u);
