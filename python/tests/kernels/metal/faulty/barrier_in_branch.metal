threadgroup float shared[64];
shared[t] = x[t];
if (t < 32)
  threadgroup_barrier(mem_flags::mem_threadgroup);
o[t] = shared[t];
