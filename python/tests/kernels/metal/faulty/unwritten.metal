if (id % 2 == 0)
  o[id] = x[id];
