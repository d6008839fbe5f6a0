// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fourier transforms as products with tables of roots of unity. A transform of
// length n = a b is a of length b and b of length a with a multiplication in
// between, so tables stay small; only a large prime factor costs its square.

#include "Emission/DerivedOps.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cmath>
#include <numbers>

using namespace corten;
using namespace mlir;

namespace {
/// Complex numbers in two tensors; a null imaginary part is zero.
struct Parts {
  Value real, imaginary;
};

/// The sign in e^(±2πi jk / n).
enum class Direction { Forward = -1, Backward = 1 };

/// Cosines and sines of 2πjk / n.
struct Roots {
  Value cosines, sines;
};
} // namespace

static constexpr int64_t kDynamic = ShapedType::kDynamic;
static constexpr double kTurn = 2 * std::numbers::pi;

/// Tables of this many rows and columns are constants; larger ones are computed
/// when the program runs.
static constexpr int64_t kLongestTable = 64;

static int64_t extentOf(Value x, int64_t axis) {
  return cast<RankedTensorType>(x.getType()).getDimSize(axis);
}

static Parts mapParts(Parts x, llvm::function_ref<Value(Value)> function) {
  return {function(x.real), x.imaginary ? function(x.imaginary) : Value()};
}

static Parts swapLastAxes(Emitter &emit, Parts x) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x.real)));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return mapParts(x, [&](Value part) { return emit.transpose(part, order); });
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Rows j, columns k, entries cos and sin of 2πjk / n.
static Roots constantRoots(Emitter &emit, int64_t rows, int64_t columns,
                           int64_t n) {
  SmallVector<float> cosines, sines;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      double angle = kTurn * static_cast<double>(row * column % n) /
                     static_cast<double>(n);
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  auto type = RankedTensorType::get({rows, columns}, emit.f32());
  return {emit.constant(DenseFPElementsAttr::get(type, cosines)),
          emit.constant(DenseFPElementsAttr::get(type, sines))};
}

/// The same for counts that are rank-0 values. The product of row and column is
/// taken modulo n in integers: the angle of a large one has no digits left.
static Roots computedRoots(Emitter &emit, Value rows, Value columns, Value n) {
  auto countTo = [&](Value count) {
    return emit.create<coreai::RangeOp>({emit.index(0), count, emit.index(1)});
  };
  Value product = emit.mul(emit.expandDims(countTo(rows), {1}),
                           emit.expandDims(countTo(columns), {0}));
  Value steps = emit.cast(emit.modulo(product, n), emit.f32());
  Value angle = emit.mul(steps, emit.divide(emit.scalar(kTurn, emit.f32()),
                                            emit.cast(n, emit.f32())));
  return {emit.create<coreai::CosOp>({angle}),
          emit.create<coreai::SinOp>({angle})};
}

/// The extent of an axis as rank-0 si32.
static Value lengthOf(Emitter &emit, Value x, int64_t axis) {
  return ShapedType::isDynamic(extentOf(x, axis))
             ? emit.reshape(emit.dim(x, axis), ArrayRef<int64_t>())
             : emit.index(extentOf(x, axis));
}

//===----------------------------------------------------------------------===//
// Transforms of the last axis
//===----------------------------------------------------------------------===//

/// (re + i im)(cos ± i sin) summed by `times`, a product in which the right
/// operand is a table.
static Parts rotate(Emitter &emit, Parts x, const Roots &roots,
                    Direction direction,
                    Value (Emitter::*times)(Value, Value)) {
  double sign = static_cast<int>(direction);
  Value sines = emit.scaleBy(roots.sines, sign);
  Value real = (emit.*times)(x.real, roots.cosines);
  Value imaginary = (emit.*times)(x.real, sines);
  if (!x.imaginary)
    return {real, imaginary};
  return {emit.sub(real, (emit.*times)(x.imaginary, sines)),
          emit.add(imaginary, (emit.*times)(x.imaginary, roots.cosines))};
}

/// The factor of n nearest to its square root, from below; 1 for a prime.
static int64_t middleFactor(int64_t n) {
  auto factor = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (factor > 1 && n % factor != 0)
    --factor;
  return factor;
}

/// All frequencies of the last axis.
static Parts transformLast(Emitter &emit, Parts x, Direction direction) {
  int64_t last = rankOf(x.real) - 1;
  int64_t n = extentOf(x.real, last);
  // A length that is not known is kDynamic, which is negative.
  int64_t a = n <= kLongestTable ? 1 : middleFactor(n);
  if (a == 1) {
    Value length = lengthOf(emit, x.real, last);
    Roots roots = n != kDynamic && n <= kLongestTable
                      ? constantRoots(emit, n, n, n)
                      : computedRoots(emit, length, length, length);
    return rotate(emit, x, roots, direction, &Emitter::matmul);
  }

  // Times are j = j1 b + j2, frequencies k = k1 + a k2.
  int64_t b = n / a;
  auto shaped = [&](Parts parts, ArrayRef<int64_t> tail) {
    return mapParts(parts, [&](Value part) {
      auto type = cast<RankedTensorType>(x.real.getType());
      SmallVector<int64_t> shape(type.getShape().drop_back());
      SmallVector<Value> pieces;
      for (int64_t axis = 0; axis < last; ++axis)
        pieces.push_back(emit.dim(x.real, axis));
      pieces.push_back(emit.indices(tail));
      llvm::append_range(shape, tail);
      return emit.reshape(part, emit.joinSizes(pieces), type.clone(shape));
    });
  };
  Parts columns = swapLastAxes(emit, shaped(x, {a, b}));
  columns = transformLast(emit, columns, direction);
  Roots twiddles =
      b <= kLongestTable
          ? constantRoots(emit, b, a, n)
          : computedRoots(emit, emit.index(b), emit.index(a), emit.index(n));
  columns = rotate(emit, columns, twiddles, direction, &Emitter::mul);
  Parts rows = transformLast(emit, swapLastAxes(emit, columns), direction);
  return shaped(swapLastAxes(emit, rows), {n});
}

/// The first `count` places of the last axis.
static Value firstPlaces(Emitter &emit, Value x, Value count,
                         RankedTensorType type) {
  return emit.slice(x, rankOf(x) - 1, emit.indices({0}), count, 1, type);
}

//===----------------------------------------------------------------------===//
// Any axes
//===----------------------------------------------------------------------===//

/// `axis` as the last one, `transform`, and back.
static Parts alongAxis(Emitter &emit, Parts x, int64_t axis,
                       llvm::function_ref<Parts(Parts)> transform) {
  int64_t rank = rankOf(x.real);
  if (rank == 1) {
    // A product wants a matrix.
    Parts row = transform(
        mapParts(x, [&](Value part) { return emit.expandDims(part, {0}); }));
    return mapParts(row,
                    [&](Value part) { return emit.shrinkDims(part, {0}); });
  }
  if (axis == rank - 1)
    return transform(x);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[axis], order[rank - 1]);
  auto swapped = [&](Parts parts) {
    return mapParts(parts,
                    [&](Value part) { return emit.transpose(part, order); });
  };
  return swapped(transform(swapped(x)));
}

static Parts transformAxes(Emitter &emit, Parts x, ArrayRef<int64_t> axes,
                           Direction direction) {
  for (int64_t axis : axes)
    x = alongAxis(emit, x, axis, [&](Parts parts) {
      return transformLast(emit, parts, direction);
    });
  return x;
}

/// The factor that `normalization` asks for: 1, 1/√n or 1/n of a signal of n
/// elements, whose extents along the axes are `lengths`, rank-0 si32.
static Value normalized(const AtenNode &node, Emitter &emit, Value x,
                        ArrayRef<Value> lengths) {
  int64_t normalization = node.integer("normalization");
  if (normalization == 0)
    return x;
  Value count = emit.scalar(1.0, emit.f32());
  for (Value length : lengths)
    count = emit.mul(count, emit.cast(length, emit.f32()));
  if (normalization == 1)
    count = emit.create<coreai::SqrtOp>({count});
  return emit.divide(x, count);
}

static SmallVector<Value> lengthsOf(Emitter &emit, Value x,
                                    ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(
      axes, [&](int64_t axis) { return lengthOf(emit, x, axis); });
}

static Parts partsOf(Emitter &emit, Value x) {
  return {realPart(emit, x), imaginaryPart(emit, x)};
}

static Value complexOf(const AtenNode &node, Emitter &emit, Parts x,
                       ArrayRef<Value> lengths) {
  return emit.create<coreai::CreateComplexOp>(
      {normalized(node, emit, x.real, lengths),
       normalized(node, emit, x.imaginary, lengths)});
}

/// _fft_c2c(self, dim, normalization, forward)
static Value lowerComplexTransform(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  SmallVector<int64_t> axes = node.axes("dim", rankOf(x));
  if (axes.empty())
    return x;
  SmallVector<Value> lengths = lengthsOf(emit, x, axes);
  Direction direction =
      node.flag("forward") ? Direction::Forward : Direction::Backward;
  return complexOf(node, emit,
                   transformAxes(emit, partsOf(emit, x), axes, direction),
                   lengths);
}

/// _fft_r2c(self, dim, normalization, onesided)
///
/// One-sided: of the last of the axes only the first n/2 + 1 frequencies, the
/// others are their conjugates.
static FailureOr<Value> lowerRealTransform(const AtenNode &node,
                                           Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (!getElementTypeOrSelf(x).isF32())
    return emit.error(node) << "a Fourier transform of "
                            << getElementTypeOrSelf(x) << ", want float32";
  SmallVector<int64_t> axes = node.axes("dim", rankOf(x));
  if (axes.empty())
    return emit.error(node) << "a transform along no axis";
  SmallVector<Value> lengths = lengthsOf(emit, x, axes);
  int64_t halved = axes.back();
  RankedTensorType type = emit.typeOf(node);
  Parts result = alongAxis(emit, {x, {}}, halved, [&](Parts parts) -> Parts {
    Parts full = transformLast(emit, parts, Direction::Forward);
    if (!node.flag("onesided"))
      return full;
    auto partType = cast<RankedTensorType>(full.real.getType());
    SmallVector<int64_t> shape(partType.getShape());
    shape.back() = type.getDimSize(halved);
    Value count = emit.add(
        emit.floorDivide(emit.reshape(lengths.back(), {1}), emit.indices({2})),
        emit.indices({1}));
    if (!ShapedType::isDynamic(shape.back()))
      count = emit.indices({shape.back()});
    return mapParts(full, [&](Value part) {
      return firstPlaces(emit, part, count, partType.clone(shape));
    });
  });
  axes.pop_back();
  result = transformAxes(emit, result, axes, Direction::Forward);
  return complexOf(node, emit, result, lengths);
}

/// _fft_c2r(self, dim, normalization, last_dim_size)
///
/// The last of the axes holds the first n/2 + 1 of n frequencies whose signal
/// is real: the rest are their conjugates, in reverse.
static FailureOr<Value> lowerInverseRealTransform(const AtenNode &node,
                                                  Emitter &emit) {
  Value x = emit.tensor(node, "self");
  SmallVector<int64_t> axes = node.axes("dim", rankOf(x));
  if (axes.empty())
    return emit.error(node) << "a transform along no axis";
  int64_t halved = axes.pop_back_val();
  if (node["last_dim_size"].isValue() ||
      ShapedType::isDynamic(extentOf(x, halved)))
    return emit.error(node)
           << "an inverse Fourier transform to a symbolic length";
  int64_t n = node.integer("last_dim_size");
  if (extentOf(x, halved) != n / 2 + 1)
    return emit.error(node)
           << extentOf(x, halved) << " frequencies for " << n << " places";
  SmallVector<Value> lengths = lengthsOf(emit, x, axes);
  lengths.push_back(emit.index(n));
  Parts spectrum =
      transformAxes(emit, partsOf(emit, x), axes, Direction::Backward);
  Parts signal = alongAxis(emit, spectrum, halved, [&](Parts parts) -> Parts {
    // Frequencies n/2 … 1 without the middle one of an even n.
    int64_t rank = rankOf(parts.real);
    SmallVector<int64_t> start(rank, 0), end(rank, INT32_MAX), stride(rank, 1);
    start.back() = 1;
    end.back() = n - n / 2;
    auto mirrored = [&](Value part) {
      auto type = cast<RankedTensorType>(part.getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.back() = end.back() - 1;
      Value slice = emit.slice(part, start, end, stride, type.clone(shape));
      return emit.create<coreai::ReverseOp>({slice, emit.indices({rank - 1})});
    };
    Parts full = parts;
    if (n > 2) {
      full.real = emit.concat({parts.real, mirrored(parts.real)}, rank - 1);
      full.imaginary = emit.concat(
          {parts.imaginary, emit.negate(mirrored(parts.imaginary))}, rank - 1);
    }
    // The first frequency, and the middle one of an even n, count as real.
    SmallVector<float> keeps(n, 1.0F);
    keeps[0] = 0;
    if (n % 2 == 0)
      keeps[n / 2] = 0;
    full.imaginary = emit.mul(full.imaginary, emit.floats(keeps));
    return {transformLast(emit, full, Direction::Backward).real, {}};
  });
  return normalized(node, emit, signal.real, lengths);
}

llvm::ArrayRef<TableEntry> corten::loweringsFourier() {
#define IN_Fourier ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
