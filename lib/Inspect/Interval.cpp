// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interval.h"

#include "Constants.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace corten;
using namespace mlir;

double Interval::magnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

Interval Interval::hull(const Interval &other) const {
  return {std::min(low, other.low), std::max(high, other.high)};
}

/// Infinity less itself, or times zero, says nothing.
static Interval known(double low, double high) {
  Interval everything;
  return {std::isnan(low) ? everything.low : low,
          std::isnan(high) ? everything.high : high};
}

static Interval product(const Interval &a, const Interval &b) {
  double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low,
                      a.high * b.high};
  // A bound of zero times no bound at all is zero.
  for (double &corner : corners)
    corner = std::isnan(corner) ? 0 : corner;
  auto [low, high] =
      std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high};
}

static bool movesOnly(Operation *op) {
  return isa_and_nonnull<coreai::ReshapeOp, coreai::TransposeOp,
                         coreai::ExpandDimsOp, coreai::ShrinkDimsOp,
                         coreai::BroadcastToOp, coreai::BroadcastInDimsOp,
                         coreai::SliceOp, coreai::ReverseOp, coreai::TileOp>(
      op);
}

Value corten::beforeMovement(Value value) {
  while (movesOnly(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool corten::isLessItsMaximum(Operation *op) {
  if (!isa<coreai::SubOp, coreai::BroadcastingSubOp>(op))
    return false;
  auto maximum =
      beforeMovement(op->getOperand(1)).getDefiningOp<coreai::ReduceMaxOp>();
  return maximum && beforeMovement(maximum.getInput()) ==
                        beforeMovement(op->getOperand(0));
}

/// All elements of a constant of floating-point numbers or integers.
static std::optional<Interval> constantInterval(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.empty())
    return std::nullopt;
  // Bounds come from small constants; a weight is not worth reading.
  constexpr int64_t kLargest = 4096;
  if (!elements.isSplat() && elements.getNumElements() > kLargest)
    return std::nullopt;
  Interval interval{std::numeric_limits<double>::infinity(),
                    -std::numeric_limits<double>::infinity()};
  auto include = [&](double number) {
    interval = interval.hull({number, number});
  };
  Type type = elements.getElementType();
  if (isa<FloatType>(type)) {
    for (const APFloat &number : elements.getValues<APFloat>())
      include(number.convertToDouble());
  } else if (auto integer = dyn_cast<IntegerType>(type)) {
    for (const APInt &number : elements.getValues<APInt>())
      include(integer.isSigned() ? number.signedRoundToDouble()
                                 : number.roundToDouble());
  } else {
    return std::nullopt;
  }
  return interval;
}

Value corten::squaredValue(Operation *op) {
  if (isa<coreai::MulOp, coreai::BroadcastingMulOp>(op) &&
      op->getOperand(0) == op->getOperand(1))
    return op->getOperand(0);
  if (isa<coreai::PowOp, coreai::BroadcastingPowOp>(op)) {
    std::optional<Interval> power = constantInterval(op->getOperand(1));
    if (power && power->low == 2 && power->high == 2)
      return op->getOperand(0);
  }
  return {};
}

Interval IntervalAnalysis::of(Value value, unsigned depth) {
  constexpr unsigned kMaxDepth = 32;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || depth > kMaxDepth)
    return {};
  Interval interval;
  if (std::optional<Interval> constant = constantInterval(value))
    interval = *constant;
  else
    interval = compute(op, depth + 1);
  known[value] = interval;
  return interval;
}

Interval IntervalAnalysis::compute(Operation *op, unsigned depth) {
  auto operand = [&](unsigned i) { return of(op->getOperand(i), depth); };
  if (movesOnly(op))
    return operand(0);
  if (isLessItsMaximum(op))
    return {Interval().low, 0};
  if (Value root = squaredValue(op)) {
    double magnitude = of(root, depth).magnitude();
    return {0, magnitude * magnitude};
  }
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case<coreai::ReduceMaxOp, coreai::ReduceMinOp, coreai::ReduceMeanOp>(
          [&](Operation *) { return operand(0); })
      .Case<coreai::CastOp>([&](Operation *) {
        return getElementTypeOrSelf(op->getOperand(0).getType())
                       .isSignlessInteger(1)
                   ? Interval{0, 1}
                   : operand(0);
      })
      .Case<coreai::SigmoidOp, coreai::SoftmaxOp>(
          [](Operation *) { return Interval{0, 1}; })
      .Case<coreai::TanhOp, coreai::SinOp, coreai::CosOp, coreai::ErfOp>(
          [](Operation *) { return Interval{-1, 1}; })
      .Case<coreai::ExpOp>([&](Operation *) {
        Interval x = operand(0);
        return Interval{std::exp(x.low), std::exp(x.high)};
      })
      .Case<coreai::ReluOp>([&](Operation *) {
        Interval x = operand(0);
        return Interval{std::max(0.0, x.low), std::max(0.0, x.high)};
      })
      .Case<coreai::AbsOp>(
          [&](Operation *) { return Interval{0, operand(0).magnitude()}; })
      .Case<coreai::SqrtOp, coreai::RsqrtOp>(
          [](Operation *) { return Interval::nonNegative(); })
      .Case<coreai::MinimumOp, coreai::BroadcastingMinimumOp>([&](Operation *) {
        Interval x = operand(0), y = operand(1);
        return Interval{std::min(x.low, y.low), std::min(x.high, y.high)};
      })
      .Case<coreai::MaximumOp, coreai::BroadcastingMaximumOp>([&](Operation *) {
        Interval x = operand(0), y = operand(1);
        return Interval{std::max(x.low, y.low), std::max(x.high, y.high)};
      })
      .Case<coreai::AddOp, coreai::BroadcastingAddOp>([&](Operation *) {
        Interval x = operand(0), y = operand(1);
        return ::known(x.low + y.low, x.high + y.high);
      })
      .Case<coreai::SubOp, coreai::BroadcastingSubOp>([&](Operation *) {
        Interval x = operand(0), y = operand(1);
        return ::known(x.low - y.high, x.high - y.low);
      })
      .Case<coreai::MulOp, coreai::BroadcastingMulOp>(
          [&](Operation *) { return product(operand(0), operand(1)); })
      .Case<coreai::WhereOp, coreai::BroadcastingWhereOp>(
          [&](Operation *) { return operand(1).hull(operand(2)); })
      .Default([](Operation *) { return Interval(); });
}
