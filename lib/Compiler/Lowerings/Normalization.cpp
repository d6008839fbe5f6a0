// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations, however they are written: composites are inlined, and what
// they consist of is what people write by hand.
//
//   distance = x - reduce_mean(x), or x
//   core     = distance * rsqrt(reduce_mean(distance²) + epsilon)
//   result   = core [* weight [+ bias]]
//
// One kernel does it all, and reads its input once. What comes before the last
// of these operations was planned already; nobody uses it then, and it goes.

#include "../Lowerings.h"
#include "../Patterns.h"

#include "mlir/IR/TypeUtilities.h"

#include <bit>

using namespace corten;
using namespace mlir;

namespace {
struct Core {
  Value input;
  /// The first of the axes that are normalized; all after it are, too.
  unsigned firstAxis = 0;
  double epsilon = 0;
  bool isCentered = false;
};

/// What a kernel is called with.
struct Normalization {
  Core core;
  Value input;
  Value weight;
  Value bias;
  /// Groups of channels that are normalized on their own.
  std::optional<Size> groups;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

/// What is squared, if a value is a square.
static Value squared(Value value) {
  if (Operation *mul = definedBy(value, "mul"))
    return mul->getOperand(0) == mul->getOperand(1) ? mul->getOperand(0)
                                                    : Value();
  Operation *pow = definedBy(value, "pow");
  if (!pow || constantNumber(pow->getOperand(1)) != 2.0)
    return nullptr;
  return pow->getOperand(0);
}

/// The first axis of a mean over all axes from there on.
static std::optional<unsigned> firstAxisOfMean(Operation *mean,
                                               Planner &planner) {
  unsigned rank = planner.form(mean->getOperand(0)).rank();
  auto axes = planner.axes(mean->getOperand(1), rank);
  if (!axes || axes->empty())
    return std::nullopt;
  llvm::sort(*axes);
  for (auto [index, axis] : llvm::enumerate(*axes))
    if (axis != int64_t(rank - axes->size() + index))
      return std::nullopt;
  return rank - unsigned(axes->size());
}

/// `root` is what a distance is divided by, or multiplied with.
static std::optional<Core> matchCore(Value distance, Operation *root,
                                     Planner &planner) {
  Operation *sum = root ? definedBy(root->getOperand(0), "add") : nullptr;
  if (!sum)
    return std::nullopt;
  Core core;
  for (unsigned side : {0, 1}) {
    Operation *mean = definedBy(sum->getOperand(side), "reduce_mean");
    std::optional<double> epsilon = constantNumber(sum->getOperand(1 - side));
    if (!mean || !epsilon || squared(mean->getOperand(0)) != distance)
      continue;
    std::optional<unsigned> first = firstAxisOfMean(mean, planner);
    if (!first)
      continue;
    core = {distance, *first, *epsilon};
    Operation *sub = definedBy(distance, "sub");
    Operation *center =
        sub ? definedBy(sub->getOperand(1), "reduce_mean") : nullptr;
    if (center && center->getOperand(0) == sub->getOperand(0) &&
        firstAxisOfMean(center, planner) == first) {
      core.input = sub->getOperand(0);
      core.isCentered = true;
    }
    return core;
  }
  return std::nullopt;
}

static std::optional<Core> matchCore(Value value, Planner &planner) {
  if (Operation *mul = definedBy(value, "mul"))
    for (unsigned side : {0, 1})
      if (auto core =
              matchCore(mul->getOperand(side),
                        definedBy(mul->getOperand(1 - side), "rsqrt"), planner))
        return core;
  if (Operation *divide = definedBy(value, "divide"))
    return matchCore(divide->getOperand(0),
                     definedBy(divide->getOperand(1), "sqrt"), planner);
  return std::nullopt;
}

/// Of groups of channels: normalized in a shape that has them as an axis.
static std::optional<Normalization> matchGroups(coreai::ReshapeOp reshape,
                                                Planner &planner) {
  auto core = matchCore(withoutCasts(reshape.getInput()), planner);
  if (!core || !core->isCentered || core->firstAxis != 2)
    return std::nullopt;
  auto split = withoutCasts(core->input).getDefiningOp<coreai::ReshapeOp>();
  if (!split)
    return std::nullopt;
  const Form &input = planner.form(split.getInput());
  const Form &groups = planner.form(split.getResult());
  if (input.rank() < 3 || input.extents != planner.form(reshape).extents ||
      input.extents[0] != groups.extents[0] || !known(input.extents[1]) ||
      !known(groups.extents[1]) ||
      *known(input.extents[1]) % *known(groups.extents[1]) != 0)
    return std::nullopt;
  Normalization norm;
  norm.core = *core;
  norm.input = split.getInput();
  norm.groups = groups.extents[1];
  return norm;
}

static std::optional<Normalization> matchPlain(Value value, Planner &planner) {
  value = withoutCasts(value);
  if (auto reshape = value.getDefiningOp<coreai::ReshapeOp>())
    return matchGroups(reshape, planner);
  auto core = matchCore(value, planner);
  if (!core)
    return std::nullopt;
  Normalization norm;
  norm.core = *core;
  norm.input = core->input;
  const Form &input = planner.form(core->input);
  // Pixels of each channel, whose axes need not lie together.
  if (core->isCentered && core->firstAxis == 2 && input.rank() > 3)
    norm.groups = input.extents[1];
  return norm;
}

/// With a weight.
static std::optional<Normalization> matchScaled(Operation *mul,
                                                Planner &planner) {
  for (unsigned side : {0, 1}) {
    if (!mul->getOperand(side).hasOneUse())
      continue;
    if (auto norm = matchPlain(mul->getOperand(side), planner)) {
      norm->weight = mul->getOperand(1 - side);
      return norm;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A weight or a bias as the kernel wants it: the axes from `first` to `last`
/// of the input. Nothing if it has others.
static std::optional<Form> parameter(Planner &planner, Value value,
                                     const Form &input, unsigned first,
                                     unsigned last) {
  Form form = planner.form(value);
  if (form.element != input.element || form.rank() > input.rank() ||
      form.rank() < input.rank() - first)
    return std::nullopt;
  unsigned shift = input.rank() - form.rank();
  SmallVector<int64_t> others;
  for (unsigned axis = 0; axis != form.rank(); ++axis) {
    bool isOwn = axis + shift >= first && axis + shift < last;
    if (isOwn && form.extents[axis] != input.extents[axis + shift])
      return std::nullopt;
    if (isOwn)
      continue;
    if (!isKnown(form.extents[axis], 1))
      return std::nullopt;
    others.push_back(axis);
  }
  return withoutAxes(form, others);
}

static bool emitNormalization(Operation *op, Normalization norm,
                              Planner &planner) {
  Sizes &sizes = planner.sizes;
  Type element = resultElement(op);
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return false;
  // Computing in more bits is what the kernel does by itself.
  if (planner.form(norm.input).element != element)
    norm.input = withoutCasts(norm.input);
  Form input = planner.form(norm.input);
  if (input.element != element)
    return false;
  unsigned first = norm.groups ? 1 : norm.core.firstAxis;
  unsigned last = norm.groups ? 2 : input.rank();
  // Several axes have to lie together.
  if (last - first > 1 && !isRowMajor(sizes, input))
    return false;
  KernelCall call;
  call.kernel = norm.groups            ? "GroupNorm"
                : norm.core.isCentered ? "LayerNorm"
                                       : "RmsNorm";
  call.inputs = {input, std::nullopt, std::nullopt};
  const Value parameters[] = {norm.weight, norm.bias};
  for (auto [index, value] : llvm::enumerate(parameters))
    if (value) {
      auto form = parameter(planner, value, input, first, last);
      if (!form)
        return false;
      call.inputs[index + 1] = *form;
    }
  call.numbers = {norm.groups ? *norm.groups : sizes.number(last - first),
                  sizes.number(std::bit_cast<int64_t>(norm.core.epsilon))};
  call.extents = input.extents;
  call.element = element;
  if (auto order = denseOrder(sizes, input))
    call.order = *order;
  planner.setForm(op->getResult(0), planner.kernel(call));
  return true;
}

/// Why an operation that scales by the root of a mean of squares is no
/// normalization, although it could be the end of one; empty if it does not.
static std::string whyNone(Operation *op, Planner &planner) {
  bool isDivision = kindOf(op) == "divide";
  for (unsigned side : {1, 0}) {
    if (side == 0 && isDivision)
      break;
    Operation *root = definedBy(withoutCasts(op->getOperand(side)),
                                isDivision ? "sqrt" : "rsqrt");
    Operation *sum = root ? definedBy(root->getOperand(0), "add") : nullptr;
    for (unsigned place : {0, 1}) {
      Operation *mean =
          sum ? definedBy(sum->getOperand(place), "reduce_mean") : nullptr;
      Value distance = mean ? squared(mean->getOperand(0)) : Value();
      if (!distance)
        continue;
      if (!constantNumber(sum->getOperand(1 - place)))
        return "what is added to its mean of squares is no constant";
      if (distance != op->getOperand(1 - side))
        return "what is scaled is not what the mean of squares is of";
      if (!firstAxisOfMean(mean, planner))
        return "its mean is not over the last axes";
      Type element = resultElement(op);
      if (!element.isF32() && !element.isF16() && !element.isBF16())
        return "its elements are neither f32 nor f16 nor bf16";
      return "its input is of another type, or its axes do not lie together "
             "in memory";
    }
  }
  return {};
}

bool corten::lowerNormalization(Operation *op, Planner &planner) {
  StringRef kind = kindOf(op);
  std::optional<Normalization> norm;
  if (kind == "add") {
    for (unsigned side : {0, 1}) {
      Value scaled = op->getOperand(side);
      if (!scaled.hasOneUse())
        continue;
      Operation *mul = definedBy(withoutCasts(scaled), "mul");
      norm = mul ? matchScaled(mul, planner) : std::nullopt;
      // A weight of ones is gone.
      if (!norm)
        norm = matchPlain(scaled, planner);
      if (!norm)
        continue;
      norm->bias = op->getOperand(1 - side);
      if (emitNormalization(op, *norm, planner))
        return true;
    }
    return false;
  }
  if (kind == "mul") {
    norm = matchPlain(op->getResult(0), planner);
    if (!norm)
      norm = matchScaled(op, planner);
  } else if (kind == "divide") {
    norm = matchPlain(op->getResult(0), planner);
  } else if (kind == "cast") {
    norm = matchPlain(op->getOperand(0), planner);
  }
  if (norm && emitNormalization(op, *norm, planner))
    return true;
  if (kind == "mul" || kind == "divide")
    planner.noteNearMiss(op, "normalization", whyNone(op, planner));
  return false;
}
