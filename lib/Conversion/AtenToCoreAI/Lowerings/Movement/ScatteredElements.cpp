// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowerings/Movement/ScatteredElements.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;
using coreai::ScatterMode;

static bool isBoolean(Value x) { return getElementTypeOrSelf(x).isInteger(1); }

Value corten::scatterAlong(Value self, Value index, Value updates, int64_t axis,
                           ScatterMode mode, Emitter &emit) {
  // The runtime has no complex form: the parts are scattered. (Products and
  // orders of complex numbers do not split, but torch has no such scatter.)
  if (isa<ComplexType>(emit.type(self).getElementType())) {
    auto part = [&]<typename Part>() {
      return scatterAlong(emit.create<Part>({self}), index,
                          emit.create<Part>({updates}), axis, mode, emit);
    };
    return emit.create<coreai::CreateComplexOp>(
        {part.template operator()<coreai::RealPartOp>(),
         part.template operator()<coreai::ImaginaryPartOp>()});
  }
  // On booleans a sum is `or` and a product is `and`.
  if (isBoolean(self) && mode != ScatterMode::Update) {
    ScatterMode order = mode == ScatterMode::Add   ? ScatterMode::Max
                        : mode == ScatterMode::Mul ? ScatterMode::Min
                                                   : mode;
    return emit.cast(scatterAlong(emit.cast(self, emit.si32()), index,
                                  emit.cast(updates, emit.si32()), axis, order,
                                  emit),
                     emit.i1());
  }
  return emit.createTyped<coreai::ScatterAlongAxisOp>(
      self.getType(), {self, index, updates, emit.index(axis)},
      emit.attribute("scatter_mode", coreai::ScatterModeAttr::get(
                                         emit.builder.getContext(), mode)));
}

Value corten::scatterNd(Value base, Value positions, Value updates,
                        Emitter &emit) {
  if (emit.type(updates).getRank() > emit.type(base).getRank()) {
    emit.depart(Departure::ScatterRows);
    int64_t batch = emit.type(positions).getRank() - 1;
    positions = emit.mergeAxes(positions, 0, batch);
    updates = emit.mergeAxes(updates, 0, batch);
  }
  // The official converter leaves open how many positions there are.
  RankedTensorType type = emit.type(positions);
  SmallVector<int64_t> open(type.getRank(), ShapedType::kDynamic);
  open.back() = type.getShape().back();
  if (type.clone(open) != type)
    positions = emit.createTyped<coreai::CastOp>(type.clone(open), positions);
  OperationState state(emit.location, coreai::ScatterNdOp::getOperationName());
  state.addOperands({base, positions, updates});
  state.addTypes(base.getType());
  Region *region = state.addRegion();
  auto scalar = RankedTensorType::get({}, emit.type(base).getElementType());
  Block &block = region->emplaceBlock();
  block.addArguments({scalar, scalar}, {emit.location, emit.location});
  OpBuilder::InsertionGuard guard(emit.builder);
  Operation *op = emit.builder.create(state);
  emit.builder.setInsertionPointToStart(&block);
  coreai::YieldOp::create(emit.builder, emit.location,
                          ValueRange{block.getArgument(1)});
  return op->getResult(0);
}

/// `first` above `rest`, both of the same rows.
static Value prepend(Value first, Value rest, Emitter &emit) {
  SmallVector<int64_t> common(emit.type(rest).getShape());
  for (auto [extent, known] :
       llvm::zip_equal(common, emit.type(first).getShape()))
    if (ShapedType::isDynamic(extent))
      extent = known;
  common[0] = ShapedType::kDynamic;
  RankedTensorType type = emit.type(rest).clone(common);
  return emit.concat({emit.refine(first, type), emit.refine(rest, type)}, 0);
}

/// Positions as [n, Q] and the updates as n rows, headed by `first` for the
/// origin.
///
/// Where a mask decides how many updates there are, there may be none, which
/// ends the process in the runtime: so there is always one that changes
/// nothing.
static std::pair<Value, Value>
withRow(const AdvancedIndex &index, Value updates, Value first, Emitter &emit) {
  emit.depart(Departure::ScatterRows);
  int64_t batch = emit.type(index.positions).getRank() - 1;
  Value origin = emit.splat(
      0.0, RankedTensorType::get({1, index.numIndexed()}, emit.si32()));
  return {prepend(origin, emit.mergeAxes(index.positions, 0, batch), emit),
          prepend(first, emit.mergeAxes(updates, 0, batch), emit)};
}

Value corten::writeAt(Value base, const AdvancedIndex &index, Value updates,
                      Emitter &emit) {
  if (!index.isDataDependent)
    return scatterNd(base, index.positions, updates, emit);
  Value origin = emit.splat(
      0.0, RankedTensorType::get({1, index.numIndexed()}, emit.si32()));
  Value current = emit.create<coreai::GatherNdOp>({base, origin});
  auto [positions, rows] = withRow(index, updates, current, emit);
  return scatterNd(base, positions, rows, emit);
}

/// Row-major number of each position among the first `depth` axes of `base`.
/// One axis numbers its rows itself, from the end too. Of several, a position
/// that is out of range in one of them could be another row: it gets a number
/// that is out of range for all.
static Value linearize(Value base, Value positions, int64_t depth,
                       Emitter &emit) {
  if (depth == 1)
    return emit.mergeAxes(positions, 0, emit.type(positions).getRank());
  SmallVector<Value> extents, strides;
  for (int64_t axis = 0; axis < depth; ++axis) {
    extents.push_back(emit.dim(base, axis));
    strides.push_back(emit.numElements(base, axis + 1, depth));
  }
  Value ends = emit.joinSizes(extents);
  Value fromEnd = emit.greater(emit.index(0), positions);
  Value wrapped = emit.where(fromEnd, emit.add(positions, ends), positions);
  Value within = emit.maximum(
      emit.minimum(wrapped, emit.sub(ends, emit.index(1))), emit.index(0));
  auto sum = [&](Value x) {
    return emit.reduce<coreai::ReduceSumOp>(
        x, {emit.type(positions).getRank() - 1}, /*keepDims=*/false);
  };
  Value outside = sum(emit.cast(emit.notEqual(wrapped, within), emit.si32()));
  return emit.where(emit.greater(outside, emit.index(0)),
                    emit.numElements(base, 0, depth),
                    sum(emit.mul(wrapped, emit.joinSizes(strides))));
}

Value corten::addAt(Value base, const AdvancedIndex &index, Value updates,
                    Emitter &emit) {
  RankedTensorType type = emit.type(base);
  int64_t depth = index.numIndexed();
  Value positions = index.positions;
  if (emit.type(positions).getRank() == 1) {
    positions = emit.expandDims(positions, {0});
    updates = emit.expandDims(updates, {0});
  } else if (index.isDataDependent) {
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t axis = 0; axis < depth; ++axis)
      shape[axis] = 1;
    RankedTensorType row = type.clone(ArrayRef(shape).drop_front(depth - 1));
    Value zero = emit.broadcast(
        emit.splat(0.0, RankedTensorType::get({1}, type.getElementType())), row,
        [&](int64_t axis) { return emit.dim(base, axis + depth - 1); });
    std::tie(positions, updates) = withRow(index, updates, zero, emit);
  } else {
    int64_t batch = emit.type(positions).getRank() - 1;
    positions = emit.mergeAxes(positions, 0, batch);
    updates = emit.mergeAxes(updates, 0, batch);
  }

  // [rows, elements of a row]
  Value rows = linearize(base, positions, depth, emit);
  Value table = emit.mergeAxes(base, 0, depth);
  if (type.getRank() > depth) {
    table = emit.mergeAxes(table, 1, emit.type(table).getRank());
    updates = emit.mergeAxes(updates, 1, emit.type(updates).getRank());
    rows =
        emit.broadcast(emit.expandDims(rows, {1}),
                       RankedTensorType::get({emit.type(rows).getDimSize(0),
                                              emit.type(table).getDimSize(1)},
                                             emit.si32()),
                       [&](int64_t axis) { return emit.dim(table, axis); });
  }
  Value result = scatterAlong(table, rows, updates, 0, ScatterMode::Add, emit);
  return type.hasStaticShape() ? emit.reshape(result, type.getShape())
                               : emit.reshape(result, emit.shape(base), type);
}
