o[id] = select(x[id], s, x[id] > s);
