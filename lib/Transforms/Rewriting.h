// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families of rewrites share. A family is a function that says what
// stands in the place of an op; a pass of its own applies it, and one applies
// all of them together.

#ifndef CORTEN_LIB_TRANSFORMS_REWRITING_H
#define CORTEN_LIB_TRANSFORMS_REWRITING_H

#include "DebugLocations.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/ArrayRef.h"

namespace corten {

/// The value in the place of the result of `op`, of the same type, or null if
/// nothing is simpler. New ops are made with the builder, which stands in
/// front of `op`. Looks at a bounded number of ops.
using RewriteFamily = mlir::Value (*)(mlir::Operation &op,
                                      mlir::OpBuilder &builder);

mlir::Value mergeCasts(mlir::Operation &op, mlir::OpBuilder &builder);
mlir::Value mergeReorderings(mlir::Operation &op, mlir::OpBuilder &builder);
mlir::Value simplifyAlgebra(mlir::Operation &op, mlir::OpBuilder &builder);
mlir::Value simplifyBroadcasts(mlir::Operation &op, mlir::OpBuilder &builder);
mlir::Value simplifyShapes(mlir::Operation &op, mlir::OpBuilder &builder);

/// Applies families to all ops below `root` until none has anything left to do,
/// with one list of ops to look at.
void rewrite(mlir::Operation *root, llvm::ArrayRef<RewriteFamily> families);

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The elements of an inline constant that are all the same; otherwise null.
mlir::DenseElementsAttr splatOf(mlir::Value value);

/// Whether all elements of a constant are this number, with its sign if it is
/// zero. Booleans are 0 and 1; nothing is a complex number.
bool isAll(mlir::Value value, double number);

/// Whether all bits of all elements of a constant integer are set.
bool isAllOnes(mlir::Value value);

/// A vector of indices.
mlir::Value makeIndices(mlir::OpBuilder &builder, mlir::Location location,
                        llvm::ArrayRef<int64_t> indices, mlir::Type element);

/// The unsigned numbers that sizes are.
mlir::Value makeSizes(mlir::OpBuilder &builder, mlir::Location location,
                      llvm::ArrayRef<int64_t> sizes);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Whether spreading a tensor of type `small` over one of type `large` surely
/// gives the shape of `large`.
bool fitsInto(mlir::Type small, mlir::Type large);

/// The type of a value as a tensor without an encoding; null if it is another.
mlir::RankedTensorType plainTensor(mlir::Value value);

/// The same, if all extents are known.
mlir::RankedTensorType staticTensor(mlir::Value value);

/// Where an op comes from that stands for `op` and what `other` is made by.
mlir::Location placeOf(mlir::Operation &op, mlir::Value other);

} // namespace corten

#endif // CORTEN_LIB_TRANSFORMS_REWRITING_H
