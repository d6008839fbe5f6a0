// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/ElementwiseOps.h"

#include "ConstantFolding.h"
#include "ShapeInference.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static Type getElementType(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// The agreed or broadcast shape of all operands with the given element type.
static LogicalResult append(FailureOr<Shape> shape, Type element,
                            SmallVectorImpl<Type> &inferred) {
  if (failed(shape))
    return failure();
  inferred.push_back(RankedTensorType::get(*shape, element));
  return success();
}

template <typename Adaptor>
static LogicalResult inferElementwise(std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  ValueRange operands = adaptor.getOperands();
  if (operands.size() == 1) {
    inferred.push_back(operands.front().getType());
    return success();
  }
  return append(mergeShapes(location, operands),
                getElementType(operands.front()), inferred);
}

template <typename Adaptor>
static LogicalResult inferComparison(std::optional<Location> location,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &inferred) {
  ValueRange operands = adaptor.getOperands();
  Builder builder(operands.front().getContext());
  return append(mergeShapes(location, operands), builder.getI1Type(), inferred);
}

template <typename Adaptor>
static LogicalResult inferBroadcasting(std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  ValueRange operands = adaptor.getOperands();
  return append(broadcastShapes(location, operands),
                getElementType(operands.front()), inferred);
}

template <typename Adaptor>
static LogicalResult
inferBroadcastingComparison(std::optional<Location> location, Adaptor adaptor,
                            SmallVectorImpl<Type> &inferred) {
  ValueRange operands = adaptor.getOperands();
  Builder builder(operands.front().getContext());
  return append(broadcastShapes(location, operands), builder.getI1Type(),
                inferred);
}

static LogicalResult
inferBroadcastingWhere(std::optional<Location> location,
                       BroadcastingWhereOp::Adaptor adaptor,
                       SmallVectorImpl<Type> &inferred) {
  return append(broadcastShapes(location, adaptor.getOperands()),
                getElementType(adaptor.getA()), inferred);
}

template <typename Adaptor>
static LogicalResult inferComplexPart(std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  if (failed(type))
    return failure();
  auto complex = dyn_cast<ComplexType>(type->getElementType());
  if (!complex)
    return emitOptionalError(location, "expected complex elements, got ",
                             *type);
  inferred.push_back(type->clone(complex.getElementType()));
  return success();
}

LogicalResult NotOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  inferred.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult WhereOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  inferred.push_back(adaptor.getA().getType());
  return success();
}

LogicalResult CreateComplexOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type = getTensorType(location, adaptor.getReal());
  if (failed(type))
    return failure();
  inferred.push_back(type->clone(ComplexType::get(type->getElementType())));
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult WhereOp::verify() {
  return verifySameStaticShapes(*this, {getCondition(), getA()});
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NotOp>())
    return inner.getX();
  DenseElementsAttr elements = getFoldableElements(adaptor.getX());
  if (!elements)
    return {};
  return elements.mapValues(elements.getElementType(),
                            [](const APInt &value) { return ~value; });
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  DenseElementsAttr elements = getFoldableElements(adaptor.getInput());
  if (!elements || !hasFoldableShape(getType()))
    return {};
  return castElements(elements, cast<RankedTensorType>(getType()));
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ElementwiseOps.cpp.inc"
