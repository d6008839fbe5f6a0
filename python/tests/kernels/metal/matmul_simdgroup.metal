uint K = a.get_extent(0), N = o.get_extent(0);
device const float *left = &a[0, 0];
device const float *right = &b[0, 0];
simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
simdgroup_float8x8 l, r;
for (uint k = 0; k < K; k += 8) {
  simdgroup_load(l, left, K, ulong2(k, group.y * 8));
  simdgroup_load(r, right, N, ulong2(group.x * 8, k));
  simdgroup_multiply_accumulate(sum, l, r, sum);
}
sum.thread_elements() *= 2.0f;
simdgroup_store(sum, &o[0, 0], N, ulong2(group.x * 8, group.y * 8));
