device atomic_int *count = (device atomic_int *)&o[0];
if (id == 0)
  o[0] = 0;
atomic_fetch_add_explicit(count, x[id], memory_order_relaxed);
