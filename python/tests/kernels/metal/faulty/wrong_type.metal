device const int *bits = &x[0];
o[id] = bits[id];
