device float *p = id == 3 ? nullptr : &o[id];
*p = x[id];
