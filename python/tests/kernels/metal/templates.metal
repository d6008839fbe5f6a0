constant float table[4] = {0.25f, 0.5f, 1.0f, 2.0f};
struct Scale {
  float factor;
  float operator()(float v) const { return v * factor; }
};
template <typename F, int N> float repeat(F f, float v) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    v = f(v);
  return v;
}
template <typename T> T square(T v) { return v * v; }
template <> int square<int>(int v) { return -v * v; }
enum class Mode { Plain, Squared };
template <Mode M> float apply(float v) {
  if constexpr (M == Mode::Squared)
    return square(v);
  else
    return v;
}
#define LAST(a) (a)[3]
//---
float v = repeat<Scale, 3>(Scale{table[id % 4]}, x[id]);
switch (id % 3) {
case 0:
  v = apply<Mode::Squared>(v);
  break;
case 1:
  v = apply<Mode::Plain>(v) + LAST(table);
  break;
default:
  v += square(2);
}
o[id] = v;
