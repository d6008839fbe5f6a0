#include <metal_stdlib>
using namespace metal;
float total(device const float *values, uint count) {
  float sum = 0;
  for (uint i = 0; i < count; ++i)
    sum += values[i];
  return sum;
}
float total(threadgroup const float *values, uint count) {
  float sum = 0;
  for (uint i = 0; i < count; ++i)
    sum += values[i];
  return sum;
}
template <typename T> void copy(thread T &to, const device T &from) { to = from; }
//---
alignas(16) threadgroup float a[32];
float threadgroup b[32];
float v;
copy(v, x[t]);
a[t] = v;
b[31 - t] = v;
threadgroup_barrier(mem_flags::mem_threadgroup);
o[t] = total(a, t + 1) + b[t] - total(&x[0], t);
