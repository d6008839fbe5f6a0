float a[4] = {1, 2, 3, 4};
for (int i = 0; i <= n; ++i)
  a[i] += x[id];
o[id] = a[0];
