// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/DimExpr.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace corten;
using namespace mlir;

DimExpr::DimExpr(Emitter &emit, Value x, int64_t axis) : emit(&emit) {
  auto type = emit.type(x);
  if (type.isDynamicDim(axis))
    value = emit.dim(x, axis);
  else
    offset = type.getDimSize(axis);
}

Value DimExpr::vector() const {
  if (isStatic())
    return emit->indices({offset});
  return offset == 0 ? value : emit->add(value, emit->indices({offset}));
}

Value DimExpr::scalar() const {
  return isStatic() ? emit->index(offset)
                    : emit->reshape(vector(), ArrayRef<int64_t>());
}

DimExpr DimExpr::operator+(const DimExpr &other) const {
  if (other.isStatic())
    return *this + other.offset;
  if (isStatic())
    return other + offset;
  return {*emit, offset + other.offset, emit->add(value, other.value)};
}

DimExpr DimExpr::operator-(const DimExpr &other) const {
  if (other.isStatic())
    return *this - other.offset;
  return {*emit, -other.offset, emit->sub(vector(), other.value)};
}

DimExpr DimExpr::operator*(int64_t factor) const {
  if (isStatic() || factor == 1)
    return {*emit, offset * factor, value};
  return {*emit, offset * factor, emit->mul(value, emit->indices({factor}))};
}

DimExpr DimExpr::floorDiv(int64_t divisor) const {
  if (isStatic())
    return {*emit, llvm::divideFloorSigned(offset, divisor)};
  if (divisor == 1)
    return *this;
  return {*emit, 0, emit->floorDivide(vector(), emit->indices({divisor}))};
}

DimExpr DimExpr::min(const DimExpr &other) const {
  if (isStatic() && other.isStatic())
    return {*emit, std::min(offset, other.offset)};
  return {*emit, 0, emit->minimum(vector(), other.vector())};
}

DimExpr DimExpr::max(const DimExpr &other) const {
  if (isStatic() && other.isStatic())
    return {*emit, std::max(offset, other.offset)};
  return {*emit, 0, emit->maximum(vector(), other.vector())};
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
  // Long sequences are cheaper to compute than to store.
  constexpr int64_t kLongestConstant = 256;
  if (count.isStatic() && count.extent() <= kLongestConstant)
    return emit.indices(llvm::to_vector(llvm::seq<int64_t>(0, count.extent())));
  return emit.create<coreai::RangeOp>(
      {emit.index(0), count.scalar(), emit.index(1)});
}

Value corten::sliceAxis(Emitter &emit, Value x, int64_t axis,
                        const DimExpr &start, const DimExpr &end,
                        int64_t stride) {
  auto type = emit.type(x);
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

std::pair<Value, Value> corten::boundsOfPlace(Emitter &emit, Value x,
                                              int64_t axis,
                                              const Argument &index) {
  Value start = emit.size(index);
  if (index.isInt())
    return {start, emit.indices(
                       {index.asInt() == -1 ? INT32_MAX : index.asInt() + 1})};
  Value isNegative = emit.greater(emit.indices({0}), start);
  start = emit.where(isNegative, emit.add(start, emit.dim(x, axis)), start);
  return {start, emit.add(start, emit.indices({1}))};
}

Value corten::updateSlice(Emitter &emit, Value x, int64_t axis, Value start,
                          Value end, int64_t stride, Value source) {
  int64_t rank = emit.type(x).getRank();
  auto along = [&](Value bound, int64_t elsewhere) {
    SmallVector<Value> pieces(rank, emit.indices({elsewhere}));
    pieces[axis] = bound;
    return emit.joinSizes(pieces);
  };
  Value starts = along(start, 0), ends = along(end, INT32_MAX);
  SmallVector<int64_t> strides(rank, 1);
  strides[axis] = stride;
  return emit.create<coreai::SliceUpdateOp>(
      {x, starts, ends, emit.indices(strides), source});
}

Value corten::padDims(Emitter &emit, Value x, ArrayRef<DimExpr> padding,
                      Value fill) {
  auto type = emit.type(x);
  // Inference knows nothing when one amount is not a constant.
  SmallVector<int64_t> shape;
  bool changes = false;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    DimExpr before = padding[2 * axis], after = padding[2 * axis + 1];
    changes |= before.extent() != 0 || after.extent() != 0;
    bool known =
        before.isStatic() && after.isStatic() && !type.isDynamicDim(axis);
    shape.push_back(known ? type.getDimSize(axis) + before.extent() +
                                after.extent()
                          : ShapedType::kDynamic);
  }
  if (!changes)
    return x;
  return emit.pad(x, joinDims(emit, padding, IndexKind::Unsigned), fill,
                  RankedTensorType::get(shape, type.getElementType()));
}
