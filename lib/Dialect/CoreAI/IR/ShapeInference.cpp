// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ShapeInference.h"

#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"

#include "mlir/Dialect/Traits.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;

namespace corten::coreai {

bool areCompatibleTypes(Type inferred, Type declared) {
  return haveSameElementType(inferred, declared) &&
         succeeded(verifyCompatibleShape(inferred, declared));
}

bool haveSameElementTypeAndShape(Type inferred, Type declared) {
  auto a = dyn_cast<RankedTensorType>(inferred);
  auto b = dyn_cast<RankedTensorType>(declared);
  return a && b && a.getElementType() == b.getElementType() &&
         a.getShape() == b.getShape();
}

bool haveSameElementTypeAndRank(Type inferred, Type declared) {
  auto a = dyn_cast<RankedTensorType>(inferred);
  auto b = dyn_cast<RankedTensorType>(declared);
  return a && b && a.getElementType() == b.getElementType() &&
         a.getRank() == b.getRank();
}

bool haveSameElementType(Type inferred, Type declared) {
  return getElementTypeOrSelf(inferred) == getElementTypeOrSelf(declared);
}

bool acceptAnyType(Type inferred, Type declared) { return true; }

bool haveCompatibleShapes(Value a, Value b) {
  return succeeded(verifyCompatibleShape(a.getType(), b.getType()));
}

LogicalResult verifySameStaticShapes(Operation *op, ValueRange values) {
  RankedTensorType first;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.hasStaticShape())
      continue;
    if (first && type.getShape() != first.getShape())
      return op->emitOpError("operands must have the same shape, got ")
             << first << " and " << type;
    first = type;
  }
  return success();
}

std::optional<int64_t> getStaticLength(Value vector) {
  auto type = cast<RankedTensorType>(vector.getType());
  if (type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

FailureOr<RankedTensorType> getTensorType(std::optional<Location> location,
                                          Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type;
  return emitOptionalError(location, "expected a ranked tensor, got ",
                           value.getType());
}

std::optional<int64_t> getElementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  return count;
}

Shape getDynamicShape(int64_t rank) {
  return Shape(rank, ShapedType::kDynamic);
}

int64_t resolveSliceBound(int64_t bound, int64_t extent) {
  return std::clamp<int64_t>(bound < 0 ? bound + extent : bound, 0, extent);
}

FailureOr<Shape> mergeShapes(std::optional<Location> location,
                             ValueRange operands) {
  Shape merged;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    FailureOr<RankedTensorType> type = getTensorType(location, operand);
    if (failed(type))
      return failure();
    if (index == 0) {
      merged.assign(type->getShape().begin(), type->getShape().end());
      continue;
    }
    if (failed(verifyCompatibleShape(merged, type->getShape())))
      return emitOptionalError(location, "operands must have the same shape, ",
                               "got ", operands.front().getType(), " and ",
                               *type);
    for (auto [extent, other] : llvm::zip_equal(merged, type->getShape()))
      if (ShapedType::isDynamic(extent))
        extent = other;
  }
  return merged;
}

FailureOr<Shape> broadcastShapes(std::optional<Location> location,
                                 ValueRange operands) {
  Shape broadcast;
  for (Value operand : operands) {
    FailureOr<RankedTensorType> type = getTensorType(location, operand);
    if (failed(type))
      return failure();
    Shape before = broadcast;
    if (!OpTrait::util::getBroadcastedShape(before, type->getShape(),
                                            broadcast))
      return emitOptionalError(location,
                               "operands do not broadcast to one shape");
  }
  return broadcast;
}

LogicalResult
inferShaped(std::optional<Location> location, Value input, ValueRange indices,
            SmallVectorImpl<Type> &inferred,
            llvm::function_ref<FailureOr<Shape>(RankedTensorType)> shapeOf) {
  FailureOr<RankedTensorType> type = getTensorType(location, input);
  if (failed(type) || failed(verifyReadableConstants(location, indices)))
    return failure();
  FailureOr<Shape> shape = shapeOf(*type);
  if (failed(shape))
    return failure();
  inferred.push_back(RankedTensorType::get(*shape, type->getElementType()));
  return success();
}

} // namespace corten::coreai
