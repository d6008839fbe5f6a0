threadgroup float shared[32];
shared[t + 1] = x[t];
threadgroup_barrier(mem_flags::mem_threadgroup);
o[t] = shared[t];
