struct Best {
  float value;
  int index;
};
Best better(Best a, Best b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}
//---
threadgroup Best best[64];
Best mine = {-INFINITY, 0};
for (int i = t; i < x.get_extent(0); i += 64)
  mine = better(mine, Best{x[i, row], i});
best[t] = mine;
for (uint stride = 32; stride > 0; stride >>= 1) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < stride)
    best[t] = better(best[t], best[t + stride]);
}
if (t == 0)
  o[row] = best[0].index;
