// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Broadcasting questions about values that are already emitted.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_BROADCAST_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_BROADCAST_H

#include "mlir/IR/Value.h"

namespace corten {

/// True if coreai-core's optimizer could turn `x + y` into another sum. It
/// rewrites `reshape(a) + y` to `reshape(a + y)` whenever the number of
/// elements stays the same, even if `a` then meets other axes of `y`: a vector
/// that was shaped to [1, C, 1, 1] is added along the last axis when that has C
/// elements too. Only sums are rewritten; a difference is left alone.
bool isSumMisread(mlir::Value x, mlir::Value y);

/// The same for a tensor of shape `to` that is reshaped from `from`, and one of
/// shape `other`.
bool isSumMisread(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                  llvm::ArrayRef<int64_t> other);

/// True if `x` has an axis that is repeated to meet `y`.
bool isBroadcast(mlir::Value x, mlir::Value y);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_BROADCAST_H
