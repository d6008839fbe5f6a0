device char4 *out = (device char4 *)&o[0];
device const float4 *in = (device const float4 *)&x[0];
float4 v = round(in[id] / scale);
out[id] = char4(clamp(v, -128.0f, 127.0f));
