threadgroup float shared[64];
if (t > 0)
  shared[t] = x[t];
threadgroup_barrier(mem_flags::mem_threadgroup);
o[t] = shared[t];
