threadgroup float a[4096], b[4097];
a[t] = x[t];
b[t] = a[t];
o[t] = b[t];
