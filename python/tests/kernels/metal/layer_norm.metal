template <typename T> struct Moments {
  T sum = 0, squares = 0;
  void add(T v) {
    sum += v;
    squares += v * v;
  }
};
//---
Moments<float> m;
uint width = x.get_extent(0);
for (uint i = lane; i < width; i += 32)
  m.add(x[i, row]);
float mean = simd_sum(m.sum) / width;
float variance = simd_sum(m.squares) / width - mean * mean;
float scale = rsqrt(variance + 1e-5);
for (uint i = lane; i < width; i += 32)
  o[i, row] = (x[i, row] - mean) * scale;
if (simd_is_first())
  stats[row] = mean;
