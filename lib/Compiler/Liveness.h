// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tensors are still needed where, and so which may be written to.

#ifndef CORTEN_LIB_COMPILER_LIVENESS_H
#define CORTEN_LIB_COMPILER_LIVENESS_H

#include "corten/Dialect/Plan/IR/PlanDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace corten {

/// What a view is a view of, or the tensor itself.
mlir::Value baseOf(mlir::Value tensor);

/// The tensor of which an operation writes some elements, if it does that.
mlir::Value updatedBy(mlir::Operation *op);

/// Of one block. It has to stay as it is.
class Liveness {
public:
  explicit Liveness(mlir::Block &block);

  /// Whether an update may write to the memory of its target: it belongs to
  /// this block, or is a state that gets the result in the end, and nobody
  /// reads the old elements any more.
  bool isInPlace(mlir::Operation *op) const;

  /// Whether `op` is the last one that uses a tensor or a view of it.
  bool isLastUse(mlir::Value tensor, mlir::Operation *op) const;

private:
  /// What regions return may lie where a tensor lies that they were given, or
  /// saw: that is used as long as their results are.
  void extendThroughRegions();
  /// Whether an update of a state is a result as well, which has memory of its
  /// own.
  bool isResultOfState(mlir::Operation *op) const;

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> places;
  /// By base: the last place that uses it.
  llvm::DenseMap<mlir::Value, unsigned> lastUses;
  /// Updates on the way from a state to what it becomes.
  llvm::DenseSet<mlir::Operation *> stateUpdates;
  /// By base: what the block returns.
  llvm::DenseSet<mlir::Value> results;
};

} // namespace corten

#endif // CORTEN_LIB_COMPILER_LIVENESS_H
