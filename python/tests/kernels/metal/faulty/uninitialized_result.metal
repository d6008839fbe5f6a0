atomic_fetch_add_explicit((device atomic_float *)&o[0], x[id],
                          memory_order_relaxed);
