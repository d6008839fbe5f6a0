// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Liveness.h"

using namespace corten;
using namespace mlir;

Value corten::baseOf(Value tensor) {
  while (auto view = tensor.getDefiningOp<plan::ViewOp>())
    tensor = view.getSource();
  return tensor;
}

Value corten::updatedBy(Operation *op) {
  if (auto insert = dyn_cast_if_present<plan::InsertOp>(op))
    return insert.getTarget();
  auto kernel = dyn_cast_if_present<plan::KernelOp>(op);
  if (kernel && kernel.getKernel() == "ScatterNd" && !kernel.getPrepared())
    return kernel.getInputs().front();
  return {};
}

Liveness::Liveness(Block &block) : block(block) {
  unsigned place = 0;
  for (Operation &op : block) {
    places[&op] = place;
    op.walk([&](Operation *inner) {
      // A view uses nothing before it is used.
      if (isa<plan::ViewOp>(inner))
        return;
      // What a store writes to it does not read.
      auto store = dyn_cast<plan::StoreOp>(inner);
      for (Value operand : inner->getOperands())
        if (isa<RankedTensorType>(operand.getType()) &&
            !(store && operand == store.getState()))
          lastUses[baseOf(operand)] = place;
    });
    ++place;
  }
  extendThroughRegions();
  for (auto store : block.getOps<plan::StoreOp>()) {
    SmallVector<Operation *> chain;
    Value value = baseOf(store.getValue());
    while (Value target = updatedBy(value.getDefiningOp())) {
      chain.push_back(value.getDefiningOp());
      value = target;
    }
    if (value == store.getState())
      stateUpdates.insert(chain.begin(), chain.end());
  }
  for (auto op : block.getOps<plan::ReturnOp>())
    for (Value operand : op->getOperands())
      results.insert(baseOf(operand));
}

void Liveness::extendThroughRegions() {
  for (Operation &op : llvm::reverse(block)) {
    if (!isa<plan::IfOp, plan::WhileOp>(op))
      continue;
    unsigned last = 0;
    for (Value result : op.getResults())
      last = std::max(last, lastUses.lookup(result));
    auto extend = [&](ValueRange tensors) {
      for (Value tensor : tensors) {
        unsigned &own = lastUses[baseOf(tensor)];
        own = std::max(own, last);
      }
    };
    op.walk([&](Operation *inner) {
      if (isa<plan::ReturnOp, plan::WhileOp>(inner))
        extend(inner->getOperands());
    });
  }
}

bool Liveness::isResultOfState(Operation *op) const {
  if (!results.contains(op->getResult(0)))
    return false;
  Value value = op->getResult(0);
  while (Value target = updatedBy(value.getDefiningOp()))
    value = target;
  return isa<BlockArgument>(value);
}

bool Liveness::isLastUse(Value tensor, Operation *op) const {
  return lastUses.lookup(baseOf(tensor)) <= places.lookup(op);
}

bool Liveness::isInPlace(Operation *op) const {
  Value target = updatedBy(op);
  if (!target || !isLastUse(target, op) || isResultOfState(op))
    return false;
  // What is written must not be read from where it is written to.
  auto isOther = [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) && operand != target &&
           baseOf(operand) == target;
  };
  if (llvm::count(op->getOperands(), target) != 1 ||
      llvm::any_of(op->getOperands(), isOther))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(target))
    return argument.getOwner() == &block && stateUpdates.contains(op);
  Operation *definition = target.getDefiningOp();
  if (definition->getBlock() != &block)
    return false;
  if (auto kernel = dyn_cast<plan::KernelOp>(definition))
    return !kernel.getPrepared();
  return isa<plan::InsertOp>(definition);
}
