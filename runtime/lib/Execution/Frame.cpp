// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds frames.

#include "Frame.h"

#include "../Portable/Scratch.h"
#include "Arithmetic.h"
#include "Engine.h"
#include "Guards.h"
#include "Layout.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// More bytes than any machine has, and few enough to be added up.
static constexpr int64_t kMaxBytes = int64_t(1) << 48;

/// Memory that has no bytes still is somewhere: a tensor without memory is one
/// that is not there.
alignas(kMemoryAlignment) static char nowhere[kMemoryAlignment];

Frame::Frame(Engine &engine, const Block &block)
    : block(block), engine(engine), keyValues(block.keySize()),
      symbols(block.symbols.size()), sizes(block.sizes.size()),
      values(block.values.size()), byteOffsets(block.values.size()),
      slots(block.slots.size()), numbers(block.numbers.size()),
      bytes(block.buffers.size()), bases(block.buffers.size(), nowhere),
      memories(block.buffers.size()), sources(block.buffers.size(), kOwn),
      variants(block.steps.size()), scratchBytes(block.steps.size()),
      offsets(block.buffers.size() + block.steps.size()),
      stages(block.numStages()), groups(block), estimates(block.steps.size()),
      controls(size_t(block.numControls)) {
  for (size_t i = 0; i != block.buffers.size(); ++i) {
    const Buffer &buffer = block.buffers[i];
    if (buffer.storage == plan::Storage::Input)
      sources[i] = Source(buffer.index);
    if (buffer.storage != plan::Storage::Constant)
      continue;
    const ConstantMemory &constant = engine.constants[size_t(buffer.index)];
    sources[i] = kPermanent;
    bytes[i] = int64_t(constant.bytes);
    if (constant.data)
      bases[i] = const_cast<void *>(constant.data);
  }
  if (engine.check)
    guards = std::make_unique<Guards>(*this);
}

Frame::~Frame() { release(); }

bool Frame::isFor(std::span<const int64_t> key) const {
  return isBuilt && std::ranges::equal(keyValues, key);
}

Error Frame::build(std::span<const int64_t> key) {
  isBuilt = false;
  std::ranges::copy(key, keyValues.begin());
  for (size_t i = 0; i != key.size(); ++i)
    symbols[size_t(block.symbolsOfStage[0][i])] = key[i];
  for (Stage &stage : stages)
    stage.isLaidOut = false;
  if (Error error = layOut(0))
    return error;
  isBuilt = true;
  return Error::success();
}

Error Frame::layOut(size_t stage) {
  for (size_t later = stage; later != stages.size(); ++later)
    stages[later].isLaidOut = false;
  if (Error error = evaluateSizes(stage))
    return error;
  if (Error error = checkAssertions(stage))
    return error;
  if (Error error = fillValues(stage))
    return error;
  if (Error error = measureBuffers(stage))
    return error;
  for (int32_t value : block.valuesOfStage[stage])
    if (Error error = checkInside(size_t(value)))
      return error;
  if (Error error = fillSteps(stage))
    return error;
  findGroups(stage);
  if (Error error = placeBuffers(stage))
    return error;
  stages[stage].isLaidOut = true;
  return guards ? guards->checkLayout() : Error::success();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

Error Frame::evaluateSizes(size_t stage) {
  for (int32_t index : block.sizesOfStage[stage]) {
    const plan::Size &size = block.sizes[size_t(index)];
    int64_t &result = sizes[size_t(index)];
    bool failed = false;
    auto left = [&] { return sizes[size_t(size.left())]; };
    auto right = [&] { return sizes[size_t(size.right())]; };
    auto divides = [&] {
      // The second is the one quotient that is out of range.
      failed = right() == 0 || (left() == INT64_MIN && right() == -1);
      return !failed;
    };
    switch (size.kind()) {
    case plan::SizeKind::Constant:
      result = size.value();
      break;
    case plan::SizeKind::Symbol:
      result = symbols[size_t(size.value())];
      break;
    case plan::SizeKind::Add:
      failed = __builtin_add_overflow(left(), right(), &result);
      break;
    case plan::SizeKind::Sub:
      failed = __builtin_sub_overflow(left(), right(), &result);
      break;
    case plan::SizeKind::Mul:
      failed = __builtin_mul_overflow(left(), right(), &result);
      break;
    case plan::SizeKind::FloorDivide:
      if (divides())
        result = floorDivide(left(), right());
      break;
    case plan::SizeKind::Modulo:
      if (divides())
        result = left() - floorDivide(left(), right()) * right();
      break;
    case plan::SizeKind::Maximum:
      result = std::max(left(), right());
      break;
    case plan::SizeKind::Minimum:
      result = std::min(left(), right());
      break;
    case plan::SizeKind::Equal:
      result = left() == right();
      break;
    case plan::SizeKind::Less:
      result = left() < right();
      break;
    case plan::SizeKind::Select:
      result = sizes[size_t(size.value())] != 0 ? left() : right();
      break;
    }
    if (failed)
      return Error("a size cannot be computed for these inputs: " +
                   std::to_string(left()) + " and " + std::to_string(right()) +
                   " give a number that is out of range");
  }
  return Error::success();
}

Error Frame::checkAssertions(size_t stage) const {
  for (int32_t index : block.stepsOfStage[stage]) {
    const Step &step = block.steps[size_t(index)];
    if (!step.assertsSize())
      continue;
    auto operand = [&](size_t place) {
      return sizes[size_t(block.numbers[step.numbers.first + place])];
    };
    if (operand(0) == 0)
      return explain(size_t(index), failedAssertion(step, operand));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Error Frame::fillValues(size_t stage) {
  for (int32_t value : block.valuesOfStage[stage])
    if (Error error = fillValue(size_t(value)))
      return error;
  return Error::success();
}

Error Frame::fillValue(size_t index) {
  const Value &value = block.values[index];
  Tensor &tensor = values[index];
  tensor.type = value.type;
  tensor.rank = value.rank;
  const int32_t *from = block.valueSizes.data() + value.sizes;
  int64_t count = 1;
  bool isEmpty = false;
  for (int axis = value.rank; axis-- > 0;) {
    int64_t extent = sizes[size_t(from[axis])];
    tensor.extents[size_t(axis)] = extent;
    tensor.steps[size_t(axis)] =
        value.hasStrides ? sizes[size_t(from[value.rank + axis])] : count;
    isEmpty |= extent == 0;
    if (extent < 0 ||
        (extent != 0 && __builtin_mul_overflow(count, extent, &count)))
      return Error("a tensor would have an extent of " +
                   std::to_string(extent));
  }
  if (!isEmpty && count > engine.options.elementLimit)
    return Error("a tensor would have " + std::to_string(count) +
                 " elements; the limit is " +
                 std::to_string(engine.options.elementLimit));
  int64_t offset = value.offset == -1 ? 0 : sizes[size_t(value.offset)];
  if (isEmpty)
    offset = 0;
  if (__builtin_mul_overflow(offset, int64_t(byteSize(value.type)),
                             &byteOffsets[index]))
    return Error("a tensor would begin outside of its memory");
  return Error::success();
}

std::optional<std::pair<int64_t, int64_t>>
execution::hullOf(const Tensor &tensor) {
  int64_t before = 0;
  int64_t after = 0;
  bool failed = false;
  for (int axis = 0; axis != tensor.rank; ++axis) {
    int64_t extent = tensor.extents[size_t(axis)];
    if (extent == 0)
      return std::pair<int64_t, int64_t>(0, 0);
    int64_t reach = 0;
    failed |=
        __builtin_mul_overflow(extent - 1, tensor.steps[size_t(axis)], &reach);
    int64_t &end = reach < 0 ? before : after;
    failed |= __builtin_add_overflow(end, reach, &end);
  }
  auto width = int64_t(byteSize(tensor.type));
  failed |= __builtin_mul_overflow(before, width, &before);
  failed |= __builtin_add_overflow(after, 1, &after);
  failed |= __builtin_mul_overflow(after, width, &after);
  if (failed)
    return std::nullopt;
  return std::pair(before, after);
}

Error Frame::measureBuffers(size_t stage) {
  // Memory that is given is as large as what it is given for.
  auto measure = [&](size_t buffer, size_t value) {
    auto hull = hullOf(values[value]);
    if (!hull || hull->first < 0 || hull->second > kMaxBytes)
      return Error("a tensor would begin before its memory does");
    bytes[buffer] = hull->second;
    return Error::success();
  };
  if (stage == 0)
    for (int32_t input : block.inputs)
      if (Error error = measure(size_t(block.values[size_t(input)].buffer),
                                size_t(input)))
        return error;
  for (int32_t index : block.buffersOfStage[stage]) {
    const Buffer &buffer = block.buffers[size_t(index)];
    if (buffer.definition != -1) {
      if (Error error = measure(size_t(index), size_t(buffer.definition)))
        return error;
      continue;
    }
    int64_t size = sizes[size_t(buffer.bytes)];
    if (size < 0 || size > kMaxBytes)
      return Error("a tensor would have " + std::to_string(size) + " bytes");
    bytes[size_t(index)] = size;
  }
  return Error::success();
}

Error Frame::checkInside(size_t index) const {
  auto hull = hullOf(values[index]);
  int64_t begin = 0;
  int64_t end = 0;
  if (hull &&
      !__builtin_add_overflow(byteOffsets[index], hull->first, &begin) &&
      !__builtin_add_overflow(byteOffsets[index], hull->second, &end) &&
      begin >= 0 && end <= bytes[size_t(block.values[index].buffer)])
    return Error::success();
  return Error("the plan is wrong: " + values[index].describe() +
               " reaches out of its memory of " +
               std::to_string(bytes[size_t(block.values[index].buffer)]) +
               " bytes; compile the model again");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether an element stands for many. Where there are none, strides may be
/// anything.
static bool repeats(const Tensor &tensor) {
  bool found = false;
  for (size_t axis = 0; axis != tensor.rank; ++axis) {
    if (tensor.extents[axis] == 0)
      return false;
    found |= tensor.steps[axis] == 0 && tensor.extents[axis] > 1;
  }
  return found;
}

/// Copies what of a tensor is in use.
static void assign(Tensor &to, const Tensor &from) {
  to.data = from.data;
  to.rank = from.rank;
  to.type = from.type;
  for (size_t axis = 0; axis != from.rank; ++axis) {
    to.extents[axis] = from.extents[axis];
    to.steps[axis] = from.steps[axis];
  }
}

Error Frame::fillSteps(size_t stage) {
  for (int32_t value : block.valuesOfStage[stage]) {
    Tensor &tensor = values[size_t(value)];
    tensor.data =
        static_cast<char *>(bases[size_t(block.values[size_t(value)].buffer)]) +
        byteOffsets[size_t(value)];
    for (int32_t slot : block.slotsOfValue[size_t(value)])
      assign(slots[size_t(slot)], tensor);
  }
  for (int32_t index : block.stepsOfStage[stage]) {
    const Step &step = block.steps[size_t(index)];
    for (uint32_t i = step.numbers.first;
         i != step.numbers.first + step.numbers.count; ++i)
      numbers[i] = sizes[size_t(block.numbers[i])];
    if (step.kind != plan::StepKind::Kernel)
      continue;
    // An element that stands for many can be read, but not written.
    if (std::ranges::any_of(step.outputs.of(std::as_const(slots)), repeats))
      return explain(size_t(index),
                     Error("its result repeats elements; compile the model "
                           "again"));
    chooseKernel(size_t(index));
  }
  return Error::success();
}

Invocation Frame::invocationOf(size_t index, ThreadPool *pool) {
  const Step &step = block.steps[index];
  return {inputsOf(step), step.outputs.of(slots), numbersOf(step),
          step.program.get(), pool};
}

void Frame::chooseKernel(size_t index) {
  const Step &step = block.steps[index];
  Invocation invocation = invocationOf(index, engine.pool.get());
  variants[index] = nullptr;
  for (const KernelVariant *variant : engine.variants[size_t(step.kernel)])
    if (variant->accepts(invocation)) {
      variants[index] = variant;
      break;
    }
  measureScratch(index, engine.pool.get());
}

void Frame::measureScratch(size_t index, ThreadPool *pool) {
  Invocation invocation = invocationOf(index, pool);
  const KernelVariant *variant = variants[index];
  if (!variant)
    scratchBytes[index] =
        int64_t(portable::scratchOf(block.steps[index].kernel, invocation));
  else
    scratchBytes[index] =
        variant->scratch ? int64_t(variant->scratch(invocation)) : 0;
}

void Frame::findGroups(size_t stage) {
  int threads = engine.pool->threads();
  if (threads == 1)
    return;
  for (int32_t index : block.stepsOfStage[stage]) {
    const Step &step = block.steps[size_t(index)];
    if (step.canStandBeside)
      estimates[size_t(index)] =
          nanosecondsOf(step, inputsOf(step), step.outputs.of(slots),
                        variants[size_t(index)] != nullptr);
  }
  groups.find(stage, {threads, estimates, slots, byteOffsets});
  // Steps of a group have one thread each.
  for (int32_t index : block.stepsOfStage[stage])
    if (groups.of(size_t(index)) != -1)
      measureScratch(size_t(index), nullptr);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Error Frame::placeBuffers(size_t stage) {
  pieces.clear();
  int64_t margin = guards ? Guards::kMargin : 0;
  auto groupOf = [&](int32_t step) {
    return step < int32_t(block.steps.size()) ? groups.of(size_t(step)) : -1;
  };
  auto add = [&](int32_t id, int32_t first, int32_t last, int64_t size) {
    if (size == 0 && margin == 0)
      return;
    Piece piece = {id, std::max(first, 0), last, size + 2 * margin};
    // What a step of a group needs is there as long as the group.
    piece.groups = {groupOf(piece.first), groupOf(last)};
    if (piece.groups[0] != -1)
      piece.first = groups[size_t(piece.groups[0])].first;
    if (piece.groups[1] != -1)
      piece.last = groups[size_t(piece.groups[1])].end - 1;
    pieces.push_back(piece);
  };
  for (int32_t index : block.buffersOfStage[stage]) {
    const Buffer &buffer = block.buffers[size_t(index)];
    if (buffer.storage == plan::Storage::Arena && buffer.isTouched())
      add(index, buffer.first, buffer.last, bytes[size_t(index)]);
  }
  for (int32_t index : block.stepsOfStage[stage])
    if (int64_t size = scratchBytes[size_t(index)])
      add(int32_t(block.buffers.size()) + index, index, index, size);
  int64_t sum = 0;
  for (const Piece &piece : pieces) {
    sum += std::min(piece.bytes, kMaxBytes + 1);
    if (sum > kMaxBytes)
      return Error("tensors would have more bytes than there can be");
  }
  stages[stage].sizes = placement.place(block, pieces, groups.size(), offsets);
  // Buffers are bound when the memory is there.
  stages[stage].base = nullptr;
  for (const Piece &piece : pieces)
    offsets[size_t(piece.id)] += margin;
  return Error::success();
}

FrameReport Frame::report() const {
  FrameReport report;
  report.numSteps = int64_t(block.steps.size());
  report.numGroups = int64_t(groups.size());
  for (const Stage &stage : stages) {
    if (!stage.isLaidOut)
      continue;
    ++report.numStages;
    report.arenaBytes += stage.sizes.planned;
    report.tensorBytes += stage.sizes.sum;
    report.lowerBound += stage.sizes.lowerBound;
  }
  for (const Control &control : controls)
    for (const FrameReport &child : control.reports) {
      report.arenaBytes += child.arenaBytes;
      report.tensorBytes += child.tensorBytes;
      report.lowerBound += child.lowerBound;
      report.numSteps += child.numSteps;
      report.numStages += child.numStages;
      report.numGroups += child.numGroups;
    }
  return report;
}

void FrameReport::raise(const FrameReport &other) {
  arenaBytes = std::max(arenaBytes, other.arenaBytes);
  tensorBytes = std::max(tensorBytes, other.tensorBytes);
  lowerBound = std::max(lowerBound, other.lowerBound);
  numSteps = std::max(numSteps, other.numSteps);
  numStages = std::max(numStages, other.numStages);
  numGroups = std::max(numGroups, other.numGroups);
}
