float v = x[id]
o[id] = v;
