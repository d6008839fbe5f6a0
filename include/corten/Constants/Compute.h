// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops make of constants, by the portable kernels of the runtime: each op's
// arithmetic is written once. Which ops are worth it is for callers to say.

#ifndef CORTEN_CONSTANTS_COMPUTE_H
#define CORTEN_CONSTANTS_COMPUTE_H

#include "corten/Constants/Elements.h"
#include "mlir/IR/Operation.h"

namespace corten {

/// Whether all elements of the result of an op are the same because those of
/// its operands are.
bool givesSplat(mlir::Operation &op, llvm::ArrayRef<Elements> operands);

/// Computes what `op` makes of `operands` into `results`, which were made for
/// its types. False if it cannot be computed, or is an error: an index that
/// points outside, a division of integers by zero, a declared type that is not
/// what comes out.
bool compute(mlir::Operation &op, llvm::ArrayRef<Elements> operands,
             llvm::ArrayRef<Elements> results);

} // namespace corten

#endif // CORTEN_CONSTANTS_COMPUTE_H
