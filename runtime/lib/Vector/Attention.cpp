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
constexpr int64_t kGroup = kAttentionGroup;
constexpr int64_t kFewQueries = kAttentionFewQueries;
/// Whole tiles of 6 and of 8 rows.
constexpr int64_t kKeys = 72;
/// Of a few queries, at a time.
constexpr int64_t kKeysOfFew = 64;
constexpr float kHidden = -__builtin_inff();

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t most(int64_t a, int64_t b) { return a < b ? b : a; }
int64_t wholeVectors(int64_t count) {
  return (count + kWidth - 1) / kWidth * kWidth;
}
/// So that rows that follow each other are aligned, whatever the level.
int64_t wholeRow(int64_t count) { return (count + 15) / 16 * 16; }

/// Memory that is handed out in whole rows; of none it only says how much.
class Floats {
public:
  explicit Floats(float *base) : base(base) {}

  float *take(int64_t count) {
    float *result = base ? base + used : nullptr;
    used += wholeRow(count);
    return result;
  }
  int64_t size() const { return used; }

private:
  float *base;
  int64_t used = 0;
};

/// Scales a row, and rounds once.
void writeRow(float *row, float factor, const Rows &rows, int64_t to,
              int64_t count) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(row + i, load(row + i) * factor);
  writeFloats(row, rows, to, 0, count);
}

/// Rows from one on, as floats: where they lie, or else in `memory`, which has
/// `step` floats for each.
struct FloatRows {
  const float *data;
  int64_t step;
};
FloatRows floatsOf(const Rows &rows, int64_t first, int64_t count,
                   int64_t length, float *memory, int64_t step) {
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

/// A score with its mask, which says whether it counts or is added to it. The
/// lowest number there is hides a key from those who see another one: it must
/// not become infinite.
inline F masked(F score, F mask, bool isTruth) {
  if (isTruth)
    return I(I(mask) != 0) ? score : splat(kHidden);
  constexpr float kLowest = -3.402823466e38f;
  F added = larger(splat(kLowest), mask * kLog2E);
  return score + (I(mask == kHidden) ? mask : added);
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

/// Keys up to those that the last of the queries sees, in whole blocks: where a
/// block ends must not depend on how many queries are taken at a time.
int64_t seenKeys(const Attention &job, int64_t block) {
  if (!job.isCausal)
    return job.numKeys;
  int64_t seen = job.firstQuery + job.numQueries;
  return least(job.numKeys, (seen + block - 1) / block * block);
}

/// What results are multiplied with, by the sum of weights.
float scaleOf(const Attention &job, float sum) {
  return job.unseeingGivesZeros && sum == 0 ? 0 : 1 / sum;
}

/// Whether a mask lets a lane be seen. What is added says no by minus infinity;
/// NaN is seen, and makes what comes of it NaN.
inline I seen(F mask, bool isTruth) {
  return isTruth ? I(I(mask) != 0) : I(mask != kHidden);
}

/// Memory for a block of queries: what there is of a row for each element of a
/// query, of a result, and for each key.
struct BlockMemory {
  float *queries;
  float *results;
  float *scores;
  float *masks;
  /// Keys or values that are no floats as they lie.
  float *rows;
  int64_t rowStep;
  /// Eight rows that are turned over.
  float *some;
  int64_t someStep;

  BlockMemory(Floats &floats, int64_t depth, int64_t width)
      : queries(floats.take(wholeRow(depth) * kQueries)),
        results(floats.take(wholeRow(width) * kQueries)),
        scores(floats.take(kKeys * kQueries)),
        masks(floats.take(wholeRow(kKeys) * kQueries)),
        rowStep(wholeRow(most(depth, width))),
        someStep(most(rowStep, wholeRow(kKeys))) {
    rows = floats.take(kKeys * rowStep);
    some = floats.take(8 * someStep);
  }
};

class Block : BlockMemory {
public:
  Block(const Attention &job, Floats floats)
      : BlockMemory(floats, job.depth, job.width), job(job),
        lanes(wholeVectors(job.numQueries)) {}

  void run() {
    readQueries();
    begin();
    int64_t end = seenKeys(job, kKeys);
    for (int64_t first = 0; first < end; first += kKeys)
      take(first, least(kKeys, end - first));
    finish();
  }

private:
  const Attention &job;
  int64_t lanes;
  /// Of each query, the largest score and the sum of weights so far.
  alignas(64) float largest[kQueries];
  alignas(64) float sums[kQueries];
  /// What there is so far is multiplied with.
  alignas(64) float factors[kQueries];

  /// Turns eight rows over: those of queries that there are not are zeros.
  template <typename Read>
  void turn(int64_t query, int64_t length, float *to, Read read) {
    for (int64_t i = 0; i != 8; ++i) {
      if (query + i < job.numQueries) {
        read(query + i, some + i * someStep);
        continue;
      }
      for (int64_t j = 0; j < wholeVectors(length); j += kWidth)
        store(some + i * someStep + j, F{});
    }
    for (int64_t j = 0; j < length; j += 8)
      transpose8(some + j, someStep, to + j * kQueries + query, kQueries);
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

  /// A sink is a key that was seen before all others, and has no value.
  void begin() {
    if (job.sinks.data)
      readFloats(job.sinks, 0, 0, job.numQueries, largest);
    for (int64_t lane = 0; lane != lanes; lane += kWidth) {
      F sink = job.sinks.data ? load(largest + lane) * kLog2E : splat(kHidden);
      store(largest + lane, sink);
      store(sums + lane, I(sink == kHidden) ? F{} : splat(1.0f));
      for (int64_t j = 0; j != job.width; ++j)
        store(results + j * kQueries + lane, F{});
    }
  }

  /// Calls `function(lane, number)` for the lanes of groups that are set, as
  /// many at a time as stand together.
  template <typename Function>
  void forGroups(uint32_t groups, Function &&function) {
    for (int64_t first = 0; first < lanes;) {
      int64_t end = first;
      while (end < lanes && groups >> (end / kGroup) & 1)
        end += kGroup;
      if (end != first)
        function(first, least(end, lanes) - first);
      first = end + kGroup;
    }
  }

  /// Groups see keys or do not, whatever block they are in: what a query gets
  /// must not depend on that.
  void take(int64_t first, int64_t count) {
    if (job.mask.data)
      readMasks(first, count);
    uint32_t seeing = seeingGroups(first, count);
    if (seeing == 0)
      return;
    FloatRows keys = floatsOf(job.keys, first, count, job.depth, rows, rowStep);
    forGroups(seeing, [&](int64_t lane, int64_t number) {
      product<Side::Rows, Start::Nothing>(keys.data, keys.step, queries + lane,
                                          job.depth, scores + lane, factors,
                                          count, number);
      if (job.mask.data)
        mask(count, lane, lane + number);
      if (job.isCausal && first + count - 1 > job.firstQuery + lane)
        hideLater(first, count, lane, lane + number);
      withVectors<4>(number,
                     [&]<int V>(int64_t at) { weigh<V>(lane + at, count); });
    });
    uint32_t weighing = weighingGroups(seeing, count);
    if (weighing == 0)
      return;
    FloatRows values =
        floatsOf(job.values, first, count, job.width, rows, rowStep);
    forGroups(weighing, [&](int64_t lane, int64_t number) {
      product<Side::Columns, Start::Scaled>(
          values.data, values.step, scores + lane, count, results + lane,
          factors + lane, job.width, number);
    });
  }

  /// One row may be that of all queries.
  bool isMaskShared() const { return job.mask.rowStep == 0; }

  void readMasks(int64_t first, int64_t count) {
    if (isMaskShared())
      return readFloats(job.mask, 0, first, count, masks);
    for (int64_t query = 0; query < lanes; query += 8)
      turn(query, count, masks, [&](int64_t from, float *row) {
        readFloats(job.mask, from, first, count, row);
      });
  }

  /// A bit for each group of queries one of which sees one of these keys.
  uint32_t seeingGroups(int64_t first, int64_t count) const {
    bool isTruth = job.mask.type == ElementType::Bool;
    bool isShared = job.mask.data && isMaskShared();
    if (isShared) {
      I some = {};
      for (int64_t key = 0; key != count; ++key)
        some |= seen(splat(masks[key]), isTruth);
      if (!any(some))
        return 0;
    }
    uint32_t groups = 0;
    for (int64_t lane = 0; lane < lanes; lane += kGroup) {
      int64_t end = least(lane + kGroup, lanes);
      if (job.isCausal && first >= job.firstQuery + end)
        continue;
      I some = splat(job.mask.data && !isShared ? 0 : -1);
      for (int64_t key = 0; key != count && !any(some); ++key)
        for (int64_t at = lane; at < end; at += kWidth)
          some |= seen(load(masks + key * kQueries + at), isTruth);
      if (any(some))
        groups |= 1u << (lane / kGroup);
    }
    return groups;
  }

  /// Of those, the groups whose results these keys change: large negative
  /// numbers that are added to scores leave no weights.
  uint32_t weighingGroups(uint32_t seeing, int64_t count) const {
    uint32_t groups = 0;
    for (int64_t lane = 0; lane < lanes; lane += kGroup) {
      if (!(seeing >> (lane / kGroup) & 1))
        continue;
      int64_t end = least(lane + kGroup, lanes);
      I changed = {};
      for (int64_t at = lane; at < end; at += kWidth)
        changed |= I(load(factors + at) != 1.0f);
      for (int64_t key = 0; key != count && !any(changed); ++key)
        for (int64_t at = lane; at < end; at += kWidth)
          changed |= I(load(scores + key * kQueries + at) != 0.0f);
      if (any(changed))
        groups |= 1u << (lane / kGroup);
    }
    return groups;
  }

  void mask(int64_t count, int64_t first, int64_t end) {
    bool isShared = isMaskShared();
    bool isTruth = job.mask.type == ElementType::Bool;
    for (int64_t key = 0; key != count; ++key)
      for (int64_t lane = first; lane != end; lane += kWidth) {
        float *at = scores + key * kQueries + lane;
        F added =
            isShared ? splat(masks[key]) : load(masks + key * kQueries + lane);
        store(at, masked(load(at), added, isTruth));
      }
  }

  /// From queries that come before them.
  void hideLater(int64_t firstKey, int64_t count, int64_t first, int64_t end) {
    for (int64_t key = 0; key != count; ++key) {
      int64_t unseeing = least(firstKey + key - job.firstQuery, end);
      for (int64_t lane = first; lane < unseeing; ++lane)
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
      base[v] = load(largest + lane + v * kWidth);
    for (int64_t key = 0; key != count; ++key) {
      CORTEN_UNROLL
      for (int v = 0; v != V; ++v)
        base[v] = larger(load(row + key * kQueries + v * kWidth), base[v]);
    }
    F totals[V];
    CORTEN_UNROLL
    for (int v = 0; v != V; ++v) {
      float *before = largest + lane + v * kWidth;
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
        transpose8(results + j * kQueries + query, kQueries, some + j,
                   someStep);
      for (int64_t i = query; i < least(query + 8, job.numQueries); ++i)
        writeRow(some + (i - query) * someStep, scaleOf(job, sums[i]),
                 job.output, i, job.width);
    }
  }
};

/// Memory for a few queries, a row for each.
struct FewMemory {
  int64_t depth;
  int64_t width;
  float *queries;
  float *results;
  float *scores;
  float *masks;
  /// Keys or values that are no floats as they lie, or not in whole vectors.
  float *rows;

  FewMemory(Floats &floats, int64_t depth, int64_t width)
      : depth(wholeVectors(depth)), width(wholeVectors(width)),
        queries(floats.take(kFewQueries * this->depth)),
        results(floats.take(kFewQueries * this->width)),
        scores(floats.take(kFewQueries * kKeysOfFew)),
        masks(floats.take(kFewQueries * kKeysOfFew)),
        rows(floats.take(kKeysOfFew * most(this->depth, this->width))) {}
};

/// Of a query or a few: each for itself, with elements in lanes.
class Few : FewMemory {
public:
  Few(const Attention &job, Floats floats)
      : FewMemory(floats, job.depth, job.width), job(job) {}

  void run() {
    auto scale = float(job.scale * double(kLog2E));
    alignas(64) float sinks[kWidth];
    if (job.sinks.data)
      readFloats(job.sinks, 0, 0, job.numQueries, sinks);
    for (int64_t i = 0; i != job.numQueries; ++i) {
      float *row = queries + i * depth;
      readFloats(job.queries, i, 0, job.depth, row);
      for (int64_t j = 0; j != depth; j += kWidth)
        store(row + j, load(row + j) * scale);
      largest[i] = job.sinks.data ? sinks[i] * kLog2E : kHidden;
      sums[i] = largest[i] == kHidden ? 0 : 1;
      for (int64_t j = 0; j != width; j += kWidth)
        store(results + i * width + j, F{});
    }
    int64_t end = seenKeys(job, kKeysOfFew);
    for (int64_t first = 0; first < end; first += kKeysOfFew)
      take(first, least(kKeysOfFew, end - first));
    for (int64_t i = 0; i != job.numQueries; ++i)
      writeRow(results + i * width, scaleOf(job, sums[i]), job.output, i,
               job.width);
  }

private:
  static_assert(kFewQueries <= kWidth);

  const Attention &job;
  /// Of each query, the largest score and the sum of weights so far.
  float largest[kFewQueries];
  float sums[kFewQueries];

  void take(int64_t first, int64_t count) {
    if (job.mask.data && !readMasks(first, count))
      return;
    FloatRows keys = wholeRows(job.keys, first, count, job.depth, depth);
    for (int64_t query = 0; query != job.numQueries; ++query) {
      int64_t i = 0;
      for (; i + kKeysAtATime <= count; i += kKeysAtATime)
        score<kKeysAtATime>(keys, query, i);
      for (; i != count; ++i)
        score<1>(keys, query, i);
    }
    for (int64_t i = 0; i != job.numQueries; ++i)
      weigh(i, first, count);
    addValues(first, count);
  }

  /// Rows from one on, with zeros up to whole vectors.
  FloatRows wholeRows(const Rows &from, int64_t first, int64_t count,
                      int64_t length, int64_t whole) {
    if (length == whole)
      return floatsOf(from, first, count, length, rows, whole);
    for (int64_t i = 0; i != count; ++i)
      readFloats(from, first + i, 0, length, rows + i * whole);
    return {rows, whole};
  }

  /// How many keys have sums of their own, so that none waits for another. What
  /// a key gets is the same for any number.
  static constexpr int kKeysAtATime = 8;

  template <int N>
  void score(const FloatRows &keys, int64_t query, int64_t first) {
    const float *own = queries + query * depth;
    const float *key = keys.data + first * keys.step;
    F totals[N] = {};
    for (int64_t j = 0; j != depth; j += kWidth) {
      F part = load(own + j);
      CORTEN_UNROLL
      for (int n = 0; n != N; ++n)
        totals[n] = fma(part, load(key + n * keys.step + j), totals[n]);
    }
    CORTEN_UNROLL
    for (int n = 0; n != N; ++n)
      scores[query * kKeysOfFew + first + n] = sumOfLanes(totals[n]);
  }

  /// Whether one of the queries sees one of these keys.
  bool readMasks(int64_t first, int64_t count) {
    bool isTruth = job.mask.type == ElementType::Bool;
    I some = {};
    for (int64_t i = 0; i != job.numQueries; ++i) {
      float *row = masks + i * kKeysOfFew;
      readFloats(job.mask, i, first, count, row);
      // Zeros that are added behind the last one are none of the mask's.
      for (int64_t j = count; j < wholeVectors(count); ++j)
        row[j] = isTruth ? 0 : kHidden;
      for (int64_t j = 0; j < count; j += kWidth)
        some |= seen(load(row + j), isTruth);
    }
    return any(some);
  }

  void addValues(int64_t first, int64_t count) {
    FloatRows from = wholeRows(job.values, first, count, job.width, width);
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
            totals[v] = fma(
                weight, load(from.data + key * from.step + lane + v * kWidth),
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
      const float *mask = masks + query * kKeysOfFew;
      bool isTruth = job.mask.type == ElementType::Bool;
      for (int64_t i = 0; i < count; i += kWidth)
        store(row + i, masked(load(row + i), load(mask + i), isTruth));
    }
    int64_t end = count;
    if (job.isCausal)
      end = most(least(end, job.firstQuery + query + 1 - first), 0);
    for (int64_t i = end; i < wholeVectors(count); ++i)
      row[i] = kHidden;
    F lanes = splat(largest[query]);
    for (int64_t i = 0; i < count; i += kWidth)
      lanes = larger(load(row + i), lanes);
    float now = mostOfLanes(lanes);
    // As long as nothing is seen all weights are 0.
    float base = now == kHidden ? 0 : now;
    F total = {};
    for (int64_t i = 0; i < count; i += kWidth) {
      F weight = weightOf(load(row + i) - base);
      store(row + i, weight);
      total += weight;
    }
    float factor = weightOf(splat(largest[query] - base))[0];
    sums[query] = sums[query] * factor + sumOfLanes(total);
    largest[query] = now;
    if (factor == 1)
      return;
    for (int64_t j = 0; j != width; j += kWidth) {
      float *result = results + query * width + j;
      store(result, load(result) * factor);
    }
  }
};
} // namespace

int64_t attentionFloats(int64_t depth, int64_t width, bool isFew) {
  Floats floats(nullptr);
  if (isFew)
    FewMemory(floats, depth, width);
  else
    BlockMemory(floats, depth, width);
  return floats.size();
}

void attend(const Attention &job) {
  if (job.isFew)
    Few(job, Floats(job.memory)).run();
  else
    Block(job, Floats(job.memory)).run();
}

} // namespace corten::runtime::CORTEN_LEVEL
