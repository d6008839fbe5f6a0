device const float *p = &x[0];
o[id] = p[id + 1];
