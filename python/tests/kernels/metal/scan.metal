threadgroup int totals[32];
int v = simd_prefix_inclusive_sum(x[t]);
if (lane == 31)
  totals[simd] = v;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (simd == 0) {
  int before = simd_prefix_exclusive_sum(lane < simds ? totals[lane] : 0);
  if (lane < simds)
    totals[lane] = before;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
o[t] = v + totals[simd];
