// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Broadcast.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

static ArrayRef<int64_t> shapeOf(Value x) {
  return cast<RankedTensorType>(x.getType()).getShape();
}

static bool canBeEqual(int64_t lhs, int64_t rhs) {
  return lhs == rhs || ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs);
}

/// Axis `fromEnd` counted from the last one; 1 where there is none.
static int64_t extent(ArrayRef<int64_t> shape, size_t fromEnd) {
  return fromEnd < shape.size() ? shape[shape.size() - 1 - fromEnd] : 1;
}

/// The sum of tensors of these shapes exists, and may have as many elements as
/// one of shape `result`.
static bool couldReplace(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs,
                         ArrayRef<int64_t> result) {
  bool dynamic = llvm::is_contained(result, ShapedType::kDynamic);
  int64_t elements = 1, wanted = 1;
  for (size_t i = 0, rank = std::max(lhs.size(), rhs.size()); i < rank; ++i) {
    int64_t a = extent(lhs, i), b = extent(rhs, i);
    if (a != 1 && b != 1 && !canBeEqual(a, b))
      return false;
    int64_t size = a == 1 ? b : a;
    dynamic |= ShapedType::isDynamic(size);
    elements *= size;
  }
  for (int64_t size : result)
    wanted *= size;
  return dynamic || elements == wanted;
}

/// `other` reaches over trailing axes that are the same in both shapes.
static bool meetsSameAxes(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                          ArrayRef<int64_t> other) {
  size_t reach = other.size();
  while (reach > 0 && extent(other, reach - 1) == 1)
    --reach;
  for (size_t i = 0; i < reach; ++i)
    if (extent(from, i) != extent(to, i))
      return false;
  return true;
}

/// What a chain of ops that only change the shape starts from; null when the
/// value is not made by such an op. Arithmetic with a number is moved across
/// reshapes as well, so it counts.
static Value reshapedFrom(Value x) {
  Value source;
  while (Operation *op = x.getDefiningOp()) {
    if (isa<coreai::ReshapeOp, coreai::ExpandDimsOp, coreai::ShrinkDimsOp,
            coreai::BroadcastToOp, coreai::TransposeOp>(op))
      source = op->getOperand(0);
    else if (!isa<coreai::BroadcastingAddOp, coreai::BroadcastingSubOp,
                  coreai::BroadcastingMulOp, coreai::BroadcastingDivideOp>(
                 op) ||
             !shapeOf(op->getOperand(1)).empty())
      break;
    x = op->getOperand(0);
  }
  // Constants are folded into their final shape before anything else happens.
  return source && !x.getDefiningOp<coreai::ConstantOp>() ? source : Value();
}

static bool isMisreadThrough(Value x, Value y) {
  Value source = reshapedFrom(x);
  if (!source || shapeOf(x) == shapeOf(y))
    return false;
  return isSumMisread(shapeOf(source), shapeOf(x), shapeOf(y));
}

bool corten::isSumMisread(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                          ArrayRef<int64_t> other) {
  SmallVector<int64_t> result;
  for (size_t i = std::max(to.size(), other.size()); i-- > 0;)
    result.push_back(extent(to, i) == 1 ? extent(other, i) : extent(to, i));
  return couldReplace(from, other, result) && !meetsSameAxes(from, to, other);
}

bool corten::isSumMisread(Value x, Value y) {
  return isMisreadThrough(x, y) || isMisreadThrough(y, x);
}

bool corten::isBroadcast(Value x, Value y) {
  ArrayRef<int64_t> from = shapeOf(x), to = shapeOf(y);
  for (size_t i = 0; i < to.size(); ++i)
    if (extent(from, i) == 1 && extent(to, i) != 1)
      return true;
  return from.size() < to.size();
}
