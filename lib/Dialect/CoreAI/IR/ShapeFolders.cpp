// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders of the ops that move elements: what does nothing disappears, and the
// small constants of shape computations are computed.

#include "ConstantFolding.h"
#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/ShapeOps.h"

using namespace mlir;
using namespace corten::coreai;

OpFoldResult ConstantOp::fold(FoldAdaptor adaptor) { return getValueAttr(); }

OpFoldResult GetShapeOp::fold(FoldAdaptor adaptor) {
  auto type = dyn_cast<RankedTensorType>(getInput().getType());
  if (!type || !type.hasStaticShape())
    return {};
  return getIndexElements(type.getShape(), getType());
}

/// The value of an op that only regroups elements: its input when the type
/// stays the same and is fully known, or a constant.
static OpFoldResult foldRegrouping(Value input, Attribute constant,
                                   RankedTensorType type) {
  if (input.getType() == type && type.hasStaticShape())
    return input;
  if (DenseElementsAttr elements = getFoldableElements(constant))
    return reshapeElements(elements, type);
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  return foldRegrouping(getInput(), adaptor.getInput(), getType());
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) {
  return foldRegrouping(getInput(), adaptor.getInput(), getType());
}

OpFoldResult ShrinkDimsOp::fold(FoldAdaptor adaptor) {
  return foldRegrouping(getInput(), adaptor.getInput(), getType());
}

/// A splat of the given type, which must be able to hold the constant.
static DenseElementsAttr resizeSplat(Attribute constant,
                                     RankedTensorType type) {
  DenseElementsAttr elements = getFoldableElements(constant);
  if (!elements || !elements.isSplat() || !hasFoldableShape(type) ||
      elements.getElementType() != type.getElementType())
    return {};
  return elements.resizeSplat(type);
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  auto permutation = getConstantIndices(getPermutation());
  if (permutation && getInput().getType() == getType() &&
      llvm::equal(*permutation, llvm::seq<int64_t>(permutation->size())))
    return getInput();
  if (getInput().getType().getRank() == getType().getRank())
    return resizeSplat(adaptor.getInput(), getType());
  return {};
}

OpFoldResult BroadcastToOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType() && getType().hasStaticShape())
    return getInput();
  return resizeSplat(adaptor.getInput(), getType());
}

/// Joins vectors only: those are what shapes are put together from.
OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  RankedTensorType type = getType();
  if (type.getRank() != 1 || !hasFoldableShape(type) ||
      !type.getElementType().isIntOrFloat())
    return {};
  SmallVector<Attribute> values;
  for (Attribute input : adaptor.getInputs()) {
    DenseElementsAttr elements = getFoldableElements(input);
    if (!elements || elements.getElementType() != type.getElementType())
      return {};
    llvm::append_range(values, elements.getValues<Attribute>());
  }
  if (static_cast<int64_t>(values.size()) != type.getNumElements())
    return {};
  return getFoldableElements(DenseElementsAttr::get(type, values));
}

/// Cuts vectors only, with positive strides, where the type is what the
/// indices say.
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  DenseElementsAttr elements = getFoldableElements(adaptor.getInput());
  RankedTensorType type = getType();
  auto start = getConstantIndex(getStartIndices());
  auto end = getConstantIndex(getEndIndices());
  auto stride = getConstantIndex(getStrides());
  if (!elements || !hasFoldableShape(type) || type.getRank() != 1 ||
      elements.getType().getRank() != 1 || !start || !end || !stride ||
      *stride <= 0)
    return {};
  int64_t extent = elements.getNumElements();
  int64_t first = resolveSliceBound(*start, extent);
  int64_t last = resolveSliceBound(*end, extent);
  SmallVector<Attribute> all(elements.getValues<Attribute>());
  SmallVector<Attribute> values;
  for (int64_t i = first; i < last; i += *stride)
    values.push_back(all[i]);
  if (static_cast<int64_t>(values.size()) != type.getNumElements())
    return {};
  return DenseElementsAttr::get(type, values);
}
