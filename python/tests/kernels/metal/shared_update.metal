threadgroup float value;
if (t == 0)
  value = x[0];
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = value;
for (int i = 1; i < 4; ++i) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0)
    value = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum += value;
}
o[t] = sum;
