int index = indices[id.y];
if (index < 0)
  index += table.get_extent(1);
o[int2(id)] = table[int2(id.x, index)];
