// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ops that made a value tell about its numbers.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_VALUEFACTS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_VALUEFACTS_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace corten {

/// Product of extents; open if one of them is.
int64_t productOf(llvm::ArrayRef<int64_t> extents);

/// The entries of a constant of indices, of rank 0 or 1.
std::optional<llvm::SmallVector<int64_t>> constantIndices(mlir::Value x);

/// The number of elements that `x` counts places among, where it does: what
/// argmax or argsort found, cut and shaped, lies in [0, extent).
std::optional<int64_t> extentOfPlaces(mlir::Value x);

/// NaN spreads over all of `axis` before it gets into `x`: a softmax over that
/// axis, or the rows of a matrix product, whatever its bias and shape. A
/// product can still get single ones out of infinities.
bool isNanAsAWhole(mlir::Value x, int64_t axis);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_VALUEFACTS_H
