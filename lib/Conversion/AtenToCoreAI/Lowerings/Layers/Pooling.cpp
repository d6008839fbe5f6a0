// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools over the last two or three axes. The dialect's pools want a batch and
// have no padding; inputs without a batch get one for the time being.

#include "Emission/Composite.h"
#include "Emission/DimExpr.h"
#include "Lowerings/Layers/WindowMaxima.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

static RankedTensorType withAxis(RankedTensorType type, int64_t axis,
                                 int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + axis, extent);
  return RankedTensorType::get(shape, type.getElementType());
}

//===----------------------------------------------------------------------===//
// Max pools
//===----------------------------------------------------------------------===//

/// max_pool2d_with_indices, max_pool3d_with_indices(self, kernel_size, stride,
/// padding, dilation, ceil_mode)
///
/// The padding never wins: it is -inf, or the smallest integer. What ceil mode
/// adds is padded too if the dialect's ceil mode would keep windows that start
/// in the padding behind the input. The second result holds positions
/// in the flattened spatial axes; it is made only where something uses it.
template <int64_t spatial, typename PoolOp>
static FailureOr<Results> lowerMaxPool(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  Type element = getElementTypeOrSelf(x);
  bool batched = emit.type(x).getRank() == spatial + 2;
  RankedTensorType type = emit.typeOf(node);
  if (!batched) {
    x = emit.expandDims(x, {0});
    type = withAxis(type, 0, 1);
  }
  SmallVector<Window> windows = withinInput(windowsOf(node, spatial), x);
  auto sizes = [&](int64_t Window::*member) {
    return emit.indices(eachOf(windows, member), IndexKind::Unsigned);
  };
  bool isCeil = llvm::all_of(llvm::enumerate(windows), [&](auto window) {
    return window.value().isPlainCeil(DimExpr(emit, x, 2 + window.index()));
  });
  SmallVector<Window> padded = windows;
  for (Window &window : padded) {
    window.ceilMode &= !isCeil;
    if (window.ceilMode)
      emit.depart(Departure::PoolWindows);
  }
  Value pooled = emit.createTyped<PoolOp>(
      type, {padWindows(emit, x, padded, lowest(emit, element)),
             sizes(&Window::kernel), sizes(&Window::stride),
             sizes(&Window::dilation), emit.scalar(isCeil)});
  Value positions;
  if (emit.isUsed(node, 1)) {
    emit.depart(Departure::PoolPositions);
    positions = windowPositions(emit, x, windows);
  }
  if (!batched) {
    pooled = emit.shrinkDims(pooled, {0});
    if (positions)
      positions = emit.shrinkDims(positions, {0});
  }
  return Results{pooled, positions};
}

static FailureOr<Results> lowerMaxPool2d(const AtenNode &node, Emitter &emit) {
  return lowerMaxPool<2, coreai::MaxPool2dOp>(node, emit);
}
static FailureOr<Results> lowerMaxPool3d(const AtenNode &node, Emitter &emit) {
  return lowerMaxPool<3, coreai::MaxPool3dOp>(node, emit);
}

//===----------------------------------------------------------------------===//
// Average pools
//===----------------------------------------------------------------------===//

/// Elements that count in each window along one axis, as a vector of type
/// `element`: those inside the input, with the padding if it is to count, but
/// never what ceil mode adds.
static Value windowCounts(Emitter &emit, const Window &window,
                          const DimExpr &extent, bool includePadding,
                          Type element) {
  int64_t margin = includePadding ? window.padding : 0;
  DimExpr count = window.count(extent);
  if (extent.isStatic()) {
    SmallVector<float> counts;
    for (int64_t i = 0; i < count.extent(); ++i) {
      int64_t start = i * window.stride - window.padding;
      counts.push_back(
          std::min(start + window.kernel, extent.extent() + margin) -
          std::max(start, -margin));
    }
    return emit.cast(emit.floats(counts), element);
  }
  Value start =
      emit.sub(emit.mul(countUp(emit, count), emit.index(window.stride)),
               emit.index(window.padding));
  Value end = emit.minimum(emit.add(start, emit.index(window.kernel)),
                           (extent + margin).vector());
  return emit.cast(emit.sub(end, emit.maximum(start, emit.index(-margin))),
                   element);
}

/// Every window has the same number of elements that count.
static bool isUniform(const AtenNode &node, ArrayRef<Window> windows) {
  return llvm::all_of(windows, [&](const Window &window) {
    return !window.ceilMode &&
           (node.flag("count_include_pad") || window.padding == 0);
  });
}

/// What the sums over windows are divided by.
static Value divisor(const AtenNode &node, Emitter &emit, Value x,
                     ArrayRef<Window> windows, Type element) {
  if (node.has("divisor_override"))
    return emit.scalar(node.integer("divisor_override"), element);
  bool includePadding = node.flag("count_include_pad");
  if (isUniform(node, windows)) {
    int64_t volume = 1;
    for (const Window &window : windows)
      volume *= window.kernel;
    return emit.scalar(volume, element);
  }
  Value result;
  for (auto [i, window] : llvm::enumerate(windows)) {
    Value counts = windowCounts(emit, window, DimExpr(emit, x, 2 + i),
                                includePadding, element);
    counts = column(emit, counts, windows.size() - 1 - i);
    result = result ? emit.mul(result, counts) : counts;
  }
  return result;
}

/// Zeros around the spatial axes of `x`, as many as the vector `padding` says.
static Value padFromArgument(Emitter &emit, Value x, Value padding,
                             int64_t spatial) {
  padding = emit.cast(padding, emit.ui32());
  SmallVector<Value> amounts;
  for (int64_t i = 0; i < spatial; ++i)
    amounts.append(2, emit.slice(padding, {i}, {i + 1}, {1}));
  amounts.insert(amounts.begin(),
                 emit.indices({0, 0, 0, 0}, IndexKind::Unsigned));
  Value joined = emit.concat(amounts, 0);
  Value zero = emit.scalar(0.0, getElementTypeOrSelf(x));
  SmallVector<int64_t> shape(emit.type(x).getShape().take_front(2));
  shape.append(spatial, ShapedType::kDynamic);
  return emit.pad(x, joined, zero, emit.type(x).clone(shape));
}

/// avg_pool2d, avg_pool3d(self, kernel_size, stride, padding, ceil_mode,
///                        count_include_pad, divisor_override)
///
/// Composite avg_pool_2d or avg_pool_3d. The window sums of the zero-padded
/// input over the number of elements that count. 16-bit floats are summed in
/// f32, where a sum cannot overflow. Where windows differ in what counts, the
/// sizes in the body are those of the call, not its arguments.
template <int64_t spatial, typename PoolOp>
static FailureOr<Value> lowerAvgPool(const AtenNode &node, Emitter &emit,
                                     const CompositeSpec &spec) {
  Value x = emit.tensor(node, "self");
  Type element = getElementTypeOrSelf(x);
  bool batched = emit.type(x).getRank() == spatial + 2;
  RankedTensorType type = emit.typeOf(node);
  if (!batched) {
    x = emit.expandDims(x, {0});
    type = withAxis(type, 0, 1);
  }
  SmallVector<Window> windows = windowsOf(node, spatial);
  int64_t override =
      node.has("divisor_override") ? node.integer("divisor_override") : 0;
  Value operands[] = {x,
                      emit.indices(eachOf(windows, &Window::kernel)),
                      emit.indices(eachOf(windows, &Window::stride)),
                      emit.indices(eachOf(windows, &Window::padding)),
                      emit.scalar(node.flag("ceil_mode")),
                      emit.scalar(node.flag("count_include_pad")),
                      emit.index(override)};
  windows = withinInput(std::move(windows), x);
  auto body = [&](ValueRange arguments) -> FailureOr<Value> {
    Type wide = emit.accumulationType(element);
    if (wide != element)
      emit.depart(Departure::PoolSums);
    Value input = emit.cast(arguments[0], wide);
    if (isUniform(node, windows)) {
      Value padded = padFromArgument(emit, input, arguments[3], spatial);
      Value kernel = emit.cast(arguments[1], emit.ui32());
      Value stride = emit.cast(arguments[2], emit.ui32());
      Value count = divisor(node, emit, input, windows, wide);
      Value dilation =
          emit.indices(SmallVector<int64_t>(spatial, 1), IndexKind::Unsigned);
      Value sums = emit.createTyped<PoolOp>(type.clone(wide),
                                            {padded, kernel, stride, dilation});
      return emit.cast(emit.divide(sums, count), element);
    }
    emit.depart(Departure::PoolWindows);
    auto sizes = [&](int64_t Window::*member) {
      return emit.indices(eachOf(windows, member), IndexKind::Unsigned);
    };
    Value sums = emit.createTyped<PoolOp>(
        type.clone(wide),
        {padWindows(emit, input, windows, emit.scalar(0.0, wide)),
         sizes(&Window::kernel), sizes(&Window::stride),
         sizes(&Window::dilation)});
    return emit.cast(
        emit.divide(sums, divisor(node, emit, input, windows, wide)), element);
  };
  FailureOr<Value> pooled = emit.composite(spec, operands, body);
  if (failed(pooled) || batched)
    return pooled;
  return emit.shrinkDims(*pooled, {0});
}

static CompositeSpec avgPoolSpec(StringRef name, StringRef symbol) {
  return {name,
          symbol,
          {"input_tensor", "kernel_size", "stride", "padding", "ceil_mode",
           "count_include_pad", "divisor_override"},
          {},
          {"input", "kernel_size", "stride", "padding", "ceil_mode",
           "count_include_pad", "divisor_override"}};
}

static FailureOr<Value> lowerAvgPool2d(const AtenNode &node, Emitter &emit) {
  return lowerAvgPool<2, coreai::SumPool2dOp>(
      node, emit, avgPoolSpec("avg_pool_2d", "avg_pool2d_composite"));
}
static FailureOr<Value> lowerAvgPool3d(const AtenNode &node, Emitter &emit) {
  return lowerAvgPool<3, coreai::SumPool3dOp>(
      node, emit, avgPoolSpec("avg_pool_3d", "avg_pool3d_composite"));
}

//===----------------------------------------------------------------------===//
// Adaptive pools
//===----------------------------------------------------------------------===//

namespace {
/// The windows that divide an extent into `count` parts of about equal size.
/// Part i reaches from floor(i n / count) to ceil((i + 1) n / count), so parts
/// overlap where the division leaves a remainder, also for more parts than
/// elements.
struct Parts {
  DimExpr extent;
  int64_t count;

  DimExpr start(int64_t i) const { return (extent * i).floorDiv(count); }
  DimExpr end(int64_t i) const { return (extent * (i + 1)).ceilDiv(count); }
};
} // namespace

/// The number of parts per spatial axis, or nothing for an axis that stays as
/// it is. A symbolic number other than the input's own cannot be lowered: the
/// program would have a length that depends on it.
static FailureOr<SmallVector<std::optional<int64_t>>>
partsPerAxis(const AtenNode &node, Emitter &emit, int64_t spatial) {
  ArrayRef<Size> input = node.info("self").sizes;
  ArrayRef<Size> output = node.result().sizes;
  SmallVector<std::optional<int64_t>> parts;
  for (auto [in, out] :
       llvm::zip_equal(input.take_back(spatial), output.take_back(spatial))) {
    if (in == out)
      parts.push_back(std::nullopt);
    else if (out.isDynamic())
      return emit.error(node) << "the output size of adaptive pooling is "
                              << "neither a constant nor that of the input";
    else
      parts.push_back(out.get());
  }
  return parts;
}

/// _adaptive_avg_pool2d, _adaptive_avg_pool3d(self, output_size)
///
/// One sum pool where all extents are static multiples; otherwise the means of
/// the parts, one axis after the other: the parts form boxes, and the mean over
/// a box is the mean of its rows' means.
template <int64_t spatial, typename PoolOp>
static FailureOr<Value> lowerAdaptiveAvgPool(const AtenNode &node,
                                             Emitter &emit) {
  FailureOr<SmallVector<std::optional<int64_t>>> counts =
      partsPerAxis(node, emit, spatial);
  if (failed(counts))
    return failure();
  Value x = emit.tensor(node, "self");
  Type element = getElementTypeOrSelf(x);
  int64_t first = emit.type(x).getRank() - spatial;
  Value sums = emit.cast(x, emit.accumulationType(element));
  Type wide = getElementTypeOrSelf(sums);
  if (wide != element)
    emit.depart(Departure::PoolSums);

  SmallVector<int64_t> kernel;
  int64_t volume = 1;
  for (auto [i, count] : llvm::enumerate(*counts)) {
    DimExpr extent(emit, x, first + i);
    if (count && (!extent.isStatic() || extent.extent() % *count != 0))
      break;
    kernel.push_back(count ? extent.extent() / *count : 1);
    volume *= kernel.back();
  }
  if (static_cast<int64_t>(kernel.size()) == spatial && first == 2) {
    if (volume == 1)
      return x;
    Value dilation =
        emit.indices(SmallVector<int64_t>(spatial, 1), IndexKind::Unsigned);
    Value size = emit.indices(kernel, IndexKind::Unsigned);
    sums = emit.create<PoolOp>({sums, size, size, dilation});
    return emit.cast(emit.divide(sums, emit.scalar(volume, wide)), element);
  }

  for (auto [i, count] : llvm::enumerate(*counts)) {
    if (!count)
      continue;
    int64_t axis = first + i;
    Parts parts{DimExpr(emit, sums, axis), *count};
    SmallVector<Value> means;
    for (int64_t part = 0; part < *count; ++part)
      means.push_back(emit.reduce<coreai::ReduceMeanOp>(
          sliceAxis(emit, sums, axis, parts.start(part), parts.end(part)),
          {axis}, /*keepDims=*/true));
    sums = *count == 1 ? means.front() : emit.concat(means, axis);
  }
  return emit.cast(sums, element);
}

static FailureOr<Value> lowerAdaptiveAvgPool2d(const AtenNode &node,
                                               Emitter &emit) {
  return lowerAdaptiveAvgPool<2, coreai::SumPool2dOp>(node, emit);
}
static FailureOr<Value> lowerAdaptiveAvgPool3d(const AtenNode &node,
                                               Emitter &emit) {
  return lowerAdaptiveAvgPool<3, coreai::SumPool3dOp>(node, emit);
}

/// adaptive_max_pool2d, adaptive_max_pool3d(self, output_size)
///
/// The maxima of the parts, one axis after the other, and on demand their
/// positions in the flattened spatial axes.
template <int64_t spatial>
static FailureOr<Results> lowerAdaptiveMaxPool(const AtenNode &node,
                                               Emitter &emit) {
  FailureOr<SmallVector<std::optional<int64_t>>> counts =
      partsPerAxis(node, emit, spatial);
  if (failed(counts))
    return failure();
  Value x = emit.tensor(node, "self");
  bool wantsPositions = emit.isUsed(node, 1);
  ArgmaxSearch search(emit, x);
  for (int64_t i = spatial; i-- > 0;) {
    int64_t axis = emit.type(x).getRank() - spatial + i;
    Value values = search.current();
    DimExpr extent(emit, values, axis);
    std::optional<int64_t> count = (*counts)[i];
    if (!count) {
      if (wantsPositions)
        search.skip(axis);
      continue;
    }
    Parts parts{extent, *count};
    SmallVector<Value> maxima, positions;
    for (int64_t part = 0; part < *count; ++part) {
      Value slice =
          sliceAxis(emit, values, axis, parts.start(part), parts.end(part));
      maxima.push_back(emit.reduce<coreai::ReduceMaxOp>(slice, {axis}, true));
      if (wantsPositions)
        positions.push_back(
            emit.add(winner(emit, slice, axis), parts.start(part).scalar()));
    }
    search.advance(axis, emit.concat(maxima, axis),
                   wantsPositions ? emit.concat(positions, axis) : Value());
  }
  if (!wantsPositions)
    return Results{search.current(), Value()};
  Value flat = search.flat(x);
  // Where every axis stays as it is, the leading ones are still missing.
  flat = emit.broadcastTo(
      flat, emit.shape(search.current(), IndexKind::Unsigned),
      emit.type(search.current()).clone(getElementTypeOrSelf(flat)));
  return Results{search.current(), flat};
}

static FailureOr<Results> lowerAdaptiveMaxPool2d(const AtenNode &node,
                                                 Emitter &emit) {
  return lowerAdaptiveMaxPool<2>(node, emit);
}
static FailureOr<Results> lowerAdaptiveMaxPool3d(const AtenNode &node,
                                                 Emitter &emit) {
  return lowerAdaptiveMaxPool<3>(node, emit);
}

llvm::ArrayRef<TableEntry> corten::loweringsPooling() {
#define IN_Pooling ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
