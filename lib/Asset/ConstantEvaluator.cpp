// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What coreai-core computes when it saves a program. Which operations of which
// types those are is written down here; Constants/Compute.h computes them.

#include "ConstantEvaluator.h"

#include "corten/Constants/Compute.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Runtime/Kernel.h"
#include "corten/Support/Limits.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <array>
#include <optional>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Sets of types of elements.
enum Kind : unsigned {
  kFloat16 = 1 << 0,
  kFloat32 = 1 << 1,
  kFloat64 = 1 << 2,
  kBool = 1 << 3,
  kSInt8 = 1 << 4,
  kSInt16 = 1 << 5,
  kSInt32 = 1 << 6,
  kSInt64 = 1 << 7,
  kUInt8 = 1 << 8,
  kUInt16 = 1 << 9,
  kUInt32 = 1 << 10,
  kUInt64 = 1 << 11,
  kFloats = kFloat16 | kFloat32 | kFloat64,
  kNumbers = kFloats | kSInt32 | kUInt8 | kUInt16 | kUInt32,
  kCastable =
      kFloats | kBool | kSInt8 | kSInt16 | kSInt32 | kSInt64 | kUInt8 | kUInt32,
  kMovable = kCastable | kUInt16 | kUInt64,
};

/// None of them for a type that coreai-core computes nothing of.
static unsigned kindOf(Type type) {
  if (type.isF16())
    return kFloat16;
  if (type.isF32())
    return kFloat32;
  if (type.isF64())
    return kFloat64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return 0;
  unsigned width = integer.getWidth();
  if (integer.isSignless())
    return width == 1 ? kBool : 0;
  bool isSigned = integer.isSigned();
  switch (width) {
  case 8:
    return isSigned ? kSInt8 : kUInt8;
  case 16:
    return isSigned ? kSInt16 : kUInt16;
  case 32:
    return isSigned ? kSInt32 : kUInt32;
  case 64:
    return isSigned ? kSInt64 : kUInt64;
  default:
    return 0;
  }
}

/// The types of elements for which an op of this name is computed.
static unsigned kindsOf(StringRef name) {
  if (name.consume_front("decomposable.broadcasting_") && name == "modulo")
    return 0;
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"add", "sub", "mul", "divide", "floor_divide", "pow", "maximum",
              "minimum", "equal", "not_equal", "greater"},
             kNumbers)
      .Case("modulo", kNumbers & ~kFloat64)
      .Cases({"and", "or", "xor", "not"}, kBool)
      .Case("where", kFloat16 | kFloat32 | kSInt32 | kSInt64 | kBool)
      .Cases({"abs", "relu"}, kFloats | kSInt32)
      .Cases({"sqrt", "rsqrt", "exp", "log", "sin", "cos", "tan", "sinh",
              "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh",
              "erf"},
             kFloats)
      .Cases({"reshape", "expand_dims", "shrink_dims", "transpose",
              "broadcast_to", "broadcast_in_dims", "slice", "gather_nd",
              "tile"},
             kMovable)
      .Case("concat",
            kFloat16 | kFloat32 | kSInt32 | kSInt64 | kUInt16 | kUInt32 | kBool)
      .Case("range", kFloat16 | kFloat32 | kSInt32 | kSInt64)
      .Default(0);
}

//===----------------------------------------------------------------------===//
// Exceptions
//===----------------------------------------------------------------------===//

/// Whether one of the elements is not a number.
static bool hasNaN(const Elements &elements) {
  SmallVector<char> flags(elements.size());
  runtime::Tensor tensor = elements.tensor();
  std::array<runtime::Tensor, 2> both = {tensor, tensor};
  runtime::Tensor isNumber(runtime::ElementType::Bool, flags.data(),
                           elements.shape());
  runtime::Error error =
      call(runtime::PortableKernel::Equal, {both, {&isNumber, 1}, {}});
  return error || llvm::is_contained(flags, 0);
}

/// Whether coreai-core leaves an op alone that the runtime computes: which of
/// two that are not ordered is the larger one, the quotient that overflows,
/// powers with odd exponents.
static bool isLeftAlone(StringRef name, ArrayRef<Elements> operands) {
  unsigned kind = kindOf(operands.back().type().getElementType());
  if (name == "maximum" || name == "minimum")
    return (kind & kFloats) && llvm::any_of(operands, hasNaN);
  if (kind & kFloats)
    return false;
  if (name == "pow")
    return !llvm::all_of(operands[1].indices(), [](int64_t exponent) {
      return exponent >= 0 && exponent < 64;
    });
  if (name == "divide" || name == "floor_divide" || name == "modulo")
    return kind == kSInt32 && llvm::is_contained(operands[1].indices(), -1) &&
           llvm::is_contained(operands[0].indices(),
                              std::numeric_limits<int32_t>::min());
  return false;
}

/// Whether an op is kept although its operands are constants: weights of a
/// product of matrices keep their form.
static bool isKept(Operation &op) {
  return isa<coreai::TransposeOp>(op) &&
         llvm::any_of(op.getUsers(), [](Operation *user) {
           return isa<coreai::BatchMatmulOp, coreai::BroadcastingBatchMatmulOp>(
               user);
         });
}

/// Whether a conversion to `type` keeps the whole part of every number. If not,
/// coreai-core writes another number than it computes when it runs the op.
static bool fits(DenseElementsAttr elements, IntegerType type) {
  bool isSigned = type.isSigned();
  unsigned width = type.getWidth();
  if (isa<FloatType>(elements.getElementType()))
    return llvm::all_of(
        elements.getValues<APFloat>(), [&](const APFloat &number) {
          APSInt whole(width, !isSigned);
          bool isExact = false;
          return number.convertToInteger(whole, APFloat::rmTowardZero,
                                         &isExact) != APFloat::opInvalidOp;
        });
  bool wasUnsigned = !elements.getElementType().isSignedInteger();
  return llvm::all_of(elements.getValues<APInt>(), [&](const APInt &bits) {
    APSInt number(bits, wasUnsigned);
    return APSInt::compareValues(number,
                                 APSInt::getMinValue(width, !isSigned)) >= 0 &&
           APSInt::compareValues(number,
                                 APSInt::getMaxValue(width, !isSigned)) <= 0;
  });
}

/// A conversion of elements, which casts of programs fold to as well.
static DenseElementsAttr evaluateCast(coreai::CastOp op) {
  Type from = getElementTypeOrSelf(op.getInput().getType());
  Type to = getElementTypeOrSelf(op.getType());
  DenseElementsAttr elements;
  SmallVector<OpFoldResult> folded;
  if (!(kindOf(from) & kCastable) || !(kindOf(to) & kCastable) ||
      !matchPattern(op.getInput(), m_Constant(&elements)) ||
      failed(op->fold(folded)))
    return {};
  auto integer = dyn_cast<IntegerType>(to);
  if (integer && kindOf(to) != kBool && !fits(elements, integer))
    return {};
  return dyn_cast<DenseElementsAttr>(cast<Attribute>(folded.front()));
}

DenseElementsAttr corten::evaluate(Operation &op) {
  if (auto cast = dyn_cast<coreai::CastOp>(op))
    return evaluateCast(cast);
  if (!isa<coreai::CoreAIDialect>(op.getDialect()) || op.getNumResults() != 1 ||
      op.getNumOperands() == 0)
    return {};
  StringRef name = op.getName().stripDialect();
  unsigned kinds = kindsOf(name);
  name.consume_front("decomposable.broadcasting_");
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (kinds == 0 || !type || !type.hasStaticShape() || type.getEncoding() ||
      type.getNumElements() == 0 || type.getRank() > runtime::kMaxRank ||
      !kindOf(type.getElementType()) || isKept(op))
    return {};
  SmallVector<Elements> operands;
  for (Value operand : op.getOperands()) {
    std::optional<Elements> elements = Elements::of(operand);
    if (!elements || elements->size() == 0 ||
        !kindOf(elements->type().getElementType()))
      return {};
    operands.push_back(std::move(*elements));
  }
  // These have something else in front of what they compute with.
  bool isLast =
      isa<coreai::WhereOp, coreai::BroadcastingWhereOp, coreai::ConcatOp>(op);
  const Elements &subject = isLast ? operands.back() : operands.front();
  bool isSplat = givesSplat(op, operands) ||
                 (isa<coreai::GatherNdOp>(op) && subject.isSplat());
  if (!(kinds & kindOf(subject.type().getElementType())) ||
      (type.getNumElements() >= kWeightElements && !isSplat) ||
      (kinds != kMovable && isLeftAlone(name, operands)))
    return {};
  std::optional<Elements> result = Elements::make(type, isSplat);
  if (!result || !compute(op, operands, *result))
    return {};
  return result->inlineConstant();
}
