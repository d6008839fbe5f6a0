if (t < 32)
  threadgroup_barrier(mem_flags::mem_threadgroup);
else
  threadgroup_barrier(mem_flags::mem_threadgroup);
o[t] = x[t];
