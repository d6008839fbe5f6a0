// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the constants that shapes, axes and other index operands are given as.
// Type inference, verifiers and rewrites use it. Only the immediate producer
// counts: a cast, slice or concat of constants is unknown, as it is to
// coreai-core.

#ifndef CORTEN_DIALECT_COREAI_IR_CONSTANTOPERANDS_H
#define CORTEN_DIALECT_COREAI_IR_CONSTANTOPERANDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace corten::coreai {

using Indices = llvm::SmallVector<int64_t>;

/// How si16 indices become 64-bit numbers.
enum class Widening {
  /// By their value.
  Signed,
  /// By their bits: coreai-core does so in some verifiers, where a negative
  /// si16 index is therefore always out of range.
  Bits,
};

/// Whether `value` is the result of a `coreai.constant`, inline or not.
bool isConstant(mlir::Value value);

/// The elements of `value` when it is an inline `coreai.constant`, otherwise
/// null.
mlir::DenseElementsAttr getInlineConstant(mlir::Value value);

/// The elements of an inline integer constant, in row-major order, or nothing.
std::optional<Indices> getConstantIndices(mlir::Value value,
                                          Widening widening = Widening::Signed);

/// The same for a constant of exactly one element.
std::optional<int64_t> getConstantIndex(mlir::Value value,
                                        Widening widening = Widening::Signed);

/// Reports an error when all operands are constants but one of them is not
/// inline. coreai-core reads operands that belong together only when it can
/// expect to read all of them, and then ends the process over such a constant.
llvm::LogicalResult
verifyReadableConstants(std::optional<mlir::Location> location,
                        mlir::ValueRange operands);

/// The axis counted from the front, or nothing when it is out of range.
std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);

/// The same with an error when it is out of range.
llvm::FailureOr<int64_t> resolveAxis(std::optional<mlir::Location> location,
                                     int64_t axis, int64_t rank);

/// The same for several.
llvm::FailureOr<Indices> resolveAxes(std::optional<mlir::Location> location,
                                     llvm::ArrayRef<int64_t> axes,
                                     int64_t rank);

/// A constant axis must be readable and in range.
llvm::LogicalResult verifyAxis(mlir::Location location, mlir::Value axis,
                               int64_t rank,
                               Widening widening = Widening::Signed);

} // namespace corten::coreai

#endif // CORTEN_DIALECT_COREAI_IR_CONSTANTOPERANDS_H
