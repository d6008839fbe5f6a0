// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, loops, states, and kernels that a program brings.

#include "../Lowerings.h"

using namespace corten;
using namespace mlir;

LogicalResult corten::lowerIdentity(Operation *op, Planner &planner) {
  // Tokens are only there for the order, which is that of the program.
  if (op->getNumOperands() != 0 &&
      !isa<coreai::TokenType>(op->getResult(0).getType()))
    planner.setForm(op->getResult(0), planner.form(op->getOperand(0)));
  return success();
}

/// The results of control flow: memory in row-major order, whose extents are
/// known when it is.
static void setResults(Operation *op, Operation *planned, Planner &planner) {
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), planned->getResults())) {
    SizeList extents;
    auto type = cast<RankedTensorType>(to.getType());
    for (auto [axis, extent] : llvm::enumerate(type.getShape()))
      extents.push_back(
          ShapedType::isStatic(extent)
              ? planner.sizes.number(extent)
              : Size(plan::ExtentOp::create(
                         planner.builder, op->getLoc(),
                         planner.builder.getIndexType(), to,
                         planner.builder.getI64IntegerAttr(int64_t(axis)))
                         .getResult()));
    planner.setForm(from, planner.whole(to, extents));
  }
}

/// Without what only says where a tensor lives.
static FailureOr<SmallVector<Type>> plainTypes(Operation *op) {
  SmallVector<Type> result;
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return cannotRun(op) << "it gives " << type;
    result.push_back(
        RankedTensorType::get(tensor.getShape(), tensor.getElementType()));
  }
  return result;
}

LogicalResult corten::lowerIf(coreai::IfOp op, Planner &planner) {
  FailureOr<SmallVector<Type>> types = plainTypes(op);
  if (failed(types))
    return failure();
  auto planned =
      plan::IfOp::create(planner.builder, op.getLoc(), *types,
                         planner.value(planner.form(op.getCondition())));
  auto finish = [&](Operation *end) {
    plan::ReturnOp::create(planner.builder, end->getLoc(),
                           planner.returned(end->getOperands()));
    return success();
  };
  if (failed(planner.planRegion(op.getThenRegion(), planned.getThen(), finish)))
    return failure();
  if (op.getElseRegion().empty()) {
    OpBuilder::InsertionGuard guard(planner.builder);
    planner.builder.createBlock(&planned.getOtherwise());
    plan::ReturnOp::create(planner.builder, op.getLoc(), ValueRange());
  } else if (failed(planner.planRegion(op.getElseRegion(),
                                       planned.getOtherwise(), finish))) {
    return failure();
  }
  setResults(op, planned, planner);
  return success();
}

LogicalResult corten::lowerWhile(coreai::WhileOp op, Planner &planner) {
  FailureOr<SmallVector<Type>> types = plainTypes(op);
  if (failed(types))
    return failure();
  auto planned = plan::WhileOp::create(planner.builder, op.getLoc(), *types,
                                       planner.returned(op.getInits()));
  // A condition is the first of what is returned.
  auto finish = [&](Operation *end) {
    plan::ReturnOp::create(planner.builder, end->getLoc(),
                           planner.returned(end->getOperands()));
    return success();
  };
  if (failed(planner.planRegion(op.getBefore(), planned.getBefore(), finish)) ||
      failed(planner.planRegion(op.getAfter(), planned.getAfter(), finish)))
    return failure();
  setResults(op, planned, planner);
  return success();
}

LogicalResult corten::lowerAssert(plan::AssertOp op, Planner &planner) {
  std::optional<SizeList> condition = planner.knownNumbers(op.getCondition());
  if (condition && condition->size() == 1) {
    // What is computed from sizes is one.
    SizeList told;
    for (Value value : op.getValues())
      told.push_back(planner.numbers(value).front());
    planner.require(condition->front(), op.getMessage(), op.getNamesAttr(),
                    told);
    return success();
  }
  SmallVector<Value> values = planner.returned(op.getValues());
  plan::AssertOp::create(
      planner.builder, op.getLoc(),
      planner.value(planner.rowMajored(planner.form(op.getCondition()))),
      op.getMessageAttr(), op.getNamesAttr(), values);
  return success();
}

LogicalResult corten::lowerReadHandle(coreai::ReadHandleOp op,
                                      Planner &planner) {
  planner.setForm(op.getOutput(), planner.state(op.getHandle()));
  return success();
}

LogicalResult corten::lowerWriteHandle(coreai::WriteHandleOp op,
                                       Planner &planner) {
  planner.setState(op.getHandle(), planner.form(op.getData()));
  return success();
}

LogicalResult corten::lowerMetalKernel(coreai::Metal4KernelOp op,
                                       Planner &planner) {
  SeveralResults call;
  for (Value argument : op.getKernelArgs())
    call.inputs.push_back(planner.form(argument));
  call.numbers = planner.numbers(op.getThreadsPerGrid());
  llvm::append_range(call.numbers,
                     planner.numbers(op.getThreadsPerThreadGroup()));
  for (auto [result, shape] :
       llvm::zip_equal(op.getOutputs(), op.getResultShapes())) {
    SizeList &sizes = call.extents.emplace_back(planner.numbers(shape));
    planner.refine(sizes, result.getType());
    call.elements.push_back(
        cast<RankedTensorType>(result.getType()).getElementType());
  }
  SmallVector<Form> results =
      planner.foreign(op.getKernelName(), op.getKernelSource(), call);
  for (auto [result, form] : llvm::zip_equal(op.getOutputs(), results))
    planner.setForm(result, form);
  return success();
}
