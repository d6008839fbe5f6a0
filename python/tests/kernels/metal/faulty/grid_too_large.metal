o[id] = x[id];
