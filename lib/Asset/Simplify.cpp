// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simplify.h"

#include "ConstantEvaluator.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace corten;
using namespace mlir;

/// Whether a slice takes all there is, in its order.
static bool isWhole(coreai::SliceOp slice) {
  auto type = cast<RankedTensorType>(slice.getResult().getType());
  DenseIntElementsAttr strides;
  return slice.getInput().getType() == type && type.hasStaticShape() &&
         matchPattern(slice.getStrides(), m_Constant(&strides)) &&
         llvm::all_of(strides, [](const APInt &step) { return step.isOne(); });
}

/// What a reshape has its elements from.
static Value sourceOf(coreai::ReshapeOp reshape) {
  Value source = reshape.getInput();
  while (Operation *op = source.getDefiningOp()) {
    if (!isa<coreai::ReshapeOp, coreai::ExpandDimsOp>(op))
      break;
    source = op->getOperand(0);
  }
  return source;
}

/// Whether all numbers of a type are numbers of another one.
static bool holds(Type type, Type other) {
  if (type == other)
    return true;
  if (isa<FloatType>(type) && isa<FloatType>(other))
    return other.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth();
  auto integer = dyn_cast<IntegerType>(type);
  auto otherInteger = dyn_cast<IntegerType>(other);
  if (!integer || !otherInteger || integer.isSignless())
    return false;
  // A signed type has a bit less for the numbers of an unsigned one.
  return !otherInteger.isSigned()
             ? otherInteger.getWidth() + integer.isSigned() <=
                   integer.getWidth()
             : integer.isSigned() &&
                   otherInteger.getWidth() <= integer.getWidth();
}

/// Whether a cast to `between` can be undone.
static bool keepsAll(Type between, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto other = dyn_cast<RankedTensorType>(between);
  return tensor && other && tensor.getRank() == other.getRank() &&
         holds(other.getElementType(), tensor.getElementType()) &&
         // Nothing about the extents is claimed on the way.
         llvm::all_of(llvm::zip_equal(tensor.getShape(), other.getShape()),
                      [](auto extents) {
                        auto [from, to] = extents;
                        return ShapedType::isDynamic(to) || from == to;
                      });
}

/// What was there before `before`, if `op` undoes that.
static Value undone(Operation &op, Operation *before) {
  bool isReverse =
      (isa<coreai::ExpandDimsOp>(op) && isa<coreai::ShrinkDimsOp>(before)) ||
      (isa<coreai::ShrinkDimsOp>(op) && isa<coreai::ExpandDimsOp>(before)) ||
      (isa<coreai::CastOp>(op) && isa<coreai::CastOp>(before) &&
       keepsAll(before->getResult(0).getType(),
                before->getOperand(0).getType()));
  bool isSame =
      isReverse && before->getOperand(0).getType() == op.getResult(0).getType();
  return isSame ? before->getOperand(0) : Value();
}

/// The value that is the result of an op because it changes nothing.
static Value unchanged(Operation &op) {
  Type type = op.getResult(0).getType();
  if (auto reshape = dyn_cast<coreai::ReshapeOp>(op)) {
    // The elements leave one extent no choice.
    Value source = sourceOf(reshape);
    bool isSame = source.getType() == type &&
                  cast<ShapedType>(type).getNumDynamicDims() <= 1;
    return isSame ? source : Value();
  }
  if (auto slice = dyn_cast<coreai::SliceOp>(op))
    return isWhole(slice) ? slice.getInput() : Value();
  Operation *before =
      op.getNumOperands() > 0 ? op.getOperand(0).getDefiningOp() : nullptr;
  return before ? undone(op, before) : Value();
}

OpFoldResult corten::simplified(Operation &op) {
  if (op.getNumResults() != 1 || op.hasTrait<OpTrait::ConstantLike>())
    return {};
  if (Value value = unchanged(op))
    return value;
  // Of commutative ops the folder would sort the operands in place; coreai-core
  // keeps a negation that another one undoes.
  SmallVector<OpFoldResult> folded;
  if (!op.hasTrait<OpTrait::IsCommutative>() && !isa<coreai::NotOp>(op) &&
      succeeded(op.fold(folded)) && !folded.empty()) {
    if (isa<Value>(folded.front()) || isa<coreai::GetShapeOp>(op))
      return folded.front();
  }
  return evaluate(op);
}

SmallVector<Value> corten::simplifiedOperands(Operation &op) {
  SmallVector<Value> result(op.getOperands());
  if (auto reshape = dyn_cast<coreai::ReshapeOp>(op))
    result.front() = sourceOf(reshape);
  // Such ops have two operands.
  if (op.hasTrait<OpTrait::IsCommutative>() &&
      matchPattern(result.front(), m_Constant()) &&
      !matchPattern(result.back(), m_Constant()))
    std::swap(result.front(), result.back());
  return result;
}

bool corten::isRemovable(Operation &op) {
  if (isa<coreai::ScanOp>(op))
    return true;
  return !op.hasTrait<OpTrait::IsTerminator>() &&
         !isa<coreai::WhileOp, coreai::IsolatedGroupOp>(op) &&
         wouldOpBeTriviallyDead(&op);
}
