// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over bins and segments. Which element belongs to which bin is written
// out as a table of truth values, one row for each element: the dialect
// scatters to places, but not to intervals.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Emission/ScalarExpr.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Counting whole numbers
//===----------------------------------------------------------------------===//

/// How many of `places` (a vector of si32) are 0, 1, …, or the sum of their
/// weights. A place beyond `bins` (rank-0 si32) is not counted.
static Value countPlaces(Emitter &emit, Value places, Value bins,
                         Value weights) {
  Value range =
      emit.create<coreai::RangeOp>({emit.index(0), bins, emit.index(1)});
  Value isThere =
      emit.equal(emit.expandDims(places, {1}), emit.expandDims(range, {0}));
  Value terms = weights ? emit.where(isThere, emit.expandDims(weights, {1}),
                                     numberLike(emit, 0, weights))
                        : emit.cast(isThere, emit.si32());
  return emit.reduce<coreai::ReduceSumOp>(terms, 0, /*keepDims=*/false);
}

/// histc(self, bins, min, max): bins of one width; the last one holds its upper
/// end. A range from a number to itself is that of the elements, which is
/// widened if it is a point.
static Value lowerHistc(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  Type element = getElementTypeOrSelf(x);
  x = emit.reshape(emit.cast(x, emit.f32()), {-1});
  double bins = static_cast<double>(node.integer("bins"));
  ScalarExpr min(node, emit, "min"), max(node, emit, "max");
  Value low = min.like(x), high = max.like(x);
  bool isKnown = min.isKnown() && max.isKnown();
  if (!isKnown || min.is(*max.known())) {
    Value isRange = isKnown ? Value() : emit.notEqual(low, high);
    auto orOfElements = [&](Value given, Value found) {
      return isRange ? emit.where(isRange, given, found) : found;
    };
    low = orOfElements(
        low, emit.reduce<coreai::ReduceMinOp>(x, 0, /*keepDims=*/true));
    high = orOfElements(
        high, emit.reduce<coreai::ReduceMaxOp>(x, 0, /*keepDims=*/true));
    Value isPoint = emit.equal(low, high), one = numberLike(emit, 1.0, x);
    low = emit.where(isPoint, emit.sub(low, one), low);
    high = emit.where(isPoint, emit.add(high, one), high);
  }
  Value place = floor(emit, emit.divide(emit.scaleBy(emit.sub(x, low), bins),
                                        emit.sub(high, low)));
  Value last = numberLike(emit, bins - 1, x);
  place = emit.where(emit.equal(x, high), last, place);
  Value isOutside = emit.logicalOr(emit.greater(low, x), emit.greater(x, high));
  place = emit.where(emit.logicalOr(isOutside, isNan(emit, x)),
                     numberLike(emit, -1.0, x), place);
  Value counts = countPlaces(emit, emit.cast(place, emit.si32()),
                             emit.index(node.integer("bins")), Value());
  return emit.cast(counts, element);
}

/// bincount(self, weights, minlength): as many bins as the largest number says.
static Value lowerBincount(const AtenNode &node, Emitter &emit) {
  Value x = emit.cast(emit.tensor(node, "self"), emit.si32());
  Value weights = emit.optionalTensor(node, "weights");
  if (weights)
    weights = emit.cast(weights, emit.elementType(node.result().dtype));
  Value largest = emit.reduce<coreai::ReduceMaxOp>(x, 0, /*keepDims=*/false);
  Value bins = emit.maximum(emit.add(largest, emit.index(1)),
                            emit.sizeScalar(node["minlength"]));
  return countPlaces(emit, x, bins, weights);
}

//===----------------------------------------------------------------------===//
// Histograms
//===----------------------------------------------------------------------===//

namespace {
/// The ends of the range that bins divide, each as tensor<1xf32>.
struct BinRange {
  Value low, high;
};
} // namespace

/// What `range` says of axis `axis`, or the extremes of the vector `x`. A range
/// of no width is widened to both sides.
static BinRange binRange(const AtenNode &node, Emitter &emit, Value x,
                         size_t axis) {
  BinRange range;
  if (node.has("range")) {
    ArrayRef<Argument> ends = node.list("range").drop_front(2 * axis);
    ScalarExpr low(node, emit, ends[0]), high(node, emit, ends[1]);
    if (low.isKnown() && high.isKnown()) {
      double margin = *low.known() == *high.known() ? 0.5 : 0;
      range.low = emit.floats(static_cast<float>(*low.known() - margin));
      range.high = emit.floats(static_cast<float>(*high.known() + margin));
      return range;
    }
    range = {low.vector(), high.vector()};
  } else {
    range.low = emit.reduce<coreai::ReduceMinOp>(x, 0, /*keepDims=*/true);
    range.high = emit.reduce<coreai::ReduceMaxOp>(x, 0, /*keepDims=*/true);
  }
  Value half = emit.scalar(0.5, emit.f32());
  Value margin = emit.where(emit.equal(range.low, range.high), half,
                            emit.scalar(0.0, emit.f32()));
  range.low = emit.sub(range.low, margin);
  range.high = emit.add(range.high, margin);
  return range;
}

/// The `bins + 1` edges of bins of one width. As torch.linspace does, the upper
/// half counts from the upper end, which is exact then.
static Value equalEdges(Emitter &emit, const BinRange &range, int64_t bins) {
  SmallVector<float> fromLow, fromHigh;
  for (int64_t i = 0; i <= bins; ++i) {
    bool isUpper = i >= (bins + 1) / 2;
    fromLow.push_back(isUpper ? 0 : static_cast<float>(i));
    fromHigh.push_back(isUpper ? static_cast<float>(bins - i) : -1);
  }
  Value step = emit.divide(emit.sub(range.high, range.low),
                           emit.scalar(static_cast<double>(bins), emit.f32()));
  Value below = emit.add(range.low, emit.mul(step, emit.floats(fromLow)));
  Value downward = emit.floats(fromHigh);
  Value above = emit.sub(range.high, emit.mul(step, downward));
  return emit.where(emit.greater(emit.scalar(0.0, emit.f32()), downward), below,
                    above);
}

/// [elements, bins]: 1 where an element lies in a bin, that is, at its lower
/// edge or above and below its upper edge. The last bin holds that too.
static Value isInBin(Emitter &emit, Value x, Value edges, int64_t bins) {
  Value low = emit.slice(edges, 0, bins, 1);
  Value high = emit.slice(edges, 1, bins + 1, 1);
  Value column = emit.expandDims(x, {1});
  Value isBelow = emit.greater(emit.expandDims(high, {0}), column);
  Value last = emit.slice(high, bins - 1, bins, 1);
  Value isLast = emit.equal(emit.expandDims(countUp(emit, {emit, bins}), {0}),
                            emit.index(bins - 1));
  Value isEnd = emit.logicalAnd(isLast, emit.equal(column, last));
  Value isIn =
      emit.logicalAnd(greaterEqual(emit, column, emit.expandDims(low, {0})),
                      emit.logicalOr(isBelow, isEnd));
  return emit.cast(isIn, emit.f32());
}

/// Divides the sums in bins by their total and by the sizes of the bins.
static Value densityOf(Emitter &emit, Value sums, ArrayRef<Value> edges,
                       ArrayRef<int64_t> bins) {
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, bins.size()));
  Value total = emit.reduce<coreai::ReduceSumOp>(sums, axes, /*keepDims=*/true);
  Value density = emit.divide(sums, total);
  for (auto [axis, count] : llvm::enumerate(bins)) {
    Value width = emit.sub(emit.slice(edges[axis], 1, count + 1, 1),
                           emit.slice(edges[axis], 0, count, 1));
    SmallVector<int64_t> shape(bins.size(), 1);
    shape[axis] = count;
    density = emit.divide(density, emit.reshape(width, shape));
  }
  return density;
}

/// Sums of weights over the cells of a grid. `axes` holds a vector for each
/// axis of the grid, the coordinates of the elements along it.
static Value gridSums(const AtenNode &node, Emitter &emit, ArrayRef<Value> axes,
                      ArrayRef<Value> edges, ArrayRef<int64_t> bins) {
  Value cells;
  int64_t numCells = 1;
  for (auto [x, edge, count] : llvm::zip_equal(axes, edges, bins)) {
    Value isIn = isInBin(emit, x, edge, count);
    numCells *= count;
    cells = cells ? emit.reshape(emit.mul(emit.expandDims(cells, {2}),
                                          emit.expandDims(isIn, {1})),
                                 {-1, numCells})
                  : isIn;
  }
  if (Value weights = emit.optionalTensor(node, "weight"))
    cells = emit.mul(cells, emit.reshape(weights, {-1, 1}));
  Value sums = emit.reshape(
      emit.reduce<coreai::ReduceSumOp>(cells, 0, /*keepDims=*/false), bins);
  return node.flag("density") ? densityOf(emit, sums, edges, bins) : sums;
}

/// histogram(self, bins, weight, density): sums of weights between the edges
/// that the call gives (`bins` is a tensor), or that divide the range of the
/// elements (`bins` is a number). Returns the edges too.
static FailureOr<Results> lowerHistogram(const AtenNode &node, Emitter &emit) {
  Value x = emit.reshape(emit.tensor(node, "self"), {-1});
  Value edges;
  int64_t bins = 0;
  if (node["bins"].isValue()) {
    edges = emit.tensor(node, "bins");
    if (emit.type(edges).isDynamicDim(0))
      return emit.error(node) << "histogram of a symbolic number of bins";
    bins = emit.type(edges).getDimSize(0) - 1;
  } else {
    bins = node.integer("bins");
    edges = equalEdges(emit, binRange(node, emit, x, 0), bins);
  }
  return Results{gridSums(node, emit, x, edges, bins), edges};
}

/// Column `axis` of the elements of a histogram over a grid, as a vector.
static Value coordinate(const AtenNode &node, Emitter &emit, unsigned axis) {
  Value x = emit.tensor(node, "self");
  int64_t width = emit.type(x).getShape().back();
  Value rows = emit.reshape(x, {-1, width});
  int64_t column = axis;
  return emit.reshape(
      sliceAxis(emit, rows, 1, {emit, column}, {emit, column + 1}), {-1});
}

static Value gridEdges(const AtenNode &node, Emitter &emit, unsigned axis) {
  Value x = coordinate(node, emit, axis);
  return equalEdges(emit, binRange(node, emit, x, axis),
                    node.integer(node.list("bins")[axis]));
}

/// _histogramdd_bin_edges(self, bins, range): the edges along each axis.
static Results lowerGridEdges(const AtenNode &node, Emitter &emit) {
  Results edges;
  for (unsigned axis = 0; axis < node.list("bins").size(); ++axis)
    edges.push_back(gridEdges(node, emit, axis));
  return edges;
}

/// _histogramdd_from_bin_cts(self, bins, range, weight, density)
/// _histogramdd_from_bin_tensors(self, bins, weight, density)
static FailureOr<Value> lowerGridSums(const AtenNode &node, Emitter &emit) {
  if (node.list("bins").empty())
    return emit.error(node) << "a histogram over no axes";
  SmallVector<Value> axes, edges;
  SmallVector<int64_t> bins;
  for (auto [axis, given] : llvm::enumerate(node.list("bins"))) {
    axes.push_back(coordinate(node, emit, axis));
    edges.push_back(given.isValue() ? emit.value(given)
                                    : gridEdges(node, emit, axis));
    int64_t count = emit.type(edges.back()).getDimSize(0) - 1;
    if (emit.type(edges.back()).isDynamicDim(0))
      return emit.error(node) << "histogram of a symbolic number of bins";
    bins.push_back(count);
  }
  return gridSums(node, emit, axes, edges, bins);
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

namespace {
/// Where segments begin and end along an axis: [..., segments] of si32.
struct Segments {
  Value starts, ends;
};
} // namespace

static Segments segmentsOf(const AtenNode &node, Emitter &emit) {
  if (Value offsets = emit.optionalTensor(node, "offsets")) {
    int64_t axis = emit.type(offsets).getRank() - 1;
    DimExpr count(emit, offsets, axis);
    return {sliceAxis(emit, offsets, axis, {emit, 0}, count - 1),
            sliceAxis(emit, offsets, axis, {emit, 1}, count)};
  }
  Value lengths = emit.cast(emit.tensor(node, "lengths"), emit.si32());
  int64_t axis = emit.type(lengths).getRank() - 1;
  Value ends = scan(emit, lengths, axis, coreai::ScanCombiner::Sum);
  return {emit.sub(ends, lengths), ends};
}

/// segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe,
///                initial)
///
/// Reduces each of the segments that follow each other along an axis. One of no
/// length gives `initial`, or what is neutral; a mean without it is NaN.
static FailureOr<Value> lowerSegmentReduce(const AtenNode &node,
                                           Emitter &emit) {
  StringRef kind = node.string("reduce");
  if (node.has("indices"))
    return emit.error(node) << "segment_reduce by indices";
  double neutral = kind == "max"    ? -kInfinity
                   : kind == "min"  ? kInfinity
                   : kind == "prod" ? 1.0
                                    : 0.0;
  Value data = emit.tensor(node, "data");
  Type element = getElementTypeOrSelf(data);
  data = emit.cast(data, emit.accumulationType(element));
  int64_t rank = emit.type(data).getRank();
  int64_t axis = node.axis("axis", rank);
  Segments segments = segmentsOf(node, emit);

  // [..., segments, elements, 1, ...]: whether an element is in a segment.
  int64_t at = axis + 1;
  Value place = countUp(emit, DimExpr(emit, data, axis));
  Value start = emit.expandDims(segments.starts, {at});
  Value end = emit.expandDims(segments.ends, {at});
  Value isIn = emit.logicalAnd(greaterEqual(emit, place, start),
                               emit.greater(end, place));
  SmallVector<int64_t> behind =
      llvm::to_vector(llvm::seq<int64_t>(at + 1, rank + 1));
  isIn = emit.expandDims(isIn, behind);
  Value terms = emit.where(isIn, emit.expandDims(data, {axis}),
                           numberLike(emit, neutral, data));
  Value result;
  if (kind == "max")
    result = emit.reduce<coreai::ReduceMaxOp>(terms, at, /*keepDims=*/false);
  else if (kind == "min")
    result = emit.reduce<coreai::ReduceMinOp>(terms, at, /*keepDims=*/false);
  else if (kind == "prod")
    result =
        emit.reduce<coreai::ReduceProductOp>(terms, at, /*keepDims=*/false);
  else
    result = emit.reduce<coreai::ReduceSumOp>(terms, at, /*keepDims=*/false);

  if (node.has("initial")) {
    Value initial = ScalarExpr(node, emit, "initial").like(result);
    result = kind == "max"    ? emit.maximum(result, initial)
             : kind == "min"  ? emit.minimum(result, initial)
             : kind == "prod" ? emit.mul(result, initial)
                              : emit.add(result, initial);
  }
  if (kind == "mean") {
    Value length = emit.cast(emit.sub(segments.ends, segments.starts),
                             getElementTypeOrSelf(result));
    for (int64_t &position : behind)
      --position;
    length = emit.expandDims(length, behind);
    if (node.has("initial"))
      length = emit.maximum(length, numberLike(emit, 1.0, length));
    result = emit.divide(result, length);
  }
  return emit.cast(result, element);
}

llvm::ArrayRef<TableEntry> corten::loweringsBinning() {
#define IN_Binning ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
