float v = x[id];
for (ushort mask = 16; mask > 0; mask >>= 1)
  v += simd_shuffle_xor(v, mask);
float down = x[id];
for (ushort delta = 16; delta > 0; delta /= 2)
  down += simd_shuffle_down(down, delta);
o[0, id] = v;
o[1, id] = simd_broadcast(down, 0);
o[2, id] = simd_shuffle(x[id], (lane + 5) % 32);
o[3, id] = simd_shuffle_up(x[id], 1);
o[4, id] = simd_shuffle_rotate_down(x[id], 3);
o[5, id] = quad_sum(x[id]) + quad_broadcast(x[id], 2);
