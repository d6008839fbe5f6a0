// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index lists of x[i, :, mask] and x[i, :, mask] = y, brought to the form
// of gather_nd and scatter_nd: the indexed axes first, one vector of positions
// per element.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_MOVEMENT_ADVANCEDINDEX_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_MOVEMENT_ADVANCEDINDEX_H

#include "Emission/Emitter.h"

namespace corten {

struct AdvancedIndex {
  /// Axes of self in the order in which `positions` counts them, then the
  /// rest. The identity unless the indexed axes have others between them.
  llvm::SmallVector<int64_t> order;
  /// [..., Q], si32: places along the first Q axes of that order.
  mlir::Value positions;
  /// How many positions there are is only known at run time, and it may be
  /// none.
  bool isDataDependent = false;

  int64_t numIndexed() const;
};

/// Reads `indices`: a position per axis, None for an axis that is taken whole,
/// masks standing for as many axes as they have. `self` must have the extents
/// that torch knows of it.
mlir::FailureOr<AdvancedIndex> readIndices(const AtenNode &node,
                                           llvm::ArrayRef<Argument> indices,
                                           mlir::Value self, Emitter &emit);

/// Brings all values to one shape. Symbolic extents are never 1.
void broadcastTogether(llvm::MutableArrayRef<mlir::Value> values,
                       Emitter &emit);

/// The permutation that undoes `order`.
llvm::SmallVector<int64_t> inverse(llvm::ArrayRef<int64_t> order);

/// Where the elements of the view that the arguments `size`, `stride` and
/// `storage_offset` describe lie in memory: [size..., 1], si32.
mlir::Value stridedPlaces(const AtenNode &node, Emitter &emit);

/// Whether an index stands for the places where it is true.
bool isMask(const Argument &index);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_MOVEMENT_ADVANCEDINDEX_H
