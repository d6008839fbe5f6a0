threadgroup atomic_int bins[16];
if (t < 16)
  atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
if (id < 16)
  atomic_store_explicit((device atomic_int *)&o[id], 0, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&bins[x[id]], 1, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
if (t < 16)
  atomic_fetch_add_explicit((device atomic_int *)&o[t],
                            atomic_load_explicit(&bins[t], memory_order_relaxed),
                            memory_order_relaxed);
