// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What overflows, narrows or is no number.

#include "Constants.h"
#include "Interval.h"
#include "ProgramChecks.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"

#include <cmath>

using namespace corten;
using namespace mlir;

/// ln 65504.
static constexpr double kLargestHalfExponent = 11.0898;
/// The square root of 65504.
static constexpr double kLargestHalfRoot = 255.9375;

static bool isHalf(Value value) {
  return getElementTypeOrSelf(value.getType()).isF16();
}

/// A composite's body serves where its name is not known; what knows the name
/// computes as it likes.
static bool isInComposite(Operation *op) {
  auto graph = op->getParentOfType<coreai::GraphOp>();
  return graph && graph.getCompositeDecl();
}

static void checkOverflow(Operation *op, IntervalAnalysis &intervals,
                          std::vector<Finding> &findings) {
  if (op->getNumOperands() == 0 || !isHalf(op->getOperand(0)) ||
      isInComposite(op))
    return;
  Value input = op->getOperand(0);
  if (isa<coreai::ExpOp>(op) && intervals.of(input).high > kLargestHalfExponent)
    findings.push_back({CheckId::Float16Exp, placeOf(op), ""});
  if (!isa<coreai::ReduceSumOp, coreai::ReduceMeanOp>(op))
    return;
  Operation *square = beforeMovement(input).getDefiningOp();
  Value root = square ? squaredValue(square) : Value();
  if (root && intervals.of(root).magnitude() > kLargestHalfRoot)
    findings.push_back({CheckId::Float16SquareSum, placeOf(op), ""});
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// What the elements of a constant of floating-point numbers are like.
struct FloatSummary {
  bool hasNaN = false;
  bool hasInfinity = false;
};
} // namespace

/// Of IEEE numbers as wide as `Bits`: those whose exponent is all ones are
/// infinite if the mantissa is zero, else NaN.
template <typename Bits>
static FloatSummary summarizeBits(ArrayRef<char> data, unsigned mantissaBits) {
  FloatSummary summary;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits infinity = (kSign - 1) ^ ((Bits{1} << mantissaBits) - 1);
  for (size_t i = 0; i + sizeof(Bits) <= data.size(); i += sizeof(Bits)) {
    Bits magnitude =
        llvm::support::endian::read<Bits, llvm::endianness::little>(
            data.data() + i) &
        ~kSign;
    summary.hasInfinity |= magnitude == infinity;
    summary.hasNaN |= magnitude > infinity;
  }
  return summary;
}

static FloatSummary summarize(const TensorConstant &constant) {
  if (!constant.data)
    return {};
  Type element = constant.type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (element.isF16())
    return summarizeBits<uint16_t>(*constant.data, 10);
  if (element.isBF16())
    return summarizeBits<uint16_t>(*constant.data, 7);
  if (element.isF32())
    return summarizeBits<uint32_t>(*constant.data, 23);
  if (element.isF64())
    return summarizeBits<uint64_t>(*constant.data, 52);
  return {};
}

/// Where the ends of si32 mean "as far as it goes" rather than themselves.
static bool meansNoLimit(Operation *user) {
  return isa<coreai::SliceOp, coreai::SliceUpdateOp, coreai::MinimumOp,
             coreai::BroadcastingMinimumOp, coreai::MaximumOp,
             coreai::BroadcastingMaximumOp, coreai::GreaterOp,
             coreai::BroadcastingGreaterOp>(user);
}

/// A 64-bit integer that does not fit is narrowed to the end of si32.
static bool isSaturated(const TensorConstant &constant) {
  if (!constant.data || !constant.type.getElementType().isSignedInteger(32) ||
      llvm::all_of(constant.op->getUsers(), meansNoLimit))
    return false;
  for (size_t i = 0; i + 4 <= constant.data->size(); i += 4) {
    auto number =
        llvm::support::endian::read<int32_t, llvm::endianness::little>(
            constant.data->data() + i);
    if (number == std::numeric_limits<int32_t>::max() ||
        number == std::numeric_limits<int32_t>::min())
      return true;
  }
  return false;
}

/// Does `type` hold all of `number` but digits?
static bool holds(Type type, const APFloat &number) {
  if (auto target = dyn_cast<FloatType>(type)) {
    APFloat converted = number;
    bool losesInfo = false;
    converted.convert(target.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                      &losesInfo);
    return converted.isInfinity() == number.isInfinity() &&
           converted.isNaN() == number.isNaN();
  }
  auto target = dyn_cast<IntegerType>(type);
  if (!target || target.getWidth() == 1)
    return true;
  APSInt converted(target.getWidth(), !target.isSigned());
  bool isExact = false;
  return number.convertToInteger(converted, APFloat::rmTowardZero, &isExact) !=
         APFloat::opInvalidOp;
}

static bool holds(Type type, const APSInt &number) {
  if (auto target = dyn_cast<FloatType>(type)) {
    APFloat converted(target.getFloatSemantics());
    return !(converted.convertFromAPInt(number, number.isSigned(),
                                        APFloat::rmNearestTiesToEven) &
             APFloat::opOverflow);
  }
  auto target = dyn_cast<IntegerType>(type);
  if (!target || target.getWidth() == 1)
    return true;
  if (target.isSigned() || target.isSignless())
    return number.isSigned() ? number.getSignificantBits() <= target.getWidth()
                             : number.getActiveBits() < target.getWidth();
  return (!number.isSigned() || number.isNonNegative()) &&
         number.getActiveBits() <= target.getWidth();
}

/// A cast of a constant to a type that cannot hold one of its elements.
static void checkCast(coreai::CastOp cast, std::vector<Finding> &findings) {
  auto op = cast.getInput().getDefiningOp<coreai::ConstantOp>();
  auto dense =
      op ? dyn_cast<DenseElementsAttr>(op.getValue()) : DenseElementsAttr();
  if (!dense || dense.empty())
    return;
  Type target = getElementTypeOrSelf(cast.getType());
  bool fits = true;
  if (isa<FloatType>(dense.getElementType())) {
    fits = llvm::all_of(dense.getValues<APFloat>(), [&](const APFloat &number) {
      return holds(target, number);
    });
  } else if (auto source = dyn_cast<IntegerType>(dense.getElementType())) {
    fits = llvm::all_of(dense.getValues<APInt>(), [&](const APInt &number) {
      return holds(target, APSInt(number, /*isUnsigned=*/!source.isSigned()));
    });
  }
  if (!fits)
    findings.push_back({CheckId::NarrowedConstant, placeOf(cast),
                        "from " + elementTypeName(dense.getElementType()) +
                            " to " + elementTypeName(target)});
}

static void checkConstant(coreai::ConstantOp op,
                          std::vector<Finding> &findings) {
  std::optional<TensorConstant> constant = tensorConstant(op);
  if (!constant)
    return;
  FloatSummary summary = summarize(*constant);
  if (summary.hasNaN)
    findings.push_back({CheckId::NotANumber, placeOf(op), constant->key.str()});
  if (summary.hasInfinity && constant->type.getElementType().isF16())
    findings.push_back(
        {CheckId::Float16Infinite, placeOf(op), constant->key.str()});
  if (isSaturated(*constant))
    findings.push_back({CheckId::NarrowedConstant, placeOf(op),
                        "holds an end of the range of si32"});
}

void corten::checkNumbers(ModuleOp module, std::vector<Finding> &findings) {
  IntervalAnalysis intervals;
  module.walk([&](Operation *op) {
    checkOverflow(op, intervals, findings);
    if (auto constant = dyn_cast<coreai::ConstantOp>(op))
      checkConstant(constant, findings);
    else if (auto cast = dyn_cast<coreai::CastOp>(op))
      checkCast(cast, findings);
  });
}
