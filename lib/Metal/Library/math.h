// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Built-in functions of Metal. Scalars have one function for each type, as in
// Metal, so that a call that is ambiguous there is ambiguous here. The 16-bit
// floats compute in float and round once.

#ifndef CORTEN_METAL_MATH_H
#define CORTEN_METAL_MATH_H

namespace metal {

namespace fast {}
namespace precise {}

template <class T>
concept Floating = is_floating_point_v<T>;
template <class T>
concept Integer = is_integral_v<T> && !is_same_v<T, bool>;

/// A name that stands in all three namespaces.
#define CORTEN_PUBLISH(name)                                                   \
  namespace fast {                                                             \
  using metal::name;                                                           \
  }                                                                            \
  namespace precise {                                                          \
  using metal::name;                                                           \
  }

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

#define CORTEN_MATH1(name, EXPR)                                               \
  inline float name(float x) { return EXPR; }                                  \
  inline half name(half y) {                                                   \
    float x = y;                                                               \
    return static_cast<half>(EXPR);                                            \
  }                                                                            \
  inline bfloat name(bfloat y) {                                               \
    float x = y;                                                               \
    return static_cast<bfloat>(EXPR);                                          \
  }                                                                            \
  template <Floating T, int N> vec<T, N> name(vec<T, N> x) {                   \
    vec<T, N> r;                                                               \
    CORTEN_EACH(name(x.at(i)))                                                 \
    return r;                                                                  \
  }                                                                            \
  CORTEN_PUBLISH(name)

CORTEN_MATH1(acos, __builtin_acosf(x))
CORTEN_MATH1(acosh, __builtin_acoshf(x))
CORTEN_MATH1(asin, __builtin_asinf(x))
CORTEN_MATH1(asinh, __builtin_asinhf(x))
CORTEN_MATH1(atan, __builtin_atanf(x))
CORTEN_MATH1(atanh, __builtin_atanhf(x))
CORTEN_MATH1(ceil, __builtin_ceilf(x))
CORTEN_MATH1(cos, __builtin_cosf(x))
CORTEN_MATH1(cosh, __builtin_coshf(x))
CORTEN_MATH1(cospi, __builtin_cosf(x *M_PI_F))
CORTEN_MATH1(exp, __builtin_expf(x))
CORTEN_MATH1(exp2, __builtin_exp2f(x))
CORTEN_MATH1(exp10, __builtin_exp10f(x))
CORTEN_MATH1(fabs, __builtin_fabsf(x))
CORTEN_MATH1(floor, __builtin_floorf(x))
CORTEN_MATH1(log, __builtin_logf(x))
CORTEN_MATH1(log2, __builtin_log2f(x))
CORTEN_MATH1(log10, __builtin_log10f(x))
CORTEN_MATH1(rint, __builtin_rintf(x))
CORTEN_MATH1(round, __builtin_roundf(x))
CORTEN_MATH1(rsqrt, 1.0f / __builtin_sqrtf(x))
CORTEN_MATH1(sin, __builtin_sinf(x))
CORTEN_MATH1(sinh, __builtin_sinhf(x))
CORTEN_MATH1(sinpi, __builtin_sinf(x *M_PI_F))
CORTEN_MATH1(sqrt, __builtin_sqrtf(x))
CORTEN_MATH1(tan, __builtin_tanf(x))
CORTEN_MATH1(tanh, __builtin_tanhf(x))
CORTEN_MATH1(tanpi, __builtin_tanf(x *M_PI_F))
CORTEN_MATH1(trunc, __builtin_truncf(x))
CORTEN_MATH1(fract, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f))
CORTEN_MATH1(saturate, __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f))
CORTEN_MATH1(sign, x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x : 0.0f)
#undef CORTEN_MATH1

// A vector goes with a vector, or with one number for all its components.
#define CORTEN_VECTOR2(name, REQUIRES)                                         \
  template <REQUIRES T, int N> vec<T, N> name(vec<T, N> x, vec<T, N> y) {      \
    vec<T, N> r;                                                               \
    CORTEN_EACH(name(x.at(i), y.at(i)))                                        \
    return r;                                                                  \
  }                                                                            \
  template <REQUIRES T, int N, Scalar<T> S> vec<T, N> name(vec<T, N> x, S y) { \
    return name(x, vec<T, N>(y));                                              \
  }                                                                            \
  template <REQUIRES T, int N, Scalar<T> S> vec<T, N> name(S x, vec<T, N> y) { \
    return name(vec<T, N>(x), y);                                              \
  }                                                                            \
  CORTEN_PUBLISH(name)
#define CORTEN_FLOAT2(name, EXPR)                                              \
  inline float name(float x, float y) { return EXPR; }                         \
  inline half name(half a, half b) {                                           \
    float x = a, y = b;                                                        \
    return static_cast<half>(EXPR);                                            \
  }                                                                            \
  inline bfloat name(bfloat a, bfloat b) {                                     \
    float x = a, y = b;                                                        \
    return static_cast<bfloat>(EXPR);                                          \
  }
#define CORTEN_MATH2(name, EXPR)                                               \
  CORTEN_FLOAT2(name, EXPR) CORTEN_VECTOR2(name, Floating)

CORTEN_MATH2(atan2, __builtin_atan2f(x, y))
CORTEN_MATH2(copysign, __builtin_copysignf(x, y))
CORTEN_MATH2(fdim, __builtin_fdimf(x, y))
CORTEN_MATH2(fmax, __builtin_fmaxf(x, y))
CORTEN_MATH2(fmin, __builtin_fminf(x, y))
CORTEN_MATH2(fmod, __builtin_fmodf(x, y))
CORTEN_MATH2(nextafter, __builtin_nextafterf(x, y))
CORTEN_MATH2(pow, __builtin_powf(x, y))
CORTEN_MATH2(powr, __builtin_powf(x, y))
CORTEN_MATH2(divide, x / y)
CORTEN_MATH2(step, y < x ? 0.0f : 1.0f)
#undef CORTEN_MATH2

#define CORTEN_VECTOR3(name, REQUIRES)                                         \
  template <REQUIRES T, int N>                                                 \
  vec<T, N> name(vec<T, N> x, type_identity_t<vec<T, N>> y,                    \
                 type_identity_t<vec<T, N>> z) {                               \
    vec<T, N> r;                                                               \
    CORTEN_EACH(name(x.at(i), y.at(i), z.at(i)))                               \
    return r;                                                                  \
  }                                                                            \
  CORTEN_PUBLISH(name)
#define CORTEN_FLOAT3(name, EXPR)                                              \
  inline float name(float x, float y, float z) { return EXPR; }                \
  inline half name(half a, half b, half c) {                                   \
    float x = a, y = b, z = c;                                                 \
    return static_cast<half>(EXPR);                                            \
  }                                                                            \
  inline bfloat name(bfloat a, bfloat b, bfloat c) {                           \
    float x = a, y = b, z = c;                                                 \
    return static_cast<bfloat>(EXPR);                                          \
  }
#define CORTEN_MATH3(name, EXPR)                                               \
  CORTEN_FLOAT3(name, EXPR) CORTEN_VECTOR3(name, Floating)

CORTEN_MATH3(fma, __builtin_fmaf(x, y, z))
CORTEN_MATH3(mix, x + (y - x) * z)
CORTEN_MATH3(smoothstep, (z - x) / (y - x) <= 0 ? 0.0f
                         : (z - x) / (y - x) >= 1
                             ? 1.0f
                             : (z - x) / (y - x) * ((z - x) / (y - x)) *
                                   (3 - 2 * (z - x) / (y - x)))
CORTEN_MATH3(fmax3, __builtin_fmaxf(x, __builtin_fmaxf(y, z)))
CORTEN_MATH3(fmin3, __builtin_fminf(x, __builtin_fminf(y, z)))
CORTEN_MATH3(fmedian3,
             __builtin_fmaxf(__builtin_fminf(x, y),
                             __builtin_fminf(__builtin_fmaxf(x, y), z)))
#undef CORTEN_MATH3

#define CORTEN_CLASSIFY(name, EXPR)                                            \
  inline bool name(float x) { return EXPR; }                                   \
  inline bool name(half y) {                                                   \
    float x = y;                                                               \
    return EXPR;                                                               \
  }                                                                            \
  inline bool name(bfloat y) {                                                 \
    float x = y;                                                               \
    return EXPR;                                                               \
  }                                                                            \
  template <Floating T, int N> vec<bool, N> name(vec<T, N> x) {                \
    vec<bool, N> r;                                                            \
    CORTEN_EACH(name(x.at(i)))                                                 \
    return r;                                                                  \
  }
CORTEN_CLASSIFY(isnan, __builtin_isnan(x))
CORTEN_CLASSIFY(isinf, __builtin_isinf(x))
CORTEN_CLASSIFY(isfinite, __builtin_isfinite(x))
CORTEN_CLASSIFY(isnormal, __builtin_isnormal(x))
CORTEN_CLASSIFY(signbit, __builtin_signbit(x))
#undef CORTEN_CLASSIFY

template <Floating T> T ldexp(T x, int exponent) {
  return static_cast<T>(__builtin_ldexpf(x, exponent));
}
template <Floating T> T frexp(T x, int &exponent) {
  return static_cast<T>(__builtin_frexpf(x, &exponent));
}
template <Floating T> T modf(T x, T &whole) {
  whole = trunc(x);
  return copysign(isinf(x) ? T(0) : static_cast<T>(x - whole), x);
}
template <Floating T> T sincos(T x, T &cosine) {
  cosine = cos(x);
  return sin(x);
}
template <Floating T> int ilogb(T x) { return __builtin_ilogbf(x); }
template <Floating T, int N> vec<T, N> sincos(vec<T, N> x, vec<T, N> &cosine) {
  cosine = cos(x);
  return sin(x);
}
CORTEN_PUBLISH(ldexp)
CORTEN_PUBLISH(frexp)
CORTEN_PUBLISH(modf)
CORTEN_PUBLISH(sincos)

//===----------------------------------------------------------------------===//
// Integers, and what both kinds have
//===----------------------------------------------------------------------===//

#define CORTEN_INTEGERS(M)                                                     \
  M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong)

#define CORTEN_ORDER(T)                                                        \
  constexpr T max(T x, T y) { return x < y ? y : x; }                          \
  constexpr T min(T x, T y) { return y < x ? y : x; }                          \
  constexpr T clamp(T x, T low, T high) { return min(max(x, low), high); }     \
  constexpr T max3(T x, T y, T z) { return max(x, max(y, z)); }                \
  constexpr T min3(T x, T y, T z) { return min(x, min(y, z)); }                \
  constexpr T median3(T x, T y, T z) {                                         \
    return max(min(x, y), min(max(x, y), z));                                  \
  }                                                                            \
  constexpr T abs(T x) { return x < 0 ? static_cast<T>(-x) : x; }
CORTEN_INTEGERS(CORTEN_ORDER)
#undef CORTEN_ORDER
CORTEN_FLOAT2(max, __builtin_fmaxf(x, y))
CORTEN_FLOAT2(min, __builtin_fminf(x, y))
CORTEN_FLOAT3(clamp, __builtin_fminf(__builtin_fmaxf(x, y), z))
CORTEN_FLOAT3(max3, __builtin_fmaxf(x, __builtin_fmaxf(y, z)))
CORTEN_FLOAT3(min3, __builtin_fminf(x, __builtin_fminf(y, z)))
CORTEN_FLOAT3(median3,
              __builtin_fmaxf(__builtin_fminf(x, y),
                              __builtin_fminf(__builtin_fmaxf(x, y), z)))
CORTEN_VECTOR2(max, class)
CORTEN_VECTOR2(min, class)
CORTEN_VECTOR3(clamp, class)
CORTEN_VECTOR3(max3, class)
CORTEN_VECTOR3(min3, class)
CORTEN_VECTOR3(median3, class)
#undef CORTEN_FLOAT2
#undef CORTEN_FLOAT3
#undef CORTEN_VECTOR2
#undef CORTEN_VECTOR3
inline float abs(float x) { return __builtin_fabsf(x); }
inline half abs(half x) { return fabs(x); }
inline bfloat abs(bfloat x) { return fabs(x); }
template <class T, int N> vec<T, N> abs(vec<T, N> x) {
  vec<T, N> r;
  CORTEN_EACH(abs(x.at(i)))
  return r;
}
CORTEN_PUBLISH(abs)

#define CORTEN_BITS1(name, EXPR)                                               \
  template <Integer T> constexpr T name(T x) { return EXPR; }                  \
  template <Integer T, int N> constexpr vec<T, N> name(vec<T, N> x) {          \
    vec<T, N> r;                                                               \
    CORTEN_EACH(name(x.at(i)))                                                 \
    return r;                                                                  \
  }
CORTEN_BITS1(popcount,
             static_cast<T>(__builtin_popcountg(make_unsigned_t<T>(x))))
CORTEN_BITS1(clz, static_cast<T>(__builtin_clzg(make_unsigned_t<T>(x),
                                                int(sizeof(T) * 8))))
CORTEN_BITS1(ctz, static_cast<T>(__builtin_ctzg(make_unsigned_t<T>(x),
                                                int(sizeof(T) * 8))))
CORTEN_BITS1(reverse_bits,
             static_cast<T>(__builtin_bitreverse64(make_unsigned_t<T>(x)) >>
                            (64 - sizeof(T) * 8)))
#undef CORTEN_BITS1

#define CORTEN_BITS2(name, ...)                                                \
  template <Integer T> constexpr T name(T x, type_identity_t<T> y) {           \
    __VA_ARGS__                                                                \
  }                                                                            \
  template <Integer T, int N>                                                  \
  constexpr vec<T, N> name(vec<T, N> x, type_identity_t<vec<T, N>> y) {        \
    vec<T, N> r;                                                               \
    CORTEN_EACH(name(x.at(i), y.at(i)))                                        \
    return r;                                                                  \
  }
CORTEN_BITS2(absdiff, return x < y ? y - x : x - y;)
CORTEN_BITS2(hadd, return static_cast<T>((__int128(x) + y) >> 1);)
CORTEN_BITS2(rhadd, return static_cast<T>((__int128(x) + y + 1) >> 1);)
CORTEN_BITS2(mulhi,
             return static_cast<T>((__int128(x) * y) >> (sizeof(T) * 8));)
CORTEN_BITS2(mul24, return static_cast<T>(x * y);)
CORTEN_BITS2(addsat, T sum{}; return __builtin_add_overflow(x, y, &sum)
                                         ? (x < 0 ? numeric_limits<T>::min()
                                                  : numeric_limits<T>::max())
                                         : sum;)
CORTEN_BITS2(subsat, T sum{};
             return __builtin_sub_overflow(x, y, &sum)
                        ? (x < 0 || !is_signed_v<T> ? numeric_limits<T>::min()
                                                    : numeric_limits<T>::max())
                        : sum;)
CORTEN_BITS2(rotate, constexpr unsigned bits = sizeof(T) * 8;
             unsigned by = unsigned(y) % bits; make_unsigned_t<T> u = x;
             return by ? static_cast<T>((u << by) | (u >> (bits - by))) : x;)
#undef CORTEN_BITS2
template <Integer T> constexpr T mad24(T x, T y, T z) { return x * y + z; }
template <Integer T> constexpr T madhi(T x, T y, T z) {
  return mulhi(x, y) + z;
}
template <Integer T> constexpr T madsat(T x, T y, T z) {
  __int128 sum = __int128(x) * y + z;
  return sum > numeric_limits<T>::max()   ? numeric_limits<T>::max()
         : sum < numeric_limits<T>::min() ? numeric_limits<T>::min()
                                          : static_cast<T>(sum);
}
template <Integer T> constexpr T extract_bits(T x, uint offset, uint bits) {
  if (bits == 0)
    return 0;
  unsigned up = sizeof(T) * 8 - bits;
  T high = static_cast<T>(make_unsigned_t<T>(x) << (up - offset));
  return static_cast<T>(high >> up);
}
template <Integer T>
constexpr T insert_bits(T base, T insert, uint offset, uint bits) {
  make_unsigned_t<T> mask = bits >= sizeof(T) * 8
                                ? ~make_unsigned_t<T>(0)
                                : (make_unsigned_t<T>(1) << bits) - 1;
  return static_cast<T>((base & ~(mask << offset)) |
                        ((make_unsigned_t<T>(insert) & mask) << offset));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

template <class T>
  requires is_arithmetic_v<T>
constexpr T select(T no, T yes, bool condition) {
  return condition ? yes : no;
}
template <class T, int N>
constexpr vec<T, N> select(vec<T, N> no, type_identity_t<vec<T, N>> yes,
                           vec<bool, N> condition) {
  vec<T, N> r;
  CORTEN_EACH(condition.at(i) ? yes.at(i) : no.at(i))
  return r;
}
template <class T, int N>
constexpr vec<T, N> select(vec<T, N> no, type_identity_t<vec<T, N>> yes,
                           bool condition) {
  return condition ? yes : no;
}
constexpr bool any(bool value) { return value; }
constexpr bool all(bool value) { return value; }
template <int N> constexpr bool any(vec<bool, N> v) {
  bool result = false;
  for (int i = 0; i < N; ++i)
    result |= v.at(i);
  return result;
}
template <int N> constexpr bool all(vec<bool, N> v) {
  bool result = true;
  for (int i = 0; i < N; ++i)
    result &= v.at(i);
  return result;
}

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

template <class T, int N> T dot(vec<T, N> x, type_identity_t<vec<T, N>> y) {
  T sum = static_cast<T>(x.at(0) * y.at(0));
  for (int i = 1; i < N; ++i)
    sum = static_cast<T>(sum + x.at(i) * y.at(i));
  return sum;
}
template <Floating T, int N> T length_squared(vec<T, N> x) { return dot(x, x); }
template <Floating T, int N> T length(vec<T, N> x) { return sqrt(dot(x, x)); }
template <Floating T, int N>
T distance(vec<T, N> x, type_identity_t<vec<T, N>> y) {
  return length(x - y);
}
template <Floating T, int N>
T distance_squared(vec<T, N> x, type_identity_t<vec<T, N>> y) {
  return length_squared(x - y);
}
template <Floating T, int N> vec<T, N> normalize(vec<T, N> x) {
  return x * rsqrt(dot(x, x));
}
template <Floating T>
vec<T, 3> cross(vec<T, 3> x, type_identity_t<vec<T, 3>> y) {
  return vec<T, 3>(x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z,
                   x.x * y.y - x.y * y.x);
}
template <Floating T, int N>
vec<T, N> reflect(vec<T, N> i, type_identity_t<vec<T, N>> n) {
  return i - n * (T(2) * dot(n, i));
}
template <Floating T, int N>
vec<T, N> faceforward(vec<T, N> n, type_identity_t<vec<T, N>> i,
                      type_identity_t<vec<T, N>> reference) {
  return dot(reference, i) < 0 ? n : -n;
}

#undef CORTEN_INTEGERS
#undef CORTEN_PUBLISH

} // namespace metal

#endif // CORTEN_METAL_MATH_H
