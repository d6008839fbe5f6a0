float4 v = x[id];
half4 h = v;
o[id] = h.x;
