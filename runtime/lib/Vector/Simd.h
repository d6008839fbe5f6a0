// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of the instruction set that a source of this folder is compiled for.
// Every source is compiled once for each level, and everything in it is in the
// namespace of that level, CORTEN_LEVEL: no function of one can be taken for
// that of another, and nothing inline of the standard library is used, since
// the linker might take that copy for code that runs everywhere.
//
// What takes instructions of its own is in a header for each family of levels:
// SimdAvx.h, which says what functions are to do, and SimdNeon.h.

#ifndef CORTEN_RUNTIME_LIB_SIMD_H
#define CORTEN_RUNTIME_LIB_SIMD_H

#include <cstddef>
#include <cstdint>

#ifdef __clang__
#define CORTEN_UNROLL _Pragma("unroll")
#else
#define CORTEN_UNROLL _Pragma("GCC unroll 32")
#endif

// One of several, by the level; those of NEON can be left out where it has
// code of its own.
#if defined(__AVX512F__)
#define CORTEN_BY_LEVEL(AVX512, AVX2, ...) AVX512
#elif defined(__AVX2__)
#define CORTEN_BY_LEVEL(AVX512, AVX2, ...) AVX2
#else
#define CORTEN_BY_LEVEL(AVX512, AVX2, NEON) NEON
#endif

namespace corten::runtime::CORTEN_LEVEL {

inline constexpr int kWidth = CORTEN_BY_LEVEL(16, 8, 4);

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

} // namespace corten::runtime::CORTEN_LEVEL

#ifdef __aarch64__
#include "SimdNeon.h"
#else
#include "SimdAvx.h"
#endif

namespace corten::runtime::CORTEN_LEVEL {

inline F fma(F a, F b, float c) { return fma(a, b, splat(c)); }
inline D fma(D a, D b, double c) { return fma(a, b, splat(c)); }

inline F toFloat(I x) { return __builtin_convertvector(x, F); }

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

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_SIMD_H
