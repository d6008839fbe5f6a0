float v = x[id];
if (lane < 16)
  v += simd_shuffle(v, lane + 16);
o[id] = v;
