// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/ValueFacts.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"

using namespace corten;
using namespace mlir;

int64_t corten::productOf(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent))
      return extent;
    result *= extent;
  }
  return result;
}

std::optional<SmallVector<int64_t>> corten::constantIndices(Value x) {
  DenseIntElementsAttr elements;
  if (!matchPattern(x, m_Constant(&elements)))
    return std::nullopt;
  SmallVector<int64_t> entries;
  for (const APInt &entry : elements.getValues<APInt>())
    entries.push_back(entry.getSExtValue());
  return entries;
}

/// The axis that an op works along, which is its second operand.
static std::optional<int64_t> axisOf(Operation *op) {
  std::optional<SmallVector<int64_t>> axis = constantIndices(op->getOperand(1));
  if (!axis || axis->size() != 1)
    return std::nullopt;
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  return axis->front() < 0 ? axis->front() + rank : axis->front();
}

std::optional<int64_t> corten::extentOfPlaces(Value x) {
  while (Operation *op = x.getDefiningOp()) {
    if (isa<coreai::ArgmaxOp, coreai::ArgsortOp>(op)) {
      auto type = cast<RankedTensorType>(op->getOperand(0).getType());
      std::optional<int64_t> axis = axisOf(op);
      if (!axis || type.isDynamicDim(*axis))
        return std::nullopt;
      return type.getDimSize(*axis);
    }
    if (!isa<coreai::CastOp, coreai::GatherAlongAxisOp, coreai::ReshapeOp,
             coreai::ShrinkDimsOp, coreai::SliceOp>(op))
      return std::nullopt;
    x = op->getOperand(0);
  }
  return std::nullopt;
}

bool corten::isNanAsAWhole(Value x, int64_t axis) {
  auto type = cast<RankedTensorType>(x.getType());
  bool isLast = axis == type.getRank() - 1;
  while (Operation *op = x.getDefiningOp()) {
    if (isa<coreai::SoftmaxOp>(op))
      return axisOf(op) == axis;
    if (isa<coreai::BroadcastingBatchMatmulOp>(op))
      return isLast;
    bool isBiased = isa<coreai::BroadcastingAddOp>(op) &&
                    op->getOperand(1).getDefiningOp<coreai::ConstantOp>();
    auto source = cast<RankedTensorType>(op->getOperand(0).getType());
    bool keepsRows = isa<coreai::ReshapeOp>(op) && isLast &&
                     source.getRank() != 0 &&
                     !ShapedType::isDynamic(source.getShape().back()) &&
                     source.getShape().back() == type.getShape().back();
    if (!isa<coreai::CastOp>(op) && !isBiased && !keepsRows)
      return false;
    if (keepsRows)
      axis = source.getRank() - 1;
    x = op->getOperand(0);
    type = source;
  }
  return false;
}
