o[id] = x[id] - x[id - 1];
