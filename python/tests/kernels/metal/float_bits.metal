uint bits = as_type<uint>(x[id]);
uint exponent = (bits >> 23) & 0xff;
float mantissa = as_type<float>((bits & 0x807fffffu) | 0x3f800000u);
int e;
float m = frexp(x[id], e);
o[0, id] = float(int(exponent) - 127) + mantissa;
o[1, id] = ldexp(m, e + 1);
half2 h = as_type<half2>(as_type<uint>(half2(half(x[id]), 1.0h)));
o[2, id] = float(h.x) + float(h.y);
