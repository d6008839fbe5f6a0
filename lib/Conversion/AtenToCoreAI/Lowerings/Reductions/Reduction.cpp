// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and scans. The dialect's reductions keep the reduced axes as 1 and
// must not be given an empty list of axes; a 0-d tensor has nothing to reduce
// and passes through.

#include "Emission/Composite.h"
#include "Emission/DerivedOps.h"
#include "Emission/ScalarExpr.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace corten;
using namespace mlir;

/// The axes of parameter `dim`, which is an int, a list, or absent for all.
static SmallVector<int64_t> reducedAxes(const AtenNode &node, Value x) {
  return node.axesOrAll("dim", rankOf(x));
}

static bool keepsDims(const AtenNode &node) {
  return node.has("keepdim") && node.flag("keepdim");
}

/// The operand in the type of the result.
static Value promotedSelf(const AtenNode &node, Emitter &emit) {
  return emit.convert(emit.tensor(node, "self"),
                      emit.elementType(node.result().dtype));
}

/// True when a reduced axis is known to have no elements: the runtime would
/// then leave the result unwritten.
static bool isEmptyAlong(Value x, ArrayRef<int64_t> axes) {
  auto type = cast<RankedTensorType>(x.getType());
  return llvm::any_of(axes,
                      [&](int64_t axis) { return type.getDimSize(axis) == 0; });
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// Reduces a complex tensor part by part.
template <typename Op>
static Value reduceNumbers(Emitter &emit, Value x, ArrayRef<int64_t> axes,
                           bool keepDims) {
  if (!isComplex(x))
    return emit.reduce<Op>(x, axes, keepDims);
  return emit.create<coreai::CreateComplexOp>(
      {emit.reduce<Op>(realPart(emit, x), axes, keepDims),
       emit.reduce<Op>(imaginaryPart(emit, x), axes, keepDims)});
}

/// A reduction of `self` in `dtype`; of an empty tensor it is `ofNothing`.
static Value lowerTotal(const AtenNode &node, Emitter &emit, double ofNothing,
                        Value (*reduce)(Emitter &, Value, ArrayRef<int64_t>,
                                        bool)) {
  Value x = promotedSelf(node, emit);
  SmallVector<int64_t> axes = reducedAxes(node, x);
  RankedTensorType type = emit.typeOf(node);
  if (isEmptyAlong(x, axes) && type.hasStaticShape()) {
    emit.depart(Departure::EmptyTensors);
    return emit.splat(ofNothing, type);
  }
  return reduce(emit, x, axes, keepsDims(node));
}

/// sum(self, dim, keepdim, dtype): integers and booleans add up in int64.
static Value lowerSum(const AtenNode &node, Emitter &emit) {
  return lowerTotal(node, emit, 0.0, reduceNumbers<coreai::ReduceSumOp>);
}

/// mean(self, dim, keepdim, dtype)
static Value lowerMean(const AtenNode &node, Emitter &emit) {
  return lowerTotal(node, emit, std::numeric_limits<double>::quiet_NaN(),
                    reduceNumbers<coreai::ReduceMeanOp>);
}

/// prod(self, dim, keepdim, dtype)
static Value lowerProd(const AtenNode &node, Emitter &emit) {
  return lowerTotal(node, emit, 1.0,
                    [](Emitter &emit, Value x, ArrayRef<int64_t> axes,
                       bool keepDims) -> Value {
                      return emit.reduce<coreai::ReduceProductOp>(x, axes,
                                                                  keepDims);
                    });
}

//===----------------------------------------------------------------------===//
// Extremes and logic
//===----------------------------------------------------------------------===//

/// amax, amin (self, dim, keepdim), max, min (self): NaN wins. Of booleans the
/// largest is `any` and the smallest is `all`.
template <typename Op, typename BoolOp>
static Value lowerExtreme(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  SmallVector<int64_t> axes = reducedAxes(node, x);
  if (isBool(x))
    return emit.reduce<BoolOp>(x, axes, keepsDims(node));
  return emit.reduce<Op>(x, axes, keepsDims(node));
}

/// aminmax(self, dim, keepdim)
static Results lowerAminmax(const AtenNode &node, Emitter &emit) {
  return {lowerExtreme<coreai::ReduceMinOp, coreai::AllOp>(node, emit),
          lowerExtreme<coreai::ReduceMaxOp, coreai::AnyOp>(node, emit)};
}

/// any, all (self, dim, keepdim): anything but zero is true. A list without
/// axes reduces nothing here, unlike in the other reductions.
template <typename Op>
static Value lowerLogicalReduction(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  SmallVector<int64_t> axes = reducedAxes(node, x);
  if (node.has("dim") && node["dim"].isList() && node.list("dim").empty())
    axes.clear();
  if (!isBool(x))
    x = isComplex(x) ? emit.convert(x, emit.i1())
                     : emit.notEqual(x, numberLike(emit, 0, x));
  Value result = emit.reduce<Op>(x, axes, keepsDims(node));
  // torch answers in uint8 for a uint8 tensor.
  return emit.cast(result, emit.elementType(node.result().dtype));
}

//===----------------------------------------------------------------------===//
// Spread
//===----------------------------------------------------------------------===//

namespace {
struct Moments {
  Value variance, mean;
};
} // namespace

/// The mean and the sum of squared distances from it over N - correction, with
/// N elements reduced. f16 and bf16 are computed in f32. Without elements to
/// spare (N <= correction) the division by zero gives torch's NaN or infinity.
static Moments moments(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  Type element = getElementTypeOrSelf(x);
  if (isHalf(x))
    x = emit.cast(x, emit.f32());
  SmallVector<int64_t> axes = reducedAxes(node, x);
  RankedTensorType reduced = emit.typeOf(node);
  if (isEmptyAlong(x, axes) && reduced.hasStaticShape()) {
    Value nan = emit.splat(std::numeric_limits<double>::quiet_NaN(), reduced);
    return {nan, nan};
  }
  ScalarExpr correction = node.has("correction")
                              ? ScalarExpr(node, emit, "correction")
                              : ScalarExpr(emit, 1.0);

  auto type = cast<RankedTensorType>(x.getType());
  double known = 1;
  Value unknown;
  for (int64_t axis : axes) {
    if (!type.isDynamicDim(axis)) {
      known *= static_cast<double>(type.getDimSize(axis));
      continue;
    }
    Value extent = emit.cast(emit.dim(x, axis), emit.f32());
    unknown = unknown ? emit.mul(unknown, extent) : extent;
  }
  Value divisor;
  if (unknown || !correction.isKnown()) {
    Value count = unknown ? emit.reshape(emit.scaleBy(unknown, known),
                                         ArrayRef<int64_t>())
                          : emit.scalar(known, emit.f32());
    Value spare = emit.sub(count, correction.like(count));
    divisor = emit.maximum(spare, numberLike(emit, 0.0, spare));
  } else {
    divisor = numberLike(emit, std::max(known - *correction.known(), 0.0), x);
  }

  Value mean = emit.reduce<coreai::ReduceMeanOp>(x, axes, /*keepDims=*/true);
  Value distance = emit.sub(x, mean);
  Value squares = emit.reduce<coreai::ReduceSumOp>(emit.mul(distance, distance),
                                                   axes, /*keepDims=*/true);
  Value variance = emit.divide(squares, divisor);
  if (!keepsDims(node)) {
    variance = emit.shrinkDims(variance, axes);
    mean = emit.shrinkDims(mean, axes);
  }
  return {emit.cast(variance, element), emit.cast(mean, element)};
}

/// var.correction(self, dim, correction, keepdim)
static Value lowerVar(const AtenNode &node, Emitter &emit) {
  return moments(node, emit).variance;
}

/// var_mean.correction(self, dim, correction, keepdim)
static FailureOr<Results> lowerVarMean(const AtenNode &node, Emitter &emit) {
  Moments result = moments(node, emit);
  return Results{result.variance, result.mean};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The p-norm over `axes`, which stay as 1.
///
///   0    : how many are not zero     ±inf : the largest, the smallest |x|
///   1, 2 : sum |x|, sqrt(sum x²)     else : (sum |x|^p)^(1/p)
///
/// A p that only a call knows takes the last form, and the other value where it
/// turns out to be zero or infinite: the powers are one, or zero or infinite
/// then. A whole number is never infinite.
static Value normOver(Emitter &emit, Value x, const ScalarExpr &p,
                      ArrayRef<int64_t> axes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto sum = [&](Value terms) {
    return emit.reduce<coreai::ReduceSumOp>(terms, axes, /*keepDims=*/true);
  };
  auto count = [&] {
    Value differs = emit.notEqual(x, numberLike(emit, 0.0, x));
    return sum(emit.cast(differs, getElementTypeOrSelf(x)));
  };
  if (p.is(0))
    return count();
  if (p.is(2))
    return emit.create<coreai::SqrtOp>({sum(emit.mul(x, x))});
  Value magnitude = absolute(emit, x);
  if (p.is(1))
    return sum(magnitude);
  auto largest = [&] {
    return emit.reduce<coreai::ReduceMaxOp>(magnitude, axes, true);
  };
  auto smallest = [&] {
    return emit.reduce<coreai::ReduceMinOp>(magnitude, axes, true);
  };
  if (p.is(kInfinity))
    return largest();
  if (p.is(-kInfinity))
    return smallest();
  Value powers = emit.pow(magnitude, p.like(magnitude));
  Value norm = emit.pow(sum(powers), (ScalarExpr(emit, 1.0) / p).like(powers));
  if (p.isKnown())
    return norm;
  Value order = p.like(x);
  auto unlessOrderIs = [&](double special, Value instead) {
    Value isSpecial = emit.equal(order, numberLike(emit, special, order));
    return emit.where(isSpecial, instead, norm);
  };
  norm = unlessOrderIs(0, count());
  if (isFloat(p.unknown())) {
    norm = unlessOrderIs(kInfinity, largest());
    norm = unlessOrderIs(-kInfinity, smallest());
  }
  return norm;
}

/// normOver() of numbers in f32 if they are f16 or bf16, whose squares overflow
/// or lose digits early.
static Value wideNorm(Emitter &emit, Value x, const ScalarExpr &p,
                      ArrayRef<int64_t> axes, bool keepDims) {
  Type element = getElementTypeOrSelf(x);
  if (isHalf(x))
    x = emit.cast(x, emit.f32());
  Value norm = normOver(emit, x, p, axes);
  return emit.cast(keepDims ? norm : emit.shrinkDims(norm, axes), element);
}

/// linalg_vector_norm(self, ord, dim, keepdim, dtype), as a composite.
///
/// The declared axes are those that the call names. An order is declared as a
/// number: with one that only a call knows there is no composite.
static FailureOr<Value> lowerVectorNorm(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (isComplex(x))
    x = hypotenuse(emit, realPart(emit, x), imaginaryPart(emit, x));
  x = emit.cast(x, emit.elementType(node.result().dtype));
  SmallVector<int64_t> axes = reducedAxes(node, x);

  const Argument &order = node["ord"];
  ScalarExpr power(node, emit, order);
  auto norm = [&](Value input) {
    if (isHalf(input))
      emit.depart(Departure::HalfSums);
    return wideNorm(emit, input, power, axes, keepsDims(node));
  };
  if (!power.isKnown())
    return norm(x);
  CompositeSpec spec;
  spec.name = spec.symbol = "linalg_vector_norm";
  spec.arguments = {"input"};
  SmallVector<int64_t> declared = node.integers("dim");
  if (declared.empty())
    declared = axes;
  // torch leaves out arguments at the end that are the default; what is left
  // out is declared as 2.0.
  bool isGiven = node.has("dim") || keepsDims(node) || !power.is(2);
  if (order.isInt() && isGiven)
    spec.attributes.push_back({"ord", order.asInt()});
  else
    spec.attributes.push_back({"ord", *power.known()});
  spec.attributes.push_back({"keep_dim", keepsDims(node)});
  spec.attributes.push_back({"axes", declared});
  return emit.composite(spec, x, [&](ValueRange arguments) -> FailureOr<Value> {
    return norm(arguments.front());
  });
}

/// The p-norm of the last axis of `x`, which is dropped; `p` is a parameter.
static Value normOfRows(const AtenNode &node, Emitter &emit, Value x) {
  return wideNorm(emit, x, ScalarExpr(node, emit, "p"), {rankOf(x) - 1},
                  /*keepDims=*/false);
}

/// dist(self, other, p): the p-norm of the difference.
static FailureOr<Value> lowerDist(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  FailureOr<Value> x = emit.operand(node, "self", element);
  FailureOr<Value> y = emit.operand(node, "other", element);
  if (failed(x) || failed(y))
    return failure();
  Value difference = emit.sub(*x, *y);
  return normOfRows(node, emit, emit.reshape(difference, {-1}));
}

/// _cdist_forward(x1, x2, p, compute_mode): the p-norm between every row of x1
/// and every row of x2.
static Value lowerCdist(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "x1"), y = emit.tensor(node, "x2");
  int64_t rows = rankOf(x) - 1;
  Value difference =
      emit.sub(emit.expandDims(x, {rows}), emit.expandDims(y, {rankOf(y) - 2}));
  return normOfRows(node, emit, difference);
}

/// _pdist_forward(self, p): the p-norm between every two rows, row by row of
/// the upper triangle.
static FailureOr<Value> lowerPdist(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  auto type = cast<RankedTensorType>(x.getType());
  if (type.isDynamicDim(0))
    return emit.error(node) << "pdist of a symbolic number of rows";
  int64_t rows = type.getDimSize(0);
  SmallVector<int64_t> first, second;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t other = row + 1; other < rows; ++other) {
      first.push_back(row);
      second.push_back(other);
    }
  auto rowsAt = [&](ArrayRef<int64_t> places) {
    Value indices = emit.expandDims(emit.indices(places), {1});
    return emit.create<coreai::GatherNdOp>({x, indices});
  };
  return normOfRows(node, emit, emit.sub(rowsAt(first), rowsAt(second)));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// A 0-d tensor as a vector of one element, which has an axis to work along.
static Value atLeastVector(Emitter &emit, Value x) {
  return rankOf(x) == 0 ? emit.reshape(x, {1}) : x;
}

/// _softmax(self, dim, half_to_float)
static Value lowerSoftmax(const AtenNode &node, Emitter &emit) {
  Value x = promotedSelf(node, emit);
  int64_t rank = rankOf(x);
  Value vector = atLeastVector(emit, x);
  int64_t axis = node.axis("dim", rankOf(vector));
  Value result = emit.create<coreai::SoftmaxOp>({vector, emit.index(axis)});
  return rank == 0 ? emit.reshape(result, ArrayRef<int64_t>()) : result;
}

/// _log_softmax(self, dim, half_to_float), as a composite.
///
///   x - max(x) - ln(sum(exp(x - max(x))))
///
/// f16 and bf16 are computed in f32.
static FailureOr<Value> lowerLogSoftmax(const AtenNode &node, Emitter &emit) {
  Value x = promotedSelf(node, emit);
  int64_t rank = rankOf(x);
  Value vector = atLeastVector(emit, x);
  int64_t axis = node.axis("dim", rankOf(vector));

  CompositeSpec spec;
  spec.name = spec.symbol = "log_softmax";
  spec.arguments = {"input"};
  spec.attributes = {{"axis", axis}};
  FailureOr<Value> result = emit.composite(
      spec, vector, [&](ValueRange arguments) -> FailureOr<Value> {
        Value input = arguments.front();
        Type element = getElementTypeOrSelf(input);
        if (isHalf(input))
          input = emit.cast(input, emit.f32());
        Value largest = emit.reduce<coreai::ReduceMaxOp>(input, axis, true);
        Value shifted = emit.sub(input, largest);
        Value sum = emit.reduce<coreai::ReduceSumOp>(
            emit.create<coreai::ExpOp>({shifted}), axis, true);
        Value result = emit.sub(shifted, emit.create<coreai::LogOp>({sum}));
        return emit.cast(result, element);
      });
  if (failed(result))
    return failure();
  return rank == 0 ? emit.reshape(*result, ArrayRef<int64_t>()) : *result;
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// cumsum, cumprod (self, dim, dtype): f16 and bf16 accumulate in f32.
template <coreai::ScanCombiner combiner>
static Value lowerScan(const AtenNode &node, Emitter &emit) {
  Value x = promotedSelf(node, emit);
  if (rankOf(x) == 0)
    return x;
  Type element = getElementTypeOrSelf(x);
  if (isHalf(x)) {
    emit.depart(Departure::HalfSums);
    x = emit.cast(x, emit.f32());
  }
  int64_t axis = node.axis("dim", rankOf(x));
  return emit.cast(scan(emit, x, axis, combiner), element);
}

/// cummax, cummin (self, dim): the extreme so far and where it last was.
///
/// The dialect's scan skips NaN; in torch it wins, and then holds the place.
template <coreai::ScanCombiner combiner>
static FailureOr<Results> lowerRunningExtreme(const AtenNode &node,
                                              Emitter &emit) {
  Value x = emit.tensor(node, "self");
  Type element = getElementTypeOrSelf(x);
  if (rankOf(x) == 0)
    return Results{x, emit.index(0)};
  if (isBool(x))
    x = emit.cast(x, emit.si32());
  int64_t axis = node.axis("dim", rankOf(x));
  Value extreme = scan(emit, x, axis, combiner);
  Value isHit = emit.equal(x, extreme);
  if (isFloat(x)) {
    Value nan = isNan(emit, x);
    Value nanSoFar = emit.cast(scan(emit, emit.cast(nan, emit.si32()), axis,
                                    coreai::ScanCombiner::Max),
                               emit.i1());
    isHit = emit.where(nanSoFar, nan, isHit);
    extreme = emit.where(
        nanSoFar, numberLike(emit, std::numeric_limits<double>::quiet_NaN(), x),
        extreme);
  }
  Value place =
      scan(emit, emit.where(isHit, positions(emit, x, axis), emit.index(0)),
           axis, coreai::ScanCombiner::Max);
  return Results{emit.cast(extreme, element), place};
}

/// logcumsumexp(self, dim): ln of the running sum of exponentials.
///
/// Every prefix is shifted by its own maximum, so none of them overflows or
/// vanishes next to a larger one. That takes a table of all pairs of positions
/// along the axis.
static Value lowerLogcumsumexp(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  if (rankOf(x) == 0)
    return x;
  Type element = getElementTypeOrSelf(x);
  if (isHalf(x))
    x = emit.cast(x, emit.f32());
  int64_t axis = node.axis("dim", rankOf(x));
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  // Axis `axis` counts the ends of the prefixes, the next one their elements.
  Value elements = emit.expandDims(x, {axis});
  Value ends = emit.expandDims(positions(emit, x, axis), {axis + 1});
  Value places = positions(emit, elements, axis + 1);
  Value largest = emit.expandDims(
      scan(emit, x, axis, coreai::ScanCombiner::Max), {axis + 1});
  // A prefix of -inf only: shifting by it would make NaN.
  Value shift = emit.where(emit.equal(largest, numberLike(emit, kLowest, x)),
                           numberLike(emit, 0.0, x), largest);
  Value terms = emit.create<coreai::ExpOp>(
      {emit.where(emit.greater(places, ends), numberLike(emit, kLowest, x),
                  emit.sub(elements, shift))});
  Value sum = emit.reduce<coreai::ReduceSumOp>(terms, axis + 1, true);
  Value result = emit.add(emit.create<coreai::LogOp>({sum}), shift);
  // An infinite maximum is the result; subtracting it from itself is NaN.
  result = emit.where(isInfinite(emit, largest), largest, result);
  return emit.cast(emit.shrinkDims(result, {axis + 1}), element);
}

llvm::ArrayRef<TableEntry> corten::loweringsReduction() {
#define IN_Reduction ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
