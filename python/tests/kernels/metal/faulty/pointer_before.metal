device const float *p = &x[0];
if (id == 7)
  o[id] = *(p - 1);
else
  o[id] = p[id];
