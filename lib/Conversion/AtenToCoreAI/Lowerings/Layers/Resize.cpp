// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images in another size, and images sampled at given places.

#include "Emission/DimExpr.h"
#include "Lowerings/Layers/ResizedAxis.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Regular grids
//===----------------------------------------------------------------------===//

namespace {
/// What interpolate takes per axis: element i comes from
/// (i + 0.5 - offset) / scale - 0.5.
struct Sampling {
  double scale = 1, offset = 0;
};
} // namespace

/// What is to be resized, which overloads call by two names.
static Value image(const AtenNode &node, Emitter &emit) {
  return emit.refined(node, node.has("input") ? "input" : "self");
}

/// interpolate over all axes; the leading two are left alone. `scales` and
/// `offsets` hold one tensor<1xf32> per spatial axis.
static Value interpolate(const AtenNode &node, Value x,
                         ArrayRef<ResizedAxis> axes, ArrayRef<Value> scales,
                         ArrayRef<Value> offsets,
                         coreai::InterpolationMode mode, Emitter &emit) {
  SmallVector<Value> shape;
  ArrayRef<int64_t> leading = emit.type(x).getShape().take_front(2);
  if (llvm::none_of(leading, ShapedType::isDynamic))
    shape = {emit.indices(leading)};
  else
    shape = {emit.dim(x, 0), emit.dim(x, 1)};
  for (const ResizedAxis &axis : axes)
    shape.push_back(axis.outputExtent());
  auto joined = [&](float leading, ArrayRef<Value> pieces) {
    SmallVector<float> numbers = {leading, leading};
    for (Value piece : pieces) {
      DenseFPElementsAttr constant;
      if (!matchPattern(piece, m_Constant(&constant))) {
        SmallVector<Value> all = {emit.floats({leading, leading})};
        llvm::append_range(all, pieces);
        return emit.concat(all, 0);
      }
      numbers.push_back(constant.getSplatValue<float>());
    }
    return emit.floats(numbers);
  };
  Value extents = emit.joinSizes(shape);
  Value scale = joined(1, scales), offset = joined(0, offsets);
  return emit.createTyped<coreai::InterpolateOp>(
      emit.typeOf(node).clone(emit.type(x).getElementType()),
      {x, extents, scale, offset},
      emit.attribute(
          "interpolation_mode",
          coreai::InterpolationModeAttr::get(emit.builder.getContext(), mode)));
}

/// upsample_bilinear2d(input, output_size, align_corners, scale_factors)
///
/// Half-pixel: scale = out/in, offset = 0. Aligned corners: scale =
/// (out - 1)/(in - 1), offset = (1 - scale)/2; a single element is the first
/// one. Bytes are rounded, as torch does.
static FailureOr<Value> lowerUpsampleBilinear(const AtenNode &node,
                                              Emitter &emit) {
  Value x = image(node, emit);
  if (emit.type(x).getRank() != 4)
    return emit.error(node) << "bilinear resize of a tensor of rank "
                            << emit.type(x).getRank() << ", want 4";
  Type element = emit.type(x).getElementType();
  bool isInteger = isa<IntegerType>(element);
  if (isInteger)
    x = emit.cast(x, emit.f32());
  SmallVector<ResizedAxis> axes = resizedAxes(node, x, emit);
  SmallVector<Value> scales, offsets;
  for (const ResizedAxis &axis : axes) {
    if (!node.flag("align_corners")) {
      scales.push_back(axis.scale());
      offsets.push_back(emit.floats({0}));
      continue;
    }
    if (axis.isKnown()) {
      double scale = axis.in > 1 && axis.out > 1
                         ? double(axis.out - 1) / double(axis.in - 1)
                         : 1.0;
      scales.push_back(emit.floats({static_cast<float>(scale)}));
      offsets.push_back(emit.floats({static_cast<float>(0.5 * (1 - scale))}));
      continue;
    }
    Value one = emit.floats({1});
    Value in = emit.sub(axis.inputExtent(), one);
    Value out = emit.sub(axis.outputExtentAsFloat(), one);
    Value zero = emit.floats({0});
    Value hasBoth =
        emit.logicalAnd(emit.greater(in, zero), emit.greater(out, zero));
    Value scale =
        emit.where(hasBoth, emit.divide(out, emit.maximum(in, one)), one);
    scales.push_back(scale);
    offsets.push_back(emit.scaleBy(emit.sub(one, scale), 0.5));
  }
  Value result = interpolate(node, x, axes, scales, offsets,
                             coreai::InterpolationMode::Linear, emit);
  if (isInteger)
    result = emit.create<coreai::RoundOp>({result});
  return emit.cast(result, element);
}

/// The element that torch takes for each place of a nearest resize, computed
/// in f32 as torch computes it.
static SmallVector<int64_t> nearestSources(const ResizedAxis &axis) {
  float step = axis.factor ? static_cast<float>(1.0 / axis.ratio())
                           : static_cast<float>(axis.in) / axis.out;
  SmallVector<int64_t> sources;
  for (int64_t i = 0; i < axis.out; ++i) {
    int64_t source = static_cast<int64_t>(std::floor(i * step));
    if (axis.out == axis.in)
      source = i;
    else if (axis.out == 2 * axis.in)
      source = i / 2;
    sources.push_back(std::min(source, axis.in - 1));
  }
  return sources;
}

/// Whether interpolate in nearest mode picks exactly `sources`, with enough
/// distance from the borders between elements that f32 cannot change it.
static bool picks(Sampling sampling, ArrayRef<int64_t> sources, int64_t in) {
  constexpr double kMargin = 1e-3;
  for (auto [i, source] : llvm::enumerate(sources)) {
    double place = (i + 0.5 - sampling.offset) / sampling.scale - 0.5;
    double clamped = std::clamp(place, 0.0, double(in - 1));
    if (std::abs(clamped - double(source)) > 0.5 - kMargin)
      return false;
  }
  return true;
}

/// upsample_nearest2d(input, output_size, scale_factors):
/// out[i] = in[floor(i · in/out)]
///
/// interpolate rounds to the nearest centre instead. Shifting by half an
/// element less half a step of the result turns the one into the other:
/// offset = 0.5 - 0.5/in. Whole factors need no shift. Where a factor that was
/// asked for makes f32 rounding matter, the elements are gathered.
static FailureOr<Value> lowerUpsampleNearest(const AtenNode &node,
                                             Emitter &emit) {
  Value x = image(node, emit);
  if (emit.type(x).getRank() != 4)
    return emit.error(node) << "nearest resize of a tensor of rank "
                            << emit.type(x).getRank() << ", want 4";
  SmallVector<ResizedAxis> axes = resizedAxes(node, x, emit);

  if (llvm::all_of(axes, [](const ResizedAxis &a) { return a.isKnown(); })) {
    SmallVector<Value> scales, offsets;
    for (const ResizedAxis &axis : axes) {
      SmallVector<int64_t> sources = nearestSources(axis);
      double ratio = double(axis.out) / double(axis.in);
      Sampling centred = {ratio, 0}, shifted = {ratio, 0.5 - 0.5 / axis.in};
      bool isCentred = picks(centred, sources, axis.in);
      if (!isCentred && !picks(shifted, sources, axis.in))
        break;
      Sampling sampling = isCentred ? centred : shifted;
      if (!isCentred)
        emit.depart(Departure::NearestResize);
      scales.push_back(emit.floats({static_cast<float>(sampling.scale)}));
      offsets.push_back(emit.floats({static_cast<float>(sampling.offset)}));
    }
    if (scales.size() == axes.size())
      return interpolate(node, x, axes, scales, offsets,
                         coreai::InterpolationMode::NearestNeighbor, emit);
    emit.depart(Departure::NearestResize);
    for (const ResizedAxis &axis : axes)
      x = emit.take(x, emit.indices(nearestSources(axis)), axis.axis);
    return x;
  }

  // Enough to lift a place off the border that f32 may put it on.
  constexpr double kLift = 1.0 / 4096;
  Value half = emit.floats({0.5f});
  SmallVector<Value> scales, offsets;
  for (const ResizedAxis &axis : axes) {
    std::optional<double> factor = axis.knownFactor();
    if (factor && *factor >= 1 && *factor == std::floor(*factor)) {
      scales.push_back(axis.factor->vector());
      offsets.push_back(emit.floats({0}));
      continue;
    }
    emit.depart(Departure::NearestResize);
    Value scale = axis.scale(/*alsoTwice=*/true);
    scales.push_back(scale);
    offsets.push_back(
        emit.sub(half, axis.factor ? emit.scaleBy(scale, kLift)
                                   : emit.divide(half, axis.inputExtent())));
  }
  return interpolate(node, x, axes, scales, offsets,
                     coreai::InterpolationMode::NearestNeighbor, emit);
}

/// _upsample_*2d_aa(self, output_size, align_corners, scales_h, scales_w), and
/// with (input, output_size, align_corners, scale_factors)
static FailureOr<Value> lowerUpsampleAntialiased(const AtenNode &node,
                                                 Emitter &emit) {
  Value x = image(node, emit);
  Type element = emit.type(x).getElementType();
  if (!isa<FloatType>(element))
    return emit.error(node) << "anti-aliased resize of " << element;
  FailureOr<Value> result =
      resizeAntialiased(node, emit.cast(x, emit.f32()), emit);
  if (failed(result))
    return failure();
  return emit.cast(*result, element);
}

//===----------------------------------------------------------------------===//
// Given places
//===----------------------------------------------------------------------===//

namespace {
enum class SampleMode { Linear, Nearest, Cubic };
enum class BorderMode { Zeros, Border, Reflection };

/// Sampling of `[N, C, spatial...]` at `[N, places...]`. Spatial axes count
/// from the last one, as the coordinates in a grid do.
class GridSampler {
public:
  GridSampler(Emitter &emit, Value input, BorderMode border, bool alignCorners)
      : emit(emit), border(border), alignCorners(alignCorners),
        rank(emit.type(input).getRank() - 2) {
    for (int64_t k = 0; k < rank; ++k) {
      Value extent = emit.dim(input, rank + 1 - k);
      sizes.push_back(
          emit.reshape(emit.cast(extent, emit.f32()), ArrayRef<int64_t>()));
    }
    // Elements of one place lie together: [N, places, C].
    Value merged = emit.mergeAxes(input, 2, rank + 2);
    table = emit.transpose(merged, {0, 2, 1});
  }

  /// From [-1, 1] to elements of axis k.
  Value unnormalize(Value x, int64_t k) {
    Value size = sizes[k];
    if (alignCorners)
      return emit.mul(emit.scaleBy(emit.add(x, number(1)), 0.5),
                      emit.sub(size, number(1)));
    return emit.scaleBy(
        emit.sub(emit.mul(emit.add(x, number(1)), size), number(1)), 0.5);
  }

  /// Brings places outside of axis k back inside; zeros stay outside.
  Value applyBorder(Value x, int64_t k) {
    if (border == BorderMode::Zeros)
      return x;
    if (border == BorderMode::Reflection)
      x = reflect(x, k);
    return emit.minimum(emit.maximum(x, number(0)),
                        emit.sub(sizes[k], number(1)));
  }

  /// The elements at whole places, `[N, P, C]`; zero outside.
  Value read(ArrayRef<Value> places) {
    Value flat, inside;
    for (int64_t k = rank; k-- > 0;) {
      Value last = emit.sub(sizes[k], number(1));
      Value clamped = emit.minimum(emit.maximum(places[k], number(0)), last);
      if (border == BorderMode::Zeros) {
        Value isSame = emit.equal(clamped, places[k]);
        inside = inside ? emit.logicalAnd(inside, isSame) : isSame;
      }
      Value index = emit.cast(clamped, emit.si32());
      flat = flat ? emit.add(emit.mul(flat, emit.cast(sizes[k], emit.si32())),
                             index)
                  : index;
    }
    // [N, P, 2]: which image, which element.
    RankedTensorType type = emit.type(flat);
    Value images = emit.broadcast(
        emit.expandDims(countUp(emit, DimExpr(emit, flat, 0)), {1}), type,
        [&](int64_t axis) { return emit.dim(flat, axis); });
    Value positions =
        emit.concat({emit.expandDims(emit.refine(images, type), {2}),
                     emit.expandDims(flat, {2})},
                    2);
    Value elements = emit.create<coreai::GatherNdOp>({table, positions});
    if (!inside)
      return elements;
    return emit.where(emit.expandDims(inside, {2}), elements, number(0));
  }

  Value floor(Value x) { return emit.floorDivide(x, number(1)); }
  Value number(double value) { return emit.scalar(value, emit.f32()); }
  int64_t spatialRank() const { return rank; }

private:
  /// Mirrors at the borders: at the centres of the outer elements with aligned
  /// corners, else at their edges.
  Value reflect(Value x, int64_t k) {
    Value low = number(alignCorners ? 0 : -0.5);
    Value span = alignCorners ? emit.sub(sizes[k], number(1)) : sizes[k];
    // One element has no span; everything is mirrored onto it.
    span = emit.maximum(span, number(std::numeric_limits<float>::min()));
    Value distance = emit.create<coreai::AbsOp>({emit.sub(x, low)});
    Value extra = emit.modulo(distance, span);
    Value flips = emit.floorDivide(distance, span);
    Value isOdd = emit.equal(emit.modulo(flips, number(2)), number(1));
    Value folded = emit.where(isOdd, emit.sub(span, extra), extra);
    return emit.add(folded, low);
  }

  Emitter &emit;
  BorderMode border;
  bool alignCorners;
  int64_t rank;
  SmallVector<Value> sizes;
  Value table;
};
} // namespace

/// Sum over the corners around each place, weighted by nearness.
static Value sampleLinear(GridSampler &sampler, ArrayRef<Value> coordinates,
                          Emitter &emit) {
  SmallVector<Value> low, high, nearLow, nearHigh;
  for (Value x : coordinates) {
    low.push_back(sampler.floor(x));
    high.push_back(emit.add(low.back(), sampler.number(1)));
    nearHigh.push_back(emit.sub(x, low.back()));
    nearLow.push_back(emit.sub(high.back(), x));
  }
  Value total;
  for (unsigned corner = 0; corner < 1u << coordinates.size(); ++corner) {
    SmallVector<Value> places;
    Value weight;
    for (size_t k = 0; k < coordinates.size(); ++k) {
      bool isHigh = corner >> k & 1;
      places.push_back(isHigh ? high[k] : low[k]);
      Value factor = isHigh ? nearHigh[k] : nearLow[k];
      weight = weight ? emit.mul(weight, factor) : factor;
    }
    Value part = emit.mul(sampler.read(places), emit.expandDims(weight, {2}));
    total = total ? emit.add(total, part) : part;
  }
  return total;
}

/// Keys' cubic with a = -0.75 for the four elements around a place that lies
/// `t` after the second of them.
static SmallVector<Value, 4> cubicWeights(Value t, Emitter &emit) {
  constexpr double a = -0.75;
  Value one = emit.scalar(1.0, emit.f32());
  auto horner = [&](Value x, ArrayRef<double> coefficients) {
    Value result = emit.scaleBy(x, coefficients.front());
    for (double coefficient : coefficients.drop_front().drop_back())
      result =
          emit.mul(emit.add(result, emit.scalar(coefficient, emit.f32())), x);
    return emit.add(result, emit.scalar(coefficients.back(), emit.f32()));
  };
  auto inner = [&](Value x) {
    return emit.add(emit.mul(emit.sub(emit.scaleBy(x, a + 2),
                                      emit.scalar(a + 3, emit.f32())),
                             emit.mul(x, x)),
                    one);
  };
  auto outer = [&](Value x) { return horner(x, {a, -5 * a, 8 * a, -4 * a}); };
  Value rest = emit.sub(one, t);
  return {outer(emit.add(t, one)), inner(t), inner(rest),
          outer(emit.add(rest, one))};
}

static Value sampleCubic(GridSampler &sampler, ArrayRef<Value> coordinates,
                         Emitter &emit) {
  Value column = sampler.floor(coordinates[0]);
  Value row = sampler.floor(coordinates[1]);
  SmallVector<Value, 4> across =
      cubicWeights(emit.sub(coordinates[0], column), emit);
  SmallVector<Value, 4> down =
      cubicWeights(emit.sub(coordinates[1], row), emit);
  auto place = [&](Value first, int offset, int64_t k) {
    return sampler.applyBorder(emit.add(first, sampler.number(offset - 1)), k);
  };
  Value total;
  for (int y = 0; y < 4; ++y) {
    Value line;
    for (int x = 0; x < 4; ++x) {
      Value part =
          emit.mul(sampler.read({place(column, x, 0), place(row, y, 1)}),
                   emit.expandDims(across[x], {2}));
      line = line ? emit.add(line, part) : part;
    }
    line = emit.mul(line, emit.expandDims(down[y], {2}));
    total = total ? emit.add(total, line) : line;
  }
  return total;
}

/// grid_sampler_2d/3d(input, grid, interpolation_mode, padding_mode,
/// align_corners): input [N, C, (D,) H, W] at grid [N, ..., (x, y(, z))], whose
/// numbers go from -1 to 1 over the image.
///
/// Computes in f32.
static FailureOr<Value> lowerGridSampler(const AtenNode &node, Emitter &emit) {
  Value input = emit.refined(node, "input");
  Type element = emit.type(input).getElementType();
  int64_t mode = node.integer("interpolation_mode");
  int64_t border = node.integer("padding_mode");
  if (mode < 0 || mode > 2 || border < 0 || border > 2 ||
      (mode == 2 && node.op() == "grid_sampler_3d.default"))
    return emit.error(node) << "grid sampling with interpolation mode " << mode
                            << " and padding mode " << border;
  auto sampleMode = static_cast<SampleMode>(mode);
  GridSampler sampler(emit, emit.cast(input, emit.f32()),
                      static_cast<BorderMode>(border),
                      node.flag("align_corners"));

  // [N, places, coordinates]
  Value grid = emit.cast(emit.refined(node, "grid"), emit.f32());
  int64_t gridRank = emit.type(grid).getRank();
  Value flat = emit.mergeAxes(grid, 1, gridRank - 1);
  SmallVector<Value> coordinates;
  for (int64_t k = 0; k < sampler.spatialRank(); ++k) {
    SmallVector<int64_t> extents(emit.type(flat).getShape());
    extents[2] = 1;
    Value column = emit.slice(flat, {0, 0, k}, {INT32_MAX, INT32_MAX, k + 1},
                              {1, 1, 1}, emit.type(flat).clone(extents));
    Value x = sampler.unnormalize(emit.shrinkDims(column, {2}), k);
    if (sampleMode != SampleMode::Cubic)
      x = sampler.applyBorder(x, k);
    if (sampleMode == SampleMode::Nearest)
      x = emit.create<coreai::RoundOp>({x});
    coordinates.push_back(x);
  }

  Value samples;
  switch (sampleMode) {
  case SampleMode::Linear:
    samples = sampleLinear(sampler, coordinates, emit);
    break;
  case SampleMode::Nearest:
    samples = sampler.read(coordinates);
    break;
  case SampleMode::Cubic:
    samples = sampleCubic(sampler, coordinates, emit);
    break;
  }
  // [N, P, C] to [N, C, places...]
  Value result = emit.cast(emit.transpose(samples, {0, 2, 1}), element);
  RankedTensorType type = emit.typeOf(node);
  if (type.hasStaticShape())
    return emit.reshape(result, type.getShape());
  SmallVector<Value> sizes = {emit.dim(input, 0), emit.dim(input, 1)};
  for (int64_t axis = 1; axis < gridRank - 1; ++axis)
    sizes.push_back(emit.dim(grid, axis));
  return emit.reshape(result, emit.joinSizes(sizes), type);
}

llvm::ArrayRef<TableEntry> corten::loweringsResize() {
#define IN_Resize ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
