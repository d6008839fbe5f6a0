// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BroadcastingForms.h"
#include "Rewriting.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;

namespace corten {
#define GEN_PASS_DEF_EXPANDBROADCASTS
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct ExpandBroadcasts : corten::impl::ExpandBroadcastsBase<ExpandBroadcasts> {
  void runOnOperation() override;
};
} // namespace

/// The shape of the result as a value.
static Value shapeOf(Operation &op, RankedTensorType type, OpBuilder &builder) {
  Location place = op.getLoc();
  if (type.hasStaticShape())
    return makeSizes(builder, place, type.getShape());
  auto sizes = RankedTensorType::get(
      {type.getRank()}, builder.getIntegerType(32, /*isSigned=*/false));
  Value all;
  for (Value operand : op.getOperands()) {
    Value own = GetShapeOp::create(builder, place, operand);
    all =
        all ? BroadcastShapesOp::create(builder, place, sizes, all, own) : own;
  }
  return all;
}

static void expand(Operation &op) {
  std::optional<OperationName> form = plainForm(op);
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!form || !type || type.getEncoding())
    return;
  OpBuilder builder(&op);
  Value shape;
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    auto own = cast<RankedTensorType>(operand.getType());
    if (own.hasStaticShape() && own.getShape() == type.getShape()) {
      operands.push_back(operand);
      continue;
    }
    if (!shape)
      shape = shapeOf(op, type, builder);
    operands.push_back(BroadcastToOp::create(builder, op.getLoc(),
                                             type.clone(own.getElementType()),
                                             operand, shape));
  }
  op.getResult(0).replaceAllUsesWith(createForm(*form, op, operands, builder));
  op.erase();
}

void ExpandBroadcasts::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation()->walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::ResultsBroadcastableShape>())
      ops.push_back(op);
  });
  for (Operation *op : ops)
    expand(*op);
}
