x[id] = x[id] * 2;
o[id] = x[id];
