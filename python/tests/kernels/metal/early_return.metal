if (id >= uint(x.get_extent(0)))
  return;
float sum = simd_sum(x[id]);
o[id] = x[id] / sum;
