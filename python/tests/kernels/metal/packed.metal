device const packed_float3 *in = (device const packed_float3 *)&x[0, 0];
device packed_float3 *out = (device packed_float3 *)&o[0, 0];
float3 v = in[id];
float3 axis = float3(0.0, 0.0, 1.0);
out[id] = normalize(cross(v, axis) + in[id] * 0.5f);
