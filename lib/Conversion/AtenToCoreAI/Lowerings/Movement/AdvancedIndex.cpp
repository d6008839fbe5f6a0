// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowerings/Movement/AdvancedIndex.h"

#include "Emission/DimExpr.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

int64_t AdvancedIndex::numIndexed() const {
  return Emitter::type(positions).getShape().back();
}

bool corten::isMask(const Argument &index) {
  if (!index.isValue() || index.asNode()->results.empty())
    return false;
  ScalarType type = index.asNode()->info().dtype;
  return type == ScalarType::Bool || type == ScalarType::UInt8;
}

void corten::broadcastTogether(MutableArrayRef<Value> values, Emitter &emit) {
  // The extent of the result is that of any value that is not known to be 1.
  int64_t rank = 0;
  for (Value value : values)
    rank = std::max(rank, emit.type(value).getRank());
  SmallVector<int64_t> extents(rank, 1);
  SmallVector<std::pair<Value, int64_t>> sources(rank);
  for (Value value : values) {
    RankedTensorType type = emit.type(value);
    int64_t offset = rank - type.getRank();
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      int64_t extent = type.getDimSize(axis);
      int64_t &known = extents[offset + axis];
      if (extent == 1 || (known != 1 && !ShapedType::isDynamic(known)))
        continue;
      known = extent;
      sources[offset + axis] = {value, axis};
    }
  }
  for (Value &value : values) {
    auto type =
        RankedTensorType::get(extents, emit.type(value).getElementType());
    value = emit.broadcast(value, type, [&](int64_t axis) {
      return emit.dim(sources[axis].first, sources[axis].second);
    });
    // The pieces are joined below; an open extent would not match a known one.
    value = emit.refine(value, type);
  }
}

namespace {
/// One index per axis of self; null where the axis is taken whole.
struct AxisIndices {
  SmallVector<Value> values;
  bool hasMask = false;
  /// Set when one mask is all there is: its positions as one [n, Q] tensor.
  Value onlyMask;
};
} // namespace

/// A mask is the list of the places where it is true, one index per axis.
static AxisIndices expandMasks(ArrayRef<Argument> indices, int64_t rank,
                               Emitter &emit) {
  AxisIndices result;
  unsigned numTensors = llvm::count_if(
      indices, [](const Argument &index) { return index.isValue(); });
  for (const Argument &index : indices) {
    if (index.isNone()) {
      result.values.push_back({});
      continue;
    }
    Value value = emit.value(index);
    if (!isMask(index)) {
      if (index.isValue())
        value = emit.refine(value, emit.typeOf(index.asNode()->info()));
      result.values.push_back(emit.cast(value, emit.si32()));
      continue;
    }
    result.hasMask = true;
    int64_t maskRank = emit.type(value).getRank();
    Value places = emit.create<coreai::NonZeroOp>({value});
    if (numTensors == 1 && result.values.empty())
      result.onlyMask = places;
    for (int64_t axis = 0; axis < maskRank; ++axis) {
      if (result.onlyMask) {
        result.values.push_back(places);
        continue;
      }
      auto column =
          RankedTensorType::get({ShapedType::kDynamic, 1}, emit.si32());
      Value part = maskRank == 1
                       ? places
                       : emit.slice(places, {0, axis}, {INT32_MAX, axis + 1},
                                    {1, 1}, column);
      result.values.push_back(emit.shrinkDims(part, {1}));
    }
  }
  result.values.resize(rank);
  return result;
}

/// Stacks one index per axis into vectors of positions.
static Value stack(MutableArrayRef<Value> indices, Emitter &emit) {
  broadcastTogether(indices, emit);
  int64_t rank = emit.type(indices.front()).getRank();
  SmallVector<Value> columns;
  for (Value index : indices)
    columns.push_back(emit.expandDims(index, {rank}));
  return columns.size() == 1 ? columns.front() : emit.concat(columns, rank);
}

FailureOr<AdvancedIndex> corten::readIndices(const AtenNode &node,
                                             ArrayRef<Argument> arguments,
                                             Value self, Emitter &emit) {
  int64_t rank = emit.type(self).getRank();
  int64_t consumed = 0;
  for (const Argument &index : arguments) {
    int64_t axes = isMask(index) ? index.asNode()->info().sizes.size() : 1;
    if (axes == 0)
      return emit.error(node) << "indexing with a mask that has no axes";
    consumed += axes;
  }
  if (consumed > rank)
    return emit.error(node)
           << consumed << " indices for a tensor of rank " << rank;

  AxisIndices indices = expandMasks(arguments, rank, emit);
  AdvancedIndex result;
  result.isDataDependent = indices.hasMask;
  result.order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (indices.onlyMask) {
    result.positions = indices.onlyMask;
    return result;
  }

  auto isIndexed = [&](int64_t axis) { return bool(indices.values[axis]); };
  auto *first = llvm::find_if(result.order, isIndexed);
  if (first == result.order.end())
    return emit.error(node) << "every index is None";
  auto *last = std::find_if_not(first, result.order.end(), isIndexed);
  bool isAdjacent = std::none_of(last, result.order.end(), isIndexed);

  SmallVector<Value> used;
  if (isAdjacent) {
    // Axes before the indexed ones are indexed with all their places, which
    // saves moving them: place i of axis k of `leading` axes is an index of
    // shape [n, 1, ...].
    int64_t leading = *first, indexRank = 0;
    for (int64_t axis : llvm::make_range(first, last))
      indexRank =
          std::max(indexRank, emit.type(indices.values[axis]).getRank());
    for (int64_t axis = 0; axis < leading; ++axis) {
      Value places = countUp(emit, DimExpr(emit, self, axis));
      used.push_back(emit.expandDims(
          places,
          llvm::to_vector(llvm::seq<int64_t>(1, leading - axis + indexRank))));
    }
    for (int64_t axis : llvm::make_range(first, last))
      used.push_back(indices.values[axis]);
  } else {
    SmallVector<int64_t> indexed, whole;
    for (int64_t axis : result.order)
      (isIndexed(axis) ? indexed : whole).push_back(axis);
    for (int64_t axis : indexed)
      used.push_back(indices.values[axis]);
    result.order = llvm::to_vector(llvm::concat<int64_t>(indexed, whole));
  }
  result.positions = stack(used, emit);
  return result;
}

SmallVector<int64_t> corten::inverse(ArrayRef<int64_t> order) {
  SmallVector<int64_t> result(order.size());
  for (auto [place, axis] : llvm::enumerate(order))
    result[axis] = place;
  return result;
}

Value corten::stridedPlaces(const AtenNode &node, Emitter &emit) {
  ArrayRef<Argument> size = node.list("size"), stride = node.list("stride");
  Value place = node.has("storage_offset")
                    ? emit.sizeScalar(node["storage_offset"])
                    : emit.index(0);
  for (auto [axis, extent] : llvm::enumerate(size)) {
    Value steps = emit.create<coreai::RangeOp>(
        {emit.index(0), emit.sizeScalar(extent), emit.index(1)});
    Value offsets = emit.mul(steps, emit.sizeScalar(stride[axis]));
    place = emit.add(
        place, emit.expandDims(offsets, llvm::to_vector(llvm::seq<int64_t>(
                                            1, size.size() - axis))));
  }
  return emit.expandDims(place, {static_cast<int64_t>(size.size())});
}
