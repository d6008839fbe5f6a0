half v = x[id];
o[id] = v * v;
