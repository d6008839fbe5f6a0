// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What combines or orders elements along axes.

#include "../Lowerings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using namespace mlir;

LogicalResult corten::lowerReduction(Operation *op, Planner &planner) {
  StringRef name = kindOf(op);
  std::string kernel = name == "all" ? "ReduceAll"
                       : name == "any"
                           ? "ReduceAny"
                           : llvm::convertToCamelFromSnakeCase(name, true);
  const Form &input = planner.form(op->getOperand(0));
  auto axes = planner.axes(op->getOperand(1), input.rank());
  if (!axes)
    return cannotRun(op) << "the axes are not known";
  KernelCall call;
  call.kernel = kernel;
  call.inputs = {input};
  call.extents = input.extents;
  call.element = input.element;
  for (int64_t axis : *axes)
    call.extents[axis] = planner.sizes.number(1);
  planner.setForm(op->getResult(0), planner.kernel(call));
  return success();
}

/// A kernel along one axis, which is its first number.
static LogicalResult lowerAlongAxis(Operation *op, Planner &planner,
                                    StringRef kernel, Value axis,
                                    ArrayRef<Size> numbers, Type element,
                                    bool keepsOne = false) {
  const Form &input = planner.form(op->getOperand(0));
  auto along = planner.axis(axis, input.rank());
  if (!along)
    return cannotRun(op) << "the axis is not known";
  KernelCall call;
  call.kernel = kernel;
  call.inputs = {input};
  call.numbers.push_back(planner.sizes.number(*along));
  call.numbers.append(numbers.begin(), numbers.end());
  call.extents = input.extents;
  call.element = element;
  if (keepsOne)
    call.extents[*along] = planner.sizes.number(1);
  else if (auto order = denseOrder(planner.sizes, input))
    call.order = *order;
  planner.setForm(op->getResult(0), planner.kernel(call));
  return success();
}

LogicalResult corten::lowerArgmax(coreai::ArgmaxOp op, Planner &planner) {
  return lowerAlongAxis(op, planner, "Argmax", op.getAxis(), {},
                        resultElement(op), /*keepsOne=*/true);
}

LogicalResult corten::lowerSoftmax(coreai::SoftmaxOp op, Planner &planner) {
  return lowerAlongAxis(op, planner, "Softmax", op.getAxis(), {},
                        resultElement(op));
}

LogicalResult corten::lowerScan(coreai::ScanOp op, Planner &planner) {
  static constexpr StringRef kKernels[] = {"ScanSum", "ScanProduct", "ScanMin",
                                           "ScanMax"};
  return lowerAlongAxis(op, planner, kKernels[unsigned(op.getScanOp())],
                        op.getAxis(), planner.numbers(op.getReverse()),
                        resultElement(op));
}

/// The axis that a slice takes the first elements of; nothing if it takes
/// others, or from several axes.
static std::optional<unsigned> axisOfFirst(const Form &part, const Form &all) {
  if (part.base != all.base || part.offset != all.offset ||
      part.strides != all.strides)
    return std::nullopt;
  std::optional<unsigned> axis;
  for (unsigned i = 0; i != all.rank(); ++i) {
    if (part.extents[i] == all.extents[i])
      continue;
    if (axis)
      return std::nullopt;
    axis = i;
  }
  return axis;
}

// Values and places are made by the same kernel, of which there is one if both
// are wanted: what is there twice goes.
std::optional<Form> corten::firstOfSorted(coreai::SliceOp op, const Form &part,
                                          Planner &planner) {
  Value sorted = op.getInput();
  Operation *sort = sorted.getDefiningOp();
  if (!isa_and_present<coreai::SortOp, coreai::ArgsortOp>(sort) ||
      !sorted.hasOneUse())
    return std::nullopt;
  bool isPlaces = isa<coreai::ArgsortOp>(sort);
  Value input = sort->getOperand(0);
  Value dim = isPlaces ? cast<coreai::ArgsortOp>(sort).getDim()
                       : cast<coreai::SortOp>(sort).getDim();
  Value descending = isPlaces ? cast<coreai::ArgsortOp>(sort).getDescending()
                              : cast<coreai::SortOp>(sort).getDescending();
  const Form &from = planner.form(input);
  std::optional<int64_t> axis = planner.axis(dim, from.rank());
  // What is constant is better sorted when the plan is loaded.
  if (!axis || planner.isConstant(from) ||
      axisOfFirst(part, planner.form(sorted)) != unsigned(*axis))
    return std::nullopt;
  SeveralResults call;
  call.kernel = "TopK";
  call.inputs = {from};
  call.numbers = {planner.sizes.number(*axis),
                  planner.numbers(descending).front()};
  call.extents = {part.extents, part.extents};
  call.elements = {from.element,
                   IntegerType::get(op.getContext(), 32, IntegerType::Signed)};
  return planner.kernel(call)[isPlaces];
}

LogicalResult corten::lowerSort(coreai::SortOp op, Planner &planner) {
  return lowerAlongAxis(op, planner, "Sort", op.getDim(),
                        planner.numbers(op.getDescending()), resultElement(op));
}

LogicalResult corten::lowerArgsort(coreai::ArgsortOp op, Planner &planner) {
  return lowerAlongAxis(op, planner, "Argsort", op.getDim(),
                        planner.numbers(op.getDescending()), resultElement(op));
}
