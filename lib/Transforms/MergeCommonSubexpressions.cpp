// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each region has one block, so what dominates an op is what stands before it
// in its block and in those around it.

#include "DebugLocations.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopedHashTable.h"

using namespace corten;
using namespace mlir;

namespace corten {
#define GEN_PASS_DEF_MERGECOMMONSUBEXPRESSIONS
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

/// Whether the order of two operands does not matter, not even for zeros.
static bool isExchangeable(Operation *op) {
  return op->hasTrait<OpTrait::IsCommutative>() &&
         !isa<coreai::MaximumOp, coreai::MinimumOp>(op);
}

static LogicalResult sameInAnyOrder(ValueRange lhs, ValueRange rhs) {
  // Such ops have two operands.
  return success(lhs == rhs ||
                 (lhs.front() == rhs.back() && lhs.back() == rhs.front()));
}

namespace {
/// Ops that compute the same from the same values.
struct ComputationInfo : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *key) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(key), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *left, const Operation *right) {
    auto *lhs = const_cast<Operation *>(left);
    auto *rhs = const_cast<Operation *>(right);
    if (lhs == rhs)
      return true;
    if (lhs == getTombstoneKey() || lhs == getEmptyKey() ||
        rhs == getTombstoneKey() || rhs == getEmptyKey())
      return false;
    // Its region names its arguments only.
    if (isa<coreai::ScatterNdOp>(lhs))
      return OperationEquivalence::isEquivalentTo(
          lhs, rhs, OperationEquivalence::IgnoreLocations);
    bool isFree = lhs->getName() == rhs->getName() && isExchangeable(lhs);
    return OperationEquivalence::isEquivalentTo(
        lhs, rhs, OperationEquivalence::exactValueMatch,
        /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations,
        isFree ? sameInAnyOrder : inThisOrder);
  }

private:
  static LogicalResult inThisOrder(ValueRange lhs, ValueRange rhs) {
    return success(lhs == rhs);
  }
};

struct MergeCommonSubexpressions
    : corten::impl::MergeCommonSubexpressionsBase<MergeCommonSubexpressions> {
  void runOnOperation() override;
};

class Merger {
public:
  void run(Operation *root);

private:
  using Known =
      llvm::ScopedHashTable<Operation *, Operation *, ComputationInfo>;

  void visit(Region &region, Known &known);
  void visit(Operation &op, Known &known);

  /// What an op stands for besides itself.
  llvm::MapVector<Operation *, SmallVector<Location, 2>> merged;
};
} // namespace

static bool mayMerge(Operation &op) {
  if (isa<coreai::ScanOp>(op))
    return true;
  // Accesses to states keep their order.
  if (isa<coreai::CreateTokenOp, coreai::JoinTokenOp, coreai::ReadHandleOp,
          coreai::WriteHandleOp>(op) ||
      op.hasTrait<OpTrait::IsTerminator>())
    return false;
  // Other regions are of a size, and would be compared with each other.
  bool isSmall = op.getNumRegions() == 0 || isa<coreai::ScatterNdOp>(op);
  return isSmall && op.getNumResults() > 0 && isMemoryEffectFree(&op);
}

void Merger::visit(Region &region, Known &known) {
  for (Block &block : region) {
    Known::ScopeTy scope(known);
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(op, known);
  }
}

void Merger::visit(Operation &op, Known &known) {
  if (mayMerge(op)) {
    if (Operation *same = known.lookup(&op)) {
      op.replaceAllUsesWith(same);
      // Constants come from everywhere.
      if (!isa<coreai::ConstantOp>(op))
        merged[same].push_back(op.getLoc());
      op.erase();
      return;
    }
    known.insert(&op, &op);
    return;
  }
  if (op.hasTrait<OpTrait::IsIsolatedFromAbove>()) {
    Known inner;
    for (Region &region : op.getRegions())
      visit(region, inner);
    return;
  }
  for (Region &region : op.getRegions())
    visit(region, known);
}

void Merger::run(Operation *root) {
  Known known;
  for (Region &region : root->getRegions())
    visit(region, known);
  for (auto &[op, places] : merged)
    op->setLoc(fuse(op->getLoc(), places));
}

void MergeCommonSubexpressions::runOnOperation() {
  Merger().run(getOperation());
}
