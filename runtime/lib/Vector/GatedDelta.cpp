// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear attention with a gated delta rule, some columns of the state of one
// head: they know nothing of each other, and stay in the nearest cache for all
// steps. With a = exp(g), what a step recalls and gives is found in one pass,
// the one that makes the state before it:
//
//   recalled = a key state,  change = beta (value - recalled)
//   result   = a query state + (query key) change
//   state'   = a state + key (x) change

#include "Elements.h"
#include "Math.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

using tile::Rows;

constexpr int64_t kColumns = kGatedDeltaColumns;
constexpr int64_t kDepth = kGatedDeltaDepth;
constexpr int kVectors = int(kColumns) / kWidth;
/// As many sums as there are registers for.
constexpr int kVectorsAtOnce = CORTEN_BY_LEVEL(4, 2, 4);

float dot(const float *a, const float *b, int64_t count) {
  F sum = {};
  for (int64_t i = 0; i < count; i += kWidth)
    sum = fma(load(a + i), load(b + i), sum);
  return sumOfLanes(sum);
}

void scale(float *row, float factor, int64_t count) {
  for (int64_t i = 0; i < count; i += kWidth)
    store(row + i, load(row + i) * factor);
}

class Columns {
public:
  explicit Columns(const GatedDelta &job) : job(job) {}

  void run() {
    for (int64_t i = 0; i != job.depth; ++i) {
      float *row = state + i * kColumns;
      for (int64_t j = 0; j != kColumns; j += kWidth)
        store(row + j, F{});
      readFloats(job.before, i, 0, job.columns, row);
    }
    // Before the first step nothing remains to be added.
    for (int64_t i = 0; i < kDepth; i += kWidth)
      store(key + i, F{});
    for (int64_t i = 0; i < kColumns; i += kWidth)
      store(change + i, F{});
    remains = 1;
    for (int64_t t = 0; t != job.length; ++t)
      step(t);
    for (int64_t i = 0; i != job.depth; ++i) {
      advanceRow(i);
      writeFloats(state + i * kColumns, job.after, i, 0, job.columns);
    }
  }

private:
  const GatedDelta &job;
  alignas(64) float state[kDepth * kColumns];
  // Of the step before, what the state still lacks of it.
  alignas(64) float key[kDepth];
  alignas(64) float change[kColumns];
  float remains;
  // Of this step.
  alignas(64) float query[kDepth];
  alignas(64) float nextKey[kDepth];
  alignas(64) float recalled[kColumns];
  alignas(64) float given[kColumns];
  alignas(64) float value[kColumns];

  float numberAt(const Rows &rows, int64_t t) const {
    alignas(64) float number[kWidth];
    readFloats(rows, t, 0, 1, number);
    return number[0];
  }

  void readUnit(const Rows &rows, int64_t t, float factor, float *to) const {
    readFloats(rows, t, 0, job.depth, to);
    if (job.isNormalized)
      factor /= __builtin_sqrtf(dot(to, to, job.depth) + 1e-6f);
    scale(to, factor, job.depth);
  }

  void step(int64_t t) {
    readUnit(job.queries, t, 1 / __builtin_sqrtf(float(job.depth)), query);
    readUnit(job.keys, t, 1, nextKey);
    for (int64_t first = 0; first != kColumns; first += kVectorsAtOnce * kWidth)
      advance(first);
    F decay = exp(splat(numberAt(job.decays, t)));
    float strength = numberAt(job.strengths, t);
    float both = dot(query, nextKey, job.depth);
    readFloats(job.values, t, 0, job.columns, value);
    for (int64_t i = 0; i < job.columns; i += kWidth) {
      F lacks = (load(value + i) - decay * load(recalled + i)) * strength;
      store(change + i, lacks);
      store(value + i, fma(decay, load(given + i), lacks * both));
    }
    writeFloats(value, job.output, t, 0, job.columns);
    remains = decay[0];
    for (int64_t i = 0; i < job.depth; i += kWidth)
      store(key + i, load(nextKey + i));
  }

  /// Makes some columns of the state what they were after the step before, and
  /// multiplies them with the key and the query of this one.
  void advance(int64_t first) {
    F byKey[kVectorsAtOnce] = {};
    F byQuery[kVectorsAtOnce] = {};
    F changes[kVectorsAtOnce];
    CORTEN_UNROLL
    for (int v = 0; v < kVectorsAtOnce; ++v)
      changes[v] = load(change + first + v * kWidth);
    for (int64_t i = 0; i != job.depth; ++i) {
      float *row = state + i * kColumns + first;
      F added = splat(key[i]);
      F keys = splat(nextKey[i]);
      F queries = splat(query[i]);
      CORTEN_UNROLL
      for (int v = 0; v < kVectorsAtOnce; ++v) {
        F now = fma(added, changes[v], load(row + v * kWidth) * remains);
        store(row + v * kWidth, now);
        byKey[v] = fma(keys, now, byKey[v]);
        byQuery[v] = fma(queries, now, byQuery[v]);
      }
    }
    CORTEN_UNROLL
    for (int v = 0; v < kVectorsAtOnce; ++v) {
      store(recalled + first + v * kWidth, byKey[v]);
      store(given + first + v * kWidth, byQuery[v]);
    }
  }

  void advanceRow(int64_t i) {
    float *row = state + i * kColumns;
    CORTEN_UNROLL
    for (int v = 0; v < kVectors; ++v)
      store(row + v * kWidth, fma(splat(key[i]), load(change + v * kWidth),
                                  load(row + v * kWidth) * remains));
  }
};
} // namespace

void recur(const GatedDelta &job) { Columns(job).run(); }

} // namespace corten::runtime::CORTEN_LEVEL
