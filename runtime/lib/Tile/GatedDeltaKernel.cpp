// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear attention with a gated delta rule, some columns of the state of one
// head at a time.

#include "../Portable/Portable.h"
#include "../Vector/Variants.h"
#include "Nest.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::tile;

static bool acceptsGatedDelta(const Invocation &call) {
  auto isFloat = [](const Tensor &tensor) {
    return tileLane(tensor.type) == TileLane::F;
  };
  return !portable::checkGatedDelta(call) &&
         call.input(0).extents[3] <= kGatedDeltaDepth &&
         call.input(0).extents[3] > 0 &&
         std::ranges::all_of(call.inputs, isFloat) &&
         std::ranges::all_of(call.outputs, isFloat);
}

/// From an element on, `offset` elements behind the first.
static Rows rowsAt(const Tensor &tensor, int64_t offset, int rowAxis,
                   int64_t step) {
  return {tensor.as<char>() + offset * int64_t(byteSize(tensor.type)), step,
          tensor.steps[rowAxis], tensor.type};
}

static Error runGatedDelta(const Vectors &vectors, const Invocation &call) {
  const Tensor &values = call.input(2);
  const Tensor &output = call.output(0);
  int64_t heads = values.extents[1];
  int64_t width = values.extents[3];
  int64_t strips = (width + kGatedDeltaColumns - 1) / kGatedDeltaColumns;
  int64_t shared = heads / std::max<int64_t>(call.input(0).extents[1], 1);
  runChunks(call.pool, values.extents[0] * heads * strips, [&](int64_t chunk) {
    int64_t first = chunk % strips * kGatedDeltaColumns;
    int64_t head = chunk / strips % heads;
    int64_t batch = chunk / strips / heads;
    // Rows of a head: steps, or elements of keys.
    auto rowsOf = [&](const Tensor &tensor, int64_t of) {
      return rowsAt(tensor, batch * tensor.steps[0] + of * tensor.steps[1], 2,
                    tensor.steps[3]);
    };
    auto columnsOf = [&](const Tensor &tensor) {
      return rowsAt(tensor,
                    batch * tensor.steps[0] + head * tensor.steps[1] +
                        first * tensor.steps[3],
                    2, tensor.steps[3]);
    };
    auto numbersOf = [&](const Tensor &tensor) {
      return rowsAt(tensor, batch * tensor.steps[0] + head * tensor.steps[1], 2,
                    1);
    };
    vectors.recur(
        {.queries = rowsOf(call.input(0), head / shared),
         .keys = rowsOf(call.input(1), head / shared),
         .values = columnsOf(values),
         .decays = numbersOf(call.input(3)),
         .strengths = numbersOf(call.input(4)),
         .before = columnsOf(call.input(5)),
         .output = rowsAt(output,
                          batch * output.steps[0] + head * output.steps[2] +
                              first * output.steps[3],
                          1, output.steps[3]),
         .after = columnsOf(call.output(1)),
         .length = values.extents[2],
         .depth = call.input(0).extents[3],
         .columns = std::min(kGatedDeltaColumns, width - first),
         .isNormalized = call.number(0) != 0});
  });
  return Error::success();
}
CORTEN_VARIANTS(GatedDelta, acceptsGatedDelta, runGatedDelta, nullptr)
