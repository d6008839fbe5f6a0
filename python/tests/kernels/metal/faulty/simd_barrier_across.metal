threadgroup float shared[64];
shared[t] = x[t];
simdgroup_barrier(mem_flags::mem_threadgroup);
o[t] = shared[63 - t];
