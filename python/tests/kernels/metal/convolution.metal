// x is [channels, height, width], w is [out, channels, 3, 3].
int channels = x.get_extent(2);
float sum = 0;
for (int c = 0; c < channels; ++c)
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      int2 at = int2(id.xy) + int2(dx, dy);
      if (any(at < 0) || at.x >= x.get_extent(0) || at.y >= x.get_extent(1))
        continue;
      sum += x[at.x, at.y, c] * w[dx + 1, dy + 1, c, id.z];
    }
o[id.x, id.y, id.z] = sum;
