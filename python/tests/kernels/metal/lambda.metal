auto twice = [](half4 v) { return v * 2.0h; };
device half4 *out = (device half4 *)&o[0];
device const half4 *in = (device const half4 *)&x[0];
half4 v = twice(in[id]);
v.rgb = v.bgr;
v.w += 1.5h;
out[id] = v;
