float block_sum(float value, threadgroup float *scratch, uint lane, uint simd,
                uint simds) {
  value = simd_sum(value);
  if (lane == 0)
    scratch[simd] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_sum(lane < simds ? scratch[lane] : 0.0f);
}
//---
threadgroup float scratch[32];
uint width = x.get_extent(0);
float squares = 0;
for (uint i = t; i < width; i += size) {
  float v = x[i, row];
  squares += v * v;
}
float mean = block_sum(squares, scratch, lane, simd, (size + 31) / 32) / width;
float scale = rsqrt(mean + eps);
for (uint i = t; i < width; i += size)
  o[i, row] = half(float(x[i, row]) * scale) * w[i];
