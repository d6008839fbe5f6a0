// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Nest.h"

#include <cstdlib>

using namespace corten::runtime;
using namespace corten::runtime::tile;

Nest::Nest(std::span<const Tensor *const> operands)
    : numOperands(int(operands.size())) {
  // The one that repeats least; of those the first.
  const Tensor *chosen = nullptr;
  int most = -1;
  for (const Tensor *operand : operands) {
    int moving = 0;
    for (int axis = 0; axis != operand->rank; ++axis)
      moving += operand->extents[axis] != 1 && operand->steps[axis] != 0;
    if (moving > most)
      chosen = operand;
    most = std::max(most, moving);
  }
  const Tensor &shape = *chosen;
  // Sorted as they are put in; axes of one stride stay in order.
  std::array<int, kMaxRank> order;
  int axes = 0;
  for (int axis = 0; axis != shape.rank; ++axis) {
    if (shape.extents[axis] == 1)
      continue;
    int place = axes++;
    for (; place != 0 && std::abs(shape.steps[order[place - 1]]) <
                             std::abs(shape.steps[axis]);
         --place)
      order[place] = order[place - 1];
    order[place] = axis;
  }
  for (int i = 0; i != axes; ++i) {
    int axis = order[i];
    bool isOne = rank != 0;
    for (int j = 0; isOne && j != numOperands; ++j)
      isOne = steps[rank - 1][j] ==
              operands[j]->steps[axis] * operands[j]->extents[axis];
    if (isOne)
      extents[rank - 1] *= shape.extents[axis];
    else
      extents[rank++] = shape.extents[axis];
    for (int j = 0; j != numOperands; ++j)
      steps[rank - 1][j] = operands[j]->steps[axis];
  }
}

int64_t Nest::size() const {
  int64_t count = 1;
  for (int axis = 0; axis != rank; ++axis)
    count *= extents[axis];
  return count;
}

int64_t tile::chunkSize(int64_t cost) {
  // About ten microseconds: less is lost to handing it out than it can win.
  // Whole tiles, so that only the last one of a row is a short one; elements
  // that cost more than a tile of others do are rows themselves.
  constexpr int64_t kCost = int64_t(512) * kTileSize;
  int64_t elements = std::max<int64_t>(kCost / std::max<int64_t>(cost, 1), 1);
  int64_t tiles = std::min<int64_t>(elements / kTileSize, 128);
  return tiles > 0 ? tiles * kTileSize : elements;
}

Error tile::runProgram(Form form, const Code &code,
                       std::span<const Tensor> inputs,
                       std::span<const Tensor> outputs, ThreadPool *pool) {
  constexpr size_t kMost = kMaxTileRegisters;
  if (outputs.empty() || outputs.size() > kMost || inputs.size() > kMost)
    return Error("a tile program has no outputs, or too many operands");
  std::array<const Tensor *, kMaxOperands> operands;
  std::array<ElementType, kMost> types;
  size_t numOperands = 0;
  for (const Tensor &output : outputs) {
    if (!tileLane(output.type))
      return Error("a tile program cannot write " + output.describe());
    operands[numOperands++] = &output;
  }
  for (size_t i = 0; i != inputs.size(); ++i) {
    types[i] = inputs[i].type;
    operands[numOperands++] = &inputs[i];
  }
  for (size_t i = 1; i != numOperands; ++i)
    if (!std::ranges::equal(operands[i]->shape(), outputs[0].shape()))
      return Error("a tile program: " + operands[i]->describe() +
                   " does not fit " + outputs[0].describe());
  std::array<TileLane, kMost> lanes;
  if (Error error = resolveLanes(code, {types.data(), inputs.size()},
                                 {lanes.data(), outputs.size()}))
    return error;

  Nest nest({operands.data(), numOperands});
  int64_t cost = code.numInstructions + int64_t(numOperands);
  forEachPiece(nest, cost, pool,
               [&](const auto &offsets, int64_t numRows, int64_t count) {
                 std::array<Rows, kMaxOperands> rows;
                 for (size_t i = 0; i != numOperands; ++i) {
                   const Tensor &tensor = *operands[i];
                   rows[i] = {static_cast<char *>(tensor.data) +
                                  offsets[i] * int64_t(byteSize(tensor.type)),
                              nest.rank < 1 ? 0 : nest.steps[nest.rank - 1][i],
                              nest.rank < 2 ? 0 : nest.steps[nest.rank - 2][i],
                              tensor.type};
                 }
                 form({code, rows.data() + outputs.size(), rows.data(),
                       lanes.data(), numRows, count});
               });
  return Error::success();
}
