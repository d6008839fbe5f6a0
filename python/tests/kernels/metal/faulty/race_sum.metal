if (id == 0)
  o[0] = 0;
o[0] += x[id];
