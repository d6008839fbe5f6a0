float v = x[id] * n + a;
o[id] = b ? v : -v;
