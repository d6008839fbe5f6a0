// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"

#include "corten/Dialect/CoreAI/IR/ShapeOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace corten::coreai {

bool isConstant(Value value) {
  return value.getDefiningOp<ConstantOp>() != nullptr;
}

DenseElementsAttr getInlineConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast_if_present<DenseElementsAttr>(constant.getValue())
                  : DenseElementsAttr();
}

std::optional<Indices> getConstantIndices(Value value, Widening widening) {
  DenseElementsAttr elements = getInlineConstant(value);
  if (!elements)
    return std::nullopt;
  auto type = dyn_cast<IntegerType>(elements.getElementType());
  if (!type || type.getWidth() > 64)
    return std::nullopt;

  bool extendSign =
      type.isSigned() && (widening == Widening::Signed || type.getWidth() > 16);
  Indices indices;
  indices.reserve(elements.getNumElements());
  for (const APInt &element : elements.getValues<APInt>())
    indices.push_back(extendSign
                          ? element.getSExtValue()
                          : static_cast<int64_t>(element.getZExtValue()));
  return indices;
}

std::optional<int64_t> getConstantIndex(Value value, Widening widening) {
  std::optional<Indices> indices = getConstantIndices(value, widening);
  if (!indices || indices->size() != 1)
    return std::nullopt;
  return indices->front();
}

LogicalResult verifyReadableConstants(std::optional<Location> location,
                                      ValueRange operands) {
  if (!llvm::all_of(operands, isConstant))
    return success();
  for (Value operand : operands)
    if (!getInlineConstant(operand))
      return emitOptionalError(
          location, "constant shape and index operands must be inline, got ",
          operand.getDefiningOp<ConstantOp>().getValue());
  return success();
}

std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

FailureOr<int64_t> resolveAxis(std::optional<Location> location, int64_t axis,
                               int64_t rank) {
  if (std::optional<int64_t> position = normalizeAxis(axis, rank))
    return *position;
  return emitOptionalError(location, "axis ", axis,
                           " is out of range for a tensor of rank ", rank);
}

FailureOr<Indices> resolveAxes(std::optional<Location> location,
                               ArrayRef<int64_t> axes, int64_t rank) {
  Indices positions;
  for (int64_t axis : axes) {
    FailureOr<int64_t> position = resolveAxis(location, axis, rank);
    if (failed(position))
      return failure();
    positions.push_back(*position);
  }
  return positions;
}

LogicalResult verifyAxis(Location location, Value axis, int64_t rank,
                         Widening widening) {
  if (failed(verifyReadableConstants(location, axis)))
    return failure();
  std::optional<int64_t> constant = getConstantIndex(axis, widening);
  return success(!constant ||
                 succeeded(resolveAxis(location, *constant, rank)));
}

} // namespace corten::coreai
