// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, a block of queries of one batch at a time.

#include "../Portable/Portable.h"
#include "../Products/Common.h"
#include "Nest.h"

#include <algorithm>
#include <bit>
#include <utility>

using namespace corten::runtime;
using namespace corten::runtime::tile;

static bool acceptsAttention(const Invocation &call) {
  const Tensor &queries = call.input(0);
  const Tensor &values = call.input(2);
  return tileLane(queries.type) == TileLane::F &&
         !portable::checkAttention(call) && values.extents[values.rank - 2] > 0;
}

/// Into how many blocks groups of queries are divided: keys pass by once for
/// each, so there are few, unless threads would have nothing to do. What a
/// query gets does not depend on its block.
static int64_t blocksOf(int64_t groups, int64_t batches, ThreadPool *pool) {
  constexpr int64_t kBlocksOfThread = 3;
  constexpr int64_t kMostGroups = kAttentionQueries / kAttentionGroup;
  int64_t blocks = (groups + kMostGroups - 1) / kMostGroups;
  int64_t wanted = kBlocksOfThread * (pool ? pool->threads() : 1);
  while (batches * blocks < wanted && 2 * blocks <= groups)
    blocks *= 2;
  return blocks;
}

namespace {
/// What a call is about.
struct Operands {
  Tensor queries;
  Tensor keys;
  Tensor values;
  Tensor mask;
  Tensor sinks;
  Tensor output;

  explicit Operands(const Invocation &call)
      : queries(call.input(0)), keys(call.input(1)), values(call.input(2)),
        mask(call.input(3)), sinks(portable::sinksOf(call)),
        output(call.output()) {}
};
} // namespace

/// Heads that share keys and have one query each become queries of one head, so
/// that keys and values pass by once for all of them.
static void mergeSharingHeads(Operands &operands) {
  int row = operands.queries.rank - 2;
  int head = row - 1;
  if (head < 0 || operands.queries.extents[row] != 1 ||
      operands.queries.extents[head] == 1 || operands.keys.steps[head] != 0 ||
      operands.values.steps[head] != 0)
    return;
  for (Tensor *tensor :
       {&operands.queries, &operands.mask, &operands.sinks, &operands.output}) {
    std::swap(tensor->extents[head], tensor->extents[row]);
    std::swap(tensor->steps[head], tensor->steps[row]);
  }
  for (Tensor *tensor : {&operands.keys, &operands.values})
    tensor->extents[head] = 1;
}

static Operands operandsOf(const Invocation &call) {
  Operands operands(call);
  bool isCausal = call.number(1) != 0;
  if (!isCausal)
    mergeSharingHeads(operands);
  return operands;
}

static bool isFew(const Operands &operands) {
  const Tensor &queries = operands.queries;
  return queries.extents[queries.rank - 2] <= kAttentionFewQueries;
}

/// How many floats a thread needs.
static int64_t floatsOf(const Vectors &vectors, const Operands &operands) {
  const Tensor &queries = operands.queries;
  const Tensor &values = operands.values;
  return vectors.attentionFloats(queries.extents[queries.rank - 1],
                                 values.extents[values.rank - 1],
                                 isFew(operands));
}

static size_t scratchOf(const Vectors &vectors, const Invocation &call) {
  return size_t(floatsOf(vectors, operandsOf(call)) *
                products::threadsOf(call)) *
         sizeof(float);
}

static Error runAttention(const Vectors &vectors, const Invocation &call) {
  Operands operands = operandsOf(call);
  const Tensor &queries = operands.queries;
  int row = queries.rank - 2;
  int column = queries.rank - 1;
  int64_t numQueries = queries.extents[row];
  int64_t batches = 1;
  for (int axis = 0; axis != row; ++axis)
    batches *= queries.extents[axis];
  int64_t groups = (numQueries + kAttentionGroup - 1) / kAttentionGroup;
  int64_t blocks = blocksOf(groups, batches, call.pool);
  int64_t floats = floatsOf(vectors, operands);
  products::forEachChunk(
      call, batches * blocks, [&](int64_t chunk, int thread) {
        int64_t block = chunk % blocks;
        int64_t first = groups * block / blocks * kAttentionGroup;
        int64_t last = groups * (block + 1) / blocks * kAttentionGroup;
        last = std::min(last, numQueries);
        auto rowsOf = [&](const Tensor &tensor, int64_t skipped) -> Rows {
          int64_t offset = skipped * tensor.steps[row];
          int64_t batch = chunk / blocks;
          for (int axis = row - 1; axis >= 0; --axis) {
            offset += batch % queries.extents[axis] * tensor.steps[axis];
            batch /= queries.extents[axis];
          }
          return {tensor.as<char>() + offset * int64_t(byteSize(tensor.type)),
                  tensor.steps[column], tensor.steps[row], tensor.type};
        };
        const Tensor &mask = operands.mask;
        Rows sinks = {};
        if (operands.sinks.data) {
          sinks = rowsOf(operands.sinks, first);
          sinks.step = sinks.rowStep;
        }
        vectors.attend(
            {.queries = rowsOf(queries, first),
             .keys = rowsOf(operands.keys, 0),
             .values = rowsOf(operands.values, 0),
             .mask = mask.data ? rowsOf(mask, first) : Rows{},
             .sinks = sinks,
             .output = rowsOf(operands.output, first),
             .numQueries = last - first,
             .firstQuery = first,
             .numKeys = operands.keys.extents[row],
             .depth = queries.extents[column],
             .width = operands.output.extents[column],
             .scale = std::bit_cast<double>(call.number(0)),
             .isCausal = call.number(1) != 0,
             .unseeingGivesZeros = call.number(2) != 0,
             .isFew = isFew(operands),
             .memory = static_cast<float *>(call.scratch) + thread * floats});
      });
  return Error::success();
}
CORTEN_VARIANTS_WITH_SCRATCH(Attention, acceptsAttention, runAttention,
                             scratchOf)
CORTEN_VARIANTS_WITH_SCRATCH(AttentionWithSinks, acceptsAttention, runAttention,
                             scratchOf)
