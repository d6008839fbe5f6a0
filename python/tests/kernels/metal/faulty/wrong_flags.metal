threadgroup float shared[64];
shared[t] = x[t];
threadgroup_barrier(mem_flags::mem_device);
o[t] = shared[63 - t];
