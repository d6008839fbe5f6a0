constant constexpr int TILE = 8;
//---
// a is [M, K], b is [K, N]: a[k, m], b[n, k], o[n, m].
threadgroup float left[TILE][TILE], right[TILE][TILE + 1];
int M = o.get_extent(1), N = o.get_extent(0), K = a.get_extent(0);
int row = group.y * TILE + local.y, column = group.x * TILE + local.x;
float sum = 0;
for (int k = 0; k < K; k += TILE) {
  int ka = k + local.x, kb = k + local.y;
  left[local.y][local.x] = row < M && ka < K ? a[ka, row] : 0.0f;
  right[local.y][local.x] = kb < K && column < N ? b[column, kb] : 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = 0; i < TILE; ++i)
    sum += left[local.y][i] * right[i][local.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
if (row < M && column < N)
  o[column, row] = sum;
