// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace corten;
using namespace mlir;

namespace corten {
#define GEN_PASS_DEF_REMOVEDEADCODE
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct RemoveDeadCode : corten::impl::RemoveDeadCodeBase<RemoveDeadCode> {
  void runOnOperation() override;
};
} // namespace

/// Whether an op can go if nothing uses it.
static bool hasNoEffect(Operation &op) {
  return isa<coreai::ScanOp>(op) ||
         (!op.hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(&op));
}

/// A branch without the results that nothing uses; null if all are used.
static Operation *withoutUnusedResults(coreai::IfOp branch) {
  llvm::BitVector unused(branch->getNumResults());
  for (OpResult result : branch->getResults())
    unused[result.getResultNumber()] = result.use_empty();
  if (unused.none() || branch.getElseRegion().empty())
    return nullptr;
  OpBuilder builder(branch);
  SmallVector<Type> types;
  for (OpResult result : branch->getResults())
    if (!unused[result.getResultNumber()])
      types.push_back(result.getType());
  auto smaller = coreai::IfOp::create(builder, branch.getLoc(), types,
                                      branch.getCondition());
  smaller->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), smaller->getRegions())) {
    to.takeBody(from);
    to.front().getTerminator()->eraseOperands(unused);
  }
  auto next = smaller->result_begin();
  for (OpResult result : branch->getResults())
    if (!unused[result.getResultNumber()])
      result.replaceAllUsesWith(*next++);
  branch->erase();
  return smaller;
}

static void clean(Region &region) {
  for (Block &block : llvm::reverse(region)) {
    for (Operation &each : llvm::make_early_inc_range(llvm::reverse(block))) {
      Operation *op = &each;
      if (op->use_empty() && hasNoEffect(*op)) {
        op->erase();
        continue;
      }
      if (auto branch = dyn_cast<coreai::IfOp>(op))
        if (Operation *smaller = withoutUnusedResults(branch))
          op = smaller;
      for (Region &inner : op->getRegions())
        clean(inner);
    }
  }
}

void RemoveDeadCode::runOnOperation() {
  for (Region &region : getOperation()->getRegions())
    clean(region);
}
