// One group: thread 0 sets the result up for all.
device atomic_float *result = (device atomic_float *)&o[0];
if (id == 0)
  atomic_store_explicit(result, -INFINITY, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_device);
float mine = x[id];
float seen = atomic_load_explicit(result, memory_order_relaxed);
while (seen < mine &&
       !atomic_compare_exchange_weak_explicit(
           result, &seen, mine, memory_order_relaxed, memory_order_relaxed))
  ;
