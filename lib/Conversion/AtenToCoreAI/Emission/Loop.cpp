// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Loop.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

Results corten::loop(Emitter &emit, ValueRange initial,
                     llvm::function_ref<Value(ValueRange)> condition,
                     llvm::function_ref<Results(ValueRange)> body) {
  OperationState state(emit.location, coreai::WhileOp::getOperationName());
  state.addOperands(initial);
  state.addTypes(initial.getTypes());
  state.addRegion();
  state.addRegion();
  Operation *op = emit.builder.create(state);

  OpBuilder::InsertionGuard guard(emit.builder);
  auto enter = [&](Region &region) -> ValueRange {
    SmallVector<Location> locations(initial.size(), emit.location);
    Block *block = emit.builder.createBlock(&region, region.end(),
                                            initial.getTypes(), locations);
    return block->getArguments();
  };
  ValueRange tested = enter(op->getRegion(0));
  coreai::ConditionOp::create(emit.builder, emit.location, condition(tested),
                              tested);
  Results next = body(enter(op->getRegion(1)));
  for (auto [value, type] : llvm::zip_equal(next, initial.getTypes()))
    value = emit.refine(value, cast<RankedTensorType>(type));
  coreai::YieldOp::create(emit.builder, emit.location, next);
  return Results(op->getResults());
}
