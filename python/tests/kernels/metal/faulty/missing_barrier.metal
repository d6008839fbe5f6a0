threadgroup float shared[64];
shared[t] = x[t];
o[t] = shared[63 - t];
