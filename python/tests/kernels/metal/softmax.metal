threadgroup float shared_max[32], shared_sum[32];
uint width = x.get_extent(0);
uint simds = (size + 31) / 32;
float largest = -INFINITY;
for (uint i = t; i < width; i += size)
  largest = max(largest, x[i, row]);
largest = simd_max(largest);
if (lane == 0)
  shared_max[simd] = largest;
threadgroup_barrier(mem_flags::mem_threadgroup);
largest = simd_max(lane < simds ? shared_max[lane] : -INFINITY);

float sum = 0;
for (uint i = t; i < width; i += size)
  sum += exp(x[i, row] - largest);
sum = simd_sum(sum);
if (lane == 0)
  shared_sum[simd] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
sum = simd_sum(lane < simds ? shared_sum[lane] : 0.0f);
for (uint i = t; i < width; i += size)
  o[i, row] = exp(x[i, row] - largest) / sum;
