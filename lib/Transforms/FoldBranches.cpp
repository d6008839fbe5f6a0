// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;

namespace corten {
#define GEN_PASS_DEF_FOLDBRANCHES
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct FoldBranches : corten::impl::FoldBranchesBase<FoldBranches> {
  void runOnOperation() override;
};
} // namespace

/// Puts the region that is taken in the place of a branch.
static void fold(IfOp branch, bool condition) {
  Region &taken = condition ? branch.getThenRegion() : branch.getElseRegion();
  if (!taken.empty()) {
    Block &block = taken.front();
    Operation *yield = block.getTerminator();
    branch->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    branch->getBlock()->getOperations().splice(branch->getIterator(),
                                               block.getOperations());
  }
  branch->erase();
}

void FoldBranches::runOnOperation() {
  // Inner ones first: those of a region that goes cost nothing more.
  SmallVector<std::pair<IfOp, bool>> known;
  getOperation()->walk([&](IfOp branch) {
    DenseElementsAttr flag = getInlineConstant(branch.getCondition());
    if (flag && flag.getNumElements() == 1)
      known.push_back({branch, flag.getSplatValue<bool>()});
  });
  for (auto [branch, condition] : known)
    fold(branch, condition);
}
