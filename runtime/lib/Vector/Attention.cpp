// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of a block of queries: keys and values pass by in blocks, and what
// there is so far is scaled when a larger product turns up. Nothing of the size
// of all products is ever stored.
//
// Queries are lanes. So keys and values are read where they lie, an element for
// all queries at a time, and largest products and sums of weights never leave
// their lane; only queries and results are turned over, once.

#include "Elements.h"
#include "Math.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

using tile::Rows;

constexpr int64_t kQueries = kAttentionQueries;
constexpr int64_t kWide = kAttentionWidth;
constexpr int64_t kFewQueries = kAttentionFewQueries;
/// Whole tiles of 6 and of 8 rows.
constexpr int64_t kKeys = 72;
constexpr float kHidden = -__builtin_inff();

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t wholeVectors(int64_t count) {
  return (count + kWidth - 1) / kWidth * kWidth;
}

/// Rounds once, and scales.
void writeRow(const float *from, float factor, const Rows &rows, int64_t row,
              int64_t count) {
  alignas(64) float scaled[kWide];
  for (int64_t i = 0; i < count; i += kWidth)
    store(scaled + i, load(from + i) * factor);
  writeFloats(scaled, rows, row, 0, count);
}

/// Rows from one on, as floats: where they lie, or else in `memory`, which has
/// `step` floats for each.
struct Floats {
  const float *data;
  int64_t step;
};
Floats floatsOf(const Rows &rows, int64_t first, int64_t count, int64_t length,
                float *memory, int64_t step) {
  if (rows.type == ElementType::F32 && rows.step == 1)
    return {static_cast<const float *>(rows.data) + first * rows.rowStep,
            rows.rowStep};
  for (int64_t i = 0; i != count; ++i)
    readFloats(rows, first + i, 0, length, memory + i * step);
  return {memory, step};
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

/// A score with its mask, which says whether it counts or is added to it.
inline F masked(F score, F mask, bool isTruth) {
  return isTruth ? (I(I(mask) != 0) ? score : splat(kHidden))
                 : fma(mask, splat(kLog2E), score);
}

/// Where sums begin that there is something of already: at what it is times a
/// factor of each lane.
enum class Start : uint8_t { Nothing, Scaled };
/// Whether the rows of `a` are those of its memory, or its columns.
enum class Side : uint8_t { Rows, Columns };

/// `c = c factors + a b` of R rows of `a` and V vectors of lanes of `b` and
/// `c`, whose rows are kQueries apart.
template <Side side, Start start, int R, int V>
inline void multiply(const float *a, int64_t step, const float *b,
                     int64_t depth, float *c, const float *factors) {
  F sums[R][V];
  CORTEN_UNROLL
  for (int r = 0; r != R; ++r) {
    CORTEN_UNROLL
    for (int v = 0; v != V; ++v)
      sums[r][v] = start == Start::Nothing
                       ? F{}
                       : load(c + r * kQueries + v * kWidth) *
                             load(factors + v * kWidth);
  }
  for (int64_t k = 0; k != depth; ++k) {
    F lanes[V];
    CORTEN_UNROLL
    for (int v = 0; v != V; ++v)
      lanes[v] = load(b + k * kQueries + v * kWidth);
    CORTEN_UNROLL
    for (int r = 0; r != R; ++r) {
      F factor = splat(side == Side::Rows ? a[r * step + k] : a[k * step + r]);
      CORTEN_UNROLL
      for (int v = 0; v != V; ++v)
        sums[r][v] = fma(factor, lanes[v], sums[r][v]);
    }
  }
  CORTEN_UNROLL
  for (int r = 0; r != R; ++r) {
    CORTEN_UNROLL
    for (int v = 0; v != V; ++v)
      store(c + r * kQueries + v * kWidth, sums[r][v]);
  }
}

/// How many vectors of lanes a tile has at most, and rows then and otherwise:
/// so that all sums are in registers.
constexpr int kVectors = CORTEN_BY_LEVEL(4, 2, 4);
constexpr int kRowsOfWide = 6;
constexpr int kRowsOfNarrow = CORTEN_BY_LEVEL(8, 6, 8);

/// Calls `function.template operator()<V>(lane)` for all vectors of lanes, some
/// at a time.
template <int most, typename Function>
inline void withVectors(int64_t lanes, Function &&function) {
  int64_t lane = 0;
  for (; lane + most * kWidth <= lanes; lane += most * kWidth)
    function.template operator()<most>(lane);
  if constexpr (most > 1) {
    if (lane != lanes)
      withVectors<most - 1>(lanes - lane, [&]<int V>(int64_t more) {
        function.template operator()<V>(lane + more);
      });
  }
}

/// Of any number of rows, R at a time and then fewer: not a loop of its own for
/// every number that may be left.
template <Side side, Start start, int R, int V>
inline void multiplyRows(const float *a, int64_t step, const float *b,
                         int64_t depth, float *c, const float *factors,
                         int64_t rows) {
  int64_t rowStep = side == Side::Rows ? step : 1;
  int64_t i = 0;
  for (; i + R <= rows; i += R)
    multiply<side, start, R, V>(a + i * rowStep, step, b, depth,
                                c + i * kQueries, factors);
  if constexpr (R > 1)
    multiplyRows<side, start, (R > 4 ? 4 : R / 2), V>(
        a + i * rowStep, step, b, depth, c + i * kQueries, factors, rows - i);
}

/// Of any number of rows and vectors of lanes.
template <Side side, Start start>
void product(const float *a, int64_t step, const float *b, int64_t depth,
             float *c, const float *factors, int64_t rows, int64_t lanes) {
  withVectors<kVectors>(lanes, [&]<int V>(int64_t lane) {
    constexpr int kRows = V == kVectors ? kRowsOfWide : kRowsOfNarrow;
    multiplyRows<side, start, kRows, V>(a, step, b + lane, depth, c + lane,
                                        factors + lane, rows);
  });
}

/// Keys that the last of the queries sees.
int64_t seenKeys(const Attention &job) {
  return job.isCausal ? least(job.numKeys, job.firstQuery + job.numQueries)
                      : job.numKeys;
}

/// What results are multiplied with, by the sum of weights.
float scaleOf(const Attention &job, float sum) {
  return job.unseeingGivesZeros && sum == 0 ? 0 : 1 / sum;
}

class Block {
public:
  explicit Block(const Attention &job)
      : job(job), lanes(wholeVectors(job.numQueries)) {}

  void run() {
    readQueries();
    for (int64_t lane = 0; lane != lanes; lane += kWidth) {
      store(most + lane, splat(kHidden));
      store(sums + lane, F{});
      for (int64_t j = 0; j != job.width; ++j)
        store(results + j * kQueries + lane, F{});
    }
    int64_t end = seenKeys(job);
    for (int64_t first = 0; first < end; first += kKeys)
      take(first, least(kKeys, end - first));
    finish();
  }

private:
  const Attention &job;
  int64_t lanes;
  // A row for each element of a query, of a result, and for each key.
  alignas(64) float queries[kWide * kQueries];
  alignas(64) float results[kWide * kQueries];
  alignas(64) float scores[kKeys * kQueries];
  alignas(64) float masks[kKeys * kQueries];
  alignas(64) float memory[kKeys * kWide];
  alignas(64) float some[8 * kWide];
  alignas(64) float most[kQueries];
  alignas(64) float sums[kQueries];
  /// What there is so far is multiplied with.
  alignas(64) float factors[kQueries];

  /// Turns eight rows over: those of queries that there are not are zeros.
  template <typename Read>
  void turn(int64_t query, int64_t length, float *to, Read read) {
    for (int64_t i = 0; i != 8; ++i) {
      if (query + i < job.numQueries) {
        read(query + i, some + i * kWide);
        continue;
      }
      for (int64_t j = 0; j < wholeVectors(length); j += kWidth)
        store(some + i * kWide + j, F{});
    }
    for (int64_t j = 0; j < length; j += 8)
      transpose8(some + j, kWide, to + j * kQueries + query, kQueries);
  }

  void readQueries() {
    // Scores are powers of two.
    auto scale = float(job.scale * double(kLog2E));
    for (int64_t query = 0; query < lanes; query += 8)
      turn(query, job.depth, queries, [&](int64_t from, float *row) {
        readFloats(job.queries, from, 0, job.depth, row);
        for (int64_t j = 0; j < job.depth; j += kWidth)
          store(row + j, load(row + j) * scale);
      });
  }

  void take(int64_t first, int64_t count) {
    Floats keys = floatsOf(job.keys, first, count, job.depth, memory, kWide);
    product<Side::Rows, Start::Nothing>(keys.data, keys.step, queries,
                                        job.depth, scores, factors, count,
                                        lanes);
    if (job.mask.data)
      mask(first, count);
    if (job.isCausal && first + count - 1 > job.firstQuery)
      hideLater(first, count);
    withVectors<4>(lanes, [&]<int V>(int64_t lane) { weigh<V>(lane, count); });
    Floats values =
        floatsOf(job.values, first, count, job.width, memory, kWide);
    product<Side::Columns, Start::Scaled>(values.data, values.step, scores,
                                          count, results, factors, job.width,
                                          lanes);
  }

  void mask(int64_t first, int64_t count) {
    // One row may be that of all queries.
    bool isShared = job.mask.rowStep == 0;
    if (isShared)
      readFloats(job.mask, 0, first, count, some);
    else
      for (int64_t query = 0; query < lanes; query += 8)
        turn(query, count, masks, [&](int64_t from, float *row) {
          readFloats(job.mask, from, first, count, row);
        });
    bool isTruth = job.mask.type == ElementType::Bool;
    for (int64_t key = 0; key != count; ++key)
      for (int64_t lane = 0; lane != lanes; lane += kWidth) {
        float *at = scores + key * kQueries + lane;
        F added =
            isShared ? splat(some[key]) : load(masks + key * kQueries + lane);
        store(at, masked(load(at), added, isTruth));
      }
  }

  /// From queries that come before them.
  void hideLater(int64_t first, int64_t count) {
    for (int64_t key = 0; key != count; ++key) {
      int64_t unseeing = least(first + key - job.firstQuery, lanes);
      for (int64_t lane = 0; lane < unseeing; ++lane)
        scores[key * kQueries + lane] = kHidden;
    }
  }

  /// Makes scores of V vectors of queries weights, and finds what there is so
  /// far has to be multiplied with.
  template <int V> void weigh(int64_t lane, int64_t count) {
    float *row = scores + lane;
    F base[V];
    CORTEN_UNROLL
    for (int v = 0; v != V; ++v)
      base[v] = load(most + lane + v * kWidth);
    for (int64_t key = 0; key != count; ++key) {
      CORTEN_UNROLL
      for (int v = 0; v != V; ++v)
        base[v] = larger(load(row + key * kQueries + v * kWidth), base[v]);
    }
    F totals[V];
    CORTEN_UNROLL
    for (int v = 0; v != V; ++v) {
      float *before = most + lane + v * kWidth;
      F now = base[v];
      // As long as nothing is seen all weights are 0.
      base[v] = I(now == kHidden) ? F{} : now;
      store(factors + lane + v * kWidth, weightOf(load(before) - base[v]));
      store(before, now);
      totals[v] = F{};
    }
    for (int64_t key = 0; key != count; ++key) {
      CORTEN_UNROLL
      for (int v = 0; v != V; ++v) {
        float *at = row + key * kQueries + v * kWidth;
        F weight = weightOf(load(at) - base[v]);
        store(at, weight);
        totals[v] += weight;
      }
    }
    CORTEN_UNROLL
    for (int v = 0; v != V; ++v) {
      float *sum = sums + lane + v * kWidth;
      store(sum, fma(load(sum), load(factors + lane + v * kWidth), totals[v]));
    }
  }

  void finish() {
    for (int64_t query = 0; query < job.numQueries; query += 8) {
      for (int64_t j = 0; j < job.width; j += 8)
        transpose8(results + j * kQueries + query, kQueries, some + j, kWide);
      for (int64_t i = query; i < least(query + 8, job.numQueries); ++i)
        writeRow(some + (i - query) * kWide, scaleOf(job, sums[i]), job.output,
                 i, job.width);
    }
  }
};

/// Of a query or a few: each for itself, with elements in lanes.
class Few {
public:
  explicit Few(const Attention &job)
      : job(job), depth(wholeVectors(job.depth)),
        width(wholeVectors(job.width)) {}

  void run() {
    auto scale = float(job.scale * double(kLog2E));
    for (int64_t i = 0; i != job.numQueries; ++i) {
      float *row = queries + i * depth;
      readFloats(job.queries, i, 0, job.depth, row);
      for (int64_t j = 0; j != depth; j += kWidth)
        store(row + j, load(row + j) * scale);
      most[i] = kHidden;
      sums[i] = 0;
      for (int64_t j = 0; j != width; j += kWidth)
        store(results + i * width + j, F{});
    }
    int64_t end = seenKeys(job);
    for (int64_t first = 0; first < end; first += kKeysOfFew)
      take(first, least(kKeysOfFew, end - first));
    for (int64_t i = 0; i != job.numQueries; ++i)
      writeRow(results + i * width, scaleOf(job, sums[i]), job.output, i,
               job.width);
  }

private:
  static constexpr int64_t kMost = kFewQueries;
  static constexpr int64_t kKeysOfFew = 64;

  const Attention &job;
  int64_t depth;
  int64_t width;
  alignas(64) float queries[kMost * kWide];
  alignas(64) float results[kMost * kWide];
  alignas(64) float scores[kMost * kKeysOfFew];
  alignas(64) float memory[kKeysOfFew * kWide];
  alignas(64) float some[kWide];
  float most[kMost];
  float sums[kMost];

  void take(int64_t first, int64_t count) {
    for (int64_t key = 0; key != count; ++key) {
      readFloats(job.keys, first + key, 0, job.depth, some);
      for (int64_t i = 0; i != job.numQueries; ++i) {
        F sum = {};
        for (int64_t j = 0; j != depth; j += kWidth)
          sum = fma(load(queries + i * depth + j), load(some + j), sum);
        scores[i * kKeysOfFew + key] = sumOfLanes(sum);
      }
    }
    for (int64_t i = 0; i != job.numQueries; ++i)
      weigh(i, first, count);
    addValues(first, count);
  }

  void addValues(int64_t first, int64_t count) {
    Floats values = {memory, width};
    // Whole vectors would reach beyond the last value.
    if (job.width == width)
      values = floatsOf(job.values, first, count, job.width, memory, width);
    else
      for (int64_t i = 0; i != count; ++i)
        readFloats(job.values, first + i, 0, job.width, memory + i * width);
    for (int64_t i = 0; i != job.numQueries; ++i)
      withVectors<8>(width, [&]<int V>(int64_t lane) {
        float *to = results + i * width + lane;
        F totals[V];
        CORTEN_UNROLL
        for (int v = 0; v != V; ++v)
          totals[v] = load(to + v * kWidth);
        for (int64_t key = 0; key != count; ++key) {
          F weight = splat(scores[i * kKeysOfFew + key]);
          CORTEN_UNROLL
          for (int v = 0; v != V; ++v)
            totals[v] =
                fma(weight,
                    load(values.data + key * values.step + lane + v * kWidth),
                    totals[v]);
        }
        CORTEN_UNROLL
        for (int v = 0; v != V; ++v)
          store(to + v * kWidth, totals[v]);
      });
  }

  /// Makes scores of a query weights, and what there is fit to them.
  void weigh(int64_t query, int64_t first, int64_t count) {
    float *row = scores + query * kKeysOfFew;
    if (job.mask.data) {
      readFloats(job.mask, query, first, count, some);
      bool isTruth = job.mask.type == ElementType::Bool;
      for (int64_t i = 0; i < count; i += kWidth)
        store(row + i, masked(load(row + i), load(some + i), isTruth));
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
    float factor = weightOf(splat(most[query] - base))[0];
    sums[query] = sums[query] * factor + sumOfLanes(total);
    most[query] = now;
    if (factor == 1)
      return;
    for (int64_t j = 0; j != width; j += kWidth) {
      float *result = results + query * width + j;
      store(result, load(result) * factor);
    }
  }
};
} // namespace

void attend(const Attention &job) {
  if (job.isFew)
    Few(job).run();
  else
    Block(job).run();
}

} // namespace corten::runtime::CORTEN_LEVEL
