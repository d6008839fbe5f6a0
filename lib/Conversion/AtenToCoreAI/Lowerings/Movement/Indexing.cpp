// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that read elements at computed places, and that compute places.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Lowerings/Movement/AdvancedIndex.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <limits>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reading along one axis
//===----------------------------------------------------------------------===//

/// embedding(weight, indices): rows of a table.
static Value lowerEmbedding(const AtenNode &node, Emitter &emit) {
  Value indices = emit.cast(emit.tensor(node, "indices"), emit.si32());
  return emit.create<coreai::GatherNdOp>(
      {emit.tensor(node, "weight"),
       emit.expandDims(indices, {emit.type(indices).getRank()})});
}

/// gather(self, dim, index): out[i, j] = self[index[i, j], j] for dim 0.
///
/// index may be shorter than self off the axis, which the op does not allow:
/// self is cut to it. Scalars count as vectors of one element.
static Value lowerGather(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  Value index = emit.cast(emit.refined(node, "index"), emit.si32());
  bool isScalar = emit.type(index).getRank() == 0;
  if (emit.type(self).getRank() == 0)
    self = emit.reshape(self, {1});
  if (isScalar)
    index = emit.reshape(index, {1});
  int64_t rank = emit.type(self).getRank();
  int64_t axis = node.axis("dim", rank);

  ArrayRef<Size> have = node.info("self").sizes;
  ArrayRef<Size> want = node.info("index").sizes;
  for (int64_t other = 0; other < rank; ++other) {
    if (other == axis || have[other] == want[other])
      continue;
    SmallVector<int64_t> extents(emit.type(self).getShape());
    extents[other] = emit.type(index).getDimSize(other);
    self = emit.slice(self, other, emit.indices({0}), emit.dim(index, other), 1,
                      emit.type(self).clone(extents));
  }
  Value result = emit.gather(self, index, axis);
  return isScalar ? emit.reshape(result, ArrayRef<int64_t>()) : result;
}

/// index_select(self, dim, index): slices along one axis.
static Value lowerIndexSelect(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  Value index = emit.cast(emit.refined(node, "index"), emit.si32());
  bool isScalar = emit.type(self).getRank() == 0;
  if (isScalar)
    self = emit.reshape(self, {1});
  if (emit.type(index).getRank() == 0)
    index = emit.reshape(index, {1});
  Value result =
      emit.take(self, index, node.axis("dim", emit.type(self).getRank()));
  return isScalar ? emit.reshape(result, ArrayRef<int64_t>()) : result;
}

//===----------------------------------------------------------------------===//
// Reading at places
//===----------------------------------------------------------------------===//

/// index(self, indices): x[i, :, mask].
///
/// The shape of the indices stands where they are, or in front if an axis that
/// is taken whole lies between them.
static FailureOr<Value> lowerIndex(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  FailureOr<AdvancedIndex> index =
      readIndices(node, node.list("indices"), self, emit);
  if (failed(index))
    return failure();
  if (index->isDataDependent)
    emit.depart(Departure::MaskIndex);
  return emit.create<coreai::GatherNdOp>(
      {emit.transpose(self, index->order), index->positions});
}

/// masked_select(self, mask): the elements where mask is true, in order.
static Value lowerMaskedSelect(const AtenNode &node, Emitter &emit) {
  Value operands[] = {emit.refined(node, "self"), emit.refined(node, "mask")};
  broadcastTogether(operands, emit);
  if (emit.type(operands[0]).getRank() == 0)
    for (Value &operand : operands)
      operand = emit.reshape(operand, {1});
  Value places = emit.create<coreai::NonZeroOp>({operands[1]});
  return emit.create<coreai::GatherNdOp>({operands[0], places});
}

//===----------------------------------------------------------------------===//
// Places of elements that are not zero
//===----------------------------------------------------------------------===//

/// [n, rank]. Without axes, the number of rows still tells whether the one
/// element is zero.
static Value nonZero(Value x, Emitter &emit) {
  if (isa<ComplexType>(emit.type(x).getElementType()))
    x = emit.convert(x, emit.i1());
  if (emit.type(x).getRank() > 0)
    return emit.create<coreai::NonZeroOp>({x});
  Value place = emit.create<coreai::NonZeroOp>({emit.reshape(x, {1})});
  return emit.slice(
      place, {0, 0}, {INT32_MAX, 0}, {1, 1},
      RankedTensorType::get({ShapedType::kDynamic, 0}, emit.si32()));
}

/// nonzero(self): [n, rank], in row-major order.
static Value lowerNonZero(const AtenNode &node, Emitter &emit) {
  return nonZero(emit.tensor(node, "self"), emit);
}

/// nonzero_numpy(self): the same as one vector per axis. A number is one
/// element along an axis.
static FailureOr<Results> lowerNonZeroColumns(const AtenNode &node,
                                              Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (emit.type(x).getRank() == 0)
    x = emit.reshape(x, {1});
  Value places = nonZero(x, emit);
  Results columns;
  auto type = RankedTensorType::get({ShapedType::kDynamic, 1}, emit.si32());
  for (int64_t axis = 0, rank = emit.type(places).getDimSize(1); axis < rank;
       ++axis) {
    Value column =
        emit.slice(places, {0, axis}, {INT32_MAX, axis + 1}, {1, 1}, type);
    columns.push_back(emit.shrinkDims(column, {1}));
  }
  return columns;
}

/// nonzero_static(self, size, fill_value): the first `size` places; rows that
/// are missing hold the fill value.
static Value lowerNonZeroStatic(const AtenNode &node, Emitter &emit) {
  Value places = nonZero(emit.tensor(node, "self"), emit);
  RankedTensorType type = emit.typeOf(node);
  Value rest = emit.broadcast(
      emit.reshape(emit.scalar(node.integer("fill_value"), emit.si32()),
                   {1, 1}),
      type, [&](int64_t axis) {
        return axis == 0 ? emit.size(node["size"])
                         : emit.indices({type.getDimSize(1)});
      });
  return emit.slice(emit.concat({places, rest}, 0), 0, emit.indices({0}),
                    emit.size(node["size"]), 1, type);
}

//===----------------------------------------------------------------------===//
// Places in sorted sequences
//===----------------------------------------------------------------------===//

/// How many boundaries lie before each value; those equal to it count if
/// `right`. boundaries: [n], or [..., n] for values [..., m].
///
/// Every boundary is compared with every value. NaN lies after all, as in
/// torch: so "not at or after" is counted, rather than "before".
static Value countBefore(Value boundaries, Value values, bool right,
                         Emitter &emit) {
  int64_t rank = emit.type(values).getRank();
  if (int64_t axis = emit.type(boundaries).getRank() - 1; axis > 0)
    boundaries = emit.expandDims(boundaries, {axis});
  values = emit.expandDims(values, {rank});
  Value isAfter = emit.greater(boundaries, values);
  if (!right)
    isAfter = emit.logicalOr(isAfter, emit.equal(boundaries, values));
  Value isBefore = emit.cast(emit.logicalNot(isAfter), emit.si32());
  return emit.reduce<coreai::ReduceSumOp>(isBefore, {rank},
                                          /*keepDims=*/false);
}

/// searchsorted(sorted_sequence, self, right, side, sorter)
static FailureOr<Value> lowerSearchSorted(const AtenNode &node, Emitter &emit) {
  Value boundaries = emit.refined(node, "sorted_sequence");
  FailureOr<Value> values =
      emit.operand(node, "self", emit.type(boundaries).getElementType());
  if (failed(values))
    return failure();
  if (node.has("sorter"))
    boundaries = emit.gather(boundaries, emit.tensor(node, "sorter"),
                             emit.type(boundaries).getRank() - 1);
  bool right = node.flag("right") ||
               (node.has("side") && node.string("side") == "right");
  return countBefore(boundaries, *values, right, emit);
}

/// bucketize(self, boundaries, right)
static FailureOr<Value> lowerBucketize(const AtenNode &node, Emitter &emit) {
  std::optional<ScalarType> common =
      emit.commonType({node["self"], node["boundaries"]});
  if (!common)
    return emit.error(node) << "values and boundaries have no common type";
  FailureOr<Value> values =
      emit.operand(node, "self", emit.elementType(*common));
  if (failed(values))
    return failure();
  Value boundaries =
      emit.cast(emit.tensor(node, "boundaries"), emit.elementType(*common));
  return countBefore(boundaries, *values, node.flag("right"), emit);
}

/// repeat_interleave(repeats, output_size): index i, repeats[i] times.
///
/// Place j belongs to the first index whose running total exceeds j.
static Value lowerRepeatInterleave(const AtenNode &node, Emitter &emit) {
  Value repeats = emit.cast(emit.refined(node, "repeats"), emit.si32());
  Value totals = scan(emit, repeats, 0, coreai::ScanCombiner::Sum);
  Value count =
      node.has("output_size")
          ? emit.sizeScalar(node["output_size"])
          : emit.reduce<coreai::ReduceSumOp>(repeats, {0}, /*keepDims=*/false);
  Value places =
      emit.create<coreai::RangeOp>({emit.index(0), count, emit.index(1)});
  return countBefore(totals, places, /*right=*/true, emit);
}

/// The runs of equal values in the vector `sequence`: their values, the number
/// of the run that each element of `self` is in, and their lengths. Element i
/// of the sequence is element order[i] of `self`, or element i without an
/// order.
static Results runsOf(const AtenNode &node, Emitter &emit, Value self,
                      Value sequence, Value order) {
  RankedTensorType type = emit.type(self);
  Value places = countUp(emit, DimExpr(emit, sequence, 0));
  Value before = emit.maximum(emit.sub(places, emit.index(1)), emit.index(0));
  Value isNew =
      emit.logicalOr(emit.notEqual(sequence, emit.gather(sequence, before, 0)),
                     emit.equal(places, emit.index(0)));
  Value starts = emit.create<coreai::NonZeroOp>({isNew});
  Value values = emit.create<coreai::GatherNdOp>({sequence, starts});

  Results results = {emit.cast(values, type.getElementType())};
  Value unused = emit.splat(0.0, RankedTensorType::get({0}, emit.si32()));
  results.append(2, unused);
  if (node.flag("return_inverse")) {
    Value inverse = emit.sub(
        scan(emit, emit.cast(isNew, emit.si32()), 0, coreai::ScanCombiner::Sum),
        emit.index(1));
    // The inverse of a permutation is the order that sorts it.
    if (order)
      inverse = emit.gather(
          inverse,
          emit.create<coreai::ArgsortOp>(
              {order, emit.index(0), emit.scalar(false), emit.scalar(true)}),
          0);
    results[1] = type.hasStaticShape() ? emit.reshape(inverse, type.getShape())
                                       : emit.reshape(inverse, emit.shape(self),
                                                      type.clone(emit.si32()));
  }
  if (node.flag("return_counts")) {
    auto vector = RankedTensorType::get({ShapedType::kDynamic}, emit.si32());
    Value first = emit.shrinkDims(starts, {1});
    Value next = emit.slice(first, 0, emit.indices({1}),
                            emit.indices({INT32_MAX}), 1, vector);
    Value ends = emit.concat({next, emit.numElements(sequence, 0, 1)}, 0);
    results[2] = emit.sub(ends, first);
  }
  return results;
}

/// The elements of `x` as a vector of numbers: booleans cannot be sorted.
static Value flatNumbers(Emitter &emit, Value x) {
  Value flat = emit.type(x).getRank() == 1 ? x : emit.reshape(x, {-1});
  return emit.type(x).getElementType().isInteger(1)
             ? emit.cast(flat, emit.si32())
             : flat;
}

/// _unique2(self, sorted, return_inverse, return_counts): the distinct values
/// in ascending order, which of them each element is, and how often they come.
static Results lowerUnique(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  Value flat = flatNumbers(emit, x);
  Value order = emit.create<coreai::ArgsortOp>(
      {flat, emit.index(0), emit.scalar(false), emit.scalar(true)});
  return runsOf(node, emit, x, emit.gather(flat, order, 0), order);
}

/// unique_consecutive(self, return_inverse, return_counts, dim): the same of
/// the elements as they come.
static FailureOr<Results> lowerUniqueConsecutive(const AtenNode &node,
                                                 Emitter &emit) {
  Value x = emit.refined(node, "self");
  if (node.has("dim") && emit.type(x).getRank() > 1)
    return emit.error(node) << "unique_consecutive of slices along an axis";
  return runsOf(node, emit, x, flatNumbers(emit, x), Value());
}

//===----------------------------------------------------------------------===//
// Bags of rows
//===----------------------------------------------------------------------===//

/// _embedding_bag(weight, indices, offsets, mode, per_sample_weights,
/// include_last_offset, padding_idx): rows of a table, summed (mode 0),
/// averaged (1) or maximised (2) by bag; a bag without rows is zero.
///
/// Row j is in the last bag that starts at or before j. Only the first result
/// exists; the others are for the backward pass.
static FailureOr<Results> lowerEmbeddingBag(const AtenNode &node,
                                            Emitter &emit) {
  for (unsigned result = 1; result < 4; ++result)
    if (emit.isUsed(node, result))
      return emit.error(node)
             << "result " << result << " of embedding_bag is used";
  enum { Sum, Mean, Max };
  int64_t mode = node.integer("mode");
  Value weight = emit.refined(node, "weight");
  Type element = emit.type(weight).getElementType();
  Value indices = emit.cast(emit.refined(node, "indices"), emit.si32());
  Value offsets = emit.cast(emit.refined(node, "offsets"), emit.si32());
  if (emit.hasFailed())
    return failure();
  RankedTensorType type = emit.typeOf(node);
  if (node.flag("include_last_offset"))
    offsets =
        emit.slice(offsets, 0, emit.indices({0}), emit.indices({-1}), 1,
                   RankedTensorType::get({type.getDimSize(0)}, emit.si32()));

  Value rows =
      emit.create<coreai::GatherNdOp>({weight, emit.expandDims(indices, {1})});
  if (node.has("per_sample_weights"))
    rows = emit.mul(
        rows,
        emit.expandDims(
            emit.cast(emit.tensor(node, "per_sample_weights"), element), {1}));
  double start = mode == Max ? -std::numeric_limits<double>::infinity() : 0.0;
  Value counted = emit.broadcast(
      emit.splat(1.0, RankedTensorType::get({1}, emit.si32())),
      emit.type(indices), [&](int64_t) { return emit.dim(indices, 0); });
  if (int64_t padding = node.integer("padding_idx"); padding >= 0) {
    Value isReal = emit.notEqual(indices, emit.index(padding));
    rows = emit.where(emit.expandDims(isReal, {1}), rows,
                      emit.scalar(start, element));
    counted = emit.cast(isReal, emit.si32());
  }

  Value bags =
      emit.sub(countBefore(offsets, countUp(emit, DimExpr(emit, indices, 0)),
                           /*right=*/true, emit),
               emit.index(1));
  auto bagsOf = [&](Value number, RankedTensorType shape) {
    return emit.broadcast(
        emit.reshape(number, SmallVector<int64_t>(shape.getRank(), 1)), shape,
        [&](int64_t axis) {
          return axis == 0 ? emit.dim(offsets, 0) : emit.dim(weight, 1);
        });
  };
  auto scatter = [&](Value into, Value index, Value updates,
                     coreai::ScatterMode how) {
    return emit.createTyped<coreai::ScatterAlongAxisOp>(
        into.getType(), {into, index, updates, emit.index(0)},
        emit.attribute("scatter_mode", coreai::ScatterModeAttr::get(
                                           emit.builder.getContext(), how)));
  };
  Value columns = emit.broadcast(
      emit.expandDims(bags, {1}), emit.type(rows).clone(emit.si32()),
      [&](int64_t axis) { return emit.dim(rows, axis); });
  Value result = scatter(
      bagsOf(emit.scalar(start, element), type), columns, rows,
      mode == Max ? coreai::ScatterMode::Max : coreai::ScatterMode::Add);
  if (mode != Sum) {
    Value counts = scatter(bagsOf(emit.index(0), emit.type(offsets)), bags,
                           counted, coreai::ScatterMode::Add);
    Value filled = emit.expandDims(
        emit.maximum(counts, emit.index(mode == Mean ? 1 : 0)), {1});
    if (mode == Mean)
      result = emit.divide(result, emit.cast(filled, element));
    else
      result = emit.where(emit.greater(filled, emit.index(0)), result,
                          emit.scalar(0, element));
  }
  return Results{result, Value(), Value(), Value()};
}

llvm::ArrayRef<TableEntry> corten::loweringsIndexing() {
#define IN_Indexing ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
