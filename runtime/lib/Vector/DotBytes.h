// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of bytes, and sums of products of them, where there are instructions
// for that.

#ifndef CORTEN_RUNTIME_LIB_VECTOR_DOTBYTES_H
#define CORTEN_RUNTIME_LIB_VECTOR_DOTBYTES_H

#include "Simd.h"

#if defined(__AVX512VNNI__) || (defined(__AVX2__) && !defined(__AVX512F__))
#define CORTEN_HAS_DOTS

namespace corten::runtime::CORTEN_LEVEL {

#ifdef __AVX512VNNI__
using B = __m512i;

inline B bytesAt(const uint8_t *from) { return _mm512_loadu_si512(from); }
inline B everywhere(uint8_t byte) { return _mm512_set1_epi8(char(byte)); }
inline B fours(int32_t four) { return _mm512_set1_epi32(four); }
inline B upperNibbles(B x) {
  return _mm512_and_si512(_mm512_srli_epi16(x, 4), everywhere(15));
}

/// Adds four products of bytes to each sum; the first are without a sign, and
/// of 4 bits.
inline B addProducts(B sums, B codes, B digits) {
  return _mm512_dpbusd_epi32(sums, codes, digits);
}

/// Of four rows of 32 bytes, two in each vector, the four of each column;
/// columns change places.
inline void takeColumns(B a, B b, B (&columns)[2]) {
  // Pairs of the first and the third row, and of the second and the fourth;
  // then those of one column together.
  B low = _mm512_unpacklo_epi8(a, b);
  B high = _mm512_unpackhi_epi8(a, b);
  B first = _mm512_shuffle_i64x2(low, high, 0x44);
  B second = _mm512_shuffle_i64x2(low, high, 0xee);
  columns[0] = _mm512_unpacklo_epi16(first, second);
  columns[1] = _mm512_unpackhi_epi16(first, second);
}

/// Gives columns their places again, or takes them away: it is its own inverse.
inline void orderColumns(F (&x)[2]) {
  __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11,
                                    24, 25, 26, 27);
  __m512i second = _mm512_setr_epi32(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15,
                                     28, 29, 30, 31);
  F low = F(_mm512_permutex2var_ps(x[0], first, x[1]));
  x[1] = F(_mm512_permutex2var_ps(x[0], second, x[1]));
  x[0] = low;
}
#else
using B = __m256i;

inline B bytesAt(const uint8_t *from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
}
inline B everywhere(uint8_t byte) { return _mm256_set1_epi8(char(byte)); }
inline B fours(int32_t four) { return _mm256_set1_epi32(four); }
inline B upperNibbles(B x) {
  return _mm256_and_si256(_mm256_srli_epi16(x, 4), everywhere(15));
}

inline B addProducts(B sums, B codes, B digits) {
  // Two products of 4 and 8 bits fit into 16.
  B pairs = _mm256_maddubs_epi16(codes, digits);
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif

/// Four bytes again and again.
inline B foursAt(const int8_t *from) {
  int32_t four;
  __builtin_memcpy(&four, from, 4);
  return fours(four);
}

} // namespace corten::runtime::CORTEN_LEVEL

#endif
#endif // CORTEN_RUNTIME_LIB_VECTOR_DOTBYTES_H
