// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect's ops under short names.

#include "Emission/Broadcast.h"
#include "Emission/Emitter.h"
#include "Emission/ValueFacts.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

Value Emitter::cast(Value x, Type element) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getElementType() == element)
    return x;
  return createTyped<coreai::CastOp>(type.clone(element), x);
}

/// Every number of the integer type `from` is one of `to`.
static bool contains(IntegerType to, IntegerType from) {
  if (to.isUnsigned() == from.isUnsigned())
    return to.getWidth() >= from.getWidth();
  return from.isUnsigned() && to.getWidth() > from.getWidth();
}

Value Emitter::convert(Value x, Type element) {
  Type from = getElementTypeOrSelf(x);
  if (isa<ComplexType>(from) && element.isInteger(1)) {
    auto differsFromZero = [&](Value part) {
      return notEqual(part, scalar(0, getElementTypeOrSelf(part)));
    };
    return logicalOr(differsFromZero(create<coreai::RealPartOp>({x})),
                     differsFromZero(create<coreai::ImaginaryPartOp>({x})));
  }
  auto source = dyn_cast<IntegerType>(from);
  auto target = dyn_cast<IntegerType>(element);
  if (!source || !target || source.getWidth() < 8 || target.getWidth() < 8 ||
      contains(target, source))
    return cast(x, element);
  // Places among elements are never negative.
  std::optional<int64_t> extent = extentOfPlaces(x);
  if (extent && *extent <= int64_t(1)
                               << (target.getWidth() - target.isSigned()))
    return cast(x, element);

  depart(Departure::IntegerWrap);
  // The 32 bits as si32, then what the target keeps of them. Values are masked
  // before each cast, so that none saturates.
  auto masked = [&](Value bits, int64_t mask) {
    return create<coreai::BroadcastingBitwiseAndOp>(
        {bits, scalar(mask, getElementTypeOrSelf(bits))});
  };
  auto withTopBit = [&](Value low, Value isSet) {
    Type type = getElementTypeOrSelf(low);
    return create<coreai::BroadcastingBitwiseOrOp>(
        {low, where(isSet, scalar(int64_t(INT32_MIN), type), scalar(0, type))});
  };
  Value bits = x;
  if (from == ui32())
    bits = withTopBit(cast(masked(x, INT32_MAX), si32()),
                      greater(x, scalar(int64_t(INT32_MAX), from)));
  else
    bits = cast(x, si32());
  if (target.getWidth() == 32)
    return target.isUnsigned()
               ? withTopBit(cast(masked(bits, INT32_MAX), element),
                            greater(scalar(0, si32()), bits))
               : bits;
  bits = masked(bits, (int64_t(1) << target.getWidth()) - 1);
  if (target.isUnsigned())
    return cast(bits, element);
  Value top = scalar(int64_t(1) << (target.getWidth() - 1), si32());
  return cast(sub(create<coreai::BroadcastingBitwiseXorOp>({bits, top}), top),
              element);
}

static bool isBoolean(Value x) {
  return getElementTypeOrSelf(x.getType()).isInteger(1);
}

// The runtime has no i1 kernels for arithmetic and order; on booleans they are
// logic.
Value Emitter::add(Value x, Value y) {
  if (isBoolean(x))
    return create<coreai::BroadcastingOrOp>({x, y});
  // The difference with the negated operand is the same number, bit for bit.
  if (isSumMisread(x, y))
    return isBroadcast(y, x) ? sub(x, negate(y)) : sub(y, negate(x));
  return create<coreai::BroadcastingAddOp>({x, y});
}
Value Emitter::mul(Value x, Value y) {
  return isBoolean(x) ? create<coreai::BroadcastingAndOp>({x, y})
                      : create<coreai::BroadcastingMulOp>({x, y});
}
Value Emitter::sub(Value x, Value y) {
  return create<coreai::BroadcastingSubOp>({x, y});
}
Value Emitter::divide(Value x, Value y) {
  return create<coreai::BroadcastingDivideOp>({x, y});
}
Value Emitter::floorDivide(Value x, Value y) {
  return create<coreai::BroadcastingFloorDivideOp>({x, y});
}
Value Emitter::modulo(Value x, Value y) {
  return create<coreai::BroadcastingModuloOp>({x, y});
}
Value Emitter::pow(Value x, Value y) {
  return create<coreai::BroadcastingPowOp>({x, y});
}
Value Emitter::maximum(Value x, Value y) {
  return isBoolean(x) ? logicalOr(x, y)
                      : create<coreai::BroadcastingMaximumOp>({x, y});
}
Value Emitter::minimum(Value x, Value y) {
  return isBoolean(x) ? logicalAnd(x, y)
                      : create<coreai::BroadcastingMinimumOp>({x, y});
}
Value Emitter::matmul(Value x, Value y) {
  // The interpreter ends the process on a sum of no products.
  RankedTensorType left = type(x), right = type(y);
  if (left.getShape().back() == 0 && left.getRank() == right.getRank() &&
      left.hasStaticShape() && right.hasStaticShape()) {
    SmallVector<int64_t> shape(left.getShape());
    shape.back() = right.getShape().back();
    return splat(0.0, left.clone(shape));
  }
  return create<coreai::BroadcastingBatchMatmulOp>({x, y});
}
Value Emitter::equal(Value x, Value y) {
  return create<coreai::BroadcastingEqualOp>({x, y});
}
Value Emitter::notEqual(Value x, Value y) {
  return create<coreai::BroadcastingNotEqualOp>({x, y});
}
Value Emitter::greater(Value x, Value y) {
  return isBoolean(x) ? logicalAnd(x, logicalNot(y))
                      : create<coreai::BroadcastingGreaterOp>({x, y});
}
Value Emitter::logicalAnd(Value x, Value y) {
  return create<coreai::BroadcastingAndOp>({x, y});
}
Value Emitter::logicalOr(Value x, Value y) {
  return create<coreai::BroadcastingOrOp>({x, y});
}
Value Emitter::logicalNot(Value x) { return create<coreai::NotOp>({x}); }
Value Emitter::where(Value condition, Value x, Value y) {
  return create<coreai::BroadcastingWhereOp>({condition, x, y});
}

Value Emitter::scaleBy(Value x, double factor) {
  if (factor == 1.0)
    return x;
  return mul(x, scalar(factor, getElementTypeOrSelf(x)));
}

Value Emitter::negate(Value x) {
  return mul(x, scalar(-1, getElementTypeOrSelf(x)));
}

Value Emitter::reshape(Value x, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.hasStaticShape() && type.getShape() == shape)
    return x;
  // There and back again.
  if (auto before = x.getDefiningOp<coreai::ReshapeOp>()) {
    auto source = dyn_cast<RankedTensorType>(before->getOperand(0).getType());
    if (source && source.hasStaticShape() && source.getShape() == shape)
      return before->getOperand(0);
  }
  const int64_t *open = llvm::find(shape, -1);
  if (mayBeEmpty && !type.hasStaticShape() && open != shape.end()) {
    // An extent cannot be told from the number of elements if that is zero.
    int64_t others = -productOf(shape);
    SmallVector<int64_t> known(shape);
    known[open - shape.begin()] = ShapedType::kDynamic;
    SmallVector<Value> pieces;
    for (int64_t extent : shape)
      pieces.push_back(extent >= 0
                           ? indices({extent})
                           : floorDivide(numElements(x, 0, type.getRank()),
                                         indices({others})));
    return reshape(x, joinSizes(pieces), type.clone(known));
  }
  return create<coreai::ReshapeOp>({x, indices(shape)});
}

Value Emitter::reshape(Value x, Value shape, RankedTensorType type) {
  return createTyped<coreai::ReshapeOp>(type, {x, shape});
}

Value Emitter::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  return create<coreai::TransposeOp>(
      {x, indices(permutation, IndexKind::Unsigned)});
}

Value Emitter::expandDims(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : create<coreai::ExpandDimsOp>({x, indices(axes)});
}

Value Emitter::shrinkDims(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : create<coreai::ShrinkDimsOp>({x, indices(axes)});
}

Value Emitter::concat(ArrayRef<Value> values, int64_t axis) {
  SmallVector<Value> operands = {index(axis)};
  llvm::append_range(operands, values);
  return create<coreai::ConcatOp>(operands);
}

Value Emitter::slice(Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> ends,
                     ArrayRef<int64_t> strides, RankedTensorType type) {
  Value start = indices(starts), end = indices(ends), stride = indices(strides);
  if (type)
    return createTyped<coreai::SliceOp>(type, {x, start, end, stride});
  return create<coreai::SliceOp>({x, start, end, stride});
}

Value Emitter::pad(Value x, Value padding, Value fill, RankedTensorType type) {
  NamedAttribute mode = attribute(
      "padding_mode", coreai::PaddingModeAttr::get(
                          builder.getContext(), coreai::PaddingMode::Constant));
  if (type)
    return createTyped<coreai::PadOp>(type, {x, padding, fill}, mode);
  return create<coreai::PadOp>({x, padding, fill}, mode);
}

Value Emitter::slice(Value x, int64_t axis, Value start, Value end,
                     int64_t stride, RankedTensorType type) {
  int64_t rank = type.getRank();
  auto along = [&](Value piece, int64_t elsewhere) {
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < rank; ++i)
      pieces.push_back(i == axis ? piece : indices({elsewhere}));
    return joinSizes(pieces);
  };
  Value starts = along(start, 0), ends = along(end, INT32_MAX);
  SmallVector<int64_t> strides(rank, 1);
  strides[axis] = stride;
  return createTyped<coreai::SliceOp>(type,
                                      {x, starts, ends, indices(strides)});
}

Value Emitter::mergeAxes(Value x, int64_t from, int64_t to) {
  RankedTensorType known = type(x);
  ArrayRef<int64_t> extents = known.getShape();
  if (to - from == 1)
    return x;
  SmallVector<int64_t> shape(extents.take_front(from));
  shape.push_back(productOf(extents.slice(from, to - from)));
  llvm::append_range(shape, extents.drop_front(to));
  if (known.hasStaticShape())
    return reshape(x, shape);
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < from; ++axis)
    sizes.push_back(dim(x, axis));
  sizes.push_back(numElements(x, from, to));
  for (int64_t axis = to; axis < known.getRank(); ++axis)
    sizes.push_back(dim(x, axis));
  return reshape(x, joinSizes(sizes), known.clone(shape));
}

Value Emitter::gather(Value x, Value index, int64_t axis) {
  // The runtime has no complex gather along an axis.
  if (isa<ComplexType>(type(x).getElementType())) {
    Value real = gather(create<coreai::RealPartOp>({x}), index, axis);
    Value imaginary = gather(create<coreai::ImaginaryPartOp>({x}), index, axis);
    return create<coreai::CreateComplexOp>({real, imaginary});
  }
  return create<coreai::GatherAlongAxisOp>({x, index, this->index(axis)});
}

Value Emitter::take(Value x, Value index, int64_t axis) {
  SmallVector<int64_t> others, extents(type(x).getShape());
  for (int64_t other = 0; other < type(x).getRank(); ++other)
    if (other != axis)
      others.push_back(other);
  extents[axis] = type(index).getDimSize(0);
  if (type(index).hasStaticShape()) {
    SmallVector<int64_t> shape(extents.size(), 1);
    shape[axis] = extents[axis];
    index = reshape(index, shape);
  } else {
    index = expandDims(index, others);
  }
  auto extentOf = [&](int64_t other) {
    return dim(x, other, IndexKind::Unsigned);
  };
  index = broadcast(index, RankedTensorType::get(extents, si32()), extentOf);
  return gather(x, index, axis);
}

Value Emitter::withType(Value x, RankedTensorType type) {
  if (x.getType() == type)
    return x;
  if (Emitter::type(x).getRank() != type.getRank())
    return reshape(x, type.getShape());
  return reshape(x, shape(x), type);
}

Value Emitter::refine(Value x, RankedTensorType type) {
  auto known = cast<RankedTensorType>(x.getType());
  if (known.getRank() != type.getRank()) {
    failed = true;
    emitError(location) << "a value of type " << known << " cannot be of type "
                        << type;
    return x;
  }
  SmallVector<int64_t> extents(known.getShape());
  for (auto [extent, stated] : llvm::zip_equal(extents, type.getShape()))
    if (ShapedType::isDynamic(extent))
      extent = stated;
  RankedTensorType refined = known.clone(extents);
  return refined == known ? x : createTyped<coreai::CastOp>(refined, x);
}

Value Emitter::broadcast(Value x, RankedTensorType type,
                         llvm::function_ref<Value(int64_t)> extent) {
  auto known = cast<RankedTensorType>(x.getType());
  int64_t missing = type.getRank() - known.getRank();
  x = expandDims(x, llvm::to_vector(llvm::seq<int64_t>(0, missing)));
  known = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> axes, shape(known.getShape());
  SmallVector<Value> extents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (known.getDimSize(axis) != 1 || type.getDimSize(axis) == 1)
      continue;
    axes.push_back(axis);
    extents.push_back(extent(axis));
    shape[axis] = type.getDimSize(axis);
  }
  if (axes.empty())
    return x;
  // A single extent comes before its axis; several are joined behind theirs.
  Value places = axes.size() > 1 ? indices(axes) : Value();
  Value joined = joinSizes(extents, IndexKind::Unsigned);
  if (!places)
    places = indices(axes);
  return createTyped<coreai::BroadcastInDimsOp>(known.clone(shape),
                                                {x, joined, places});
}

Value Emitter::broadcastTo(Value x, Value shape, RankedTensorType type) {
  if (x.getType() == type && type.hasStaticShape())
    return x;
  return createTyped<coreai::BroadcastToOp>(type, {x, shape});
}

SmallVector<int64_t> Emitter::axesOrAll(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> axes;
  if (dims.empty())
    axes.assign(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  // A 0-d tensor accepts dim 0 and -1 but has no axis to name.
  else if (rank > 0)
    for (int64_t dim : dims)
      axes.push_back(axis(dim, rank));
  return axes;
}
