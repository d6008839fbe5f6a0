// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and normalizations of rows. A row is read in tiles; one of up to a
// few thousand elements is converted to f32 once, a longer one in each pass.

#include "Elements.h"
#include "Math.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

using tile::Rows;

constexpr int64_t kLongest = 4096;

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t wholeVectors(int64_t count) {
  return (count + kWidth - 1) / kWidth * kWidth;
}

/// A tile in f32, and a vector that loads may write too much.
struct alignas(64) Buffer {
  float values[kTileSize + kWidth];
};

/// Elements from `first` on as floats, with `rest` behind them up to a whole
/// vector: in `buffer`, or where they are.
const float *read(const Rows &row, int64_t first, int64_t count, float rest,
                  Buffer &buffer) {
  const float *result = buffer.values;
  withElement(row.type, [&]<typename Element>() {
    using Type = typename Element::Type;
    const Type *from = static_cast<const Type *>(row.data) + first * row.step;
    if constexpr (__is_same(Element, F32Element))
      if (row.step == 1 && count % kWidth == 0) {
        result = from;
        return;
      }
    loadLanes<Element>(from, row.step,
                       reinterpret_cast<int32_t *>(buffer.values), count);
    for (int64_t i = count; i != wholeVectors(count); ++i)
      buffer.values[i] = rest;
  });
  return result;
}

void write(const float *values, const Rows &row, int64_t first, int64_t count) {
  withElement(row.type, [&]<typename Element>() {
    storeLanes<Element, true>(reinterpret_cast<const int32_t *>(values),
                              static_cast<typename Element::Type *>(row.data) +
                                  first * row.step,
                              row.step, count);
  });
}

double sumOf(F x) {
  using Half __attribute__((vector_size(kWidth / 2 * sizeof(float)))) = float;
  Half halves[2];
  __builtin_memcpy(halves, &x, sizeof x);
  D sums = __builtin_convertvector(halves[0], D) +
           __builtin_convertvector(halves[1], D);
  double sum = 0;
  for (int lane = 0; lane != kWidth / 2; ++lane)
    sum += sums[lane];
  return sum;
}

/// Sums of several vectors at once: one would wait for the other.
constexpr int kStrands = 4;
struct Sums {
  F parts[kStrands] = {};

  double total() const {
    return sumOf((parts[0] + parts[1]) + (parts[2] + parts[3]));
  }
};

/// Calls `body(index, strand)` for the vectors of a tile.
template <typename Body>
__attribute__((always_inline)) inline void forVectors(int64_t count,
                                                      Body &&body) {
  int64_t i = 0;
  for (; i + kStrands * kWidth <= count; i += kStrands * kWidth) {
    CORTEN_UNROLL
    for (int strand = 0; strand < kStrands; ++strand)
      body(i + strand * kWidth, strand);
  }
  for (; i < count; i += kWidth)
    body(i, 0);
}

/// Where a pass leaves numbers for the next one: in the output, if those are
/// floats, else in a buffer, else nowhere.
struct Kept {
  Rows row;
  bool isKept;

  Kept(const Rows &to, float *buffer, int64_t count) : row(to) {
    isKept = to.type == ElementType::F32;
    if (isKept || count > kLongest)
      return;
    row = {buffer, 1, 0, ElementType::F32};
    isKept = true;
  }
};
} // namespace

void softmaxRow(const Rows &from, const Rows &to, int64_t count) {
  constexpr float kNone = -__builtin_inff();
  alignas(64) float values[kLongest];
  Buffer buffer;
  Buffer work;
  F largest = splat(kNone);
  for (int64_t first = 0; first < count; first += kTileSize) {
    int64_t length = least(kTileSize, count - first);
    const float *x = read(from, first, length, kNone, buffer);
    // What is no number is left out here, and makes the sum none.
    for (int64_t i = 0; i < length; i += kWidth)
      largest = larger(load(x + i), largest);
  }
  float most = kNone;
  for (int lane = 0; lane != kWidth; ++lane)
    most = largest[lane] > most ? largest[lane] : most;

  Kept kept(to, values, count);
  double sum = 0;
  for (int64_t first = 0; first < count; first += kTileSize) {
    int64_t length = least(kTileSize, count - first);
    const float *x = read(from, first, length, kNone, buffer);
    F sums = {};
    for (int64_t i = 0; i < length; i += kWidth) {
      F e = exp(load(x + i) - most);
      // The rest behind the last element is none of it, whatever the most is.
      if (i + kWidth > length)
        for (int64_t lane = length - i; lane != kWidth; ++lane)
          e[lane] = 0;
      sums += e;
      store(work.values + i, e);
    }
    sum += sumOf(sums);
    if (kept.isKept)
      write(work.values, kept.row, first, length);
  }
  auto factor = float(1 / sum);
  for (int64_t first = 0; first < count; first += kTileSize) {
    int64_t length = least(kTileSize, count - first);
    const float *x =
        read(kept.isKept ? kept.row : from, first, length, 0, buffer);
    for (int64_t i = 0; i < length; i += kWidth) {
      F e = load(x + i);
      store(work.values + i, (kept.isKept ? e : exp(e - most)) * factor);
    }
    write(work.values, to, first, length);
  }
}

void softmaxColumns(const Rows &from, const Rows &to, int64_t numRows,
                    int64_t count) {
  Buffer buffer;
  Buffer most;
  Buffer sums;
  double totals[kTileSize] = {};
  auto rowOf = [](Rows rows, int64_t row) {
    withElement(rows.type, [&]<typename Element>() {
      rows.data =
          static_cast<typename Element::Type *>(rows.data) + row * rows.rowStep;
    });
    return rows;
  };
  for (int64_t i = 0; i < count; i += kWidth)
    store(most.values + i, splat(-__builtin_inff()));
  for (int64_t row = 0; row != numRows; ++row) {
    const float *x = read(rowOf(from, row), 0, count, 0, buffer);
    for (int64_t i = 0; i < count; i += kWidth)
      store(most.values + i, larger(load(x + i), load(most.values + i)));
  }
  // Some rows in f32, and those in double.
  constexpr int64_t kSome = 32;
  for (int64_t first = 0; first < numRows; first += kSome) {
    for (int64_t i = 0; i < count; i += kWidth)
      store(sums.values + i, F{});
    for (int64_t row = first; row != least(numRows, first + kSome); ++row) {
      const float *x = read(rowOf(from, row), 0, count, 0, buffer);
      for (int64_t i = 0; i < count; i += kWidth)
        store(sums.values + i,
              load(sums.values + i) + exp(load(x + i) - load(most.values + i)));
    }
    for (int64_t i = 0; i != count; ++i)
      totals[i] += double(sums.values[i]);
  }
  for (int64_t i = 0; i != count; ++i)
    sums.values[i] = float(1 / totals[i]);
  for (int64_t row = 0; row != numRows; ++row) {
    const float *x = read(rowOf(from, row), 0, count, 0, buffer);
    Buffer work;
    for (int64_t i = 0; i < count; i += kWidth)
      store(work.values + i,
            exp(load(x + i) - load(most.values + i)) * load(sums.values + i));
    write(work.values, rowOf(to, row), 0, count);
  }
}

void normalizeRow(const Normalization &norm, const Rows &from, const Rows &to,
                  int64_t count) {
  alignas(64) float values[kLongest];
  Buffer buffer;
  Buffer other;
  Buffer another;
  Rows source = from;
  bool isConverted = from.type != ElementType::F32 && count <= kLongest;
  double sum = 0;
  if (norm.isCentered || isConverted)
    for (int64_t first = 0; first < count; first += kTileSize) {
      int64_t length = least(kTileSize, count - first);
      const float *x = read(from, first, length, 0, buffer);
      Sums sums;
      forVectors(length, [&](int64_t i, int strand) {
        sums.parts[strand] += load(x + i);
      });
      sum += sums.total();
      if (isConverted)
        write(x, {values, 1, 0, ElementType::F32}, first, length);
    }
  if (isConverted)
    source = {values, 1, 0, ElementType::F32};
  // About the mean: sums of numbers that are far from 0 lose digits. How far it
  // is off comes out of the distances, which are small.
  float mean = norm.isCentered ? float(sum / double(count)) : 0;
  double distances = 0;
  double squares = 0;
  for (int64_t first = 0; first < count; first += kTileSize) {
    int64_t length = least(kTileSize, count - first);
    const float *x = read(source, first, length, mean, buffer);
    Sums sums;
    Sums squareSums;
    forVectors(length, [&](int64_t i, int strand) {
      F distance = load(x + i) - mean;
      sums.parts[strand] += distance;
      squareSums.parts[strand] =
          fma(distance, distance, squareSums.parts[strand]);
    });
    distances += sums.total();
    squares += squareSums.total();
  }
  double off = norm.isCentered ? distances / double(count) : 0;
  double variance = squares / double(count) - off * off;
  double exactFactor = 1 / ::sqrt(variance + norm.epsilon);
  auto factor = float(exactFactor);
  auto shift = float(-off * exactFactor);
  for (int64_t first = 0; first < count; first += kTileSize) {
    int64_t length = least(kTileSize, count - first);
    const float *x = read(source, first, length, 0, buffer);
    const float *weight =
        norm.weight.data ? read(norm.weight, first, length, 0, other) : nullptr;
    const float *bias =
        norm.bias.data ? read(norm.bias, first, length, 0, another) : nullptr;
    auto resultAt = [&](int64_t i) {
      F result = fma(load(x + i) - mean, splat(factor), splat(shift));
      if (weight)
        result *= load(weight + i);
      if (bias)
        result += load(bias + i);
      return result;
    };
    if (to.type == ElementType::F32 && to.step == 1) {
      float *target = static_cast<float *>(to.data) + first;
      forVectors(length, [&](int64_t i, int) {
        storeSome(target + i, resultAt(i), length - i);
      });
      continue;
    }
    Buffer work;
    forVectors(length,
               [&](int64_t i, int) { store(work.values + i, resultAt(i)); });
    write(work.values, to, first, length);
  }
}

} // namespace corten::runtime::CORTEN_LEVEL
