// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What spreads an operand explicitly is dropped where the op itself spreads its
// operands, or can; ops that could spread their operands but have none to
// spread become the plain ones.

#include "BroadcastingForms.h"
#include "Rewriting.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;

namespace corten {
#define GEN_PASS_DEF_SIMPLIFYBROADCASTS
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct SimplifyBroadcasts
    : corten::impl::SimplifyBroadcastsBase<SimplifyBroadcasts> {
  void runOnOperation() override {
    rewrite(getOperation(), {simplifyBroadcasts});
  }
};
} // namespace

/// Whether all operands have one shape: it is known, or they are one value.
static bool haveOneShape(Operation &op) {
  if (llvm::all_equal(op.getOperands()))
    return true;
  auto type = staticTensor(op.getOperand(0));
  return type && llvm::all_of(op.getOperands(), [&](Value operand) {
           auto other = staticTensor(operand);
           return other && other.getShape() == type.getShape();
         });
}

/// What an operand was before it was spread, or got axes of one element in
/// front, which spreading does anyhow.
static Value unspread(Value operand) {
  Operation *op = operand.getDefiningOp();
  if (isa_and_present<BroadcastToOp, BroadcastInDimsOp>(op))
    return op->getOperand(0);
  if (!isa_and_present<ExpandDimsOp, ReshapeOp>(op))
    return {};
  RankedTensorType from = staticTensor(op->getOperand(0));
  RankedTensorType to = staticTensor(operand);
  if (!from || !to || from.getRank() >= to.getRank())
    return {};
  size_t added = to.getRank() - from.getRank();
  bool isInFront = to.getShape().drop_front(added) == from.getShape() &&
                   llvm::all_of(to.getShape().take_front(added),
                                [](int64_t extent) { return extent == 1; });
  return isInFront ? op->getOperand(0) : Value();
}

/// Whether an operand besides this one is `value`, and has the shape of the
/// result in its type as well.
static bool hasAnother(Operation &op, OpOperand &operand, Value value) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  for (OpOperand &other : op.getOpOperands())
    if (&other != &operand && other.get() == value)
      return cast<RankedTensorType>(value.getType()).getShape() ==
             type.getShape();
  return false;
}

/// Whether operands with one in another shape still give the shape of the
/// result: it is known and some operand has it, or one has the very shape that
/// this one was spread to.
static bool keepsShape(Operation &op, OpOperand &operand, Value unspread) {
  RankedTensorType type = plainTensor(op.getResult(0));
  if (!type || !plainTensor(unspread))
    return false;
  if (auto spread = operand.get().getDefiningOp<BroadcastToOp>())
    if (auto query = spread.getShape().getDefiningOp<GetShapeOp>())
      if (hasAnother(op, operand, query.getInput()))
        return true;
  if (!type.hasStaticShape() || !fitsInto(unspread.getType(), type))
    return false;
  // Axes of one element come from some operand too.
  bool hasAllAxes = false;
  SmallVector<int64_t> reached(type.getRank(), 1);
  for (OpOperand &other : op.getOpOperands()) {
    Value value = &other == &operand ? unspread : other.get();
    RankedTensorType own = staticTensor(value);
    if (!own || !fitsInto(own, type))
      return false;
    size_t first = type.getRank() - own.getRank();
    hasAllAxes |= first == 0;
    for (auto [axis, extent] : llvm::enumerate(own.getShape()))
      reached[first + axis] = extent == 1 ? reached[first + axis] : extent;
  }
  return hasAllAxes && ArrayRef<int64_t>(reached) == type.getShape();
}

/// The op on what was before operands were spread.
static Value dropSpreading(Operation &op, OpBuilder &builder) {
  std::optional<OperationName> form = broadcastingForm(op);
  if (!form)
    return {};
  for (OpOperand &operand : op.getOpOperands()) {
    Value before = unspread(operand.get());
    if (!before || !keepsShape(op, operand, before))
      continue;
    SmallVector<Value> operands(op.getOperands());
    operands[operand.getOperandNumber()] = before;
    return createForm(*form, op, operands, builder);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// Whether matrices are as many as those that they were spread to, or as one,
/// which is enough.
static bool keepsMatrices(RankedTensorType before, RankedTensorType other,
                          RankedTensorType result) {
  if (!before || !other || !result || before.getRank() < 2 ||
      other.getRank() < 2 || result.getRank() < 2)
    return false;
  auto counts = [](RankedTensorType type) {
    return RankedTensorType::get(type.getShape().drop_back(2),
                                 type.getElementType());
  };
  return fitsInto(counts(before), counts(result)) &&
         counts(other).getShape() == counts(result).getShape();
}

/// A product of matrices of which some were repeated.
static Value dropRepetition(Operation &op, OpBuilder &builder) {
  for (OpOperand &operand : op.getOpOperands()) {
    Value before = unspread(operand.get());
    RankedTensorType from = before ? staticTensor(before) : RankedTensorType();
    RankedTensorType to = staticTensor(operand.get());
    Value other = op.getOperand(1 - operand.getOperandNumber());
    if (!from || !to ||
        !keepsMatrices(from, staticTensor(other),
                       staticTensor(op.getResult(0))) ||
        from.getShape().take_back(2) != to.getShape().take_back(2))
      continue;
    SmallVector<Value> operands(op.getOperands());
    operands[operand.getOperandNumber()] = before;
    return BroadcastingBatchMatmulOp::create(builder, op.getLoc(),
                                             op.getResult(0).getType(),
                                             operands[0], operands[1]);
  }
  return {};
}

static Value simplifyProduct(Operation &op, OpBuilder &builder) {
  if (Value simpler = dropRepetition(op, builder))
    return simpler;
  RankedTensorType lhs = staticTensor(op.getOperand(0));
  RankedTensorType rhs = staticTensor(op.getOperand(1));
  if (isa<BatchMatmulOp>(op) || !lhs || !rhs ||
      lhs.getRank() != rhs.getRank() || lhs.getRank() < 2 ||
      lhs.getShape().drop_back(2) != rhs.getShape().drop_back(2))
    return {};
  return BatchMatmulOp::create(builder, op.getLoc(), op.getResult(0).getType(),
                               op.getOperand(0), op.getOperand(1));
}

Value corten::simplifyBroadcasts(Operation &op, OpBuilder &builder) {
  if (isa<BatchMatmulOp, BroadcastingBatchMatmulOp>(op))
    return simplifyProduct(op, builder);
  if (Value simpler = dropSpreading(op, builder))
    return simpler;
  std::optional<OperationName> form = plainForm(op);
  if (!form || !haveOneShape(op))
    return {};
  return createForm(*form, op, op.getOperands(), builder);
}
