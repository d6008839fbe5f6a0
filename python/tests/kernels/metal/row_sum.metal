threadgroup float part[128];
float sum = 0;
for (uint i = t; i < uint(x.get_extent(0)); i += size)
  sum += x[i, row];
part[t] = sum;
for (uint stride = size / 2; stride > 0; stride /= 2) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < stride)
    part[t] += part[t + stride];
}
if (t == 0)
  o[row] = part[0];
