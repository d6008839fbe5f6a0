// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/IndexingOps.h"

#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/ControlFlowOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

LogicalResult GatherAlongAxisOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> indices =
      getTensorType(location, adaptor.getIndices());
  if (failed(indices))
    return failure();
  inferred.push_back(RankedTensorType::get(
      indices->getShape(), getElementTypeOrSelf(adaptor.getInput().getType())));
  return success();
}

/// Input and indices have one rank. If they are static, a constant axis must be
/// in range, and off it their extents must agree.
template <typename Op> static LogicalResult verifyIndexedAxis(Op op) {
  RankedTensorType input = op.getInput().getType();
  RankedTensorType indices = op.getIndices().getType();
  if (input.getRank() != indices.getRank())
    return op.emitOpError("indices must have the rank of the input");
  if (!input.hasStaticShape() || !indices.hasStaticShape())
    return success();
  if (failed(verifyReadableConstants(op.getLoc(), op.getAxis())))
    return failure();
  std::optional<int64_t> axis = getConstantIndex(op.getAxis(), Widening::Bits);
  if (!axis)
    return success();
  FailureOr<int64_t> position =
      resolveAxis(op.getLoc(), *axis, input.getRank());
  if (failed(position))
    return failure();
  for (int64_t i = 0; i < input.getRank(); ++i)
    if (i != *position && input.getDimSize(i) != indices.getDimSize(i))
      return op.emitOpError("input and indices differ in extent ") << i;
  return success();
}

LogicalResult GatherAlongAxisOp::verify() { return verifyIndexedAxis(*this); }

LogicalResult ScatterAlongAxisOp::verify() {
  if (!areCompatibleTypes(getInput().getType(), getType()))
    return emitOpError("result must have the type of the input");
  if (failed(verifySameStaticShapes(*this, {getIndices(), getUpdates()})))
    return failure();
  return verifyIndexedAxis(*this);
}

//===----------------------------------------------------------------------===//
// At index vectors
//===----------------------------------------------------------------------===//

/// `indices.shape[:-1] + input.shape[Q:]`, Q being the last extent of
/// `indices`.
static FailureOr<Shape> getGatheredShape(std::optional<Location> location,
                                         RankedTensorType input,
                                         RankedTensorType indices) {
  if (indices.getRank() == 0)
    return emitOptionalError(location, "indices must have at least one axis");
  int64_t depth = indices.getShape().back();
  if (ShapedType::isDynamic(depth))
    return emitOptionalError(location,
                             "last extent of the indices must be static");
  if (depth > input.getRank())
    return emitOptionalError(location, "index vectors of ", depth,
                             " elements for a tensor of rank ",
                             input.getRank());
  Shape shape(indices.getShape().drop_back());
  llvm::append_range(shape, input.getShape().drop_front(depth));
  return shape;
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &inferred) {
  auto shapeOf = [&](RankedTensorType input) -> FailureOr<Shape> {
    FailureOr<RankedTensorType> indices =
        getTensorType(location, adaptor.getIndices());
    if (failed(indices))
      return failure();
    return getGatheredShape(location, input, *indices);
  };
  return inferShaped(location, adaptor.getInput(), {}, inferred, shapeOf);
}

/// The region may only choose between the value in place and the update.
static LogicalResult verifyUpdateFunction(ScatterNdOp op) {
  Block &block = op.getUpdateFn().front();
  Type element = op.getInput().getType().getElementType();
  if (block.getNumArguments() != 2)
    return op.emitOpError("region must have two arguments, got ")
           << block.getNumArguments();
  for (Type type : block.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getElementType() != element)
      return op.emitOpError("arguments of the region must be tensors of ")
             << element << ", got " << type;
  }
  auto yield = dyn_cast<YieldOp>(block.front());
  if (!yield)
    return op.emitOpError("region may hold nothing but its 'coreai.yield'");
  if (yield.getArgs().size() != 1 ||
      getElementTypeOrSelf(yield.getArgs().front()) != element)
    return op.emitOpError("region must yield one tensor of ") << element;
  return success();
}

LogicalResult ScatterNdOp::verify() {
  RankedTensorType input = getInput().getType();
  RankedTensorType indices = getIndices().getType();
  RankedTensorType updates = getUpdates().getType();
  if (!haveCompatibleShapes(getInput(), getOutput()))
    return emitOpError("result must have the shape of the input");
  if (indices.getRank() == 0)
    return emitOpError("indices must have at least one axis");
  if (indices.getShape().back() > input.getRank())
    return emitOpError("index vectors of ")
           << indices.getShape().back() << " elements for a tensor of rank "
           << input.getRank();
  if (indices.hasStaticShape() && updates.hasStaticShape()) {
    FailureOr<Shape> shape = getGatheredShape(getLoc(), input, indices);
    if (failed(shape))
      return failure();
    if (ArrayRef(*shape) != updates.getShape())
      return emitOpError("updates must be ")
             << RankedTensorType::get(*shape, updates.getElementType())
             << ", got " << updates;
  }
  return verifyUpdateFunction(*this);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

LogicalResult NonZeroOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  if (failed(type))
    return failure();
  inferred.push_back(RankedTensorType::get(
      {ShapedType::kDynamic, type->getRank()},
      IntegerType::get(context, 32, IntegerType::Signed)));
  return success();
}

LogicalResult NonZeroOp::verify() {
  int64_t rank = getInput().getType().getRank();
  if (getType().getDimSize(1) != rank)
    return emitOpError("second extent of the result must be ") << rank;
  return success();
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/IndexingOps.cpp.inc"
