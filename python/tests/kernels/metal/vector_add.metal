o[id] = x[id] + y[id];
