device const float4 *p = (device const float4 *)&x[0];
o[id] = p[id].x;
