float4 v = x[id];
o[id] = v[n];
