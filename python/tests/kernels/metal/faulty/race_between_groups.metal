o[id / 2] = x[id];
