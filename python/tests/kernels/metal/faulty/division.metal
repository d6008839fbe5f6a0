o[id] = int(x[id]) / (int(id) - 5);
