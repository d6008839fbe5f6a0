// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DimExpr.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace corten;
using namespace mlir;

DimExpr::DimExpr(Emitter &emit, Value x, int64_t axis) : emit(&emit) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.isDynamicDim(axis))
    value = emit.dim(x, axis);
  else
    number = type.getDimSize(axis);
}

Value DimExpr::vector() const {
  return number ? emit->indices({*number}) : value;
}

Value DimExpr::scalar() const {
  return number ? emit->index(*number)
                : emit->reshape(value, ArrayRef<int64_t>());
}

DimExpr DimExpr::operator+(const DimExpr &other) const {
  if (number && other.number)
    return {*emit, *number + *other.number};
  if (number == 0)
    return other;
  if (other.number == 0)
    return *this;
  return {*emit, emit->add(vector(), other.vector())};
}

DimExpr DimExpr::operator-(const DimExpr &other) const {
  if (number && other.number)
    return {*emit, *number - *other.number};
  if (other.number == 0)
    return *this;
  return {*emit, emit->sub(vector(), other.vector())};
}

DimExpr DimExpr::operator*(int64_t factor) const {
  if (number)
    return {*emit, *number * factor};
  return factor == 1
             ? *this
             : DimExpr(*emit, emit->mul(value, emit->indices({factor})));
}

DimExpr DimExpr::floorDiv(int64_t divisor) const {
  if (number)
    return {*emit, llvm::divideFloorSigned(*number, divisor)};
  return divisor == 1
             ? *this
             : DimExpr(*emit,
                       emit->floorDivide(value, emit->indices({divisor})));
}

DimExpr DimExpr::min(const DimExpr &other) const {
  if (number && other.number)
    return {*emit, std::min(*number, *other.number)};
  return {*emit, emit->minimum(vector(), other.vector())};
}

DimExpr DimExpr::max(const DimExpr &other) const {
  if (number && other.number)
    return {*emit, std::max(*number, *other.number)};
  return {*emit, emit->maximum(vector(), other.vector())};
}

Value corten::joinDims(Emitter &emit, ArrayRef<DimExpr> dims, IndexKind kind) {
  if (llvm::all_of(dims, [](const DimExpr &dim) { return dim.isStatic(); }))
    return emit.indices(
        llvm::map_to_vector(dims,
                            [](const DimExpr &dim) { return dim.extent(); }),
        kind);
  SmallVector<Value> pieces;
  for (const DimExpr &dim : dims)
    pieces.push_back(dim.vector());
  return emit.joinSizes(pieces, kind);
}

Value corten::countUp(Emitter &emit, const DimExpr &count) {
  if (count.isStatic())
    return emit.indices(llvm::to_vector(llvm::seq<int64_t>(0, count.extent())));
  return emit.create<coreai::RangeOp>(
      {emit.index(0), count.scalar(), emit.index(1)});
}

Value corten::sliceAxis(Emitter &emit, Value x, int64_t axis,
                        const DimExpr &start, const DimExpr &end,
                        int64_t stride) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<DimExpr> starts(type.getRank(), DimExpr(emit, 0));
  SmallVector<DimExpr> ends(type.getRank(), DimExpr(emit, INT32_MAX));
  SmallVector<int64_t> strides(type.getRank(), 1);
  starts[axis] = start;
  ends[axis] = end;
  strides[axis] = stride;

  // Extents that inference loses because a bound is not a constant.
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = start.isStatic() && end.isStatic()
                    ? llvm::divideCeil(end.extent() - start.extent(), stride)
                    : ShapedType::kDynamic;
  return emit.createTyped<coreai::SliceOp>(
      RankedTensorType::get(shape, type.getElementType()),
      {x, joinDims(emit, starts), joinDims(emit, ends), emit.indices(strides)});
}
