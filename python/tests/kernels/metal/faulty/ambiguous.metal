o[id] = max(x[id], 0);
