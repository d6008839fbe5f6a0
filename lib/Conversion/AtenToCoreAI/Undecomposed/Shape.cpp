// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views, cuts and joins that a decomposition writes as view, permute,
// split_with_sizes and cat.

#include "Emission/DimExpr.h"
#include "Undecomposed/Call.h"
#include "Undecomposed/SameAs.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The same elements in another shape
//===----------------------------------------------------------------------===//

/// reshape(self, shape)
static FailureOr<Value> lowerReshape(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "view.default",
              {{"self", node["self"]}, {"size", node["shape"]}});
}

/// view_as(self, other), reshape_as(self, other)
static Value lowerReshapeAs(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  RankedTensorType type = emit.typeOf(node);
  if (type.hasStaticShape())
    return emit.reshape(x, type.getShape());
  return emit.reshape(x, emit.shape(emit.tensor(node, "other")), type);
}

/// Axes [from, to) as one; a scalar becomes a vector.
static Value merged(Emitter &emit, Value x, int64_t from, int64_t to) {
  if (emit.type(x).getRank() == 0)
    return emit.reshape(x, {1});
  return to - from == 1 ? x : emit.mergeAxes(x, from, to);
}

/// flatten(self, start_dim, end_dim)
static Value lowerFlatten(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  int64_t rank = emit.type(x).getRank();
  return merged(emit, x, node.axis("start_dim", rank),
                node.axis("end_dim", rank) + 1);
}

/// ravel(self)
static Value lowerRavel(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  return merged(emit, x, 0, emit.type(x).getRank());
}

/// unflatten(self, dim, sizes): one axis as several; one size may be -1.
static Value lowerUnflatten(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  RankedTensorType type = emit.typeOf(node);
  if (type.hasStaticShape())
    return emit.reshape(x, type.getShape());
  int64_t rank = emit.type(x).getRank();
  int64_t split = node.axis("dim", rank);
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < rank; ++axis)
    sizes.push_back(axis == split ? emit.sizes(node.list("sizes"))
                                  : emit.dim(x, axis));
  return emit.reshape(x, emit.joinSizes(sizes), type);
}

/// squeeze(self): all axes that torch knows to have extent 1 go.
static Value lowerSqueezeAll(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  SmallVector<int64_t> axes;
  for (auto [axis, extent] : llvm::enumerate(emit.type(x).getShape()))
    if (extent == 1)
      axes.push_back(axis);
  return emit.shrinkDims(x, axes);
}

/// squeeze(self, dim)
static FailureOr<Value> lowerSqueezeDim(const AtenNode &node, Emitter &emit) {
  SmallVector<Argument> dims;
  return call(
      node, emit, "squeeze.dims",
      {{"self", node["self"]}, {"dim", listOf(node.integer("dim"), dims)}});
}

//===----------------------------------------------------------------------===//
// Another order of axes
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> axesInOrder(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

static Value exchanged(Emitter &emit, Value x, int64_t first, int64_t second) {
  int64_t rank = emit.type(x).getRank();
  if (rank == 0)
    return x;
  SmallVector<int64_t> order = axesInOrder(rank);
  std::swap(order[first], order[second]);
  return emit.transpose(x, order);
}

static Value exchanged(const AtenNode &node, Emitter &emit, StringRef first,
                       StringRef second) {
  Value x = emit.tensor(node, "self");
  int64_t rank = emit.type(x).getRank();
  return exchanged(emit, x, node.axis(first, rank), node.axis(second, rank));
}

/// transpose(self, dim0, dim1), swapdims(self, dim0, dim1)
static Value lowerTranspose(const AtenNode &node, Emitter &emit) {
  return exchanged(node, emit, "dim0", "dim1");
}

/// swapaxes(self, axis0, axis1)
static Value lowerSwapaxes(const AtenNode &node, Emitter &emit) {
  return exchanged(node, emit, "axis0", "axis1");
}

/// mT(self): the last two axes exchanged.
static Value lowerMatrixTranspose(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = emit.type(x).getRank();
  return exchanged(emit, x, rank - 1, rank - 2);
}

/// t(self), numpy_T(self): all axes in reverse.
static Value lowerReverseAxes(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  SmallVector<int64_t> order = axesInOrder(emit.type(x).getRank());
  std::reverse(order.begin(), order.end());
  return order.size() < 2 ? x : emit.transpose(x, order);
}

/// movedim(self, source, destination): the other axes keep their order.
static FailureOr<Value> lowerMovedim(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = emit.type(x).getRank();
  auto axes = [&](StringRef parameter) {
    return node[parameter].isList()
               ? node.axes(parameter, rank)
               : SmallVector<int64_t>{node.axis(parameter, rank)};
  };
  SmallVector<int64_t> from = axes("source"), to = axes("destination");
  if (emit.hasFailed())
    return failure();
  if (from.size() != to.size())
    return emit.error(node)
           << from.size() << " axes for " << to.size() << " places";
  SmallVector<int64_t> order(rank, -1);
  for (auto [source, destination] : llvm::zip_equal(from, to))
    order[destination] = source;
  auto *next = order.begin();
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (llvm::is_contained(from, axis))
      continue;
    next = std::find(next, order.end(), -1);
    *next = axis;
  }
  return emit.transpose(x, order);
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// chunk(self, chunks, dim), split(self, split_size, dim),
/// tensor_split(self, sections or indices, dim)
///
/// Parts of known size are one split. Where the axis is symbolic, part i starts
/// at i times the size of the first, which is the given one or the extent over
/// the number of chunks, rounded up.
static FailureOr<Results> lowerSplit(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  int64_t rank = emit.type(x).getRank();
  int64_t axis = node.axis("dim", rank);
  SmallVector<int64_t> sizes;
  for (unsigned part = 0; part < node.numResults(); ++part) {
    Size extent = node.result(part).sizes[axis];
    if (extent.isDynamic())
      break;
    sizes.push_back(extent.get());
  }
  if (sizes.size() == node.numResults()) {
    SmallVector<Argument> storage;
    return call(node, emit, "split_with_sizes.default",
                {{"self", node["self"]},
                 {"split_sizes", listOf(sizes, storage)},
                 {"dim", axis}},
                node.get().results);
  }
  Value size;
  if (node.get().findArgument("split_size"))
    size = emit.size(node["split_size"]);
  else if (node.get().findArgument("chunks"))
    size = DimExpr(emit, x, axis).ceilDiv(node.integer("chunks")).vector();
  else
    return emit.error(node) << "a split of a symbolic size into parts that are "
                               "not all of one size";
  Results parts;
  for (int64_t part = 0, count = node.numResults(); part < count; ++part) {
    Value start = emit.mul(size, emit.indices({part}));
    Value end = part + 1 == count ? emit.dim(x, axis)
                                  : emit.mul(size, emit.indices({part + 1}));
    parts.push_back(
        emit.slice(x, axis, start, end, 1, emit.typeOf(node, part)));
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Joins and repetitions
//===----------------------------------------------------------------------===//

static FailureOr<Value> joined(const AtenNode &node, Emitter &emit,
                               ArrayRef<Value> tensors, int64_t axis) {
  return call(node, emit, "cat.default", {{"tensors", tensors}, {"dim", axis}});
}

/// stack(tensors, dim): joined along an axis that is then split in two; behind
/// the last axis, joined along a new one.
static FailureOr<Value> lowerStack(const AtenNode &node, Emitter &emit) {
  RankedTensorType type = emit.typeOf(node);
  int64_t axis = node.axis("dim", type.getRank());
  bool isNewAxis = axis == type.getRank() - 1;
  SmallVector<Value> tensors;
  for (const Argument &tensor : node.list("tensors")) {
    Value x = emit.refined(tensor);
    tensors.push_back(isNewAxis ? emit.expandDims(x, {axis}) : x);
  }
  if (isNewAxis)
    return joined(node, emit, tensors, axis);
  RankedTensorType each = emit.type(tensors.front());
  SmallVector<int64_t> shape(each.getShape());
  if (!each.isDynamicDim(axis))
    shape[axis] *= static_cast<int64_t>(tensors.size());
  FailureOr<Value> all =
      call(node, emit, "cat.default", {{"tensors", tensors}, {"dim", axis}},
           RankedTensorType::get(shape, type.getElementType()));
  if (failed(all))
    return failure();
  if (type.hasStaticShape())
    return emit.reshape(*all, type.getShape());
  SmallVector<DimExpr> sizes;
  for (int64_t at = 0; at < each.getRank(); ++at)
    sizes.push_back(DimExpr(emit, tensors.front(), at));
  sizes.insert(sizes.begin() + axis,
               DimExpr(emit, static_cast<int64_t>(tensors.size())));
  return emit.reshape(*all, joinDims(emit, sizes), type);
}

/// hstack(tensors): scalars become vectors; vectors join end to end.
static FailureOr<Value> lowerHstack(const AtenNode &node, Emitter &emit) {
  SmallVector<Value> tensors;
  for (const Argument &tensor : node.list("tensors")) {
    Value x = emit.refined(tensor);
    tensors.push_back(emit.type(x).getRank() == 0 ? emit.reshape(x, {1}) : x);
  }
  int64_t axis = emit.typeOf(node).getRank() == 1 ? 0 : 1;
  return joined(node, emit, tensors, axis);
}

/// vstack(tensors): scalars and vectors become rows.
static FailureOr<Value> lowerVstack(const AtenNode &node, Emitter &emit) {
  SmallVector<Value> tensors;
  for (const Argument &tensor : node.list("tensors")) {
    Value x = emit.refined(tensor);
    if (emit.type(x).getRank() == 0)
      x = emit.reshape(x, {1});
    tensors.push_back(emit.type(x).getRank() == 1 ? emit.expandDims(x, {0})
                                                  : x);
  }
  return joined(node, emit, tensors, 0);
}

/// expand_as(self, other)
static Value lowerExpandAs(const AtenNode &node, Emitter &emit) {
  Value other = emit.tensor(node, "other");
  return emit.broadcast(emit.refined(node, "self"), emit.typeOf(node),
                        [&](int64_t axis) { return emit.dim(other, axis); });
}

/// meshgrid(tensors, indexing): vector i counts along axis i; with "xy" the
/// first two axes change places.
static FailureOr<Results> lowerMeshgrid(const AtenNode &node, Emitter &emit) {
  bool isSwapped = node.has("indexing") && node.string("indexing") == "xy";
  ArrayRef<Argument> tensors = node.list("tensors");
  int64_t rank = tensors.size();
  auto axisOf = [&](int64_t index) {
    return isSwapped && rank > 1 && index < 2 ? 1 - index : index;
  };
  SmallVector<Value> along(rank);
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    Value x = emit.refined(tensor);
    along[axisOf(index)] =
        emit.type(x).getRank() == 0 ? emit.reshape(x, {1}) : x;
  }
  Results grids;
  for (int64_t index = 0; index < rank; ++index) {
    int64_t own = axisOf(index);
    SmallVector<int64_t> others;
    for (int64_t axis = 0; axis < rank; ++axis)
      if (axis != own)
        others.push_back(axis);
    grids.push_back(emit.broadcast(
        emit.expandDims(along[own], others), emit.typeOf(node, index),
        [&](int64_t axis) { return emit.dim(along[axis], 0); }));
  }
  return grids;
}

/// repeat_interleave(self, repeats, dim): each element `repeats` times in
/// place; without a dim of the flattened tensor.
static FailureOr<Value> lowerRepeatInterleave(const AtenNode &node,
                                              Emitter &emit) {
  Value x = emit.refined(node, "self");
  int64_t axis = 0;
  if (node.has("dim"))
    axis = node.axis("dim", emit.type(x).getRank());
  else
    x = merged(emit, x, 0, emit.type(x).getRank());
  if (emit.type(x).getRank() == 0)
    x = emit.reshape(x, {1});
  x = emit.expandDims(x, {axis + 1});
  RankedTensorType type = emit.type(x);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis + 1] =
      node["repeats"].isInt() ? node.integer("repeats") : ShapedType::kDynamic;
  Value repeats = emit.size(node["repeats"]);
  Value repeated = emit.broadcast(x, type.clone(shape), [&](int64_t at) {
    return at == axis + 1 ? repeats : emit.dim(x, at);
  });
  return emit.refine(emit.mergeAxes(repeated, axis, axis + 2),
                     emit.typeOf(node));
}

/// roll(self, shifts, dims): what leaves at one end enters at the other.
static FailureOr<Value> lowerRoll(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  RankedTensorType type = emit.type(x);
  SmallVector<int64_t> dims = node.axes("dims", type.getRank());
  SmallVector<int64_t> shifts = node.integers("shifts");
  if (type.getRank() == 0)
    return x;
  bool isFlat = dims.empty();
  if (isFlat) {
    x = merged(emit, x, 0, type.getRank());
    dims = {0};
  }
  for (auto [axis, shift] : llvm::zip(dims, shifts)) {
    DimExpr extent(emit, x, axis);
    // The number of elements that stay in front of the ones that wrap round.
    DimExpr cut = extent - shift;
    if (extent.isStatic()) {
      int64_t count = extent.extent();
      int64_t offset = ((shift % count) + count) % count;
      if (offset == 0)
        continue;
      cut = DimExpr(emit, count - offset);
    } else {
      if (shift == 0)
        continue;
      Value remaining = emit.modulo(
          emit.add(emit.modulo(cut.vector(), extent.vector()), extent.vector()),
          extent.vector());
      Value tail =
          emit.slice(x, axis, remaining, extent.vector(), 1, emit.type(x));
      Value head =
          emit.slice(x, axis, emit.indices({0}), remaining, 1, emit.type(x));
      x = emit.refine(emit.concat({tail, head}, axis), emit.type(x));
      continue;
    }
    x = emit.concat({sliceAxis(emit, x, axis, cut, extent),
                     sliceAxis(emit, x, axis, DimExpr(emit, 0), cut)},
                    axis);
  }
  return isFlat ? emit.reshape(x, emit.shape(emit.tensor(node, "self")),
                               emit.typeOf(node))
                : x;
}

/// diff(self, n, dim, prepend, append): differences of neighbours, n times;
/// of booleans whether they differ.
static FailureOr<Value> lowerDiff(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  SmallVector<Value> pieces;
  for (StringRef part : {"prepend", "self", "append"})
    if (node.has(part))
      pieces.push_back(emit.cast(emit.refined(node, part), element));
  int64_t axis = node.axis("dim", emit.type(pieces[0]).getRank());
  Value x = pieces.size() == 1 ? pieces[0] : emit.concat(pieces, axis);
  for (int64_t time = 0; time < node.integer("n"); ++time) {
    DimExpr extent(emit, x, axis);
    Value next = sliceAxis(emit, x, axis, DimExpr(emit, 1), extent);
    Value previous = sliceAxis(emit, x, axis, DimExpr(emit, 0), extent - 1);
    x = element.isInteger(1) ? emit.notEqual(next, previous)
                             : emit.sub(next, previous);
  }
  return x;
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedShape() {
#define IN_UndecomposedShape ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
