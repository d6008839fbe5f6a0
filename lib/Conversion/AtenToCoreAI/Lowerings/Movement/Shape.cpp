// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that rearrange, repeat, join and cut tensors.

#include "Emission/Composite.h"
#include "Emission/DimExpr.h"
#include "Lowerings/Movement/AdvancedIndex.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// view(self, size)
///
/// One entry of `size` may be -1.
static Value lowerView(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  RankedTensorType type = emit.typeOf(node);
  if (type.hasStaticShape())
    return emit.reshape(x, type.getShape());
  ArrayRef<Argument> size = node.list("size");
  if (emit.mayBeEmpty &&
      llvm::all_of(size, [](const Argument &extent) { return extent.isInt(); }))
    return emit.reshape(x, node.integers("size"));
  return emit.reshape(x, emit.sizes(size), type);
}

/// unsqueeze(self, dim)
static Value lowerUnsqueeze(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = emit.type(x).getRank() + 1;
  return emit.expandDims(x, {node.axis("dim", rank)});
}

/// squeeze(self, dim)
///
/// Of the listed axes only those of extent 1 go; the others stay.
static Value lowerSqueeze(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  SmallVector<int64_t> axes;
  for (int64_t axis : node.axes("dim", emit.type(x).getRank())) {
    if (emit.type(x).getRank() > 0 && emit.type(x).getDimSize(axis) == 1)
      axes.push_back(axis);
  }
  llvm::sort(axes);
  return emit.shrinkDims(x, axes);
}

/// permute(self, dims)
static Value lowerPermute(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  return emit.transpose(x, node.axesOrAll("dims", emit.type(x).getRank()));
}

/// expand(self, size)
///
/// New axes come first; -1 keeps an extent. Only axes that torch knows to be 1
/// are stretched: a symbolic extent has its final size.
static Value lowerExpand(const AtenNode &node, Emitter &emit) {
  ArrayRef<Argument> size = node.list("size");
  auto extent = [&](int64_t axis) {
    return size[axis].isValue()
               ? emit.cast(emit.size(size[axis]), emit.ui32())
               : emit.indices({node.integer(size[axis])}, IndexKind::Unsigned);
  };
  return emit.broadcast(emit.refined(node, "self"), emit.typeOf(node), extent);
}

/// copy(self, src): src in the type and shape of self
static Value lowerCopy(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  Value source =
      emit.cast(emit.tensor(node, "src"), emit.type(self).getElementType());
  return emit.broadcastTo(source, emit.shape(self, IndexKind::Unsigned),
                          emit.typeOf(node));
}

//===----------------------------------------------------------------------===//
// Joining and cutting
//===----------------------------------------------------------------------===//

/// cat(tensors, dim)
///
/// Computes in the promoted type. Empty tensors, of whatever rank, are left
/// out. The op wants identical extents off the axis, so an extent that one
/// tensor leaves open is stated as it is in the others.
static Value lowerCat(const AtenNode &node, Emitter &emit) {
  RankedTensorType type = emit.typeOf(node);
  int64_t axis = node.axis("dim", type.getRank());
  SmallVector<Value> values;
  for (const Argument &tensor : node.list("tensors")) {
    Value x = emit.refined(tensor);
    if (!llvm::is_contained(emit.type(x).getShape(), 0))
      values.push_back(emit.cast(x, type.getElementType()));
  }

  SmallVector<int64_t> common(type.getShape());
  for (Value x : values)
    for (auto [extent, known] :
         llvm::zip_equal(common, emit.type(x).getShape()))
      if (ShapedType::isDynamic(extent))
        extent = known;
  common[axis] = ShapedType::kDynamic;
  for (Value &x : values)
    x = emit.refine(x, type.clone(common));
  return values.size() == 1 ? values.front() : emit.concat(values, axis);
}

/// split_with_sizes(self, split_sizes, dim)
///
/// Literal sizes are one split; a symbolic one makes every part a slice.
static FailureOr<Results> lowerSplit(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  ArrayRef<Argument> sizes = node.list("split_sizes");
  int64_t axis = node.axis("dim", emit.type(x).getRank());
  bool isLiteral = llvm::all_of(sizes, [](const Argument &size) {
    return size.isInt() && size.asInt() > 0;
  });
  if (isLiteral) {
    Operation *split = emit.createOp<coreai::SplitOp>(
        {x, emit.sizes(sizes, IndexKind::Unsigned), emit.index(axis)});
    return Results(split->getResults());
  }
  Results parts;
  Value start = emit.indices({0});
  for (auto [i, size] : llvm::enumerate(sizes)) {
    Value end = emit.add(start, emit.size(size));
    parts.push_back(emit.slice(x, axis, start, end, 1, emit.typeOf(node, i)));
    start = end;
  }
  return parts;
}

/// The bounds of a slice along one axis, as the ops take them: negative ones
/// count from the end, and both are clamped.
static std::pair<Value, Value> sliceBounds(const AtenNode &node,
                                           Emitter &emit) {
  return {node.has("start") ? emit.size(node["start"]) : emit.indices({0}),
          node.has("end") ? emit.size(node["end"]) : emit.indices({INT32_MAX})};
}

static bool takesWholeAxis(const AtenNode &node, int64_t extent) {
  const Argument &start = node["start"], &end = node["end"];
  bool fromStart = start.isNone() || (start.isInt() && start.asInt() == 0);
  bool toEnd =
      end.isNone() || (end.isInt() && (end.asInt() >= INT32_MAX ||
                                       (extent >= 0 && end.asInt() >= extent)));
  return fromStart && toEnd && node["step"].isInt() &&
         node.integer("step") == 1;
}

/// slice(self, dim, start, end, step)
static FailureOr<Value> lowerSlice(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  RankedTensorType type = emit.typeOf(node);
  int64_t axis = node.axis("dim", type.getRank());
  if (takesWholeAxis(node, emit.type(x).getDimSize(axis)))
    return x;
  auto [start, end] = sliceBounds(node, emit);
  return emit.slice(x, axis, start, end, node.integer("step"), type);
}

/// slice_scatter(self, src, dim, start, end, step)
static FailureOr<Value> lowerSliceScatter(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  RankedTensorType type = emit.type(self);
  Value source = emit.cast(emit.tensor(node, "src"), type.getElementType());
  int64_t axis = node.axis("dim", type.getRank());
  if (llvm::is_contained(emit.type(source).getShape(), 0))
    return self;
  if (takesWholeAxis(node, type.getDimSize(axis)))
    return source;
  auto [start, end] = sliceBounds(node, emit);
  return updateSlice(emit, self, axis, start, end, node.integer("step"),
                     source);
}

/// select(self, dim, index)
///
/// A part of extent 1, whose axis then goes.
static Value lowerSelect(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  RankedTensorType type = emit.type(x);
  int64_t axis = node.axis("dim", type.getRank());
  SmallVector<int64_t> extents(type.getShape());
  extents[axis] = 1;
  auto [start, end] = boundsOfPlace(emit, x, axis, node["index"]);
  Value part = emit.slice(x, axis, start, end, 1, type.clone(extents));
  return emit.shrinkDims(part, {axis});
}

/// narrow_copy(self, dim, start, length)
static Value lowerNarrow(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t axis = node.axis("dim", emit.type(x).getRank());
  Value start = emit.size(node["start"]);
  if (node["start"].isInt() && node["start"].asInt() < 0)
    start = emit.add(start, emit.dim(x, axis));
  Value end = emit.add(start, emit.size(node["length"]));
  return emit.slice(x, axis, start, end, 1, emit.typeOf(node));
}

/// unbind_copy(self, dim): the slices along an axis, without it.
static FailureOr<Results> lowerUnbind(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t axis = node.axis("dim", emit.type(x).getRank());
  Results slices;
  for (int64_t i = 0, e = node.numResults(); i < e; ++i) {
    Value slice =
        sliceAxis(emit, x, axis, DimExpr(emit, i), DimExpr(emit, i + 1));
    slices.push_back(emit.shrinkDims(slice, {axis}));
  }
  return slices;
}

/// resize(self, size): the first elements in row-major order. What torch leaves
/// uninitialized in a larger tensor is refused.
static FailureOr<Value> lowerResize(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  RankedTensorType type = emit.typeOf(node);
  if (!type.hasStaticShape() || !emit.type(x).hasStaticShape() ||
      type.getNumElements() > emit.type(x).getNumElements())
    return emit.error(node) << "resize to a larger or symbolic size leaves "
                               "elements without a value";
  Value flat = emit.reshape(x, {-1});
  Value first = sliceAxis(emit, flat, 0, DimExpr(emit, 0),
                          DimExpr(emit, type.getNumElements()));
  return emit.reshape(first, type.getShape());
}

//===----------------------------------------------------------------------===//
// Repetition and order
//===----------------------------------------------------------------------===//

/// repeat(self, repeats): axes that self lacks come first.
/// tile(self, dims): counts that are missing for the first axes are 1.
static Value lowerRepeat(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  SmallVector<Argument> counts(
      node.list(node.op() == "tile.default" ? "dims" : "repeats"));
  RankedTensorType type = emit.typeOf(node);
  counts.insert(counts.begin(), type.getRank() - counts.size(),
                Argument::integer(1));
  int64_t added = type.getRank() - emit.type(x).getRank();
  x = emit.expandDims(x, llvm::to_vector(llvm::seq<int64_t>(0, added)));
  bool isOnce = llvm::all_of(counts, [](const Argument &count) {
    return count.isInt() && count.asInt() == 1;
  });
  if (isOnce)
    return x;
  if (llvm::all_of(counts, [](const Argument &count) { return count.isInt(); }))
    return emit.createTyped<coreai::TileOp>(
        type, {x, emit.sizes(counts, IndexKind::Unsigned)});
  SmallVector<Value> pieces;
  for (const Argument &count : counts)
    pieces.push_back(emit.sizes(count, IndexKind::Unsigned));
  return emit.createTyped<coreai::TileOp>(type, {x, emit.concat(pieces, 0)});
}

/// flip(self, dims)
static Value lowerFlip(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = emit.type(x).getRank();
  SmallVector<int64_t> axes = node.axes("dims", rank);
  if (axes.empty() || rank == 0)
    return x;
  return emit.create<coreai::ReverseOp>({x, emit.indices(axes)});
}

/// pixel_shuffle(self, upscale_factor): [..., C·r², H, W] to [..., C, H·r, W·r]
static FailureOr<Value> lowerPixelShuffle(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  int64_t factor = node.integer("upscale_factor");
  RankedTensorType type = emit.type(x);
  int64_t leading = type.getRank() - 3, channels = type.getDimSize(leading);
  if (ShapedType::isDynamic(channels))
    return emit.error(node)
           << "pixel_shuffle needs a number of channels that is known";
  RankedTensorType result = emit.typeOf(node);

  CompositeSpec spec = {.name = "pixel_shuffle",
                        .symbol = "pixel_shuffle",
                        .arguments = {"input"},
                        .attributes = {{"upscale_factor", factor}}};
  return emit.composite(spec, x, [&](ValueRange arguments) -> FailureOr<Value> {
    Value input = arguments.front();
    // The factors of the channel axis become axes of their own ...
    SmallVector<int64_t> split(type.getShape().take_front(leading));
    llvm::append_values(split, channels / (factor * factor), factor, factor,
                        type.getDimSize(leading + 1),
                        type.getDimSize(leading + 2));
    SmallVector<Value> splitSizes, mergedSizes;
    for (int64_t axis = 0; axis < leading; ++axis)
      splitSizes.push_back(emit.dim(input, axis));
    mergedSizes = splitSizes;
    Value height = emit.dim(input, leading + 1);
    Value width = emit.dim(input, leading + 2);
    llvm::append_values(
        splitSizes,
        emit.indices({channels / (factor * factor), factor, factor}), height,
        width);
    Value parts =
        emit.reshape(input, emit.joinSizes(splitSizes), type.clone(split));
    // ... that move next to height and width and merge with them.
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, leading));
    llvm::append_values(order, leading, leading + 3, leading + 1, leading + 4,
                        leading + 2);
    Value moved = emit.transpose(parts, order);
    auto scaled = [&](Value extent, int64_t axis) {
      return type.isDynamicDim(axis)
                 ? emit.mul(extent, emit.indices({factor}))
                 : emit.indices({type.getDimSize(axis) * factor});
    };
    llvm::append_values(
        mergedSizes, emit.indices({channels / (factor * factor)}),
        scaled(height, leading + 1), scaled(width, leading + 2));
    return emit.reshape(moved, emit.joinSizes(mergedSizes), result);
  });
}

//===----------------------------------------------------------------------===//
// Overlapping and strided views
//===----------------------------------------------------------------------===//

/// `axis` of `x` as two axes, the inner one of extent `inner`.
static Value splitAxis(Value x, int64_t axis, int64_t inner, Emitter &emit) {
  RankedTensorType type = emit.type(x);
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t extent = type.getDimSize(i);
    if (i != axis) {
      shape.push_back(extent);
      sizes.push_back(emit.dim(x, i));
      continue;
    }
    llvm::append_values(shape, type.isDynamicDim(i) ? extent : extent / inner,
                        inner);
    sizes.push_back(emit.indices({-1, inner}));
  }
  if (type.hasStaticShape())
    return emit.reshape(x, shape);
  return emit.reshape(x, emit.joinSizes(sizes), type.clone(shape));
}

/// unfold(self, dimension, size, step): windows of `size` elements, one every
/// `step`; the elements of a window become the last axis.
///
/// Windows that follow one another without a gap are a view; others are
/// gathered.
static FailureOr<Value> lowerUnfold(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  RankedTensorType result = emit.typeOf(node);
  if (emit.type(x).getRank() == 0)
    return emit.reshape(x, {1});
  int64_t rank = emit.type(x).getRank();
  int64_t axis = node.axis("dimension", rank);
  int64_t size = node.integer("size"), step = node.integer("step");
  int64_t extent = emit.type(x).getDimSize(axis);
  int64_t windows = result.getDimSize(axis);

  if (size == step && !ShapedType::isDynamic(extent)) {
    if (windows * size != extent) {
      SmallVector<int64_t> shape(emit.type(x).getShape());
      shape[axis] = windows * size;
      x = emit.slice(x, axis, emit.indices({0}), emit.indices({windows * size}),
                     1, emit.type(x).clone(shape));
    }
  } else {
    DimExpr count = (DimExpr(emit, x, axis) - size).floorDiv(step) + 1;
    Value starts = emit.mul(countUp(emit, count), emit.index(step));
    Value within = emit.indices(llvm::to_vector(llvm::seq<int64_t>(0, size)));
    Value index =
        emit.mergeAxes(emit.add(emit.expandDims(starts, {1}), within), 0, 2);
    x = emit.take(x, index, axis);
  }
  SmallVector<int64_t> order;
  for (int64_t i = 0; i <= rank; ++i)
    if (i != axis + 1)
      order.push_back(i);
  order.push_back(axis + 1);
  return emit.transpose(splitAxis(x, axis, size, emit), order);
}

/// as_strided(self, size, stride, storage_offset)
///
/// Element (i, j) is number offset + i·stride₀ + j·stride₁ of self, whose
/// elements lie in row-major order: the front door refuses other layouts.
static Value lowerAsStrided(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  Value flat = emit.type(self).getRank() == 1 ? self : emit.reshape(self, {-1});
  return emit.create<coreai::GatherNdOp>({flat, stridedPlaces(node, emit)});
}

//===----------------------------------------------------------------------===//
// Reinterpretation
//===----------------------------------------------------------------------===//

/// Each integer as `parts` narrower ones, lowest bits first.
static Value splitBits(Value x, IntegerType narrow, int64_t parts,
                       Emitter &emit) {
  RankedTensorType type = emit.type(x);
  SmallVector<Value> pieces;
  for (int64_t part = 0; part < parts; ++part) {
    // Dividing by a power of two, rounding down, shifts the bits.
    int64_t divisor = int64_t(1) << (narrow.getWidth() * part);
    Value shifted =
        part == 0
            ? x
            : emit.floorDivide(x, emit.scalar(divisor, type.getElementType()));
    pieces.push_back(
        emit.expandDims(emit.convert(shifted, narrow), {type.getRank()}));
  }
  return emit.mergeAxes(emit.concat(pieces, type.getRank()), type.getRank() - 1,
                        type.getRank() + 1);
}

/// Each group of `parts` integers as a wider one, lowest bits first.
static Value joinBits(Value x, IntegerType wide, int64_t parts, Emitter &emit) {
  int64_t axis = emit.type(x).getRank() - 1;
  unsigned width = emit.type(x).getElementTypeBitWidth();
  Type digit = emit.builder.getIntegerType(width, /*isSigned=*/false);
  Value groups =
      emit.cast(emit.convert(splitAxis(x, axis, parts, emit), digit), wide);
  if (emit.hasFailed())
    return groups;
  Value sum;
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<int64_t> shape(emit.type(groups).getShape());
    shape[axis + 1] = 1;
    Value piece =
        emit.slice(groups, axis + 1, emit.indices({part}),
                   emit.indices({part + 1}), 1, emit.type(groups).clone(shape));
    piece = emit.mul(emit.shrinkDims(piece, {axis + 1}),
                     emit.scalar(int64_t(1) << (width * part), wide));
    sum = sum ? emit.add(sum, piece) : piece;
  }
  return sum;
}

/// view(self, dtype): the same bits read as another type; the last extent
/// changes with the width.
///
/// Core AI has no such op. Between integers it is arithmetic, and complex
/// numbers are pairs; the bits of floats are out of reach.
static FailureOr<Value> lowerViewType(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  ScalarType from = node.info("self").dtype;
  ScalarType to = node.result().dtype;
  if (from == to)
    return x;
  Type source = emit.elementType(from), target = emit.elementType(to);
  int64_t rank = emit.type(x).getRank();
  if (from == ScalarType::Complex64 && to == ScalarType::Float32) {
    Value real = emit.create<coreai::RealPartOp>({x});
    Value imaginary = emit.create<coreai::ImaginaryPartOp>({x});
    Value pairs = emit.concat(
        {emit.expandDims(real, {rank}), emit.expandDims(imaginary, {rank})},
        rank);
    return emit.mergeAxes(pairs, rank - 1, rank + 1);
  }
  auto isPlain = [](ScalarType type) {
    return type == ScalarType::Bool || type == ScalarType::UInt8 ||
           type == ScalarType::Int8 || type == ScalarType::UInt16 ||
           type == ScalarType::Int16 || type == ScalarType::UInt32 ||
           type == ScalarType::Int32;
  };
  if (!isPlain(from) || !isPlain(to))
    return emit.error(node) << "reading the bits of " << scalarTypeName(from)
                            << " as " << scalarTypeName(to);
  // A boolean takes a byte.
  auto bits = [](Type type) {
    return type.isInteger(1) ? 8u : type.getIntOrFloatBitWidth();
  };
  if (bits(source) == bits(target))
    return emit.convert(x, target);
  if (bits(source) > bits(target))
    return splitBits(x, cast<IntegerType>(target), bits(source) / bits(target),
                     emit);
  if (source.isInteger(1))
    x = emit.cast(x, emit.builder.getIntegerType(8, /*isSigned=*/false));
  return joinBits(x, cast<IntegerType>(target), bits(target) / bits(source),
                  emit);
}

llvm::ArrayRef<TableEntry> corten::loweringsShape() {
#define IN_Shape ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
