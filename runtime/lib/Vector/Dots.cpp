// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loops of products that take several elements of k at once: pairs of
// bf16 and quads of bytes. Compiled once more for machines that multiply pairs
// in one instruction.

#include "TileParts.h"

#include "corten/Runtime/Panels.h"

namespace corten::runtime::CORTEN_LEVEL {

namespace {

/// Elements of k in groups of four bytes.
struct Groups {
  using Element = int32_t;
  using Columns = I;
  static I load(const int32_t *from) { return loadAs<I>(from); }
  static I repeat(const float *row) {
    int32_t group;
    __builtin_memcpy(&group, row, sizeof group);
    return splat(group);
  }
};

/// Two products, of which the low halves come second.
struct Pairs : Groups {
  using Sum = F;
  static Sum add(Sum sum, I a, I b) {
#ifdef __AVX512BF16__
    return F(_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b));
#else
    constexpr int32_t kHigh = int32_t(0xffff0000);
    sum = fma(F(a & kHigh), F(b & kHigh), sum);
    return fma(F(a << 16), F(b << 16), sum);
#endif
  }
};

/// Four products.
struct Quads : Groups {
  using Sum = I;
  static Sum add(Sum sum, I a, I b) { return addQuads(sum, a, b); }
};

inline F total(const TileCall &call, F sum, int64_t row, int64_t first,
               int64_t columns) {
  if (call.partial)
    sum += loadSome(call.partial + row * call.partialStep + first, columns);
  return sum;
}

/// Sums that are not complete stay whole numbers.
inline F total(const TileCall &call, I sum, int64_t row, int64_t first,
               int64_t columns) {
  if (call.partial)
    sum += I(loadSome(call.partial + row * call.partialStep + first, columns));
  if (!call.scales)
    return F(sum);
  const Scales &scales = *call.scales;
  sum -= scales.sums[row] * kQuadZero;
  return toFloat(sum) * splat(scales.rows[row]) *
         loadSome(scales.columns + first, columns);
}

/// Stores what becomes of sums.
template <bool isFinished, int Rows, int Vectors, typename Sum>
__attribute__((always_inline)) inline void
storeSums(const TileCall &call, const Finish &finish,
          Sum (&sums)[Rows][Vectors]) {
  Finishing finishing(finish);
  float *target = call.target;
  int64_t targetStep = call.targetStep;
  CORTEN_UNROLL
  for (int j = 0; j < Vectors; ++j) {
    int64_t first = j * kWidth;
    int64_t columns = call.columns - first;
    if (columns <= 0)
      continue;
    F bias = finishing.biasOf(first, columns);
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      F result = total(call, sums[i][j], i, first, columns);
      if (isFinished)
        result = finishing(result, bias, i, first, columns);
      storeSome(target + i * targetStep + first, result, columns);
    }
  }
}

template <int Rows, int Vectors, typename Kind>
void dotTile(const TileCall &call) {
  typename Kind::Sum sums[Rows][Vectors];
  multiplyTile<Rows, Vectors, Kind>(call, sums);
  if (call.finish)
    storeSums<true>(call, *call.finish, sums);
  else
    storeSums<false>(call, Finish{}, sums);
  activate(call.finish, call.target, call.targetStep, Rows, call.columns);
}

void toPairs(const float *from, int64_t count, int64_t places, void *to) {
  uint16_t *target = static_cast<uint16_t *>(to);
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) {
#ifdef __AVX512BF16__
    store(target + i, _mm512_cvtneps_pbh(load(from + i)));
#else
    store(target + i, toBF16(load(from + i)));
#endif
  }
  if (i == 2 * places)
    return;
  uint16_t rest[kWidth];
  store(rest, toBF16(loadSome(from + i, count - i)));
  for (int64_t j = i; j < 2 * places; ++j)
    target[j] = j < count ? rest[j - i] : 0;
}

/// What a step is worth, and how many of them one is, if nothing is larger than
/// the float with these bits. All that is too small counts as zero, and with
/// what is no number nothing is one.
struct Step {
  float scale;
  float inverse;

  explicit Step(uint32_t bits) {
    float largest;
    __builtin_memcpy(&largest, &bits, sizeof largest);
    bool isNumber = bits < 0x7f800000;
    bool isZero = isNumber && largest < kQuadTiny;
    scale = isZero ? 0 : isNumber ? largest / kQuadLimit : __builtin_nanf("");
    inverse = isZero || !isNumber ? 0 : kQuadLimit / largest;
  }
};

inline U magnitude(F x) { return U(x) & 0x7fffffff; }
inline U largerOf(U a, U b) { return a > b ? a : b; }

/// Within bounds, also where a product with zero is none.
inline I quantized(F x, F inverse) {
  x *= inverse;
  x = F(I(x == x) & I(x));
  return toNearest(
      larger(smaller(x, splat(float(kQuadLimit))), splat(float(-kQuadLimit))));
}

void toQuads(const float *from, int64_t count, int64_t places, void *to,
             float &scale, int32_t &sum) {
  U most = {};
  for (int64_t i = 0; i < count; i += kWidth)
    most = largerOf(most, magnitude(loadSome(from + i, count - i)));
  uint32_t largest = 0;
  for (int lane = 0; lane < kWidth; ++lane)
    largest = most[lane] > largest ? most[lane] : largest;
  Step step(largest);
  scale = step.scale;
  int8_t *target = static_cast<int8_t *>(to);
  I sums = {};
  for (int64_t i = 0; i < 4 * places; i += kWidth) {
    I numbers = quantized(loadSome(from + i, count - i), splat(step.inverse));
    sums += numbers;
    SI8s bytes = __builtin_convertvector(numbers, SI8s);
    int64_t left = 4 * places - i;
    if (left >= kWidth)
      store(target + i, bytes);
    else
      for (int64_t j = 0; j < left; ++j)
        target[i + j] = bytes[j];
  }
  sum = 0;
  for (int lane = 0; lane < kWidth; ++lane)
    sum += sums[lane];
}

void pairPanel(const float *from, int64_t rows, void *to) {
  int32_t *target = static_cast<int32_t *>(to);
  for (int64_t row = 0; row < rows; row += 2)
    for (int column = 0; column < kPanelColumns; column += kWidth) {
      const float *here = from + row * kPanelColumns + column;
      U low = __builtin_convertvector(toBF16(load(here)), U);
      U high = {};
      if (row + 1 < rows)
        high = __builtin_convertvector(toBF16(load(here + kPanelColumns)), U);
      store(target + row / 2 * kPanelColumns + column, low | high << 16);
    }
}

void quadPanel(const float *from, int64_t rows, void *to) {
  for (int column = 0; column < kPanelColumns; column += kWidth) {
    U most = {};
    for (int64_t row = 0; row < rows; ++row)
      most =
          largerOf(most, magnitude(load(from + row * kPanelColumns + column)));
    F scale, inverse;
    for (int lane = 0; lane < kWidth; ++lane) {
      Step step(most[lane]);
      scale[lane] = step.scale;
      inverse[lane] = step.inverse;
    }
    int32_t *target = static_cast<int32_t *>(to) + column;
    store(target, scale);
    for (int64_t row = 0; row < rows; row += 4) {
      U group = {};
      for (int i = 0; i < 4; ++i) {
        I number = {};
        if (row + i < rows)
          number = quantized(load(from + (row + i) * kPanelColumns + column),
                             inverse);
        group |= (U(number + kQuadZero) & 0xff) << (8 * i);
      }
      target += kPanelColumns;
      store(target, group);
    }
  }
}

} // namespace

const DotKernels kDots = {
    CORTEN_TILES(dotTile, 2, Pairs),
    CORTEN_TILES(dotTile, 1, Pairs),
    CORTEN_TILES(dotTile, 2, Quads),
    CORTEN_TILES(dotTile, 1, Quads),
    &toPairs,
    &toQuads,
    &pairPanel,
    &quadPanel,
};

} // namespace corten::runtime::CORTEN_LEVEL
