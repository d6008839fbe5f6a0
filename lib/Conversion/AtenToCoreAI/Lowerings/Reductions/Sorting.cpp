// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order along one axis: positions of extremes, sorting, selection by rank.
//
// In torch NaN is larger than every number. The dialect's argmax skips NaN and
// its sorts put NaN last in both directions, so float tensors take a few ops
// more than integers.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Emission/ValueFacts.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <limits>

using namespace corten;
using namespace mlir;

/// Values that can be compared: booleans become numbers.
static Value comparable(Emitter &emit, Value x) {
  return isBool(x) ? emit.cast(x, emit.si32()) : x;
}

//===----------------------------------------------------------------------===//
// Positions of extremes
//===----------------------------------------------------------------------===//

namespace {
enum class Extreme { Largest, Smallest };
} // namespace

/// The extreme along `axis`, which stays as 1.
static Value extremeValue(Emitter &emit, Value x, int64_t axis,
                          Extreme extreme) {
  return extreme == Extreme::Largest
             ? emit.reduce<coreai::ReduceMaxOp>(x, axis, true)
             : emit.reduce<coreai::ReduceMinOp>(x, axis, true);
}

/// Where `value`, the extreme of `x`, first stands along `axis`.
///
/// Of floats: the first element that equals the extreme. If the extreme is NaN,
/// nothing does, and the first NaN is meant. Of integers: the largest, or the
/// largest with all bits flipped, which turns the order around. The result is
/// ui32.
static Value extremeIndex(Emitter &emit, Value x, Value value, int64_t axis,
                          Extreme extreme) {
  if (isFloat(x)) {
    emit.depart(Departure::NanPlace);
    x = emit.cast(emit.logicalOr(emit.equal(x, value), isNan(emit, x)),
                  emit.si32());
  } else if (extreme == Extreme::Smallest) {
    x = emit.create<coreai::BroadcastingBitwiseXorOp>(
        {x, emit.scalar(-1, getElementTypeOrSelf(x))});
  }
  return emit.create<coreai::ArgmaxOp>({x, emit.index(axis)});
}

/// max.dim, min.dim (self, dim, keepdim): the value and its first index.
template <Extreme extreme>
static FailureOr<Results> lowerExtremeDim(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  Type element = getElementTypeOrSelf(self);
  if (rankOf(self) == 0)
    return Results{self, emit.index(0)};
  Value x = comparable(emit, self);
  int64_t axis = node.axis("dim", rankOf(x));
  Value value = extremeValue(emit, x, axis, extreme);
  Value index =
      emit.cast(extremeIndex(emit, x, value, axis, extreme), emit.si32());
  if (!node.flag("keepdim")) {
    value = emit.shrinkDims(value, axis);
    index = emit.shrinkDims(index, axis);
  }
  return Results{emit.cast(value, element), index};
}

/// argmax, argmin (self, dim, keepdim): without dim, the position in the
/// flattened tensor.
template <Extreme extreme>
static Value lowerArg(const AtenNode &node, Emitter &emit) {
  Value x = comparable(emit, emit.tensor(node, "self"));
  RankedTensorType type = emit.typeOf(node);
  if (rankOf(x) == 0)
    return emit.index(0);
  bool isFlat = !node.has("dim");
  if (isFlat && rankOf(x) > 1)
    x = emit.reshape(x, {-1});
  int64_t axis = isFlat ? 0 : node.axis("dim", rankOf(x));
  Value value = isFloat(x) ? extremeValue(emit, x, axis, extreme) : Value();
  Value index = extremeIndex(emit, x, value, axis, extreme);
  if (isFlat)
    return emit.cast(node.flag("keepdim") ? emit.reshape(index, type.getShape())
                                          : emit.shrinkDims(index, axis),
                     emit.si32());
  index = emit.cast(index, emit.si32());
  return node.flag("keepdim") ? index : emit.shrinkDims(index, axis);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

static Value gatherAlong(Emitter &emit, Value x, Value indices, int64_t axis) {
  return emit.create<coreai::GatherAlongAxisOp>({x, indices, emit.index(axis)});
}

static bool mayBeEmptyAlong(Emitter &emit, Value x, int64_t axis) {
  return emit.mayBeEmpty && emit.type(x).isDynamicDim(axis);
}

/// The order of the elements along `axis`; NaN is last. Equal ones stay as they
/// are.
///
/// The interpreter ends the process on an axis of no elements. Where there may
/// be none, one more stands at the end, and stays there.
static Value argsort(Emitter &emit, Value x, int64_t axis, bool descending) {
  auto sort = [&](Value y) {
    return emit.create<coreai::ArgsortOp>(
        {y, emit.index(axis), emit.scalar(descending), emit.scalar(true)});
  };
  if (!mayBeEmptyAlong(emit, x, axis))
    return sort(x);
  emit.depart(Departure::EmptyTensors);
  Type element = getElementTypeOrSelf(x);
  Value last;
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    bool isSigned = !integer.isUnsigned();
    llvm::APInt value = descending
                            ? (isSigned ? llvm::APInt::getSignedMinValue(width)
                                        : llvm::APInt::getMinValue(width))
                            : (isSigned ? llvm::APInt::getSignedMaxValue(width)
                                        : llvm::APInt::getMaxValue(width));
    last = emit.scalar(value.getSExtValue(), element);
  } else {
    last = emit.scalar(std::numeric_limits<double>::quiet_NaN(), element);
  }
  SmallVector<DimExpr> padding(2 * rankOf(x), DimExpr(emit, 0));
  padding[2 * axis + 1] = DimExpr(emit, 1);
  Value order = sort(padDims(emit, x, padding, last));
  return sliceAxis(emit, order, axis, DimExpr(emit, 0), DimExpr(emit, x, axis));
}

/// How many elements along `axis` are NaN; the axis stays as 1.
static Value countNan(Emitter &emit, Value x, int64_t axis) {
  return emit.reduce<coreai::ReduceSumOp>(
      emit.cast(isNan(emit, x), emit.si32()), axis, true);
}

/// A descending order with its NaNs moved from the end to the front.
///
/// With c of them, place p is taken from place p - c; a negative index counts
/// from the end, which is where the NaNs are.
static Value nanFirst(Emitter &emit, Value order, Value x, int64_t axis,
                      Value places) {
  return gatherAlong(emit, order, emit.sub(places, countNan(emit, x, axis)),
                     axis);
}

/// sort(self, stable, dim, descending): values and where they come from. Equal
/// elements always keep their order.
static FailureOr<Results> lowerSort(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  if (rankOf(self) == 0)
    return Results{self, emit.index(0)};
  Value x = comparable(emit, self);
  int64_t axis = node.axis("dim", rankOf(x));
  bool descending = node.flag("descending");
  Value order = argsort(emit, x, axis, descending);
  if (descending && isFloat(x))
    order = nanFirst(emit, order, x, axis, positions(emit, x, axis));
  return Results{gatherAlong(emit, self, order, axis), order};
}

/// topk(self, k, dim, largest, sorted): the first k of the sorted elements.
/// They come in order even if `sorted` does not ask for it.
static FailureOr<Results> lowerTopk(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  if (rankOf(self) == 0)
    return Results{self, emit.index(0)};
  Value x = comparable(emit, self);
  int64_t rank = rankOf(x);
  int64_t axis = node.axis("dim", rank);
  bool largest = node.flag("largest");
  RankedTensorType type = emit.typeOf(node, 1);
  auto firstK = [&](Value sequence) {
    SmallVector<Argument> ends(rank, Argument::integer(INT32_MAX));
    ends[axis] = node["k"];
    Value start = emit.indices(SmallVector<int64_t>(rank, 0));
    Value end = emit.sizes(ends);
    Value stride = emit.indices(SmallVector<int64_t>(rank, 1));
    return emit.createTyped<coreai::SliceOp>(
        type.clone(getElementTypeOrSelf(sequence)),
        {sequence, start, end, stride});
  };

  if (largest && isFloat(x) && !isNanAsAWhole(x, axis)) {
    emit.depart(Departure::NanOrder);
    Value order = argsort(emit, x, axis, largest);
    Value places = emit.create<coreai::RangeOp>(
        {emit.index(0), emit.sizeScalar(node["k"]), emit.index(1)});
    // Along the axis: what is right of it follows as axes of one element.
    if (axis + 1 < rank)
      places = emit.expandDims(
          places, llvm::to_vector(llvm::seq<int64_t>(1, rank - axis)));
    order = emit.refine(nanFirst(emit, order, x, axis, places), type);
    return Results{gatherAlong(emit, self, order, axis), order};
  }
  if (isBool(self) || mayBeEmptyAlong(emit, x, axis)) {
    Value order = firstK(argsort(emit, x, axis, largest));
    return Results{gatherAlong(emit, self, order, axis), order};
  }
  Value sorted = emit.createTyped<coreai::SortOp>(
      x.getType(),
      {x, emit.index(axis), emit.scalar(largest), emit.scalar(true)});
  Value order = argsort(emit, x, axis, largest);
  Value values = firstK(sorted);
  return Results{values, firstK(order)};
}

//===----------------------------------------------------------------------===//
// Selection by rank
//===----------------------------------------------------------------------===//

/// The element of `self` at `place` of the order along `axis`, and its index.
/// `place` has the shape of the result, with the axis as 1.
static Results pick(Emitter &emit, Value self, Value order, Value place,
                    int64_t axis, bool keepDims) {
  Value index = gatherAlong(emit, order, place, axis);
  Value value = gatherAlong(emit, self, index, axis);
  if (!keepDims) {
    value = emit.shrinkDims(value, axis);
    index = emit.shrinkDims(index, axis);
  }
  return {value, index};
}

/// kthvalue(self, k, dim, keepdim): the k-th smallest, counted from 1.
static FailureOr<Results> lowerKthvalue(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  if (rankOf(self) == 0)
    return Results{self, emit.index(0)};
  int64_t axis = node.axis("dim", rankOf(self));
  Value x = comparable(emit, self);
  Value order = argsort(emit, x, axis, /*descending=*/false);
  Value place = emit.sub(emit.sizeScalar(node["k"]), emit.index(1));
  // Gathering wants one place per row; zero NaNs of booleans do no harm.
  Value rows = emit.scaleBy(countNan(emit, x, axis), 0.0);
  return pick(emit, self, order, emit.add(rows, place), axis,
              node.flag("keepdim"));
}

namespace {
enum class NanRule { Wins, Skipped };
} // namespace

/// The middle element along `axis`, the lower one of two.
///
/// Ascending, the c NaNs of n elements stand last: the first of them is at
/// n - c, the middle of the others at (n - c - 1) / 2.
static Results medianAlong(Emitter &emit, Value self, int64_t axis,
                           NanRule rule, bool keepDims) {
  Value x = comparable(emit, self);
  Value order = argsort(emit, x, axis, /*descending=*/false);
  Value nans = countNan(emit, x, axis);
  Value extent = emit.reshape(emit.dim(x, axis), ArrayRef<int64_t>());
  Value numbers = emit.sub(extent, nans);
  auto middleOf = [&](Value count) {
    return emit.floorDivide(emit.sub(count, emit.index(1)), emit.index(2));
  };
  Value place = rule == NanRule::Skipped
                    ? middleOf(numbers)
                    : emit.where(emit.greater(nans, emit.index(0)), numbers,
                                 middleOf(extent));
  return pick(emit, self, order, place, axis, keepDims);
}

/// median.dim, nanmedian.dim (self, dim, keepdim)
template <NanRule rule>
static FailureOr<Results> lowerMedianDim(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  if (rankOf(self) == 0)
    return Results{self, emit.index(0)};
  return medianAlong(emit, self, node.axis("dim", rankOf(self)), rule,
                     node.flag("keepdim"));
}

/// median, nanmedian (self): of all elements.
template <NanRule rule>
static Value lowerMedian(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  if (rankOf(self) == 0)
    return self;
  Value flat = rankOf(self) == 1 ? self : emit.reshape(self, {-1});
  return medianAlong(emit, flat, 0, rule, /*keepDims=*/false).front();
}

/// mode(self, dim, keepdim): the most frequent element, the smallest of equally
/// frequent ones, and where it last stands.
///
/// In order, equal elements are neighbours; a table of all pairs counts them.
static FailureOr<Results> lowerMode(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  if (rankOf(self) == 0)
    return Results{self, emit.index(0)};
  Value x = comparable(emit, self);
  int64_t axis = node.axis("dim", rankOf(x));
  Value order = argsort(emit, x, axis, /*descending=*/false);
  Value sorted = gatherAlong(emit, x, order, axis);
  Value isSame = emit.equal(emit.expandDims(sorted, {axis}),
                            emit.expandDims(sorted, {axis + 1}));
  Value counts = emit.reduce<coreai::ReduceSumOp>(
      emit.cast(isSame, emit.si32()), axis + 1, /*keepDims=*/false);
  Value first = emit.cast(
      emit.create<coreai::ArgmaxOp>({counts, emit.index(axis)}), emit.si32());
  Value most = emit.reduce<coreai::ReduceMaxOp>(counts, axis, true);
  Value place = emit.sub(emit.add(first, most), emit.index(1));
  return pick(emit, self, order, place, axis, node.flag("keepdim"));
}

llvm::ArrayRef<TableEntry> corten::loweringsSorting() {
#define IN_Sorting ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
