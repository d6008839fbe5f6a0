// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images in another size, each element a weighted sum of all around its place.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Lowerings/Layers/ResizedAxis.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numbers>

using namespace corten;
using namespace mlir;

namespace {
/// A resampling kernel of half-width `support` at scale 1, of known distances
/// and of ones that a call computes, which are not negative.
struct Filter {
  double support;
  double (*weight)(double);
  Value (*emitWeight)(Emitter &, Value);
};
} // namespace

static double triangle(double x) { return std::max(1.0 - std::abs(x), 0.0); }

static Value emitTriangle(Emitter &emit, Value x) {
  return emit.maximum(emit.sub(numberLike(emit, 1, x), x),
                      numberLike(emit, 0, x));
}

/// Keys' cubic with a = -0.5.
static double cubic(double x) {
  x = std::abs(x);
  if (x < 1)
    return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
}

static Value emitCubic(Emitter &emit, Value x) {
  Value inner = polynomial(emit, x, {1, 0, -2.5, 1.5});
  Value outer = polynomial(emit, x, {2, -4, 2.5, -0.5});
  auto isBelow = [&](double limit) {
    return emit.greater(numberLike(emit, limit, x), x);
  };
  return emit.where(isBelow(1), inner,
                    emit.where(isBelow(2), outer, numberLike(emit, 0, x)));
}

static double lanczos(double x) {
  auto sinc = [](double t) {
    t *= std::numbers::pi;
    return t == 0 ? 1 : std::sin(t) / t;
  };
  return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static Value emitLanczos(Emitter &emit, Value x) {
  // So near to zero that f32 holds no other sinc than one.
  Value positive = emit.maximum(x, numberLike(emit, 1e-6, x));
  auto sinc = [&](double factor) {
    Value t = emit.scaleBy(positive, std::numbers::pi * factor);
    return emit.divide(emit.create<coreai::SinOp>({t}), t);
  };
  return emit.where(emit.greater(numberLike(emit, 3, x), x),
                    emit.mul(sinc(1), sinc(1.0 / 3)), numberLike(emit, 0, x));
}

/// The [out, in] matrix of a resize along one axis. When the image shrinks the
/// filter widens with it.
static std::vector<float> resizeMatrix(const ResizedAxis &axis, Filter filter,
                                       bool alignCorners) {
  double step = 1.0 / axis.ratio();
  if (alignCorners)
    step = axis.out > 1 ? double(axis.in - 1) / double(axis.out - 1) : 0;
  double stretch = std::max(step, 1.0);
  double support = filter.support * stretch;
  std::vector<float> matrix(axis.out * axis.in);
  for (int64_t i = 0; i < axis.out; ++i) {
    double centre = step * (i + 0.5);
    // Rounded as torch does it. NOLINTBEGIN(bugprone-incorrect-roundings)
    auto first =
        std::max(static_cast<int64_t>(centre - support + 0.5), int64_t(0));
    auto last = std::min(static_cast<int64_t>(centre + support + 0.5), axis.in);
    // NOLINTEND(bugprone-incorrect-roundings)
    double total = 0;
    for (int64_t j = first; j < last; ++j)
      total += filter.weight((j - centre + 0.5) / stretch);
    for (int64_t j = first; j < last; ++j)
      matrix[i * axis.in + j] = static_cast<float>(
          filter.weight((j - centre + 0.5) / stretch) / total);
  }
  return matrix;
}

/// A matrix that the converter computed, as a weight.
static FailureOr<Value> matrixConstant(std::vector<float> numbers, int64_t rows,
                                       int64_t columns, Emitter &emit) {
  struct Storage {
    std::vector<float> numbers;
    int64_t shape[2];
  };
  auto storage =
      std::make_shared<Storage>(Storage{std::move(numbers), {rows, columns}});
  TensorView view;
  view.dtype = ScalarType::Float32;
  view.shape = storage->shape;
  view.data = storage->numbers.data();
  view.bytes = storage->numbers.size() * sizeof(float);
  view.owner = storage;
  return emit.weight(view, "resize");
}

/// 0, 1, … as many as the extent that is `known`, or computed.
static Value places(int64_t known, Value extent, Emitter &emit) {
  Value indices =
      ShapedType::isDynamic(known)
          ? emit.create<coreai::RangeOp>(
                {emit.index(0), emit.reshape(extent, ArrayRef<int64_t>()),
                 emit.index(1)})
          : countUp(emit, DimExpr(emit, known));
  return emit.cast(indices, emit.f32());
}

/// The same matrix where only a call knows a size or the factor. Filters are
/// zero beyond their support, so that no window has to be cut out.
static Value computedMatrix(const ResizedAxis &axis, Value x, Filter filter,
                            bool alignCorners, Emitter &emit) {
  Value one = emit.floats({1}), half = emit.floats({0.5f});
  Value in = axis.inputExtent(), out = axis.outputExtentAsFloat();
  Value step;
  if (alignCorners) {
    Value span = emit.maximum(emit.sub(out, one), one);
    step = emit.where(emit.greater(out, one),
                      emit.divide(emit.sub(in, one), span), emit.floats({0}));
  } else {
    step = axis.factor ? emit.divide(one, axis.scale()) : emit.divide(in, out);
  }
  Value stretch = emit.maximum(step, one);
  Value rows = places(axis.out, axis.outputExtent(), emit);
  Value columns = places(axis.in, emit.dim(x, axis.axis), emit);
  Value centre = emit.mul(emit.add(emit.expandDims(rows, {1}), half), step);
  Value distance = absolute(
      emit, emit.sub(emit.add(emit.expandDims(columns, {0}), half), centre));
  Value weights = filter.emitWeight(emit, emit.divide(distance, stretch));
  Value total =
      emit.reduce<coreai::ReduceSumOp>(weights, {1}, /*keepDims=*/true);
  // A place so far outside that no element counts becomes zero.
  Value isNone = emit.equal(total, numberLike(emit, 0, total));
  return emit.divide(weights, emit.where(isNone, one, total));
}

/// Linear along each axis: two products with matrices that hold the filter. In
/// f32, since f16 products sum in f16.
FailureOr<Value> corten::resizeAntialiased(const AtenNode &node, Value x,
                                           Emitter &emit) {
  Filter filter = {1, triangle, emitTriangle};
  if (node.op().contains("bicubic"))
    filter = {2, cubic, emitCubic};
  else if (node.op().contains("lanczos"))
    filter = {3, lanczos, emitLanczos};
  bool alignCorners = node.flag("align_corners");
  SmallVector<Value, 2> matrices;
  for (const ResizedAxis &axis : resizedAxes(node, x, emit)) {
    if (!axis.isKnown()) {
      matrices.push_back(computedMatrix(axis, x, filter, alignCorners, emit));
      continue;
    }
    FailureOr<Value> matrix = matrixConstant(
        resizeMatrix(axis, filter, alignCorners), axis.out, axis.in, emit);
    if (failed(matrix))
      return failure();
    matrices.push_back(*matrix);
  }
  Value wide = emit.matmul(x, emit.transpose(matrices[1], {1, 0}));
  return emit.refine(emit.matmul(matrices[0], wide),
                     emit.typeOf(node).clone(emit.f32()));
}
