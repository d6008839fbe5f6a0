threadgroup float shared[64];
float sum = 0;
for (int i = 0; i < 2; ++i) {
  shared[t] = x[t] * i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum += shared[63 - t];
}
o[t] = sum;
