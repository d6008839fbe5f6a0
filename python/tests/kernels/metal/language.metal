// One use of each construct; the body only has to compile and copy.
#include <metal_stdlib>
#include <metal_simdgroup>
#include <metal_atomic>
using namespace metal;

#define SQUARE(a) ((a) * (a))
#pragma METAL internals : disable

// Types and literals.
constant float weights[] = {0.5, 1.0, 1.5f, .5e1};
constant half halves[2] = {1.0h, 2.h};
constant constexpr uint COUNT = 3u;
constexpr constant int2 CORNER = int2(1, 2);
static_assert(sizeof(float3) == 16, "padded");
static_assert(sizeof(packed_float3) == 12, "packed");
static_assert(sizeof(half4) == 8 && alignof(half4) == 8, "half");
static_assert(sizeof(ulong) == 8 && sizeof(bfloat) == 2, "sizes");
typedef vec<float, 4> Vector;
using Pair = metal::float2;
union Bits {
  float f;
  uint u;
};
struct Particle {
  float3 position;
  packed_half3 color;
  int id = 0;
  float speed() const thread { return length(position); }
};
enum Kind : uint8_t { First, Second = 5 };
namespace inner {
METAL_FUNC float twice(float v) { return v * 2; }
} // namespace inner

void vectors(thread float &out) {
  float4 a = float4(1), b = {1, 2, 3, 4}, c(1, float2(2, 3), 4.0h);
  Vector d = float4(float3(1, 2, 3), 4);
  float3 e = d.xyz + b.zyx * 2 - 1;
  a.xz = b.yw;
  a.rgba = d.abgr;
  a.w += e.x;
  a[1] = 3;
  a *= 0.5;
  a /= b;
  bool4 less = a < b;
  bool4 both = less && !(a == c) || a != d;
  int4 i = int4(a) % 3 + (int4(b) << 2);
  uint4 u = uint4(i) & 0xff | 1u ^ ~uint4(2);
  i = -i;
  ++i;
  u >>= 1;
  short2 s = short2(i.xy);
  s += 1;
  uchar4 t = uchar4(u);
  half2 h = half2(a.xy) * 2.0h;
  bfloat4 f = bfloat4(a);
  ulong2 g = ulong2(1, 2);
  out = select(a, b, less).x + any(both) + all(both) + s.x + t.y + h.y + float(f.z) + g.x + u.x;
  float2 pair = as_type<float2>(as_type<uint2>(a.xy));
  Pair other = select(pair, float2(0), bool2(true, false));
  out += dot(pair, other) + (pair.x > 0 ? pair : other).y;
}

void matrices_(thread float &out) {
  float4x4 m(1.0f);
  float3x3 n = float3x3(float3(1), float3(2), float3(3));
  half2x2 h = half2x2(1, 2, 3, 4);
  m[0] = float4(1, 2, 3, 4);
  m[1][2] = 5;
  m = m * 2.0f + m - transpose(m);
  m *= m;
  out = (m * float4(1)).x + (float3(1) * n).y + determinant(n) + determinant(m) + h[1][0] + float2x2(h)[0].x;
  float2x3 r = float2x3(float3(1), float3(2));
  out += (r * float2(1, 2)).z;
}

void packed_(device packed_float3 *p, thread float &out) {
  packed_float3 v = p[0];
  p[1] = packed_float3(1, 2, 3);
  float3 wide = v;
  p[2] = wide * 2 + v;
  v.x = 4;
  v[1] = 5;
  v += wide;
  out = v.x + v.y + dot(float3(v), wide) + (v * 2.0f).z + packed_half4(half4(1)).w;
  packed_uchar4 c = packed_uchar4(uchar4(1, 2, 3, 4));
  out += c.z + v.xy.y;
}

void math_(thread float &out) {
  float a = 0.3, b = 0.7;
  half h = 0.5h;
  out = acos(a) + acosh(1 + a) + asin(a) + asinh(a) + atan(a) + atan2(a, b) + atanh(a) + ceil(a) + copysign(a, b) + cos(a) + cosh(a) + cospi(a) + exp(a) + exp2(a) + exp10(a) + fabs(a) + abs(a) + fdim(a, b) + floor(a) + fma(a, b, a) + fmax(a, b) + fmax3(a, b, a) + fmedian3(a, b, a) + fmin(a, b) + fmin3(a, b, a) + fmod(a, b) + fract(a) + ilogb(a) + ldexp(a, 2) + log(a) + log2(a) + log10(a) + max3(a, b, a) + min3(a, b, a) + median3(a, b, a) + pow(a, b) + powr(a, b) + rint(a) + round(a) + rsqrt(a) + sin(a) + sinh(a) + sinpi(a) + sqrt(a) + tan(a) + tanh(a) + tanpi(a) + trunc(a) + nextafter(a, b) + sign(a) + saturate(a) + mix(a, b, 0.5f) + smoothstep(0.0f, 1.0f, a) + step(a, b) + clamp(a, 0.0f, 1.0f);
  int e;
  float c, w;
  out += frexp(a, e) + modf(a, w) + sincos(a, c) + w + c + e;
  out += fast::exp(a) + precise::sqrt(a) + metal::fast::tanh(a) + metal::precise::log(a) + fast::pow(a, b) + fast::clamp(a, 0.0f, 1.0f) + precise::divide(a, b);
  out += float(exp(h) + max(h, 0.0h) + pow(h, 2.0h) + fma(h, h, h) + tanh(h) + clamp(h, 0.0h, 1.0h));
  out += isnan(a) + isinf(a) + isfinite(a) + isnormal(a) + signbit(a);
  float3 v = float3(a, b, a);
  out += length(v) + distance(v, v) + dot(v, v) + length_squared(v) + distance_squared(v, v) + normalize(v).x + cross(v, v).y + reflect(v, v).z + faceforward(v, v, v).x;
  v = max(v, 0.0f) + min(v, float3(1)) + clamp(v, 0.0f, 1.0f) + mix(v, v, 0.5f) + exp(v) + pow(v, 2.0f) + fma(v, v, v) + step(0.5f, v) + fmod(v, 1.0f) + saturate(v) + abs(v) + isnan(v).x;
  out += v.x + M_PI_F + INFINITY + FLT_MAX + HALF_MAX + MAXFLOAT + M_SQRT2_F + M_LOG2E_F + numeric_limits<float>::lowest() + numeric_limits<half>::max() + float(numeric_limits<int>::min()) + NAN;
}

void integers_(thread int &out) {
  int a = 5, b = -3;
  uint u = 7u;
  out = abs(b) + absdiff(a, b) + addsat(a, b) + subsat(a, b) + clamp(a, 0, 3) + clz(a) + ctz(a) + popcount(u) + hadd(a, b) + rhadd(a, b) + mad24(a, b, a) + mul24(a, b) + mulhi(a, b) + madhi(a, b, a) + madsat(a, b, a) + max(a, b) + min(a, b) + max3(a, b, a) + reverse_bits(u) + rotate(u, 3u) + extract_bits(u, 1, 2) + insert_bits(u, 3u, 1, 2) + median3(a, b, a) + INT_MAX + min(short(1), short(2)) + max(uchar(1), uchar(2)) + int(max(1l, 2l));
  int4 v = max(int4(1), int4(2)) + abs(int4(-1)) + popcount(int4(3)) + clamp(int4(5), 0, 3) + min(int4(1), 2);
  out += v.x;
}

void atomics(device atomic_uint *u, device atomic_int *i, threadgroup atomic_float *f, device atomic<float> *g, volatile device atomic_uint *v, device atomic_bool *b) {
  atomic_store_explicit(u, 1, memory_order_relaxed);
  uint old = atomic_load_explicit(u, memory_order_relaxed);
  old = atomic_exchange_explicit(u, 2u, memory_order_relaxed);
  atomic_fetch_add_explicit(i, -1, memory_order_relaxed);
  atomic_fetch_sub_explicit(u, 1, memory_order_relaxed);
  atomic_fetch_max_explicit(u, 1, memory_order_relaxed);
  atomic_fetch_min_explicit(i, 1, memory_order_relaxed);
  atomic_fetch_and_explicit(u, 1u, memory_order_relaxed);
  atomic_fetch_or_explicit(v, 1u, memory_order_relaxed);
  atomic_fetch_xor_explicit(u, 1u, memory_order_relaxed);
  atomic_fetch_add_explicit(f, 1.0f, memory_order_relaxed);
  atomic_fetch_add_explicit(g, 1, memory_order_relaxed);
  atomic_store_explicit(b, true, memory_order_relaxed);
  uint expected = 1;
  while (!atomic_compare_exchange_weak_explicit(u, &expected, expected + 1, memory_order_relaxed, memory_order_relaxed))
    ;
}

void simds(float v, uint i, thread float &out) {
  out = simd_sum(v) + simd_product(v) + simd_min(v) + simd_max(v) + simd_and(i) + simd_or(i) + simd_xor(i) + simd_prefix_inclusive_sum(v) + simd_prefix_exclusive_sum(v) + simd_prefix_inclusive_product(v) + simd_prefix_exclusive_product(v) + simd_shuffle(v, 1) + simd_shuffle_up(v, 1) + simd_shuffle_down(v, 1) + simd_shuffle_xor(v, 1) + simd_shuffle_rotate_up(v, 1) + simd_shuffle_rotate_down(v, 1) + simd_shuffle_and_fill_up(v, 0.0f, 1) + simd_shuffle_and_fill_down(v, 0.0f, 1) + simd_broadcast(v, 0) + simd_broadcast_first(v) + simd_all(v > 0) + simd_any(v > 0) + simd_is_first() + float(simd_sum(half(v))) + simd_sum(float4(v)).x;
  out += quad_sum(v) + quad_max(v) + quad_min(v) + quad_product(v) + quad_shuffle(v, 1) + quad_shuffle_xor(v, 1) + quad_broadcast(v, 0) + quad_shuffle_up(v, 1) + quad_all(true) + quad_any(false) + quad_prefix_inclusive_sum(v);
  simd_vote vote = simd_ballot(v > 0);
  out += vote.all() + vote.any() + (simd_vote::vote_t)vote + ulong(simd_active_threads_mask());
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  threadgroup_barrier(mem_flags::mem_none);
  simdgroup_barrier(mem_flags::mem_threadgroup);
}

template <typename T> void simd_matrices(device T *p, threadgroup T *q) {
  simdgroup_matrix<T, 8, 8> a, b(1), c = make_filled_simdgroup_matrix<T, 8, 8>(T(0));
  simdgroup_load(a, p);
  simdgroup_load(b, q, 16, ulong2(0, 8), true);
  simdgroup_multiply(c, a, b);
  simdgroup_multiply_accumulate(c, a, b, c);
  simdgroup_store(c, p, 8);
  c.thread_elements()[0] = c.thread_elements().y;
}
template void simd_matrices<float>(device float *, threadgroup float *);
template void simd_matrices<half>(device half *, threadgroup half *);

template <typename T, typename = enable_if_t<is_floating_point_v<T>>> T only(T v) { return v; }
template <typename T, int N = 4> struct Tile {
  T data[N];
  static constexpr constant int size = N;
  thread T &operator[](int i) thread { return data[i]; }
  template <typename U> U sum(U start) const {
    for (int i = 0; i < N; ++i)
      start += U(data[i]);
    return start;
  }
};
template <typename... T> float total(T... values) { return (float(values) + ...); }

void language(thread float &out) {
  Tile<half> tile = {{1, 2, 3, 4}};
  tile[1] = 5;
  Bits bits;
  bits.u = 0x3f800000;
  Particle p = {float3(1), packed_half3(half3(2)), 3};
  auto scale = [=](float v) { return v * bits.f; };
  array<float, 3> three = {1, 2, 3};
  float local[COUNT] = {};
  for (uint i = 0; i < COUNT; i++)
    local[i] = three[i] + SQUARE(i);
  int n = 0;
  do {
    if (n == 2)
      continue;
  } while (++n < 3);
  Kind kind = Second;
  switch (kind) {
  case First:
    out = 0;
    break;
  default:
    out = kind;
  }
  out += tile.sum(0.0f) + scale(2) + local[2] + p.speed() + p.color.y + only(1.0f) + total(1, 2.0f, 3.0h) + inner::twice(3) + weights[1] + halves[1] + Tile<int, 2>::size + CORNER.y + three.size() + float(bfloat(1.5)) + float(1.0bf) + (true ? 1.0h : 0.0h);
  static_assert(is_same_v<decltype(float2().x), float>, "");
  conditional_t<is_integral<int>::value, long, half> l = 3l;
  size_t size = sizeof(l);
  float unused [[maybe_unused]] = size;
  thread const float *q = &local[0];
  out += *q + q[1] + (ptrdiff_t)(q - local);
  if constexpr (is_signed_v<int>)
    out += 1;
  goto end;
end:
  out += __METAL_VERSION__ > 300;
}
//---
o[id] = x[id];
