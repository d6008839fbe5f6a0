// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of a block of queries: keys and values pass by in blocks, and what
// there is so far is scaled when a larger product turns up. Nothing of the size
// of all products is ever stored.

#include "Elements.h"
#include "Math.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

using tile::Rows;

constexpr int64_t kQueries = kAttentionQueries;
constexpr int64_t kWide = kAttentionWidth;
constexpr int64_t kKeys = 64;

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t wholeVectors(int64_t count) {
  return (count + kWidth - 1) / kWidth * kWidth;
}

/// A row as floats, with zeros up to a whole vector.
void readRow(const Rows &rows, int64_t row, int64_t first, int64_t count,
             float *to) {
  withElement(rows.type, [&]<typename Element>() {
    using Type = typename Element::Type;
    const Type *from = static_cast<const Type *>(rows.data) +
                       row * rows.rowStep + first * rows.step;
    loadLanes<Element>(from, rows.step, reinterpret_cast<int32_t *>(to), count);
  });
}

/// `c += a b` of R rows and V vectors of columns, or `c = a b`.
template <bool isNew, int R, int V>
inline void multiply(const float *a, int64_t stepA, const float *b,
                     int64_t stepB, float *c, int64_t stepC, int64_t depth) {
  F sums[R][V];
  for (int r = 0; r != R; ++r)
    for (int v = 0; v != V; ++v)
      sums[r][v] = isNew ? F{} : load(c + r * stepC + v * kWidth);
  for (int64_t k = 0; k != depth; ++k) {
    F columns[V];
    for (int v = 0; v != V; ++v)
      columns[v] = load(b + k * stepB + v * kWidth);
    for (int r = 0; r != R; ++r) {
      F factor = splat(a[r * stepA + k]);
      for (int v = 0; v != V; ++v)
        sums[r][v] = fma(factor, columns[v], sums[r][v]);
    }
  }
  for (int r = 0; r != R; ++r)
    for (int v = 0; v != V; ++v)
      store(c + r * stepC + v * kWidth, sums[r][v]);
}

/// Of the last rows, fewer than R: as many as there are at once, because one
/// row alone waits for its own sums.
template <bool isNew, int R, int V>
inline void multiplyLast(const float *a, int64_t stepA, const float *b,
                         int64_t stepB, float *c, int64_t stepC, int64_t rows,
                         int64_t depth) {
  if constexpr (R > 1) {
    if (rows == R - 1)
      multiply<isNew, R - 1, V>(a, stepA, b, stepB, c, stepC, depth);
    else
      multiplyLast<isNew, R - 1, V>(a, stepA, b, stepB, c, stepC, rows, depth);
  }
}

/// Of any number of rows, and V vectors of columns.
template <bool isNew, int V>
void productOf(const float *a, int64_t stepA, const float *b, int64_t stepB,
               float *c, int64_t stepC, int64_t rows, int64_t depth) {
  constexpr int kRows = CORTEN_BY_LEVEL(6, 4, 6);
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    multiply<isNew, kRows, V>(a + i * stepA, stepA, b, stepB, c + i * stepC,
                              stepC, depth);
  multiplyLast<isNew, kRows, V>(a + i * stepA, stepA, b, stepB, c + i * stepC,
                                stepC, rows - i, depth);
}

/// Of any number of rows, and columns of whole vectors.
template <bool isNew>
void product(const float *a, int64_t stepA, const float *b, int64_t stepB,
             float *c, int64_t stepC, int64_t rows, int64_t depth,
             int64_t columns) {
  constexpr int kVectors = CORTEN_BY_LEVEL(4, 2, 4);
  int64_t j = 0;
  for (; j + kVectors * kWidth <= columns; j += kVectors * kWidth)
    productOf<isNew, kVectors>(a, stepA, b + j, stepB, c + j, stepC, rows,
                               depth);
  for (; j != columns; j += kWidth)
    productOf<isNew, 1>(a, stepA, b + j, stepB, c + j, stepC, rows, depth);
}

constexpr float kLog2E = 1.4426950409f;

/// 2 to the power of x, which is 0 or less: of what is too small to count, as
/// subnormal numbers would only be slow, 0. Off by 1.2e-7 at most.
inline F weightOf(F x) {
  constexpr float kLeast = -100;
  // The second operand wins if it is NaN.
  F bounded = larger(splat(kLeast - 1), x);
  I n = toNearest(bounded);
  F rest = bounded - toFloat(n);
  F power = polynomial(rest, 1.0f, 0.6931471825f, 0.2402265072f, 0.05550356954f,
                       0.009618056938f, 0.001339086681f, 0.0001546144777f);
  power = F(I(power) + (n << 23));
  return I(x < kLeast) ? F{} : power;
}

class Block {
public:
  explicit Block(const Attention &job)
      : job(job), depth(wholeVectors(job.depth)),
        width(wholeVectors(job.width)) {}

  void run() {
    // Scores are powers of two.
    auto scale = float(job.scale * double(kLog2E));
    for (int64_t i = 0; i != job.numQueries; ++i) {
      float *row = queries + i * depth;
      readRow(job.queries, i, 0, job.depth, row);
      for (int64_t j = 0; j != depth; j += kWidth)
        store(row + j, load(row + j) * scale);
      most[i] = -__builtin_inff();
      store(sums + i * kWidth, F{});
      for (int64_t j = 0; j != width; j += kWidth)
        store(results + i * width + j, F{});
    }
    int64_t end = job.numKeys;
    if (job.isCausal)
      end = least(end, job.firstQuery + job.numQueries);
    for (int64_t first = 0; first < end; first += kKeys)
      take(first, least(kKeys, end - first));
    finish();
  }

private:
  const Attention &job;
  int64_t depth;
  int64_t width;
  alignas(64) float queries[kQueries * kWide];
  alignas(64) float results[kQueries * kWide];
  alignas(64) float scores[kQueries * kKeys];
  alignas(64) float keys[kWide * kKeys];
  alignas(64) float values[kKeys * kWide];
  alignas(64) float some[8 * kWide];
  /// A vector for each query, which is added up at the end.
  alignas(64) float sums[kQueries * kWidth];
  float most[kQueries];

  void take(int64_t first, int64_t count) {
    if (job.numQueries < 4)
      multiplyFew(first, count);
    else
      multiplyMany(first, count);
    for (int64_t i = 0; i != job.numQueries; ++i)
      weigh(i, first, count);
    if (job.width == width && areFloats(job.values)) {
      const float *rows = static_cast<const float *>(job.values.data) +
                          first * job.values.rowStep;
      product<false>(scores, kKeys, rows, job.values.rowStep, results, width,
                     job.numQueries, count, width);
      return;
    }
    for (int64_t i = 0; i != count; ++i)
      readRow(job.values, first + i, 0, job.width, values + i * width);
    product<false>(scores, kKeys, values, width, results, width, job.numQueries,
                   count, width);
  }

  /// Whether rows can be read where they are.
  static bool areFloats(const Rows &rows) {
    return rows.type == ElementType::F32 && rows.step == 1;
  }

  /// Products with keys as columns.
  void multiplyMany(int64_t first, int64_t count) {
    bool areInPlace = areFloats(job.keys) && job.depth % 8 == 0;
    for (int64_t key = 0; key < wholeVectors(count); key += 8) {
      const float *rows = some;
      int64_t step = depth;
      if (areInPlace && key + 8 <= count) {
        step = job.keys.rowStep;
        rows = static_cast<const float *>(job.keys.data) + (first + key) * step;
      } else {
        for (int64_t i = 0; i != 8; ++i)
          readRow(job.keys, first + least(key + i, count - 1), 0, job.depth,
                  some + i * depth);
      }
      for (int64_t j = 0; j < job.depth; j += 8)
        transpose8(rows + j, step, keys + j * kKeys + key, kKeys);
    }
    product<true>(queries, depth, keys, kKeys, scores, kKeys, job.numQueries,
                  job.depth, wholeVectors(count));
  }

  /// Products key by key: of a few queries, turning keys over would take
  /// longer.
  void multiplyFew(int64_t first, int64_t count) {
    for (int64_t key = 0; key != count; ++key) {
      readRow(job.keys, first + key, 0, job.depth, some);
      for (int64_t i = 0; i != job.numQueries; ++i) {
        F sum = {};
        for (int64_t j = 0; j != depth; j += kWidth)
          sum = fma(load(queries + i * depth + j), load(some + j), sum);
        scores[i * kKeys + key] = sumOfLanes(sum);
      }
    }
  }

  /// Makes scores of a query weights, and what there is fit to them.
  void weigh(int64_t query, int64_t first, int64_t count) {
    constexpr float kHidden = -__builtin_inff();
    float *row = scores + query * kKeys;
    if (job.mask.data) {
      readRow(job.mask, query, first, count, some);
      bool isTruth = job.mask.type == ElementType::Bool;
      for (int64_t i = 0; i < count; i += kWidth) {
        F x = load(row + i);
        F added = load(some + i);
        store(row + i, isTruth ? (I(I(added) != 0) ? x : splat(kHidden))
                               : fma(added, splat(kLog2E), x));
      }
    }
    int64_t seen = count;
    if (job.isCausal)
      seen = least(seen, job.firstQuery + query + 1 - first);
    for (int64_t i = seen < 0 ? 0 : seen; i < wholeVectors(count); ++i)
      row[i] = kHidden;
    F largest = splat(most[query]);
    for (int64_t i = 0; i < count; i += kWidth)
      largest = larger(load(row + i), largest);
    float now = mostOfLanes(largest);
    // As long as nothing is seen all weights are 0.
    float base = now == kHidden ? 0 : now;
    F total = {};
    for (int64_t i = 0; i < count; i += kWidth) {
      F weight = weightOf(load(row + i) - base);
      store(row + i, weight);
      total += weight;
    }
    float *sum = sums + query * kWidth;
    if (now == most[query]) {
      store(sum, load(sum) + total);
      return;
    }
    float factor = weightOf(splat(most[query] - now))[0];
    store(sum, fma(load(sum), splat(factor), total));
    for (int64_t j = 0; j != width; j += kWidth) {
      float *result = results + query * width + j;
      store(result, load(result) * factor);
    }
    most[query] = now;
  }

  void finish() {
    for (int64_t i = 0; i != job.numQueries; ++i) {
      float *row = results + i * width;
      double sum = 0;
      for (int lane = 0; lane != kWidth; ++lane)
        sum += double(sums[i * kWidth + lane]);
      bool isZero = job.unseeingGivesZeros && sum == 0;
      float factor = isZero ? 0 : float(1 / sum);
      for (int64_t j = 0; j != width; j += kWidth)
        store(row + j, load(row + j) * factor);
      withElement(job.output.type, [&]<typename Element>() {
        storeLanes<Element, true>(
            reinterpret_cast<const int32_t *>(row),
            static_cast<typename Element::Type *>(job.output.data) +
                i * job.output.rowStep,
            job.output.step, job.width);
      });
    }
  }
};
} // namespace

void attend(const Attention &job) { Block(job).run(); }

} // namespace corten::runtime::CORTEN_LEVEL
