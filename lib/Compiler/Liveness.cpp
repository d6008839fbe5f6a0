// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Liveness.h"

using namespace corten;
using namespace mlir;

Value corten::baseOf(Value tensor) {
  while (auto view = tensor.getDefiningOp<plan::ViewOp>())
    tensor = view.getSource();
  return tensor;
}

Liveness::Liveness(Block &block) : block(block) {
  unsigned place = 0;
  for (Operation &op : block) {
    places[&op] = place;
    op.walk([&](Operation *inner) {
      // A view uses nothing before it is used.
      if (isa<plan::ViewOp>(inner))
        return;
      for (Value operand : inner->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          lastUses[baseOf(operand)] = place;
    });
    ++place;
  }
  for (auto store : block.getOps<plan::StoreOp>()) {
    SmallVector<Operation *> chain;
    Value value = baseOf(store.getValue());
    while (auto insert = value.getDefiningOp<plan::InsertOp>()) {
      chain.push_back(insert);
      value = insert.getTarget();
    }
    if (value == store.getState())
      stateUpdates.insert(chain.begin(), chain.end());
  }
}

bool Liveness::isLastUse(Value tensor, Operation *op) const {
  return lastUses.lookup(baseOf(tensor)) <= places.lookup(op);
}

bool Liveness::isInPlace(plan::InsertOp op) const {
  Value target = op.getTarget();
  if (!isLastUse(target, op) || baseOf(op.getUpdate()) == target)
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
