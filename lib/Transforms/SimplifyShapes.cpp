// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that ask for shapes, and ops that move elements to where they are. The
// verifier takes many declared extents as they are, so the operands are read
// wherever they are constants.

#include "Rewriting.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;

namespace corten {
#define GEN_PASS_DEF_SIMPLIFYSHAPES
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct SimplifyShapes : corten::impl::SimplifyShapesBase<SimplifyShapes> {
  void runOnOperation() override { rewrite(getOperation(), {simplifyShapes}); }
};
} // namespace

/// Whether a vector is the shape of a value: asked for, or a constant.
static bool isShapeOf(Value shape, Value value) {
  if (auto query = shape.getDefiningOp<GetShapeOp>())
    return query.getInput() == value;
  RankedTensorType type = staticTensor(value);
  std::optional<Indices> indices = getConstantIndices(shape);
  return type && indices && llvm::equal(*indices, type.getShape());
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// A vector of which all is known.
static Value known(Operation &op, OpBuilder &builder, ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  if (llvm::is_contained(sizes, ShapedType::kDynamic) || type.getRank() != 1 ||
      type.getShape().front() != static_cast<int64_t>(sizes.size()))
    return {};
  return makeIndices(builder, op.getLoc(), sizes, type.getElementType());
}

/// Something of the same shape that was there before.
static Value sameShape(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() == 0)
    return {};
  bool isSame = op->hasTrait<OpTrait::Elementwise>() ||
                isa<CastOp, ReluOp, GeluOp, SoftmaxOp, ScanOp, ReverseOp,
                    SliceUpdateOp, ScatterNdOp, ScatterAlongAxisOp>(op);
  return isSame ? op->getOperand(0) : Value();
}

static Value simplifyGetShape(GetShapeOp op, OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type)
    return {};
  if (Value all = known(*op, builder, type.getShape()))
    return all;
  // What a tensor was given as its shape; an unsigned one leaves nothing open.
  Operation *producer = op.getInput().getDefiningOp();
  Value given;
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(producer))
    given = reshape.getNewShape();
  else if (auto spread = dyn_cast_or_null<BroadcastToOp>(producer))
    given = spread.getShape();
  if (given && given.getType() == op.getType())
    return given;
  Value before = sameShape(op.getInput());
  // One that is known here and not there would be lost.
  if (!before ||
      cast<RankedTensorType>(before.getType()).getShape() != type.getShape())
    return {};
  return GetShapeOp::create(builder, op.getLoc(), op.getType(), before);
}

/// The extents, known and unknown, of what a vector is the shape of. A cast to
/// wider integers, or to signed ones of the same width, keeps known ones.
static std::optional<ArrayRef<int64_t>> queried(Value vector) {
  if (auto cast = vector.getDefiningOp<CastOp>())
    if (cast.getType().getElementType().isInteger() &&
        cast.getType().getElementTypeBitWidth() >= 32)
      vector = cast.getInput();
  auto query = vector.getDefiningOp<GetShapeOp>();
  auto type = query ? dyn_cast<RankedTensorType>(query.getInput().getType())
                    : RankedTensorType();
  return type ? std::optional(type.getShape()) : std::nullopt;
}

static Value simplifyGather(Operation &op, OpBuilder &builder) {
  std::optional<ArrayRef<int64_t>> sizes = queried(op.getOperand(0));
  std::optional<Indices> indices = getConstantIndices(op.getOperand(1));
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!sizes || !indices || !type || !type.hasStaticShape() ||
      type.getNumElements() != static_cast<int64_t>(indices->size()))
    return {};
  SmallVector<APInt> taken;
  for (int64_t index : *indices) {
    std::optional<int64_t> place = normalizeAxis(index, sizes->size());
    if (!place || ShapedType::isDynamic((*sizes)[*place]))
      return {};
    taken.push_back(APInt(type.getElementTypeBitWidth(), (*sizes)[*place]));
  }
  return ConstantOp::create(builder, op.getLoc(),
                            DenseElementsAttr::get(type, taken));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The largest index that slices have; what ends there ends with the axis.
static constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();

/// A start or end as a place in [0, extent]; none if the extent is not known
/// and matters.
static std::optional<int64_t> placeOfBound(int64_t bound, int64_t extent) {
  if (ShapedType::isDynamic(extent)) {
    if (bound == 0 || bound == kEnd)
      return bound;
    return std::nullopt;
  }
  return std::clamp<int64_t>(bound < 0 ? bound + extent : bound, 0, extent);
}

/// Where a slice begins, ends, and how far it steps, along each axis.
struct SliceBounds {
  Indices starts, ends, strides;
};

/// The bounds of a slice or an update that goes forward and whose bounds are
/// constants, as places in `type`.
template <typename Op>
static std::optional<SliceBounds> boundsOf(Op op, RankedTensorType type) {
  std::optional<Indices> starts = getConstantIndices(op.getStartIndices());
  std::optional<Indices> ends = getConstantIndices(op.getEndIndices());
  std::optional<Indices> strides = getConstantIndices(op.getStrides());
  size_t rank = type.getRank();
  if (!starts || !ends || !strides || starts->size() != rank ||
      ends->size() != rank || strides->size() != rank)
    return std::nullopt;
  SliceBounds bounds;
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t extent = type.getDimSize(axis);
    std::optional<int64_t> start = placeOfBound((*starts)[axis], extent);
    std::optional<int64_t> end = placeOfBound((*ends)[axis], extent);
    if (!start || !end || (*strides)[axis] <= 0)
      return std::nullopt;
    bounds.starts.push_back(*start);
    bounds.ends.push_back(*end);
    bounds.strides.push_back((*strides)[axis]);
  }
  return bounds;
}

/// Whether bounds take in all there is, in its order.
static bool isEverything(const SliceBounds &bounds, RankedTensorType type) {
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    int64_t extent = type.getDimSize(axis);
    int64_t last = ShapedType::isDynamic(extent) ? kEnd : extent;
    if (bounds.starts[axis] != 0 || bounds.ends[axis] != last ||
        bounds.strides[axis] != 1)
      return false;
  }
  return true;
}

/// Whether the declared extents of a slice of known extents are right.
static bool isDeclaredRight(SliceOp op, const SliceBounds &bounds) {
  for (int64_t axis = 0; axis < op.getType().getRank(); ++axis) {
    int64_t length =
        std::max<int64_t>(bounds.ends[axis] - bounds.starts[axis], 0);
    if (op.getType().getDimSize(axis) !=
        llvm::divideCeilSigned(length, bounds.strides[axis]))
      return false;
  }
  return true;
}

/// A slice of a slice, both of known extents.
static Value mergeSlices(SliceOp op, const SliceBounds &bounds,
                         OpBuilder &builder) {
  auto inner = op.getInput().getDefiningOp<SliceOp>();
  if (!inner)
    return {};
  RankedTensorType from = staticTensor(inner.getInput());
  RankedTensorType between = staticTensor(inner.getOutput());
  if (!from || !between || !staticTensor(op.getOutput()))
    return {};
  std::optional<SliceBounds> first = boundsOf(inner, from);
  if (!first || !isDeclaredRight(inner, *first))
    return {};
  Indices starts, ends, strides;
  for (int64_t axis = 0; axis < from.getRank(); ++axis) {
    int64_t extent = op.getType().getDimSize(axis);
    int64_t step = first->strides[axis];
    int64_t start = first->starts[axis] + bounds.starts[axis] * step;
    int64_t stride = step * bounds.strides[axis];
    int64_t end = extent == 0 ? start : start + (extent - 1) * stride + 1;
    // Declared extents may be wrong.
    if (end > from.getDimSize(axis) || stride > kEnd)
      return {};
    starts.push_back(start);
    ends.push_back(end);
    strides.push_back(stride);
  }
  Location place = placeOf(*op, op.getInput());
  Type element = builder.getIntegerType(32, /*isSigned=*/true);
  return SliceOp::create(builder, place, op.getType(), inner.getInput(),
                         makeIndices(builder, place, starts, element),
                         makeIndices(builder, place, ends, element),
                         makeIndices(builder, place, strides, element));
}

static Value simplifySlice(SliceOp op, OpBuilder &builder) {
  RankedTensorType type = plainTensor(op.getInput());
  std::optional<SliceBounds> bounds = type ? boundsOf(op, type) : std::nullopt;
  if (!bounds)
    return {};
  if (op.getType() == type && isEverything(*bounds, type))
    return op.getInput();
  if (!type.hasStaticShape())
    return {};
  if (std::optional<ArrayRef<int64_t>> sizes = queried(op.getInput())) {
    SmallVector<int64_t> taken;
    for (int64_t i = bounds->starts[0]; i < bounds->ends[0];
         i += bounds->strides[0])
      taken.push_back((*sizes)[i]);
    return known(*op, builder, taken);
  }
  return isDeclaredRight(op, *bounds) ? mergeSlices(op, *bounds, builder)
                                      : Value();
}

/// An update of everything.
static Value simplifySliceUpdate(SliceUpdateOp op) {
  RankedTensorType type = staticTensor(op.getInput());
  std::optional<SliceBounds> bounds = type ? boundsOf(op, type) : std::nullopt;
  bool isAll = bounds && isEverything(*bounds, type) &&
               op.getUpdate().getType() == op.getType() && type == op.getType();
  return isAll ? Value(op.getUpdate()) : Value();
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// How long a list of parts may be that becomes part of another one: a chain of
/// them would be copied over and over.
static constexpr size_t kMaxParts = 32;

/// The parts of a split in their order, which are what was split.
static Value unsplit(ConcatOp op, int64_t axis) {
  auto split = op.getInputs().front().getDefiningOp<SplitOp>();
  std::optional<int64_t> dim =
      split ? getConstantIndex(split.getDim()) : std::nullopt;
  if (!dim || split.getResults() != op.getInputs() ||
      split.getInput().getType() != op.getType())
    return {};
  return normalizeAxis(*dim, op.getType().getRank()) == axis
             ? Value(split.getInput())
             : Value();
}

static Value simplifyConcat(ConcatOp op, OpBuilder &builder) {
  std::optional<int64_t> dimension = getConstantIndex(op.getDimension());
  if (!dimension || op.getInputs().empty() || op.getType().getRank() == 0)
    return {};
  std::optional<int64_t> axis =
      normalizeAxis(*dimension, op.getType().getRank());
  if (!axis)
    return {};
  if (op.getInputs().size() == 1)
    return op.getInputs().front().getType() == op.getType()
               ? op.getInputs().front()
               : Value();
  if (Value whole = unsplit(op, *axis))
    return whole;
  // Without what is empty, and with the parts of what is only used here.
  SmallVector<Value> parts;
  SmallVector<Location> places;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    auto inner = input.getDefiningOp<ConcatOp>();
    if (type.getRank() == 0)
      return {};
    if (type.getDimSize(*axis) == 0)
      continue;
    bool isPart = inner && input.hasOneUse() &&
                  inner.getInputs().size() <= kMaxParts &&
                  getConstantIndex(inner.getDimension()) == dimension &&
                  llvm::all_of(inner.getInputs(), [](Value part) {
                    return cast<RankedTensorType>(part.getType()).getRank() > 0;
                  });
    if (!isPart) {
      parts.push_back(input);
      continue;
    }
    llvm::append_range(parts, inner.getInputs());
    places.push_back(inner.getLoc());
  }
  if (parts.empty() || ValueRange(parts) == op.getInputs())
    return {};
  return ConcatOp::create(builder, fuse(op.getLoc(), places), op.getType(),
                          op.getDimension(), parts);
}

//===----------------------------------------------------------------------===//
// What leaves everything where it is
//===----------------------------------------------------------------------===//

static Value simplifyBroadcastTo(BroadcastToOp op, OpBuilder &builder) {
  if (op.getInput().getType() == op.getType() &&
      isShapeOf(op.getShape(), op.getInput()))
    return op.getInput();
  auto inner = op.getInput().getDefiningOp<BroadcastToOp>();
  if (!inner)
    return {};
  return BroadcastToOp::create(builder, placeOf(*op, op.getInput()),
                               op.getType(), inner.getInput(), op.getShape());
}

/// Axes that are spread over extents that they have.
static Value simplifyBroadcastInDims(BroadcastInDimsOp op) {
  RankedTensorType type = staticTensor(op.getInput());
  std::optional<Indices> sizes = getConstantIndices(op.getDimSizes());
  std::optional<Indices> axes = getConstantIndices(op.getAxes());
  if (!type || type != op.getType() || !sizes || !axes ||
      sizes->size() != axes->size())
    return {};
  for (auto [size, axis] : llvm::zip_equal(*sizes, *axes)) {
    std::optional<int64_t> place = normalizeAxis(axis, type.getRank());
    if (!place || type.getDimSize(*place) != size)
      return {};
  }
  return op.getInput();
}

static Value simplifyReverse(ReverseOp op) {
  RankedTensorType type = plainTensor(op.getInput());
  std::optional<Indices> axes = getConstantIndices(op.getDims());
  if (!type || type != op.getType() || !axes)
    return {};
  bool isNothing = llvm::all_of(*axes, [&](int64_t axis) {
    std::optional<int64_t> place = normalizeAxis(axis, type.getRank());
    return place && type.getDimSize(*place) == 1;
  });
  if (isNothing)
    return op.getInput();
  auto inner = op.getInput().getDefiningOp<ReverseOp>();
  bool isUndone = inner && getConstantIndices(inner.getDims()) == axes &&
                  inner.getInput().getType() == type;
  return isUndone ? Value(inner.getInput()) : Value();
}

/// Reductions of axes of one element, where that is all that comes out. A sum
/// is not among them: it starts with 0, which makes 0 of -0.
static Value simplifyReduction(Operation &op) {
  Value input = op.getOperand(0);
  RankedTensorType type = plainTensor(input);
  std::optional<Indices> axes = getConstantIndices(op.getOperand(1));
  if (!type || type != op.getResult(0).getType() || !axes || axes->empty())
    return {};
  bool isNothing = llvm::all_of(*axes, [&](int64_t axis) {
    std::optional<int64_t> place = normalizeAxis(axis, type.getRank());
    return place && type.getDimSize(*place) == 1;
  });
  return isNothing ? input : Value();
}

/// The other one of two shapes, if one asks for nothing.
static Value simplifyBroadcastShapes(BroadcastShapesOp op) {
  Value first = op.getShape_1(), second = op.getShape_2();
  if (first == second)
    return first.getType() == op.getType() ? first : Value();
  auto isNeutral = [](Value ones, Value shape) {
    auto length = cast<RankedTensorType>(ones.getType());
    auto other = cast<RankedTensorType>(shape.getType());
    return isAll(ones, 1) && other.hasStaticShape() &&
           length.getDimSize(0) <= other.getDimSize(0);
  };
  if (first.getType() == op.getType() && isNeutral(second, first))
    return first;
  if (second.getType() == op.getType() && isNeutral(first, second))
    return second;
  return {};
}

Value corten::simplifyShapes(Operation &op, OpBuilder &builder) {
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](GetShapeOp query) { return simplifyGetShape(query, builder); })
      .Case([&](GatherNdOp) { return simplifyGather(op, builder); })
      .Case([&](GatherAlongAxisOp) { return simplifyGather(op, builder); })
      .Case([&](SliceOp slice) { return simplifySlice(slice, builder); })
      .Case([&](SliceUpdateOp update) { return simplifySliceUpdate(update); })
      .Case([&](ConcatOp concat) { return simplifyConcat(concat, builder); })
      .Case([&](BroadcastToOp spread) {
        return simplifyBroadcastTo(spread, builder);
      })
      .Case([&](BroadcastInDimsOp spread) {
        return simplifyBroadcastInDims(spread);
      })
      .Case([&](BroadcastShapesOp shapes) {
        return simplifyBroadcastShapes(shapes);
      })
      .Case([&](ReverseOp reverse) { return simplifyReverse(reverse); })
      .Case<ReduceMaxOp, ReduceMinOp, ReduceProductOp, AllOp, AnyOp>(
          [&](auto) { return simplifyReduction(op); })
      .Case([&](TileOp tile) {
        return isAll(tile.getDims(), 1) &&
                       tile.getInput().getType() == tile.getType()
                   ? Value(tile.getInput())
                   : Value();
      })
      .Case([&](PadOp pad) {
        return isAll(pad.getPadding(), 0) &&
                       pad.getInput().getType() == pad.getType()
                   ? Value(pad.getInput())
                   : Value();
      })
      .Default(Value());
}
