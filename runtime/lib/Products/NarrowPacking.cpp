// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in pairs and in quads.

#include "../Portable/Narrow.h"
#include "Common.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Rows that are floats at a time; even.
static constexpr int64_t kRowsAtOnce = 64;

static bool acceptsPairs(const Invocation &call) {
  return !portable::checkPackPairs(call);
}

static Error packPairs(const Vectors &vectors, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank;
  int64_t taps = input.extents[rank - 3];
  int64_t depth = input.extents[rank - 2];
  int64_t columns = input.extents[rank - 1];
  int64_t panels = panelCount(columns);
  if (output.size() == 0)
    return Error::success();
  int64_t panelSize = taps * pairCount(depth) * kPairRow;
  forEachChunk(call, output.size() / panelSize, [&](int64_t chunk, int) {
    int64_t offset = 0;
    int64_t matrix = chunk / panels;
    for (int axis = rank - 3; axis-- > 0;) {
      offset += matrix % input.extents[axis] * input.steps[axis];
      matrix /= input.extents[axis];
    }
    int64_t first = chunk % panels * kPanelWidth;
    int64_t count = std::min(kPanelWidth, columns - first);
    auto *to = output.as<uint16_t>() + chunk * panelSize;
    float rows[kRowsAtOnce * kPanelWidth];
    for (int64_t tap = 0; tap != taps; ++tap) {
      Elements from{static_cast<const char *>(input.data) +
                        (offset + tap * input.steps[rank - 3]) *
                            int64_t(byteSize(input.type)),
                    input.type, input.steps[rank - 2], input.steps[rank - 1]};
      for (int64_t row = 0; row < depth; row += kRowsAtOnce) {
        int64_t here = std::min(kRowsAtOnce, depth - row);
        packPanel(vectors.products, from.from(row, first), here, count, rows);
        vectors.products.dots->pairPanel(rows, here, to);
        to += pairCount(here) * kPairRow;
      }
    }
  });
  return Error::success();
}

CORTEN_VARIANTS(PackPairs, acceptsPairs, packPairs, nullptr)

static bool acceptsQuads(const Invocation &call) {
  return !portable::checkPackQuads(call);
}

/// A panel of floats for each thread.
static int64_t floatsOf(const Invocation &call) {
  return std::max<int64_t>(call.input().extents[0], 1) * kPanelWidth;
}

static Error packQuads(const Vectors &vectors, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int64_t depth = input.extents[0];
  Elements from{input.data, input.type, input.steps[0], input.steps[1]};
  forEachChunk(call, output.extents[0], [&](int64_t panel, int thread) {
    int64_t first = panel * kPanelWidth;
    float *rows = static_cast<float *>(call.scratch) + thread * floatsOf(call);
    packPanel(vectors.products, from.from(0, first), depth,
              std::min(kPanelWidth, input.extents[1] - first), rows);
    vectors.products.dots->quadPanel(
        rows, depth, output.as<uint8_t>() + panel * output.steps[0]);
  });
  return Error::success();
}

static size_t scratchOfQuads(const Vectors &, const Invocation &call) {
  return size_t(floatsOf(call) * threadsOf(call)) * sizeof(float);
}

CORTEN_VARIANTS_WITH_SCRATCH(PackQuads, acceptsQuads, packQuads, scratchOfQuads)
