// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/DerivedOps.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numbers>

using namespace corten;
using namespace mlir;

Value corten::numberLike(Emitter &emit, double value, Value x) {
  return emit.scalar(value, getElementTypeOrSelf(x));
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

Value corten::isNan(Emitter &emit, Value x) { return emit.notEqual(x, x); }

Value corten::isInfinite(Emitter &emit, Value x) {
  return emit.logicalOr(emit.equal(x, numberLike(emit, kInfinity, x)),
                        emit.equal(x, numberLike(emit, -kInfinity, x)));
}

Value corten::isBelowZero(Emitter &emit, Value x) {
  return emit.greater(numberLike(emit, 0.0, x), x);
}

Value corten::hasSignBit(Emitter &emit, Value x) {
  Value below = isBelowZero(emit, x);
  if (!isFloat(x))
    return below;
  // Only the reciprocal tells the two zeros apart.
  Value zero = emit.equal(x, numberLike(emit, 0.0, x));
  Value reciprocal = emit.divide(numberLike(emit, 1.0, x), x);
  return emit.logicalOr(below,
                        emit.logicalAnd(zero, isBelowZero(emit, reciprocal)));
}

Value corten::greaterEqual(Emitter &emit, Value x, Value y) {
  // NaN wins in the maximum and equals nothing.
  if (isFloat(x))
    return emit.equal(emit.maximum(x, y), x);
  return emit.logicalNot(emit.greater(y, x));
}

Value corten::equalValues(Emitter &emit, Value x, Value y) {
  if (!isComplex(x))
    return emit.equal(x, y);
  return emit.logicalAnd(
      emit.equal(realPart(emit, x), realPart(emit, y)),
      emit.equal(imaginaryPart(emit, x), imaginaryPart(emit, y)));
}

//===----------------------------------------------------------------------===//
// Signs and rounding
//===----------------------------------------------------------------------===//

static bool isUnsigned(Value x) {
  return getElementTypeOrSelf(x).isUnsignedInteger() || isBool(x);
}

Value corten::absolute(Emitter &emit, Value x) {
  return isUnsigned(x) ? x : emit.create<coreai::AbsOp>({x});
}

Value corten::sign(Emitter &emit, Value x) {
  if (isBool(x))
    return x;
  Type element = getElementTypeOrSelf(x);
  Value above = emit.cast(emit.greater(x, numberLike(emit, 0.0, x)), element);
  if (isUnsigned(x))
    return above;
  return emit.sub(above, emit.cast(isBelowZero(emit, x), element));
}

static Value floorOfFinite(Emitter &emit, Value x) {
  return emit.floorDivide(x, numberLike(emit, 1.0, x));
}

/// The runtime's floor division makes NaN of an infinity.
static Value keepInfinities(Emitter &emit, Value rounded, Value x) {
  return emit.where(isNan(emit, rounded), x, rounded);
}

Value corten::floor(Emitter &emit, Value x) {
  return isFloat(x) ? keepInfinities(emit, floorOfFinite(emit, x), x) : x;
}

Value corten::ceil(Emitter &emit, Value x) {
  if (!isFloat(x))
    return x;
  Value mirrored = floorOfFinite(emit, emit.negate(x));
  return keepInfinities(emit, emit.negate(mirrored), x);
}

Value corten::truncate(Emitter &emit, Value x) {
  if (!isFloat(x))
    return x;
  Value magnitude = floor(emit, absolute(emit, x));
  return emit.where(isBelowZero(emit, x), emit.negate(magnitude), magnitude);
}

Value corten::scaleByPowerOfTwo(Emitter &emit, Value x, Value e) {
  Value two = numberLike(emit, 2.0, x);
  Value half = emit.floorDivide(e, numberLike(emit, 2.0, e));
  Value rest = emit.sub(e, half);
  return emit.mul(emit.mul(x, emit.pow(two, half)), emit.pow(two, rest));
}

Value corten::binaryExponent(Emitter &emit, Value x) {
  Value magnitude = absolute(emit, x);
  Value isOrdinary =
      emit.logicalAnd(emit.greater(magnitude, numberLike(emit, 0.0, x)),
                      emit.greater(numberLike(emit, kInfinity, x), magnitude));
  Value one = numberLike(emit, 1.0, x);
  Value safe = emit.where(isOrdinary, magnitude, one);
  // The logarithm may be off by a rounding; the mantissa tells.
  Value guess =
      emit.add(floor(emit, emit.scaleBy(emit.create<coreai::LogOp>({safe}),
                                        1 / std::numbers::ln2)),
               one);
  Value mantissa = scaleByPowerOfTwo(emit, safe, emit.negate(guess));
  Value isHigh = greaterEqual(emit, mantissa, one);
  Value isLow = emit.greater(numberLike(emit, 0.5, mantissa), mantissa);
  Value exponent = emit.sub(emit.add(guess, emit.cast(isHigh, emit.f32())),
                            emit.cast(isLow, emit.f32()));
  return emit.where(isOrdinary, exponent, numberLike(emit, 0.0, exponent));
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// fmod(x, y) is not zero and its sign is not that of y.
static Value hasForeignSign(Emitter &emit, Value modulus, Value y,
                            std::optional<double> divisor) {
  if (divisor && *divisor > 0)
    return isBelowZero(emit, modulus);
  Value zero = numberLike(emit, 0.0, modulus);
  if (divisor && *divisor < 0)
    return emit.greater(modulus, zero);
  Value differs = emit.create<coreai::BroadcastingXorOp>(
      {isBelowZero(emit, modulus), isBelowZero(emit, y)});
  return emit.logicalAnd(emit.notEqual(modulus, zero), differs);
}

static bool isPowerOfTwo(double value) {
  int exponent = 0;
  return std::isfinite(value) && std::abs(std::frexp(value, &exponent)) == 0.5;
}

Value corten::floorDivide(Emitter &emit, Value x, Value y,
                          std::optional<double> divisor) {
  // Rounding the quotient can lift it over the next integer: in floats 1 // 0.1
  // is 9, while 1 / 0.1 is 10. By a power of two the quotient is exact.
  if (!isFloat(x) || (divisor && isPowerOfTwo(*divisor)))
    return emit.floorDivide(x, y);
  emit.depart(Departure::FloorDivide);
  Value modulus = emit.modulo(x, y);
  Value quotient =
      emit.create<coreai::RoundOp>({emit.divide(emit.sub(x, modulus), y)});
  Value lower = emit.sub(quotient, numberLike(emit, 1.0, quotient));
  Value result =
      emit.where(hasForeignSign(emit, modulus, y, divisor), lower, quotient);
  if (divisor && *divisor != 0)
    return result;
  return emit.where(emit.equal(y, numberLike(emit, 0.0, y)), emit.divide(x, y),
                    result);
}

Value corten::remainder(Emitter &emit, Value x, Value y,
                        std::optional<double> divisor) {
  Value modulus = emit.modulo(x, y);
  if (isUnsigned(x))
    return modulus;
  return emit.where(hasForeignSign(emit, modulus, y, divisor),
                    emit.add(modulus, y), modulus);
}

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

Value corten::scan(Emitter &emit, Value x, int64_t axis,
                   coreai::ScanCombiner combiner) {
  return emit.create<coreai::ScanOp>(
      {x, emit.scalar(axis, emit.ui32()), emit.scalar(false)},
      {emit.attribute("scan_op", coreai::ScanCombinerAttr::get(
                                     emit.builder.getContext(), combiner))});
}

Value corten::hypotenuse(Emitter &emit, Value x, Value y) {
  Value a = absolute(emit, x), b = absolute(emit, y);
  Value high = emit.maximum(a, b), low = emit.minimum(a, b);
  Value ratio = emit.divide(low, high);
  Value length = emit.mul(
      high, emit.create<coreai::SqrtOp>({emit.add(
                emit.mul(ratio, ratio), numberLike(emit, 1.0, ratio))}));
  // 0/0 and inf/inf.
  Value degenerate =
      emit.logicalOr(emit.equal(high, numberLike(emit, 0.0, high)),
                     emit.equal(high, numberLike(emit, kInfinity, high)));
  return emit.where(degenerate, high, length);
}

Value corten::arcTangent2(Emitter &emit, Value y, Value x) {
  constexpr double kPi = std::numbers::pi;
  // atan() only sees the smaller over the larger magnitude: a number of [0, 1].
  // The rest is reflection. NaN passes through maximum and minimum.
  Value a = absolute(emit, x), b = absolute(emit, y);
  Value high = emit.maximum(a, b), low = emit.minimum(a, b);
  Value one = numberLike(emit, 1.0, x);
  Value isOrigin = emit.equal(high, numberLike(emit, 0.0, high));
  Value ratio = emit.divide(low, emit.where(isOrigin, one, high));
  Value bothInfinite = emit.equal(low, numberLike(emit, kInfinity, low));
  Value angle =
      emit.create<coreai::AtanOp>({emit.where(bothInfinite, one, ratio)});
  angle = emit.where(emit.greater(b, a),
                     emit.sub(numberLike(emit, kPi / 2, x), angle), angle);
  angle = emit.where(hasSignBit(emit, x),
                     emit.sub(numberLike(emit, kPi, x), angle), angle);
  return emit.where(hasSignBit(emit, y), emit.negate(angle), angle);
}

//===----------------------------------------------------------------------===//
// Exponentials and polynomials
//===----------------------------------------------------------------------===//

Value corten::expMinusOne(Emitter &emit, Value x) {
  // e^x - 1 = tanh(x/2) (e^x + 1): no difference of nearly equal numbers.
  Value tangent = emit.create<coreai::TanhOp>({emit.scaleBy(x, 0.5)});
  Value sum =
      emit.add(emit.create<coreai::ExpOp>({x}), numberLike(emit, 1.0, x));
  return emit.mul(tangent, sum);
}

Value corten::logOnePlus(Emitter &emit, Value x) {
  // ln(1 + x) = 2 artanh(x / (2 + x)); the ratio rounds to 1 for large x.
  Value one = numberLike(emit, 1.0, x);
  Value ratio = emit.divide(x, emit.add(x, numberLike(emit, 2.0, x)));
  Value small = emit.scaleBy(emit.create<coreai::AtanhOp>({ratio}), 2.0);
  Value large = emit.create<coreai::LogOp>({emit.add(x, one)});
  return emit.where(emit.greater(x, one), large, small);
}

Value corten::polynomial(Emitter &emit, Value x,
                         ArrayRef<double> coefficients) {
  Value result = numberLike(emit, coefficients.back(), x);
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = emit.add(emit.mul(result, x), numberLike(emit, coefficient, x));
  return result;
}

//===----------------------------------------------------------------------===//
// Parts and positions
//===----------------------------------------------------------------------===//

Value corten::realPart(Emitter &emit, Value x) {
  return isComplex(x) ? emit.create<coreai::RealPartOp>({x}) : x;
}

Value corten::imaginaryPart(Emitter &emit, Value x) {
  return emit.create<coreai::ImaginaryPartOp>({x});
}

Value corten::positions(Emitter &emit, Value x, int64_t axis) {
  auto type = cast<RankedTensorType>(x.getType());
  Value extent = emit.dim(x, axis);
  Value range = emit.create<coreai::RangeOp>(
      {emit.index(0),
       type.isDynamicDim(axis) ? emit.reshape(extent, ArrayRef<int64_t>())
                               : emit.index(type.getDimSize(axis)),
       emit.index(1)});
  SmallVector<int64_t> unitAxes;
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (other != axis)
      unitAxes.push_back(other);
  return emit.expandDims(range, unitAxes);
}
