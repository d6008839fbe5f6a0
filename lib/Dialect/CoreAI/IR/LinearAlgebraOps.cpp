// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/LinearAlgebraOps.h"

#include "ShapeInference.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

/// Appends the rows of `x` and the columns of `y` to the batch extents, once it
/// is clear that the matrices fit.
static LogicalResult appendMatrixProduct(std::optional<Location> location,
                                         RankedTensorType x, RankedTensorType y,
                                         Shape batch,
                                         SmallVectorImpl<Type> &inferred) {
  int64_t columns = x.getShape().back();
  int64_t rows = y.getShape().drop_back().back();
  if (failed(verifyCompatibleDims({columns, rows})))
    return emitOptionalError(location, "cannot multiply ", x, " by ", y);
  batch.push_back(x.getShape().drop_back().back());
  batch.push_back(y.getShape().back());
  inferred.push_back(RankedTensorType::get(batch, x.getElementType()));
  return success();
}

/// The types of both operands, which must be at least matrices.
static FailureOr<std::pair<RankedTensorType, RankedTensorType>>
getMatrixTypes(std::optional<Location> location, Value x, Value y) {
  FailureOr<RankedTensorType> xType = getTensorType(location, x);
  FailureOr<RankedTensorType> yType = getTensorType(location, y);
  if (failed(xType) || failed(yType))
    return failure();
  if (xType->getRank() < 2 || yType->getRank() < 2)
    return emitOptionalError(location, "expected at least two axes, got ",
                             *xType, " and ", *yType);
  return std::pair(*xType, *yType);
}

LogicalResult BatchMatmulOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &inferred) {
  auto types = getMatrixTypes(location, adaptor.getX(), adaptor.getY());
  if (failed(types))
    return failure();
  auto [x, y] = *types;
  Shape batch(x.getShape().drop_back(2));
  ArrayRef<int64_t> other = y.getShape().drop_back(2);
  if (failed(verifyCompatibleShape(batch, other)))
    return emitOptionalError(location, "batches differ: ", x, " and ", y);
  for (auto [extent, otherExtent] : llvm::zip_equal(batch, other))
    if (ShapedType::isDynamic(extent))
      extent = otherExtent;
  return appendMatrixProduct(location, x, y, batch, inferred);
}

LogicalResult BroadcastingBatchMatmulOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  auto types = getMatrixTypes(location, adaptor.getX(), adaptor.getY());
  if (failed(types))
    return failure();
  auto [x, y] = *types;
  Shape batch;
  if (!OpTrait::util::getBroadcastedShape(x.getShape().drop_back(2),
                                          y.getShape().drop_back(2), batch))
    return emitOptionalError(location, "batches do not broadcast: ", x, " and ",
                             y);
  return appendMatrixProduct(location, x, y, batch, inferred);
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/LinearAlgebraOps.cpp.inc"
