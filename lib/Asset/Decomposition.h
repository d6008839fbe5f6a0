// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops of an asset are in terms of simpler ones, for readers that lack
// them.

#ifndef CORTEN_LIB_ASSET_DECOMPOSITION_H
#define CORTEN_LIB_ASSET_DECOMPOSITION_H

#include "mlir/IR/Operation.h"

namespace corten {

/// Fills the region of `op`, which is in the `aicode` dialect and has an entry
/// with a decomposition in the table of ops. The region is the one that
/// coreai-core writes: shapes that are known are constants in it, and ops that
/// have a decomposition of their own bring it. `places` are those of the
/// operands.
void decompose(mlir::Operation *op, llvm::ArrayRef<mlir::Location> places);

} // namespace corten

#endif // CORTEN_LIB_ASSET_DECOMPOSITION_H
