// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lowerings that take several operations at once look for.

#ifndef CORTEN_LIB_COMPILER_PATTERNS_H
#define CORTEN_LIB_COMPILER_PATTERNS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <utility>

namespace corten {

/// The operation that a value is the result of, if it is of this kind (see
/// kindOf).
mlir::Operation *definedBy(mlir::Value value, llvm::StringRef kind);

/// What a value is apart from casts between types of real numbers.
mlir::Value withoutCasts(mlir::Value value);

/// The real number that all elements of a constant are.
std::optional<double> constantNumber(mlir::Value value);

/// A value that is multiplied with a number, or divided by one, and the factor;
/// else the value and 1.
std::pair<mlir::Value, double> splitFactor(mlir::Value value);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_PATTERNS_H
