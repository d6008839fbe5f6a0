// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of a few rows with codes that are whole numbers, in whole numbers.
// Some elements of a row at a time are written as three digits of 8 bits, of
// the unit that the largest needs: as exact as floats are that were added to
// it. Products of these with codes are sums of bytes, which there are
// instructions for, and what they come to is exact. Where rows are rounded to 8
// bits, they have one digit.

#include "Vectors.h"

#include "../Portable/CompressedProduct.h"
#include "CodeParameters.h"
#include "CodeValues.h"
#include "DotBytes.h"

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

#ifdef CORTEN_HAS_DOTS
namespace {

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

#ifdef __AVX512VNNI__
/// Some floats, and zeros for the others.
inline F someAt(const float *from, int64_t count) {
  return F(_mm512_maskz_loadu_ps(
      __mmask16(count >= 16 ? 0xffff : (1u << count) - 1), from));
}
/// The lowest bytes of some numbers, in another order.
inline void storeBytes(int8_t *to, I numbers, I order, int64_t count) {
  _mm512_mask_cvtepi32_storeu_epi8(
      to, __mmask16(count >= 16 ? 0xffff : (1u << count) - 1),
      _mm512_permutexvar_epi32(B(order), B(numbers)));
}
#else
inline F someAt(const float *from, int64_t count) {
  return count >= 8 ? load(from)
                    : F(_mm256_zextps128_ps256(_mm_loadu_ps(from)));
}
inline void storeBytes(int8_t *to, I numbers, I order, int64_t count) {
  B ordered = _mm256_permutevar8x32_epi32(B(numbers), B(order));
  __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(ordered),
                                  _mm256_extracti128_si256(ordered, 1));
  int64_t bytes = _mm_cvtsi128_si64(_mm_packs_epi16(words, words));
  __builtin_memcpy(to, &bytes, count >= 8 ? 8 : 4);
}
#endif

/// How a row is written for some codes.
struct RowForm {
  /// Codes of 4 bits are taken apart into those of even and of odd k; four rows
  /// of bytes come in pairs in AVX-512.
  I order;
  /// What the bytes of codes are more than what codes stand for. In AVX2, those
  /// of 8 bits have a sign.
  int32_t bias;
  bool isNibbles;

  explicit RowForm(const CodePanel &panel) : isNibbles(panel.bits == 4) {
    bool isSigned = panel.kind == CodeKind::Signed;
#ifdef __AVX512VNNI__
    order = isNibbles ? I{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15}
                      : I{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15};
    bias = !isSigned ? 0 : isNibbles ? 8 : 128;
#else
    order = isNibbles ? I{0, 2, 4, 6, 1, 3, 5, 7} : I{0, 1, 2, 3, 4, 5, 6, 7};
    bias = isNibbles ? (isSigned ? 8 : 0) : isSigned ? 0 : -128;
#endif
  }
};

/// The lowest digit, from -128 on, and what is left.
I takeDigit(I &number) {
  I digit = (number << 24) >> 24;
  number = (number - digit) >> 8;
  return digit;
}

/// The largest magnitude of some elements. False if one is no number.
bool findLargest(const float *from, int64_t count, float &largest) {
  F most = {};
  I isNumber = splat(int32_t(-1));
  for (int64_t i = 0; i < count; i += kWidth) {
    F x = F(I(someAt(from + i, count - i)) & splat(int32_t(0x7fffffff)));
    isNumber &= x <= splat(__FLT_MAX__);
    most = larger(x, most);
  }
  largest = mostOfLanes(most);
  return !any(~isNumber);
}

inline int32_t sumOfLanes(I x) {
#ifdef __AVX512VNNI__
  return _mm512_reduce_add_epi32(B(x));
#else
  int32_t sum = 0;
  for (int lane = 0; lane < kWidth; ++lane)
    sum += x[lane];
  return sum;
#endif
}

/// What sums of products begin with, so that bytes count as what codes stand
/// for: digits that are added up in one sum have it in the last of them.
template <int DigitCount>
void writeStarts(const RowForm &form, const int32_t *sums, int32_t *starts) {
  if constexpr (DigitCount == 1) {
    starts[0] = -form.bias * sums[0];
  } else {
    int32_t upper = -form.bias * sums[0];
    int32_t lower = -form.bias * (sums[1] * 256 + sums[2]);
    starts[0] = form.isNibbles ? 0 : upper;
    starts[1] = 0;
    starts[2] = form.isNibbles ? upper * 65536 + lower : lower;
  }
}

/// Writes a group of elements, and its sums.
template <int DigitCount>
void writeDigits(const float *from, int64_t count, float factor,
                 const RowForm &form, const DotRow &row, int8_t *digits,
                 int64_t group) {
  I sums[DigitCount] = {};
  for (int64_t i = 0; i < count; i += kWidth) {
    I number = toNearest(someAt(from + i, count - i) * splat(factor));
    CORTEN_UNROLL
    for (int last = 0; last < DigitCount; ++last) {
      int digit = DigitCount - 1 - last;
      I part = DigitCount == 1 ? number : takeDigit(number);
      sums[digit] += part;
      storeBytes(digits + digit * kDotGroup + i, part, form.order, count - i);
    }
  }
  int32_t *own = row.sums + group * DigitCount;
  CORTEN_UNROLL
  for (int digit = 0; digit < DigitCount; ++digit)
    own[digit] = sumOfLanes(sums[digit]);
  writeStarts<DigitCount>(form, own, row.starts + group * DigitCount);
}

/// Three digits: the largest lies between 2^21 and 2^22.
void writeWhole(const float *from, int64_t count, float largest,
                const RowForm &form, const DotRow &row, int8_t *digits,
                int64_t group) {
  uint32_t exponent;
  __builtin_memcpy(&exponent, &largest, 4);
  exponent >>= 23;
  exponent = exponent < 22 ? 22 : exponent;
  uint32_t factorBits = (275 - exponent) << 23;
  uint32_t unitBits = (exponent - 21) << 23;
  float factor;
  __builtin_memcpy(&factor, &factorBits, 4);
  __builtin_memcpy(row.units + group, &unitBits, 4);
  writeDigits<kDotDigits>(from, count, factor, form, row, digits, group);
}

/// One digit.
void writeRounded(const float *from, int64_t count, float largest,
                  const RowForm &form, const DotRow &row, int8_t *digits,
                  int64_t group) {
  portable::GroupScale scale(largest);
  row.units[group] = scale.unit;
  writeDigits<1>(from, count, scale.factor, form, row, digits, group);
}

/// False if an element is no number.
template <auto writeGroup, bool isRounded>
bool writeRow(const CodePanel &panel, const float *from, const DotRow &row) {
  constexpr int64_t kGroup = dotGroup(isRounded);
  RowForm form(panel);
  int8_t *digits = row.digits;
  int64_t group = 0;
  for (int64_t block = 0; block < panel.blocks; ++block) {
    for (int64_t k = 0; k < panel.blockDepth; k += kGroup) {
      int64_t left = panel.blockDepth - k;
      int64_t count = left < kGroup ? left : kGroup;
      float largest;
      if (!findLargest(from + k, count, largest))
        return false;
      writeGroup(from + k, count, largest, form, row, digits, group++);
      digits += dotGroupBytes(isRounded, panel.blockDepth);
    }
    from += panel.blockDepth;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

template <int Rows, int DigitCount, int Vectors>
using Digits = B[Rows][DigitCount][Vectors];

/// Calls `add(row, digit, four elements of the row)` for all, of what is
/// `place` bytes after the first digits.
template <int Rows, int DigitCount, typename Add>
inline __attribute__((always_inline)) void
forEachDigit(const DotRow *rows, int64_t place, Add &&add) {
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int digit = 0; digit < DigitCount; ++digit)
      add(i, digit, foursAt(rows[i].digits + digit * kDotGroup + place));
  }
}

/// Codes of 4 bits; a unit is eight k. So many vectors of a panel are summed at
/// a time.
template <int Vectors> struct Nibbles {
  static constexpr int64_t kUnit = 8;
  static constexpr int kVectors = Vectors;
  /// Rounded rows that there are registers for.
  static constexpr int kMostRows = 8;

  template <int Rows, int DigitCount>
  static __attribute__((always_inline)) void
  addUnit(const uint8_t *codes, bool isSigned, const DotRow *rows,
          int64_t place, Digits<Rows, DigitCount, kVectors> &sums) {
    B flip = everywhere(isSigned ? 0x88 : 0);
    CORTEN_UNROLL
    for (size_t byte = 0; byte < kVectors * sizeof(B); byte += 64)
      __builtin_prefetch(codes + byte + kAhead, 0, 2);
    CORTEN_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      B all = bytesAt(codes + j * sizeof(B)) ^ flip;
      B low = all & everywhere(15);
      B high = upperNibbles(all);
      forEachDigit<Rows, DigitCount>(
          rows, place, [&](int i, int digit, B four) {
            sums[i][digit][j] = addProducts(sums[i][digit][j], low, four);
          });
      forEachDigit<Rows, DigitCount>(
          rows, place + 4, [&](int i, int digit, B four) {
            sums[i][digit][j] = addProducts(sums[i][digit][j], high, four);
          });
    }
  }

  static void order(F (&)[kVectors]) {}
};

/// Codes of 8 bits; a unit is four rows of a panel.
struct Bytes {
  static constexpr int64_t kUnit = 4;
  static constexpr int kVectors = kPanelVectors;
  static constexpr int kMostRows = CORTEN_BY_LEVEL(8, 2);

#ifdef __AVX512VNNI__
  template <int Rows, int DigitCount>
  static __attribute__((always_inline)) void
  addUnit(const uint8_t *codes, bool isSigned, const DotRow *rows,
          int64_t place, Digits<Rows, DigitCount, kVectors> &sums) {
    B flip = everywhere(isSigned ? 0x80 : 0);
    B a = bytesAt(codes) ^ flip;
    B b = bytesAt(codes + 64) ^ flip;
    __builtin_prefetch(codes + kAhead, 0, 2);
    __builtin_prefetch(codes + 64 + kAhead, 0, 2);
    B columns[kVectors];
    takeColumns(a, b, columns);
    CORTEN_UNROLL
    for (int j = 0; j < kVectors; ++j)
      forEachDigit<Rows, DigitCount>(
          rows, place, [&](int i, int digit, B four) {
            sums[i][digit][j] =
                addProducts(sums[i][digit][j], columns[j], four);
          });
  }

  static void order(F (&x)[kVectors]) { orderColumns(x); }
#else
  /// With signs: two products of bytes without one do not fit into 16 bits.
  template <int Rows, int DigitCount>
  static __attribute__((always_inline)) void
  addUnit(const uint8_t *codes, bool isSigned, const DotRow *rows,
          int64_t place, Digits<Rows, DigitCount, kVectors> &sums) {
    B flip = everywhere(isSigned ? 0 : 0x80);
    B row[4];
    CORTEN_UNROLL
    for (int k = 0; k < 4; ++k)
      row[k] = bytesAt(codes + k * kPanelColumns) ^ flip;
    __builtin_prefetch(codes + kAhead, 0, 2);
    __builtin_prefetch(codes + 64 + kAhead, 0, 2);
    B pairs[4] = {_mm256_unpacklo_epi8(row[0], row[1]),
                  _mm256_unpacklo_epi8(row[2], row[3]),
                  _mm256_unpackhi_epi8(row[0], row[1]),
                  _mm256_unpackhi_epi8(row[2], row[3])};
    CORTEN_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      B first = pairs[j / 2 * 2], second = pairs[j / 2 * 2 + 1];
      B columns = j % 2 == 0 ? _mm256_unpacklo_epi16(first, second)
                             : _mm256_unpackhi_epi16(first, second);
      B magnitudes = _mm256_abs_epi8(columns);
      forEachDigit<Rows, DigitCount>(
          rows, place, [&](int i, int digit, B four) {
            sums[i][digit][j] = addProducts(sums[i][digit][j], magnitudes,
                                            _mm256_sign_epi8(four, columns));
          });
    }
  }

  /// Each has four columns of each half of the panel.
  static void order(F (&x)[kVectors]) {
    F low[2] = {F(_mm256_permute2f128_ps(x[0], x[1], 0x20)),
                F(_mm256_permute2f128_ps(x[2], x[3], 0x20))};
    F high[2] = {F(_mm256_permute2f128_ps(x[0], x[1], 0x31)),
                 F(_mm256_permute2f128_ps(x[2], x[3], 0x31))};
    x[0] = low[0];
    x[1] = low[1];
    x[2] = high[0];
    x[3] = high[1];
  }
#endif
};

/// What the digits of a group come to.
template <typename Codes, int DigitCount>
inline F totalOf(const B (&digits)[DigitCount][Codes::kVectors], int j) {
  if constexpr (DigitCount == 1)
    return toFloat(I(digits[0][j]));
  else if constexpr (Codes::kUnit == 8)
    return toFloat((((I(digits[0][j]) << 8) + I(digits[1][j])) << 8) +
                   I(digits[2][j]));
  else {
    I lower = (I(digits[1][j]) << 8) + I(digits[2][j]);
    return fma(toFloat(I(digits[0][j])), splat(65536.0f), toFloat(lower));
  }
}

/// What a group comes to, as floats, is added to `totals`.
template <int Rows, int DigitCount, typename Codes>
inline __attribute__((always_inline)) void
addGroup(const CodePanel &panel, const uint8_t *codes, const DotRow *rows,
         int64_t place, int64_t count, int64_t group,
         F (&totals)[Rows][Codes::kVectors]) {
  bool isSigned = panel.kind == CodeKind::Signed;
  Digits<Rows, DigitCount, Codes::kVectors> sums;
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int digit = 0; digit < DigitCount; ++digit) {
      B start = fours(rows[i].starts[group * DigitCount + digit]);
      CORTEN_UNROLL
      for (int j = 0; j < Codes::kVectors; ++j)
        sums[i][digit][j] = start;
    }
  }
  for (int64_t k = 0; k < count; k += Codes::kUnit) {
    Codes::template addUnit<Rows, DigitCount>(codes, isSigned, rows, place + k,
                                              sums);
    codes += 128;
  }
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int j = 0; j < Codes::kVectors; ++j)
      totals[i][j] = fma(totalOf<Codes>(sums[i], j),
                         splat(rows[i].units[group]), totals[i][j]);
  }
}

/// Some vectors of a panel.
template <int Rows, int DigitCount, typename Codes>
void multiplyVectors(const DotCall &call, int firstVector) {
  constexpr int kVectors = Codes::kVectors;
  const CodePanel &panel = *call.panel;
  F results[Rows][kVectors] = {};
  constexpr bool kIsRounded = DigitCount == 1;
  constexpr int64_t kGroup = dotGroup(kIsRounded);
  int64_t groupBytes = dotGroupBytes(kIsRounded, panel.blockDepth);
  int64_t group = 0;
  for (int64_t block = 0; block < panel.blocks; ++block) {
    const uint8_t *codes = panel.codes + block * panel.blockBytes +
                           firstVector * int64_t(sizeof(B));
    BlockParameters::prefetch(panel, block);
    F totals[Rows][kVectors] = {};
    for (int64_t k = 0; k < panel.blockDepth; k += kGroup) {
      int64_t left = panel.blockDepth - k;
      addGroup<Rows, DigitCount, Codes>(
          panel, codes + k / Codes::kUnit * 128, call.rows, group * groupBytes,
          left < kGroup ? left : kGroup, group, totals);
      ++group;
    }
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i)
      Codes::order(totals[i]);
    CORTEN_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      BlockParameters parameters(panel, block * kPanelColumns +
                                            (firstVector + j) * kWidth);
      CORTEN_UNROLL
      for (int i = 0; i < Rows; ++i)
        results[i][j] = parameters.add(
            totals[i][j], call.rowSums ? call.rowSums[i][block] : 0.0f,
            results[i][j]);
    }
  }
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int j = 0; j < kVectors; ++j)
      store(call.target + i * call.targetStep + (firstVector + j) * kWidth,
            results[i][j]);
  }
}

template <int Rows, int DigitCount, typename Codes>
void multiply(const DotCall &call) {
  constexpr int kMost = Codes::kMostRows;
  if constexpr (Rows > kMost) {
    multiply<kMost, DigitCount, Codes>(call);
    multiply<Rows - kMost, DigitCount, Codes>(
        {call.panel, call.rows + kMost,
         call.rowSums ? call.rowSums + kMost : nullptr,
         call.target + kMost * call.targetStep, call.targetStep});
  } else {
    for (int vector = 0; vector < kPanelVectors; vector += Codes::kVectors)
      multiplyVectors<Rows, DigitCount, Codes>(call, vector);
  }
}

/// Of more rows, sums of only one vector stay in registers.
constexpr int kNarrowRows = CORTEN_BY_LEVEL(8, 2);

template <int Rows, int DigitCount> void dot(const DotCall &call) {
  if (call.panel->bits == 4)
    multiply<Rows, DigitCount,
             Nibbles<(DigitCount == 1 && Rows > kNarrowRows ? 1 : 2)>>(call);
  else
    multiply<Rows, DigitCount, Bytes>(call);
}

} // namespace

const CodeDots kCodeDots = {
    {{16, INT64_MAX}, {CORTEN_BY_LEVEL(16, 0), CORTEN_BY_LEVEL(INT64_MAX, 8)}},
    &writeRow<writeWhole, false>,
    &writeRow<writeRounded, true>,
    {&dot<1, kDotDigits>, &dot<2, kDotDigits>},
    kDotGroups,
    {&dot<1, 1>, &dot<2, 1>, &dot<3, 1>, &dot<4, 1>, &dot<5, 1>, &dot<6, 1>,
     &dot<7, 1>, &dot<8, 1>}};
#else
const CodeDots kCodeDots = {};
#endif

} // namespace corten::runtime::CORTEN_LEVEL
