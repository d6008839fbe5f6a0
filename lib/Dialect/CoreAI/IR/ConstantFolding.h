// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on constants for the folders. Folding is for the small integers
// that shape computations are made of: large constants are left alone, because
// every intermediate value would live in the context for good.

#ifndef CORTEN_LIB_DIALECT_COREAI_IR_CONSTANTFOLDING_H
#define CORTEN_LIB_DIALECT_COREAI_IR_CONSTANTFOLDING_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

namespace corten::coreai {

/// The elements of a constant that is worth folding: inline, and either a splat
/// or fewer elements than make a constant a resource. Otherwise null.
mlir::DenseElementsAttr getFoldableElements(mlir::Attribute constant);

/// Whether a constant can have the type and `getFoldableElements` would take
/// it: a ranked, static tensor without an encoding.
bool hasFoldableShape(mlir::Type type);

/// `coreai.cast` of integers, booleans and the floats arithmetic is done in:
/// toward zero and saturating to integers, NaN to 0; anything but zero to true;
/// ties to even between floats. Null for other element types.
mlir::DenseElementsAttr castElements(mlir::DenseElementsAttr elements,
                                     mlir::RankedTensorType type);

/// The same elements in another shape, or null when the counts differ.
mlir::DenseElementsAttr reshapeElements(mlir::DenseElementsAttr elements,
                                        mlir::Type type);

/// A vector of indices as a constant of an integer type.
mlir::DenseElementsAttr getIndexElements(llvm::ArrayRef<int64_t> indices,
                                         mlir::RankedTensorType type);

} // namespace corten::coreai

#endif // CORTEN_LIB_DIALECT_COREAI_IR_CONSTANTFOLDING_H
