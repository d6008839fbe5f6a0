auto tile = x.slice<4, 2>(group.x * 4, group.y * 2);
float sum = 0;
for (int j = 0; j < tile.get_extent(1); ++j)
  for (int i = 0; i < tile.get_extent(0); ++i)
    sum += tile[i, j];
o[group.x, group.y] = sum + x.get_stride(1) * tensor<device float, dextents<int, 2>, tensor_inline>::get_rank();
