// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families share in inferring result types and in comparing them with
// declared ones. `ShapedType::kDynamic` stands for `?` in every shape.
//
// Errors go to the optional location and never abort: operands of builders and
// of unverified programs can be anything.

#ifndef CORTEN_LIB_DIALECT_COREAI_IR_SHAPEINFERENCE_H
#define CORTEN_LIB_DIALECT_COREAI_IR_SHAPEINFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace corten::coreai {

using Shape = llvm::SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Declared against inferred types
//===----------------------------------------------------------------------===//

// Each is one strictness of CoreAI_ResultCheck. Encodings are not compared.

/// Element types and ranks agree, and extents wherever both are static.
bool areCompatibleTypes(mlir::Type inferred, mlir::Type declared);

/// Element types agree and shapes are identical: `?` matches `?` only.
bool haveSameElementTypeAndShape(mlir::Type inferred, mlir::Type declared);

/// Element types and ranks agree.
bool haveSameElementTypeAndRank(mlir::Type inferred, mlir::Type declared);

/// Element types agree.
bool haveSameElementType(mlir::Type inferred, mlir::Type declared);

/// True.
bool acceptAnyType(mlir::Type inferred, mlir::Type declared);

//===----------------------------------------------------------------------===//
// Checks of verifiers
//===----------------------------------------------------------------------===//

/// Ranks agree, and extents wherever both are static.
bool haveCompatibleShapes(mlir::Value a, mlir::Value b);

/// Reports an error when two fully static shapes among `values` differ. A shape
/// with any `?` in it is compared with nothing.
llvm::LogicalResult verifySameStaticShapes(mlir::Operation *op,
                                           mlir::ValueRange values);

/// The number of elements of a vector when it is static.
std::optional<int64_t> getStaticLength(mlir::Value vector);

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// The type of `value`, which must be a ranked tensor.
llvm::FailureOr<mlir::RankedTensorType>
getTensorType(std::optional<mlir::Location> location, mlir::Value value);

/// The number of elements of a static shape, or nothing when it is unknown or
/// does not fit.
std::optional<int64_t> getElementCount(llvm::ArrayRef<int64_t> shape);

/// `rank` unknown extents.
Shape getDynamicShape(int64_t rank);

/// A start or end of a slice of `extent` elements as a place in [0, extent]:
/// negative ones count from the end, once, and then all are clamped.
int64_t resolveSliceBound(int64_t bound, int64_t extent);

/// The shape on which all operands agree; a static extent wins over `?`.
llvm::FailureOr<Shape> mergeShapes(std::optional<mlir::Location> location,
                                   mlir::ValueRange operands);

/// The shape that all operands broadcast to by NumPy's rules. `?` against 1 or
/// `?` stays `?`; against a larger static extent it takes that.
llvm::FailureOr<Shape> broadcastShapes(std::optional<mlir::Location> location,
                                       mlir::ValueRange operands);

/// Appends the type of a tensor with the elements of `input` and the shape that
/// `shapeOf` makes of its type. Constants among `indices`, which the shape
/// follows from, must be readable.
llvm::LogicalResult inferShaped(
    std::optional<mlir::Location> location, mlir::Value input,
    mlir::ValueRange indices, llvm::SmallVectorImpl<mlir::Type> &inferred,
    llvm::function_ref<llvm::FailureOr<Shape>(mlir::RankedTensorType)> shapeOf);

/// Appends the type of the adaptor's `input` operand.
template <typename Adaptor>
llvm::LogicalResult
inferSameAsInput(std::optional<mlir::Location> location, Adaptor adaptor,
                 llvm::SmallVectorImpl<mlir::Type> &inferred) {
  inferred.push_back(adaptor.getInput().getType());
  return llvm::success();
}

} // namespace corten::coreai

#endif // CORTEN_LIB_DIALECT_COREAI_IR_SHAPEINFERENCE_H
