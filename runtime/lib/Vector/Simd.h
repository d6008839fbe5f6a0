// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of the instruction set that a source of this folder is compiled for.
// Every source is compiled once for each level, and everything in it is in the
// namespace of that level, CORTEN_LEVEL: no function of one can be taken for
// that of another, and nothing inline of the standard library is used, since
// the linker might take that copy for code that runs everywhere.

#ifndef CORTEN_RUNTIME_LIB_SIMD_H
#define CORTEN_RUNTIME_LIB_SIMD_H

#include <cstddef>
#include <cstdint>
#include <immintrin.h>

namespace corten::runtime::CORTEN_LEVEL {

#ifdef __AVX512F__
inline constexpr int kWidth = 16;
#define CORTEN_BY_LEVEL(AVX512, AVX2) AVX512
#else
inline constexpr int kWidth = 8;
#define CORTEN_BY_LEVEL(AVX512, AVX2) AVX2
#endif

// Masks are vectors of -1 and 0.
#define CORTEN_VECTOR(NAME, TYPE, COUNT)                                       \
  typedef TYPE NAME __attribute__((vector_size((COUNT) * sizeof(TYPE))))
CORTEN_VECTOR(F, float, kWidth);
CORTEN_VECTOR(I, int32_t, kWidth);
CORTEN_VECTOR(U, uint32_t, kWidth);
CORTEN_VECTOR(D, double, kWidth / 2);
CORTEN_VECTOR(L, int64_t, kWidth / 2);
CORTEN_VECTOR(UL, uint64_t, kWidth / 2);
CORTEN_VECTOR(SI8s, int8_t, kWidth);
CORTEN_VECTOR(UI8s, uint8_t, kWidth);
CORTEN_VECTOR(SI16s, int16_t, kWidth);
CORTEN_VECTOR(UI16s, uint16_t, kWidth);
#undef CORTEN_VECTOR

/// From and to anywhere in memory.
template <typename V> inline V loadAs(const void *from) {
  V x;
  __builtin_memcpy(&x, from, sizeof(V));
  return x;
}
template <typename V> inline void store(void *to, V x) {
  __builtin_memcpy(to, &x, sizeof(V));
}
inline F load(const float *from) { return loadAs<F>(from); }
inline I load(const int32_t *from) { return loadAs<I>(from); }

inline F splat(float x) { return x - F{}; }
inline I splat(int32_t x) { return x - I{}; }
inline D splat(double x) { return x - D{}; }
inline L splat(int64_t x) { return x - L{}; }

/// a * b + c, rounded once.
inline F fma(F a, F b, F c) {
  return F(CORTEN_BY_LEVEL(_mm512_fmadd_ps, _mm256_fmadd_ps)(a, b, c));
}
inline D fma(D a, D b, D c) {
  return D(CORTEN_BY_LEVEL(_mm512_fmadd_pd, _mm256_fmadd_pd)(a, b, c));
}
inline F fma(F a, F b, float c) { return fma(a, b, splat(c)); }
inline D fma(D a, D b, double c) { return fma(a, b, splat(c)); }

/// Of a number and one that may be none: the second if it is NaN, and of two
/// zeros.
inline F larger(F a, F b) {
  return F(CORTEN_BY_LEVEL(_mm512_max_ps, _mm256_max_ps)(a, b));
}
inline F smaller(F a, F b) {
  return F(CORTEN_BY_LEVEL(_mm512_min_ps, _mm256_min_ps)(a, b));
}
inline D larger(D a, D b) {
  return D(CORTEN_BY_LEVEL(_mm512_max_pd, _mm256_max_pd)(a, b));
}
inline D smaller(D a, D b) {
  return D(CORTEN_BY_LEVEL(_mm512_min_pd, _mm256_min_pd)(a, b));
}

inline F sqrt(F x) {
  return F(CORTEN_BY_LEVEL(_mm512_sqrt_ps, _mm256_sqrt_ps)(x));
}
inline D sqrt(D x) {
  return D(CORTEN_BY_LEVEL(_mm512_sqrt_pd, _mm256_sqrt_pd)(x));
}

inline constexpr int kToNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
inline constexpr int kToZero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
inline constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
template <int direction> inline F round(F x) {
  return F(
      CORTEN_BY_LEVEL(_mm512_roundscale_ps, _mm256_round_ps)(x, direction));
}
template <int direction> inline D round(D x) {
  return D(
      CORTEN_BY_LEVEL(_mm512_roundscale_pd, _mm256_round_pd)(x, direction));
}

/// To whole numbers, to the nearest and cut off. What is too large becomes the
/// smallest.
inline I toNearest(F x) {
  return I(CORTEN_BY_LEVEL(_mm512_cvtps_epi32, _mm256_cvtps_epi32)(x));
}
inline I truncate(F x) {
  return I(CORTEN_BY_LEVEL(_mm512_cvttps_epi32, _mm256_cvttps_epi32)(x));
}
inline F toFloat(I x) { return __builtin_convertvector(x, F); }

/// The first and the second half in double, and back.
inline D firstHalf(F x) {
  return D(CORTEN_BY_LEVEL(_mm512_cvtps_pd(_mm512_castps512_ps256(x)),
                           _mm256_cvtps_pd(_mm256_castps256_ps128(x))));
}
inline D secondHalf(F x) {
  return D(CORTEN_BY_LEVEL(_mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)),
                           _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))));
}
inline F join(D first, D second) {
  return F(CORTEN_BY_LEVEL(
      _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(first)),
                         _mm512_cvtpd_ps(second), 1),
      _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(first)),
                           _mm256_cvtpd_ps(second), 1)));
}

inline F fromF16(UI16s x) {
  return F(CORTEN_BY_LEVEL(_mm512_cvtph_ps((__m256i)x),
                           _mm256_cvtph_ps((__m128i)x)));
}
inline UI16s toF16(F x) {
  return UI16s(
      CORTEN_BY_LEVEL(_mm512_cvtps_ph, _mm256_cvtps_ph)(x, kToNearest));
}
inline F fromBF16(UI16s x) { return F(__builtin_convertvector(x, U) << 16); }
inline UI16s toBF16(F x) {
  // To even where it lies in the middle; NaN keeps its sign.
  U bits = U(x);
  U rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  U nan = ((bits >> 16) & 0x8000) | 0x7fc0;
  U chosen = U(x == x) ? rounded : nan;
  return __builtin_convertvector(chosen, UI16s);
}

inline F abs(F x) { return F(I(x) & 0x7fffffff); }
inline D abs(D x) { return D(L(x) & INT64_MAX); }
/// The magnitude of one with the sign of another.
inline F withSign(F x, F sign) {
  return F((I(x) & 0x7fffffff) | (I(sign) & INT32_MIN));
}
inline D withSign(D x, D sign) {
  return D((L(x) & INT64_MAX) | (L(sign) & INT64_MIN));
}

/// Whether one of a mask is set.
inline bool any(I mask) {
#ifdef __AVX512F__
  return _mm512_movepi32_mask((__m512i)mask) != 0;
#else
  return _mm256_movemask_ps((__m256)mask) != 0;
#endif
}

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_SIMD_H
