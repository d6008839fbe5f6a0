// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What coreai-core leaves out when it saves a program. Each op is looked at
// once, in the order of the program: what its operands are computed to does not
// count.

#ifndef CORTEN_LIB_ASSET_SIMPLIFY_H
#define CORTEN_LIB_ASSET_SIMPLIFY_H

#include "mlir/IR/OpDefinition.h"

namespace corten {

/// The value or the constant that stands in the place of an op; null if the op
/// is written.
mlir::OpFoldResult simplified(mlir::Operation &op);

/// The operands that an op is written with: a constant comes last where the
/// order makes no difference, and a reshape reads what other ones made its
/// input from.
llvm::SmallVector<mlir::Value> simplifiedOperands(mlir::Operation &op);

/// Whether an op is left out if nothing uses it. coreai-core keeps loops and
/// groups, which could go.
bool isRemovable(mlir::Operation &op);

} // namespace corten

#endif // CORTEN_LIB_ASSET_SIMPLIFY_H
