// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/ReductionOps.h"

#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// The extents that are left when `axes` are reduced to 1. Axes out of range
/// reduce nothing here: they are an error at run time only. Unknown axes could
/// be any, so every extent becomes `?`.
static Shape getReducedShape(RankedTensorType type, Value constant) {
  std::optional<Indices> axes = getConstantIndices(constant);
  if (!axes)
    return getDynamicShape(type.getRank());
  Shape shape(type.getShape());
  for (int64_t axis : *axes)
    if (std::optional<int64_t> position = normalizeAxis(axis, type.getRank()))
      shape[*position] = 1;
  return shape;
}

template <typename Adaptor>
static LogicalResult inferReduction(std::optional<Location> location,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &inferred) {
  return inferShaped(location, adaptor.getInput(), {}, inferred,
                     [&](RankedTensorType type) -> FailureOr<Shape> {
                       return getReducedShape(type, adaptor.getAxes());
                     });
}

LogicalResult ArgmaxOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  if (failed(type))
    return failure();
  Shape shape = getReducedShape(*type, adaptor.getAxis());
  inferred.push_back(RankedTensorType::get(
      shape, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  if (failed(type))
    return failure();
  inferred.push_back(RankedTensorType::get(
      type->getShape(), IntegerType::get(context, 32, IntegerType::Signed)));
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult verifyAxisCount(Op op) {
  std::optional<int64_t> count = getStaticLength(op.getAxes());
  int64_t rank = op.getInput().getType().getRank();
  if (count && *count > rank)
    return op.emitOpError("lists ")
           << *count << " axes of a tensor of rank " << rank;
  return success();
}

LogicalResult ReduceSumOp::verify() { return verifyAxisCount(*this); }
LogicalResult ReduceMeanOp::verify() { return verifyAxisCount(*this); }
LogicalResult ReduceProductOp::verify() { return verifyAxisCount(*this); }
LogicalResult ReduceMaxOp::verify() { return verifyAxisCount(*this); }
LogicalResult ReduceMinOp::verify() { return verifyAxisCount(*this); }

/// Unlike the arithmetic reductions, the logical ones want an axis, and want
/// constant axes to be in range.
template <typename Op> static LogicalResult verifyLogicalReduction(Op op) {
  if (failed(verifyAxisCount(op)) ||
      failed(verifyReadableConstants(op.getLoc(), op.getAxes())))
    return failure();
  if (getStaticLength(op.getAxes()) == 0)
    return op.emitOpError("needs at least one axis");
  std::optional<Indices> axes = getConstantIndices(op.getAxes());
  int64_t rank = op.getInput().getType().getRank();
  return success(!axes || succeeded(resolveAxes(op.getLoc(), *axes, rank)));
}

LogicalResult AllOp::verify() { return verifyLogicalReduction(*this); }
LogicalResult AnyOp::verify() { return verifyLogicalReduction(*this); }

LogicalResult ScanOp::verify() {
  return verifyAxis(getLoc(), getAxis(), getInput().getType().getRank());
}

LogicalResult SortOp::verify() {
  if (!haveCompatibleShapes(getInput(), getResult()))
    return emitOpError("result must have the shape of the input");
  return verifyAxis(getLoc(), getDim(), getInput().getType().getRank(),
                    Widening::Bits);
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ReductionOps.cpp.inc"
