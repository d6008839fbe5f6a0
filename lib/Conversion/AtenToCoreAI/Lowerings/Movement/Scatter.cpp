// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that write elements at computed places.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Lowerings/Movement/AdvancedIndex.h"
#include "Lowerings/Movement/ScatteredElements.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace corten;
using namespace mlir;
using coreai::ScatterMode;

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

namespace {
/// A scatter whose index covers `self` off the axis, or a first part of it.
struct AxisScatter {
  Value self, index;
  /// The part of self that the index covers; self itself where that is all.
  Value region;
  int64_t axis;
  bool isScalar;
  /// How far the index reaches, axis by axis, where it covers a part; null
  /// elsewhere.
  SmallVector<Value> reach;
};
} // namespace

/// The first elements of `x` along every axis that `reach` bounds.
static Value cutTo(Value x, ArrayRef<Value> reach, RankedTensorType index,
                   Emitter &emit) {
  for (auto [axis, end] : llvm::enumerate(reach)) {
    if (!end)
      continue;
    SmallVector<int64_t> extents(emit.type(x).getShape());
    extents[axis] = index.getDimSize(axis);
    x = emit.slice(x, axis, emit.indices({0}), end, 1,
                   emit.type(x).clone(extents));
  }
  return x;
}

/// Scalars count as vectors of one element.
static Value atLeastVector(Value x, Emitter &emit) {
  return emit.type(x).getRank() == 0 ? emit.reshape(x, {1}) : x;
}

static AxisScatter readAxisScatter(const AtenNode &node, Emitter &emit) {
  AxisScatter result;
  Value self = emit.refined(node, "self");
  result.isScalar = emit.type(self).getRank() == 0;
  result.self = atLeastVector(self, emit);
  result.index =
      atLeastVector(emit.cast(emit.refined(node, "index"), emit.si32()), emit);
  int64_t rank = emit.type(result.self).getRank();
  result.axis = node.axis("dim", rank);
  result.reach.resize(rank);
  ArrayRef<Size> have = node.info("self").sizes;
  ArrayRef<Size> want = node.info("index").sizes;
  if (!result.isScalar && !want.empty())
    for (int64_t axis = 0; axis < rank; ++axis)
      if (axis != result.axis && have[axis] != want[axis])
        result.reach[axis] = emit.dim(result.index, axis);
  result.region =
      cutTo(result.self, result.reach, emit.type(result.index), emit);
  return result;
}

/// Updates in the type of self. They may be longer than the index on any axis;
/// what it does not reach is left out.
static Value readUpdates(const AtenNode &node, const AxisScatter &scatter,
                         Emitter &emit, StringRef parameter = "src") {
  Value updates =
      atLeastVector(emit.cast(emit.refined(node, parameter),
                              emit.type(scatter.self).getElementType()),
                    emit);
  ArrayRef<Size> have = node.info(parameter).sizes;
  ArrayRef<Size> want = node.info("index").sizes;
  SmallVector<Value> reach(emit.type(updates).getRank());
  if (!have.empty() && !want.empty())
    for (auto [axis, end] : llvm::enumerate(reach))
      if (have[axis] != want[axis])
        end = emit.dim(scatter.index, axis);
  return cutTo(updates, reach, emit.type(scatter.index), emit);
}

/// One number wherever the index points.
static Value fillLike(Value index, Value number, Emitter &emit) {
  RankedTensorType type =
      emit.type(index).clone(emit.type(number).getElementType());
  return emit.broadcastTo(number, emit.shape(index, IndexKind::Unsigned), type);
}

/// Puts the scattered region back and drops the axis that a scalar got.
static Value finish(const AxisScatter &scatter, Value region, Emitter &emit) {
  Value result = region;
  if (scatter.region != scatter.self) {
    SmallVector<Value> ends;
    for (Value end : scatter.reach)
      ends.push_back(end ? end : emit.indices({INT32_MAX}));
    SmallVector<int64_t> zeros(ends.size(), 0), ones(ends.size(), 1);
    result = emit.create<coreai::SliceUpdateOp>(
        {scatter.self, emit.indices(zeros), emit.joinSizes(ends),
         emit.indices(ones), region});
  }
  return scatter.isScalar ? emit.reshape(result, ArrayRef<int64_t>()) : result;
}

static FailureOr<ScatterMode> scatterMode(const AtenNode &node, Emitter &emit) {
  StringRef name = node.has("reduce") ? node.string("reduce") : "";
  auto mode = llvm::StringSwitch<std::optional<ScatterMode>>(name)
                  .Case("", ScatterMode::Update)
                  .Cases({"add", "sum", "mean"}, ScatterMode::Add)
                  .Cases({"multiply", "prod"}, ScatterMode::Mul)
                  .Case("amax", ScatterMode::Max)
                  .Case("amin", ScatterMode::Min)
                  .Default(std::nullopt);
  if (!mode)
    return emit.error(node) << "scatter with reduce='" << name << "'";
  return *mode;
}

/// scatter(self, dim, index, src, reduce):
/// out[index[i, j], j] = src[i, j] for dim 0, or summed, or multiplied.
static FailureOr<Value> lowerScatter(const AtenNode &node, Emitter &emit) {
  FailureOr<ScatterMode> mode = scatterMode(node, emit);
  if (failed(mode))
    return failure();
  AxisScatter scatter = readAxisScatter(node, emit);
  Value updates = readUpdates(node, scatter, emit);
  return finish(scatter,
                scatterAlong(scatter.region, scatter.index, updates,
                             scatter.axis, *mode, emit),
                emit);
}

/// scatter(self, dim, index, value, reduce)
static FailureOr<Value> lowerScatterValue(const AtenNode &node, Emitter &emit) {
  FailureOr<ScatterMode> mode = scatterMode(node, emit);
  FailureOr<Value> value =
      emit.operand(node, "value", emit.elementType(node.result().dtype));
  if (failed(mode) || failed(value))
    return failure();
  AxisScatter scatter = readAxisScatter(node, emit);
  return finish(scatter,
                scatterAlong(scatter.region, scatter.index,
                             fillLike(scatter.index, *value, emit),
                             scatter.axis, *mode, emit),
                emit);
}

/// scatter_add(self, dim, index, src)
static Value lowerScatterAdd(const AtenNode &node, Emitter &emit) {
  AxisScatter scatter = readAxisScatter(node, emit);
  Value updates = readUpdates(node, scatter, emit);
  return finish(scatter,
                scatterAlong(scatter.region, scatter.index, updates,
                             scatter.axis, ScatterMode::Add, emit),
                emit);
}

/// The value that leaves the others as they are.
static Value identityOf(ScatterMode mode, Type element, Emitter &emit) {
  bool isFloat = isa<FloatType>(element);
  auto integer = dyn_cast<IntegerType>(element);
  unsigned bits = integer ? integer.getWidth() : 0;
  bool isSigned = integer && integer.isSigned();
  constexpr double inf = std::numeric_limits<double>::infinity();
  switch (mode) {
  case ScatterMode::Mul:
    return emit.scalar(1, element);
  case ScatterMode::Max:
    if (isFloat)
      return emit.scalar(-inf, element);
    return emit.scalar(isSigned ? -(int64_t(1) << (bits - 1)) : 0, element);
  case ScatterMode::Min:
    if (isFloat)
      return emit.scalar(inf, element);
    return emit.scalar((int64_t(1) << (isSigned ? bits - 1 : bits)) - 1,
                       element);
  default:
    return emit.scalar(0, element);
  }
}

/// Reduces the updates into `region`, as scatter_reduce and index_reduce do.
///
/// Without `include_self`, places that get an update start from the identity.
/// A mean divides by the number of updates, rounding down for integers. The
/// op's extrema ignore NaN where torch keeps it, so NaN is scattered apart.
static Value reduceInto(Value region, Value index, Value updates, int64_t axis,
                        ScatterMode mode, bool isMean, bool includeSelf,
                        Emitter &emit) {
  Type element = emit.type(region).getElementType();
  bool isExtremum = mode == ScatterMode::Max || mode == ScatterMode::Min;
  Value start = region;
  if (!includeSelf)
    start = scatterAlong(region, index,
                         fillLike(index, identityOf(mode, element, emit), emit),
                         axis, ScatterMode::Update, emit);
  Value result = scatterAlong(start, index, updates, axis, mode, emit);
  if (isMean) {
    Value base = emit.broadcastTo(emit.scalar(includeSelf ? 1 : 0, element),
                                  emit.shape(region, IndexKind::Unsigned),
                                  emit.type(region));
    Value ones = fillLike(index, emit.scalar(1, element), emit);
    Value count = scatterAlong(base, index, ones, axis, ScatterMode::Add, emit);
    count = emit.maximum(count, emit.scalar(1, element));
    result = isa<FloatType>(element) ? emit.divide(result, count)
                                     : emit.floorDivide(result, count);
  }
  if (isExtremum && isa<FloatType>(element)) {
    auto isNaN = [&](Value x) {
      return emit.cast(emit.notEqual(x, x), emit.si32());
    };
    Value hits = scatterAlong(isNaN(start), index, isNaN(updates), axis,
                              ScatterMode::Max, emit);
    Value nan = emit.scalar(std::numeric_limits<double>::quiet_NaN(), element);
    result = emit.where(emit.cast(hits, emit.i1()), nan, result);
  }
  return result;
}

/// scatter_reduce(self, dim, index, src, reduce, include_self)
static FailureOr<Value> lowerScatterReduce(const AtenNode &node,
                                           Emitter &emit) {
  FailureOr<ScatterMode> mode = scatterMode(node, emit);
  if (failed(mode))
    return failure();
  AxisScatter scatter = readAxisScatter(node, emit);
  Value updates = readUpdates(node, scatter, emit);
  return finish(scatter,
                reduceInto(scatter.region, scatter.index, updates, scatter.axis,
                           *mode, node.string("reduce") == "mean",
                           node.flag("include_self"), emit),
                emit);
}

/// index_reduce(self, dim, index, source, reduce, include_self): slices of
/// source reduced into those of self that the index names.
static FailureOr<Value> lowerIndexReduce(const AtenNode &node, Emitter &emit) {
  FailureOr<ScatterMode> mode = scatterMode(node, emit);
  if (failed(mode))
    return failure();
  Value self = emit.refined(node, "self");
  bool isScalar = emit.type(self).getRank() == 0;
  self = atLeastVector(self, emit);
  Value updates = atLeastVector(
      emit.cast(emit.refined(node, "source"), emit.type(self).getElementType()),
      emit);
  RankedTensorType type = emit.type(updates);
  int64_t axis = node.axis("dim", type.getRank());
  Value index =
      atLeastVector(emit.cast(emit.refined(node, "index"), emit.si32()), emit);
  SmallVector<int64_t> others;
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != axis)
      others.push_back(other);
  index =
      emit.broadcast(emit.expandDims(index, others), type.clone(emit.si32()),
                     [&](int64_t other) { return emit.dim(updates, other); });
  Value result = reduceInto(self, index, updates, axis, *mode,
                            node.string("reduce") == "mean",
                            node.flag("include_self"), emit);
  return isScalar ? emit.reshape(result, ArrayRef<int64_t>()) : result;
}

//===----------------------------------------------------------------------===//
// At places
//===----------------------------------------------------------------------===//

/// x[..., mask, ...] = v, or += v, where v is the same for every place that the
/// mask selects: a choice, element by element. Null if v differs.
static Value assignWhere(const AtenNode &node, Value self, Value values,
                         Emitter &emit) {
  ArrayRef<Argument> indices = node.list("indices");
  const Argument *mask = nullptr;
  int64_t leading = 0;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    if (index.isNone())
      continue;
    if (mask || !isMask(index))
      return {};
    mask = &index;
    leading = axis;
  }
  if (!mask)
    return {};
  Value selected = emit.cast(emit.refined(*mask), emit.i1());
  int64_t maskRank = emit.type(selected).getRank();
  int64_t rank = emit.type(self).getRank();
  int64_t trailing = rank - leading - maskRank;
  // Values have the shape [leading, selected, trailing], without some of the
  // first axes.
  int64_t valueRank = emit.type(values).getRank();
  if (trailing < 0 || maskRank == 0)
    return {};
  if (valueRank > trailing) {
    int64_t selectedAxis = valueRank - trailing - 1;
    if (emit.type(values).getDimSize(selectedAxis) != 1)
      return {};
    values = emit.expandDims(
        values, llvm::to_vector(llvm::seq<int64_t>(selectedAxis + 1,
                                                   selectedAxis + maskRank)));
  }
  selected = emit.expandDims(selected, llvm::to_vector(llvm::seq<int64_t>(
                                           maskRank, maskRank + trailing)));
  if (node.flag("accumulate"))
    values = emit.add(self, values);
  return emit.where(selected, values, self);
}

/// index_put(self, indices, values, accumulate): x[i, :, mask] = v
///
/// values broadcast to the shape of x[i, :, mask].
static FailureOr<Value> lowerIndexPut(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  Value values =
      emit.cast(emit.refined(node, "values"), emit.type(self).getElementType());
  if (Value chosen = assignWhere(node, self, values, emit))
    return chosen;
  FailureOr<AdvancedIndex> index =
      readIndices(node, node.list("indices"), self, emit);
  if (failed(index))
    return failure();

  Value base = emit.transpose(self, index->order);
  int64_t batch = emit.type(index->positions).getRank() - 1;
  int64_t depth = index->numIndexed();
  SmallVector<int64_t> shape(
      emit.type(index->positions).getShape().drop_back());
  llvm::append_range(shape, emit.type(base).getShape().drop_front(depth));
  Value updates =
      emit.broadcast(values, emit.type(base).clone(shape), [&](int64_t axis) {
        return axis < batch ? emit.dim(index->positions, axis)
                            : emit.dim(base, axis - batch + depth);
      });
  Value result = node.flag("accumulate") ? addAt(base, *index, updates, emit)
                                         : writeAt(base, *index, updates, emit);
  return emit.transpose(result, inverse(index->order));
}

/// put(self, index, source, accumulate): index counts the elements of self.
static Value lowerPut(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  RankedTensorType type = emit.type(self);
  auto flat = [&](Value x) {
    return emit.type(x).getRank() == 1 ? x : emit.reshape(x, {-1});
  };
  Value index = emit.cast(flat(emit.refined(node, "index")), emit.si32());
  Value source =
      emit.cast(flat(emit.refined(node, "source")), type.getElementType());
  Value result = scatterAlong(
      flat(self), index, source, 0,
      node.flag("accumulate") ? ScatterMode::Add : ScatterMode::Update, emit);
  return type.hasStaticShape() ? emit.reshape(result, type.getShape())
                               : emit.reshape(result, emit.shape(self), type);
}

/// masked_scatter(self, mask, source): the places where mask is true take the
/// elements of source in order.
///
/// Element k of self takes number (count of true up to k) - 1 of source; ahead
/// of the first true this is -1, the last element, and not used. A source that
/// may be empty gets one element, so that there is a last one.
static Value lowerMaskedScatter(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self"), mask = emit.refined(node, "mask");
  RankedTensorType type = emit.typeOf(node);
  // Each is repeated along the axes that only the other has.
  auto extentOf = [&](Value other) {
    return [&emit, &type, other](int64_t axis) {
      return emit.dim(other,
                      axis - (type.getRank() - emit.type(other).getRank()));
    };
  };
  Value given = self;
  self = emit.broadcast(self, type, extentOf(mask));
  mask = emit.broadcast(mask, type.clone(emit.i1()), extentOf(given));
  auto flat = [&](Value x) {
    RankedTensorType from = emit.type(x);
    // The runtime computes no extent of what turns out empty; reshape() knows.
    if (!from.hasStaticShape())
      return emit.reshape(x, {-1});
    auto to =
        RankedTensorType::get(from.getNumElements(), from.getElementType());
    return emit.createTyped<coreai::ReshapeOp>(to, {x, emit.indices({-1})});
  };
  Value before = flat(self), flags = flat(mask);
  Value source =
      emit.cast(flat(emit.refined(node, "source")), type.getElementType());
  Value counts =
      scan(emit, emit.cast(flags, emit.si32()), 0, coreai::ScanCombiner::Sum);
  if (emit.mayBeEmpty && emit.type(source).isDynamicDim(0)) {
    emit.depart(Departure::EmptyTensors);
    auto one = RankedTensorType::get({1}, type.getElementType());
    source = emit.concat({source, emit.splat(0, one)}, 0);
  }
  Value taken = emit.gather(source, emit.sub(counts, emit.index(1)), 0);
  Value result = emit.where(flags, taken, before);
  return type.hasStaticShape() ? emit.reshape(result, type.getShape())
                               : emit.reshape(result, emit.shape(self), type);
}

/// The places of a diagonal of `self`: its two axes first, then the rest.
static AdvancedIndex diagonalIndex(const AtenNode &node, Value self,
                                   Emitter &emit) {
  int64_t rank = emit.type(self).getRank();
  int64_t row = node.axis("dim1", rank);
  int64_t column = node.axis("dim2", rank);
  int64_t below = std::max<int64_t>(-node.integer("offset"), 0);
  int64_t right = std::max<int64_t>(node.integer("offset"), 0);

  AdvancedIndex result;
  result.order = {row, column};
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != row && axis != column)
      result.order.push_back(axis);

  DimExpr length = (DimExpr(emit, self, row) - below)
                       .min(DimExpr(emit, self, column) - right);
  Value steps = emit.expandDims(countUp(emit, length), {1});
  result.positions = emit.concat(
      {emit.add(steps, emit.index(below)), emit.add(steps, emit.index(right))},
      1);
  return result;
}

/// diagonal_scatter(self, src, offset, dim1, dim2): src has the diagonal last.
static Value lowerDiagonalScatter(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  Value source =
      emit.cast(emit.refined(node, "src"), emit.type(self).getElementType());
  RankedTensorType type = emit.type(source);
  AdvancedIndex index = diagonalIndex(node, self, emit);
  SmallVector<int64_t> diagonalFirst = {type.getRank() - 1};
  llvm::append_range(diagonalFirst, llvm::seq<int64_t>(0, type.getRank() - 1));
  Value result = scatterNd(emit.transpose(self, index.order), index.positions,
                           emit.transpose(source, diagonalFirst), emit);
  return emit.transpose(result, inverse(index.order));
}

/// as_strided_scatter(self, src, size, stride, storage_offset): src takes the
/// places of a view of self's memory, which is in row-major order.
static Value lowerAsStridedScatter(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  RankedTensorType type = emit.type(self);
  Value source = emit.cast(emit.refined(node, "src"), type.getElementType());
  Value flat = emit.reshape(self, {-1});
  Value result = scatterNd(flat, stridedPlaces(node, emit), source, emit);
  return type.hasStaticShape() ? emit.reshape(result, type.getShape())
                               : emit.reshape(result, emit.shape(self), type);
}

/// The argument, or one in its list, is a tensor that has no elements.
static bool isEmptyTensor(const Argument &argument) {
  if (argument.isList())
    return llvm::any_of(argument.asList(), isEmptyTensor);
  return argument.isValue() && argument.asNode()->info().isTensor() &&
         llvm::is_contained(argument.asNode()->info().sizes, Size(0));
}

/// Where nothing is written, the base stays as it is. The interpreter ends the
/// process when it is asked to write nothing.
template <auto Lower>
static FailureOr<Results> unlessNothing(const AtenNode &node, Emitter &emit) {
  for (StringRef parameter : {"index", "indices", "src", "source"})
    if (node.has(parameter) && isEmptyTensor(node[parameter]))
      return Results{emit.tensor(node, "self")};
  return lowerWith<Lower>(node, emit);
}

llvm::ArrayRef<TableEntry> corten::loweringsScatter() {
#define IN_Scatter ,
#define LOWER_WITH unlessNothing
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
