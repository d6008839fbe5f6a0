device const float4 *in = (device const float4 *)&x[0];
device float4 *out = reinterpret_cast<device float4 *>(&o[0]);
float4 v = in[id];
float4 s = v / (1.0f + exp(-v));
out[id].xy = s.xy;
out[id].zw = s.wz.yx;
