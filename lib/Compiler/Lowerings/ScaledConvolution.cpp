// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions whose channels are scaled and moved by constants, as a
// normalization of batches does it:
//
//   ((convolution - mean) / deviation) * weight + bias
//
// The scale goes into the weights, when the plan is loaded; what is left to do
// for each element is one addition.

#include "../Lowerings.h"
#include "../Patterns.h"

#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using namespace mlir;

namespace {
/// One operation with a number for each channel.
struct ChannelStep {
  StringRef kind;
  /// A vector.
  Form numbers;
};
} // namespace

static bool isScaling(StringRef kind) {
  return kind == "mul" || kind == "divide";
}

/// A constant that has a number for each channel, or one for all, as a vector.
static std::optional<Form> channelNumbers(Planner &planner, Value value,
                                          unsigned rank, Size channels) {
  Form form = planner.form(value);
  if (!planner.isConstant(form) || form.rank() > rank || !form.element.isF32())
    return std::nullopt;
  SmallVector<int64_t> others;
  bool hasChannels = false;
  for (unsigned axis = 0; axis != form.rank(); ++axis) {
    bool isChannel = axis + rank - form.rank() == 1;
    hasChannels |= isChannel;
    if (isChannel && form.extents[axis] == channels)
      continue;
    if (!isKnown(form.extents[axis], 1))
      return std::nullopt;
    if (!isChannel)
      others.push_back(axis);
  }
  form = withoutAxes(form, others);
  if (!hasChannels)
    form = withUnitAxes(planner.sizes, form, 0);
  return broadcast(planner.sizes, form, channels);
}

/// The operand that a step is applied to, and the step.
static std::optional<std::pair<Value, ChannelStep>>
matchStep(Operation *op, Planner &planner) {
  StringRef kind = kindOf(op);
  bool isSymmetric = kind == "add" || kind == "mul";
  if (!isSymmetric && kind != "sub" && kind != "divide")
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  for (unsigned side : {0, 1}) {
    if (side == 1 && !isSymmetric)
      break;
    Value operand = op->getOperand(side);
    const Form &form = planner.form(operand);
    if (!type || operand.getType() != type || type.getRank() < 3)
      continue;
    if (auto numbers = channelNumbers(planner, op->getOperand(1 - side),
                                      form.rank(), form.extents[1]))
      return std::pair(operand, ChannelStep{kind, *numbers});
  }
  return std::nullopt;
}

/// The steps after a convolution up to `op`, in their order, and it.
static Operation *matchSteps(Operation *op, Planner &planner,
                             SmallVector<ChannelStep> &steps) {
  while (auto step = matchStep(op, planner)) {
    steps.insert(steps.begin(), step->second);
    op = step->first.getDefiningOp();
    if (!op || !step->first.hasOneUse())
      return nullptr;
  }
  StringRef kind = kindOf(op);
  if (steps.empty() || (kind != "conv2d" && kind != "conv3d"))
    return nullptr;
  const Form &weight = planner.form(op->getOperand(1));
  // Codes cannot be scaled.
  return weight.element.isF32() && planner.isConstant(weight) &&
                 !readsCodes(op, planner)
             ? op
             : nullptr;
}

bool corten::lowerScaledConvolution(Operation *op, Planner &planner) {
  SmallVector<ChannelStep> steps;
  Operation *convolution = matchSteps(op, planner, steps);
  if (!convolution || llvm::none_of(steps, [](const ChannelStep &step) {
        return isScaling(step.kind);
      }))
    return false;
  Sizes &sizes = planner.sizes;
  Form weight = planner.form(convolution->getOperand(1));
  Size channels = weight.extents.front();
  Type element = weight.element;
  auto compute = [&](StringRef opcode, ArrayRef<Form> inputs) {
    return planner.tile(inputs, element, [&](OpBuilder &b, ValueRange in) {
      return plan::LaneOp::create(b, op->getLoc(), laneType(element), opcode,
                                  in)
          .getResult();
    });
  };
  Form scale = planner.filled(planner.scalarOf(element, 1), channels);
  Form shift = planner.filled(planner.scalarOf(element, 0), channels);
  for (const ChannelStep &step : steps) {
    StringRef opcode = llvm::StringSwitch<StringRef>(step.kind)
                           .Case("add", "Add")
                           .Case("sub", "Sub")
                           .Case("mul", "Mul")
                           .Default("Divide");
    shift = compute(opcode, {shift, step.numbers});
    if (isScaling(step.kind))
      scale = compute(opcode, {scale, step.numbers});
  }
  auto along = [&](const Form &numbers, unsigned axis, ArrayRef<Size> extents) {
    SmallVector<int64_t> others;
    for (unsigned i = 0; i != extents.size(); ++i)
      if (i != axis)
        others.push_back(i);
    return broadcast(sizes, withUnitAxes(sizes, numbers, others), extents);
  };
  Form scaled = compute("Mul", {weight, along(scale, 0, weight.extents)});
  FailureOr<Form> result = convolved(convolution, planner, scaled);
  if (failed(result))
    return false;
  planner.setForm(op->getResult(0),
                  compute("Add", {*result, along(shift, 1, result->extents)}));
  return true;
}
