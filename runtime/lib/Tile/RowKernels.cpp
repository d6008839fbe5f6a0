// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fast forms of softmax and of normalizations. A row is one thread's.

#include "../Portable/Portable.h"
#include "../Vector/Variants.h"
#include "Programs.h"
#include "Reduce.h"

#include <bit>

using namespace corten::runtime;
using namespace corten::runtime::tile;

static char *at(const Tensor &tensor, int64_t offset) {
  return static_cast<char *>(tensor.data) +
         offset * int64_t(byteSize(tensor.type));
}

/// Calls `function` with offsets into two tensors for every row: `count`
/// elements are done with each.
template <typename Function>
static void forEachRow(const Tensor &input, const Tensor &output, int64_t count,
                       ThreadPool *pool, Function &&function) {
  const Tensor *operands[] = {&output, &input};
  Nest nest(operands);
  forEachPiece(nest, std::max<int64_t>(1, count) * 4, pool,
               [&](const auto &offsets, int64_t rows, int64_t columns) {
                 int inner = nest.rank - 1;
                 for (int64_t row = 0; row != rows; ++row)
                   for (int64_t i = 0; i != columns; ++i) {
                     std::array<int64_t, 2> place = {offsets[1], offsets[0]};
                     for (int j = 0; j != 2; ++j) {
                       if (inner >= 0)
                         place[j] += i * nest.steps[inner][1 - j];
                       if (inner >= 1)
                         place[j] += row * nest.steps[inner - 1][1 - j];
                     }
                     function(place[0], place[1]);
                   }
               });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static bool acceptsSoftmax(const Invocation &call) {
  const Tensor &input = call.input();
  return tileLane(input.type) == TileLane::F &&
         input.type == call.output().type &&
         std::ranges::equal(input.shape(), call.output().shape()) &&
         call.number(0) >= 0 && call.number(0) < input.rank;
}

static Error runSoftmax(const Vectors &vectors, const Invocation &call) {
  int axis = int(call.number(0));
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int64_t length = input.extents[axis];
  Tensor from = input;
  Tensor to = output;
  from.extents[axis] = to.extents[axis] = 1;
  // Along the axis if its elements are neighbours, else side by side.
  const Tensor *operands[] = {&to, &from};
  Nest nest(operands);
  int inner = nest.rank - 1;
  if (inner < 0 || input.steps[axis] == 1 || output.steps[axis] == 1) {
    forEachRow(
        from, to, length, call.pool, [&](int64_t source, int64_t target) {
          vectors.softmaxRow(
              {at(input, source), input.steps[axis], 0, input.type},
              {at(output, target), output.steps[axis], 0, output.type}, length);
        });
    return Error::success();
  }
  forEachPiece(
      nest, std::max<int64_t>(1, length) * 8, call.pool,
      [&](const auto &offsets, int64_t rows, int64_t columns) {
        for (int64_t row = 0; row != rows; ++row)
          for (int64_t first = 0; first < columns; first += kTileSize) {
            auto rowsOf = [&](const Tensor &tensor, int operand) -> Rows {
              int64_t offset =
                  offsets[operand] + first * nest.steps[inner][operand];
              if (inner >= 1)
                offset += row * nest.steps[inner - 1][operand];
              return {at(tensor, offset), nest.steps[inner][operand],
                      tensor.steps[axis], tensor.type};
            };
            vectors.softmaxColumns(
                rowsOf(input, 1), rowsOf(output, 0), length,
                std::min<int64_t>(kTileSize, columns - first));
          }
      });
  return Error::success();
}
CORTEN_VARIANTS(Softmax, acceptsSoftmax, runSoftmax, nullptr)

//===----------------------------------------------------------------------===//
// Of the last axes
//===----------------------------------------------------------------------===//

/// How far elements of the last axes are apart, if those are as one.
static std::optional<int64_t> stepOfLast(const Tensor &tensor, int axes) {
  int64_t step = 1;
  int64_t next = 0;
  bool isFirst = true;
  for (int axis = tensor.rank - 1; axis >= tensor.rank - axes; --axis) {
    if (tensor.extents[axis] == 1)
      continue;
    if (isFirst)
      step = tensor.steps[axis];
    else if (tensor.steps[axis] != next)
      return std::nullopt;
    isFirst = false;
    next = tensor.steps[axis] * tensor.extents[axis];
  }
  return step;
}

static bool acceptsNormalization(const Invocation &call) {
  const Tensor &input = call.input();
  int64_t axes = call.number(0);
  if (tileLane(input.type) != TileLane::F || input.type != call.output().type ||
      axes < 1 || axes > input.rank ||
      !std::ranges::equal(input.shape(), call.output().shape()) ||
      !stepOfLast(input, int(axes)) || !stepOfLast(call.output(), int(axes)))
    return false;
  for (size_t i : {1, 2})
    if (call.input(i).data &&
        (call.input(i).type != input.type ||
         !std::ranges::equal(call.input(i).shape(),
                             input.shape().last(size_t(axes))) ||
         !stepOfLast(call.input(i), int(axes))))
      return false;
  return true;
}

template <bool isCentered>
static Error runNormalization(const Vectors &vectors, const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int axes = int(call.number(0));
  Tensor from = input;
  Tensor to = output;
  int64_t count = 1;
  for (int axis = input.rank - axes; axis != input.rank; ++axis) {
    count *= input.extents[axis];
    from.extents[axis] = to.extents[axis] = 1;
  }
  if (count == 0)
    return Error::success();
  auto vector = [&](const Tensor &tensor) -> Rows {
    return {tensor.data, tensor.data ? *stepOfLast(tensor, axes) : 0, 0,
            tensor.type};
  };
  Normalization norm = {vector(call.input(1)), vector(call.input(2)),
                        std::bit_cast<double>(call.number(1)), isCentered};
  int64_t inputStep = *stepOfLast(input, axes);
  int64_t outputStep = *stepOfLast(output, axes);
  forEachRow(from, to, count, call.pool, [&](int64_t source, int64_t target) {
    vectors.normalizeRow(norm, {at(input, source), inputStep, 0, input.type},
                         {at(output, target), outputStep, 0, output.type},
                         count);
  });
  return Error::success();
}
CORTEN_VARIANTS(LayerNorm, acceptsNormalization, runNormalization<true>,
                nullptr)
CORTEN_VARIANTS(RmsNorm, acceptsNormalization, runNormalization<false>, nullptr)

//===----------------------------------------------------------------------===//
// Of groups
//===----------------------------------------------------------------------===//

static bool acceptsGroups(const Invocation &call) {
  const Tensor &input = call.input();
  int64_t groups = call.number(0);
  if (tileLane(input.type) != TileLane::F || input.type != call.output().type ||
      input.rank < 2 || input.rank == kMaxRank || groups < 1 ||
      input.extents[1] % groups != 0 || input.size() == 0 ||
      !std::ranges::equal(input.shape(), call.output().shape()))
    return false;
  for (size_t i : {1, 2})
    if (call.input(i).data &&
        (call.input(i).type != input.type || call.input(i).rank != 1 ||
         call.input(i).extents[0] != input.extents[1]))
      return false;
  return true;
}

/// A mean and a factor for each group of each sample.
static size_t scratchOfGroups(const Invocation &call) {
  return size_t(call.input().extents[0] * call.number(0)) * 2 * sizeof(float);
}

/// With the channels as groups and what is in one.
static Tensor splitChannels(const Tensor &tensor, int64_t groups) {
  Tensor result = tensor;
  result.rank = uint8_t(tensor.rank + 1);
  for (int axis = tensor.rank; axis > 2; --axis) {
    result.extents[axis] = tensor.extents[axis - 1];
    result.steps[axis] = tensor.steps[axis - 1];
  }
  result.extents[1] = groups;
  result.extents[2] = tensor.extents[1] / groups;
  result.steps[1] = tensor.steps[1] * result.extents[2];
  result.steps[2] = tensor.steps[1];
  return result;
}

static Error runGroupNorm(const Vectors &vectors, const Invocation &call) {
  int64_t groups = call.number(0);
  Tensor input = splitChannels(call.input(), groups);
  Tensor output = splitChannels(call.output(), groups);
  int64_t count = call.input().extents[0] * groups;
  // A number for each group, and the same as views of all elements.
  std::array<int64_t, kMaxRank> shape;
  shape.fill(1);
  shape[0] = input.extents[0];
  shape[1] = groups;
  auto *numbers = static_cast<float *>(call.scratch);
  auto small = [&](float *data) {
    return Tensor(ElementType::F32, data, {shape.data(), input.rank});
  };
  auto wide = [&](Tensor tensor) {
    for (int axis = 0; axis != input.rank; ++axis)
      if (tensor.extents[axis] == 1)
        tensor.steps[axis] = 0;
    tensor.extents = input.extents;
    return tensor;
  };
  Tensor mean = small(numbers);
  Tensor factor = small(numbers + count);
  SmallProgram identity(1);
  if (Error error =
          reduceProgram(vectors.reductions, identity.code(), {&input, 1}, mean,
                        ReduceMode::Mean, call.pool))
    return error;
  SmallProgram square(2);
  uint16_t distance = square.add(TileOpcode::Sub, 0, 1);
  square.add(TileOpcode::Mul, distance, distance);
  std::array<Tensor, 5> operands = {input, wide(mean)};
  if (Error error = reduceProgram(vectors.reductions, square.code(),
                                  std::span(operands).first(2), factor,
                                  ReduceMode::Mean, call.pool))
    return error;
  auto epsilon = std::bit_cast<double>(call.number(1));
  for (int64_t i = 0; i != count; ++i)
    numbers[count + i] = float(1 / std::sqrt(numbers[count + i] + epsilon));

  operands[2] = wide(factor);
  size_t numOperands = 3;
  std::array<uint16_t, 2> registers = {};
  for (size_t i : {1, 2}) {
    const Tensor &channels = call.input(i);
    if (!channels.data)
      continue;
    Tensor view = input;
    view.data = channels.data;
    view.steps = {};
    view.steps[1] = channels.steps[0] * input.extents[2];
    view.steps[2] = channels.steps[0];
    registers[i - 1] = uint16_t(numOperands);
    operands[numOperands++] = view;
  }
  auto apply = SmallProgram(int(numOperands));
  distance = apply.add(TileOpcode::Sub, 0, 1);
  apply.add(TileOpcode::Mul, distance, 2);
  if (registers[0])
    apply.add(TileOpcode::Mul, apply.result(), registers[0]);
  if (registers[1])
    apply.add(TileOpcode::Add, apply.result(), registers[1]);
  return runProgram(vectors.runTiles, apply.code(),
                    std::span(operands).first(numOperands), {&output, 1},
                    call.pool);
}
CORTEN_VARIANTS(GroupNorm, acceptsGroups, runGroupNorm, scratchOfGroups)
