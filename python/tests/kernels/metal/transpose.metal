threadgroup TYPE tile[16][17];
uint2 from = group * 16 + local, to = group.yx * 16 + local;
if (from.x < uint(x.get_extent(0)) && from.y < uint(x.get_extent(1)))
  tile[local.y][local.x] = x[from];
threadgroup_barrier(mem_flags::mem_threadgroup);
if (to.x < uint(o.get_extent(0)) && to.y < uint(o.get_extent(1)))
  o[to] = tile[local.x][local.y];
