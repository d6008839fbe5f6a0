device float *p = &o[0];
p[id] = x[id];
if (id == 9)
  p[100] = 0;
