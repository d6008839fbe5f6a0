threadgroup float row[2][32];
row[simd][lane] = x[t];
simdgroup_barrier(mem_flags::mem_threadgroup);
float next = row[simd][(lane + 1) % 32];
simdgroup_barrier(mem_flags::mem_threadgroup);
row[simd][lane] = next;
simdgroup_barrier(mem_flags::mem_threadgroup);
o[t] = row[simd][31 - lane];
