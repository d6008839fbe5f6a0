// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What vectors need of AVX2 and AVX-512. Comments say what holds for every
// level. Included by Simd.h.

#ifndef CORTEN_RUNTIME_LIB_SIMDAVX_H
#define CORTEN_RUNTIME_LIB_SIMDAVX_H

#include <immintrin.h>

namespace corten::runtime::CORTEN_LEVEL {

/// a * b + c, rounded once.
inline F fma(F a, F b, F c) {
  return F(CORTEN_BY_LEVEL(_mm512_fmadd_ps, _mm256_fmadd_ps)(a, b, c));
}
inline D fma(D a, D b, D c) {
  return D(CORTEN_BY_LEVEL(_mm512_fmadd_pd, _mm256_fmadd_pd)(a, b, c));
}

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

/// x * 2^n, of a whole n up to 127; it may be 0 for an n below -126.
inline F scaleBy(F x, F n) {
#ifdef __AVX512F__
  return F(_mm512_scalef_ps(x, n));
#else
  __m256i power =
      _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  power = _mm256_max_epi32(power, _mm256_setzero_si256());
  return x * F(_mm256_slli_epi32(power, 23));
#endif
}

/// To whole numbers, to the nearest and cut off. What has none becomes any.
inline I toNearest(F x) {
  return I(CORTEN_BY_LEVEL(_mm512_cvtps_epi32, _mm256_cvtps_epi32)(x));
}
inline I truncate(F x) {
  return I(CORTEN_BY_LEVEL(_mm512_cvttps_epi32, _mm256_cvttps_epi32)(x));
}

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

/// Whether one of a mask is set.
inline bool any(I mask) {
#ifdef __AVX512F__
  return _mm512_movepi32_mask((__m512i)mask) != 0;
#else
  return _mm256_movemask_ps((__m256)mask) != 0;
#endif
}

/// Of all lanes, in halves.
inline float sumOfLanes(F x) {
#ifdef __AVX512F__
  return _mm512_reduce_add_ps(x);
#else
  __m128 half =
      _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
#endif
}
/// None of them is NaN.
inline float mostOfLanes(F x) {
#ifdef __AVX512F__
  return _mm512_reduce_max_ps(x);
#else
  __m128 half =
      _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
#endif
}

/// The first of a vector, without touching what comes after them.
inline F loadSome(const float *from, int64_t count) {
  if (count >= kWidth)
    return load(from);
#ifdef __AVX512F__
  return F(_mm512_maskz_loadu_ps(count > 0 ? (1u << count) - 1 : 0, from));
#else
  I lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  return F(_mm256_maskload_ps(from, (__m256i)(lanes < int32_t(count))));
#endif
}
inline void storeSome(float *to, F x, int64_t count) {
  if (count >= kWidth)
    return store(to, x);
#ifdef __AVX512F__
  _mm512_mask_storeu_ps(to, count > 0 ? (1u << count) - 1 : 0, x);
#else
  I lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  _mm256_maskstore_ps(to, (__m256i)(lanes < int32_t(count)), x);
#endif
}

//===----------------------------------------------------------------------===//
// Of several vectors
//===----------------------------------------------------------------------===//

/// Four products of signed bytes of `a` with unsigned ones of `b`, added to
/// each sum.
inline I addQuads(I sum, I a, I b) {
#ifdef __AVX512F__
  return I(_mm512_dpbusd_epi32((__m512i)sum, (__m512i)b, (__m512i)a));
#else
  // Every second byte of each, as words.
  __m256i evenA = _mm256_srai_epi16(_mm256_slli_epi16((__m256i)a, 8), 8);
  __m256i oddA = _mm256_srai_epi16((__m256i)a, 8);
  __m256i evenB = (__m256i)(b & 0x00ff00ff);
  __m256i oddB = _mm256_srli_epi16((__m256i)b, 8);
  return sum + I(_mm256_madd_epi16(evenA, evenB)) +
         I(_mm256_madd_epi16(oddA, oddB));
#endif
}

/// Eight rows of eight floats become columns; both levels have the shuffles.
inline void transpose8(const float *from, int64_t fromStep, float *to,
                       int64_t toStep) {
  __m256 r[8], t[8];
  CORTEN_UNROLL
  for (int i = 0; i < 8; ++i)
    r[i] = _mm256_loadu_ps(from + i * fromStep);
  CORTEN_UNROLL
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  CORTEN_UNROLL
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  CORTEN_UNROLL
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * toStep,
                     _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * toStep,
                     _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

#ifndef __AVX512F__
/// For each mask of eight lanes, which of the next numbers each of them gets; a
/// byte with its highest bit set: none.
struct LanesOfMasks {
  uint8_t lanes[256][8] = {};

  constexpr LanesOfMasks() {
    for (int mask = 0; mask != 256; ++mask)
      for (int lane = 0, next = 0; lane != 8; ++lane)
        lanes[mask][lane] = mask >> lane & 1 ? uint8_t(next++) : 0x80;
  }
};
inline constexpr LanesOfMasks kLanesOfMasks;
#endif

/// The next numbers in those lanes that a mask has, the first in the lowest
/// bit, and others elsewhere. Reads a whole vector.
inline F spread(uint32_t mask, const float *from, F elsewhere) {
#ifdef __AVX512F__
  return F(_mm512_mask_expand_ps((__m512)elsewhere, __mmask16(mask),
                                 (__m512)load(from)));
#else
  I lanes = __builtin_convertvector(
      loadAs<SI8s>(kLanesOfMasks.lanes[mask & 0xff]), I);
  __m256 numbers = _mm256_permutevar8x32_ps((__m256)load(from), (__m256i)lanes);
  return F(_mm256_blendv_ps(numbers, (__m256)elsewhere, (__m256)lanes));
#endif
}

/// Sixteen numbers, by the lowest four bits of an index.
struct Table16 {
#ifdef __AVX512F__
  F all;
  /// Of `count` entries, repeated.
  explicit Table16(const float *entries, int count) {
    float numbers[16];
    for (int i = 0; i != 16; ++i)
      numbers[i] = entries[i & (count - 1)];
    all = load(numbers);
  }
  F at(I index) const {
    return F(_mm512_permutexvar_ps((__m512i)index, (__m512)all));
  }
#else
  F lower, upper;
  explicit Table16(const float *entries, int count) {
    float numbers[16];
    for (int i = 0; i != 16; ++i)
      numbers[i] = entries[i & (count - 1)];
    lower = load(numbers);
    upper = load(numbers + 8);
  }
  F at(I index) const {
    __m256 a = _mm256_permutevar8x32_ps((__m256)lower, (__m256i)index);
    __m256 b = _mm256_permutevar8x32_ps((__m256)upper, (__m256i)index);
    return F(_mm256_blendv_ps(a, b, (__m256)(index << 28)));
  }
#endif
};

/// Entries of a table in memory.
inline F lookUp(const float *table, I index) {
#ifdef __AVX512F__
  return F(_mm512_i32gather_ps((__m512i)index, table, 4));
#else
  return F(_mm256_i32gather_ps(table, (__m256i)index, 4));
#endif
}

/// 64 or 256 numbers, by an index that has no more bits than that.
template <int count> struct LargeTable {
#ifdef __AVX512F__
  F parts[count / 16];

  explicit LargeTable(const float *entries) {
    for (int i = 0; i != count / 16; ++i)
      parts[i] = load(entries + 16 * i);
  }
  F at(I index) const {
    F chosen[count / 64];
    CORTEN_UNROLL
    for (int i = 0; i < count / 64; ++i)
      chosen[i] = either<32>(index, pair(index, 4 * i), pair(index, 4 * i + 2));
    if constexpr (count == 64)
      return chosen[0];
    else
      return either<128>(index, either<64>(index, chosen[0], chosen[1]),
                         either<64>(index, chosen[2], chosen[3]));
  }

private:
  F pair(I index, int first) const {
    return F(_mm512_permutex2var_ps((__m512)parts[first], (__m512i)index,
                                    (__m512)parts[first + 1]));
  }
  template <int bit> static F either(I index, F a, F b) {
    __mmask16 isSet =
        _mm512_test_epi32_mask((__m512i)index, _mm512_set1_epi32(bit));
    return F(_mm512_mask_blend_ps(isSet, (__m512)a, (__m512)b));
  }
#else
  const float *entries;

  explicit LargeTable(const float *entries) : entries(entries) {}
  F at(I index) const { return lookUp(entries, index); }
#endif
};

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_SIMDAVX_H
