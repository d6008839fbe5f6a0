// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of two operands, with NumPy broadcasting and torch's promotion:
// both operands take the type of the result before anything is computed, as
// torch does. So a Python number takes the type of an 8-bit tensor (and wraps),
// and an integer tensor meets a float number in f32.

#include "Emission/DerivedOps.h"
#include "Emission/Loop.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cmath>

using namespace corten;
using namespace mlir;

namespace {
struct Pair {
  Value lhs, rhs;
};
} // namespace

static FailureOr<Pair> operands(const AtenNode &node, Emitter &emit,
                                StringRef lhs = "self",
                                StringRef rhs = "other") {
  Type element = emit.elementType(node.result().dtype);
  FailureOr<Value> left = emit.operand(node, lhs, element);
  FailureOr<Value> right = emit.operand(node, rhs, element);
  if (failed(left) || failed(right))
    return failure();
  return Pair{*left, *right};
}

/// The number that an argument is, if it is a literal.
static std::optional<double> literal(const AtenNode &node,
                                     StringRef parameter) {
  const Argument &argument = node[parameter];
  if (!argument.isNumber())
    return std::nullopt;
  return argument.asDouble();
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// x times the argument `alpha`, which is a number or a symbolic number.
static FailureOr<Value> timesAlpha(const AtenNode &node, Emitter &emit,
                                   Value x) {
  if (std::optional<double> alpha = literal(node, "alpha"))
    return emit.scaleBy(x, *alpha);
  FailureOr<Value> alpha = emit.operand(node, "alpha", getElementTypeOrSelf(x));
  if (failed(alpha))
    return failure();
  return emit.mul(x, *alpha);
}

/// self + alpha * other, or self - alpha * other; with the roles of the
/// operands exchanged if it is reversed.
template <Value (Emitter::*Step)(Value, Value), bool IsReversed = false>
static FailureOr<Value> lowerSum(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  if constexpr (IsReversed)
    std::swap(pair->lhs, pair->rhs);
  FailureOr<Value> scaled = timesAlpha(node, emit, pair->rhs);
  if (failed(scaled))
    return failure();
  return (emit.*Step)(pair->lhs, *scaled);
}

static constexpr auto lowerAdd = lowerSum<&Emitter::add>;
static constexpr auto lowerSub = lowerSum<&Emitter::sub>;
static constexpr auto lowerRsub = lowerSum<&Emitter::sub, true>;

/// Operations that are one step once the operands have one type.
template <Value (Emitter::*Step)(Value, Value)>
static FailureOr<Value> lowerBinary(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  return (emit.*Step)(pair->lhs, pair->rhs);
}

/// fmax, fmin: like maximum and minimum, but a number wins over NaN.
template <Value (Emitter::*Step)(Value, Value)>
static FailureOr<Value> lowerIgnoringNan(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  Value result = (emit.*Step)(pair->lhs, pair->rhs);
  if (!isFloat(result))
    return result;
  result = emit.where(isNan(emit, pair->rhs), pair->lhs, result);
  return emit.where(isNan(emit, pair->lhs), pair->rhs, result);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// floor_divide(self, other), floordiv: toward minus infinity.
static FailureOr<Value> lowerFloorDivide(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  return floorDivide(emit, pair->lhs, pair->rhs, literal(node, "other"));
}

/// div(self, other, rounding_mode)
///
///   None    : the quotient, in a float type
///   "floor" : as floor_divide
///   "trunc" : toward zero; integer division truncates by itself
static FailureOr<Value> lowerDivMode(const AtenNode &node, Emitter &emit) {
  StringRef mode =
      node.has("rounding_mode") ? node.string("rounding_mode") : "";
  if (mode == "floor")
    return lowerFloorDivide(node, emit);
  if (!mode.empty() && mode != "trunc")
    return emit.error(node) << "Unsupported rounding_mode: " << mode;
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  Value quotient = emit.divide(pair->lhs, pair->rhs);
  if (mode.empty())
    return quotient;
  if (isFloat(quotient))
    emit.depart(Departure::Rounding);
  return truncate(emit, quotient);
}

/// remainder(self, other): the sign of the divisor, like Python's `%`.
///
/// Of integers self - floor(self / other) * other. Of floats that is wrong
/// where the quotient rounds up to an integer; fmod is exact.
static FailureOr<Value> lowerRemainder(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  auto [x, y] = *pair;
  if (!isFloat(x))
    return emit.sub(x, emit.mul(emit.floorDivide(x, y), y));
  emit.depart(Departure::Remainder);
  return remainder(emit, x, y, literal(node, "other"));
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// x^y = e^(y ln x) of complex numbers; 0^y is 0, and 1 for y = 0.
static Value complexPower(Emitter &emit, Value x, Value y) {
  Value zero = numberLike(emit, 0.0, x);
  Value power = emit.create<coreai::ExpOp>(
      {emit.mul(y, emit.create<coreai::LogOp>({x}))});
  Value atZero =
      emit.where(equalValues(emit, y, zero), numberLike(emit, 1.0, x), zero);
  return emit.where(equalValues(emit, x, zero), atZero, power);
}

/// x^y of integers of 32 bits, modulo the width.
///
/// The dialect makes 0 of every negative power; torch keeps the powers of 1 and
/// -1.
static Value integerPower(Emitter &emit, Value x, Value y,
                          std::optional<double> exponent) {
  if (getElementTypeOrSelf(x).isUnsignedInteger() ||
      (exponent && *exponent >= 0))
    return emit.pow(x, y);
  emit.depart(Departure::IntegerPower);
  Value isUnit = emit.equal(absolute(emit, x), numberLike(emit, 1, x));
  Value vanishes =
      emit.logicalAnd(isBelowZero(emit, y), emit.logicalNot(isUnit));
  return emit.where(vanishes, numberLike(emit, 0, x),
                    emit.pow(x, absolute(emit, y)));
}

/// Applies `step` to integers in 32 bits and wraps the result into their type:
/// the runtime ends the process when an 8-bit power does not fit.
static Value inWideIntegers(Emitter &emit, Value x, Value y,
                            llvm::function_ref<Value(Value, Value)> step) {
  Type element = getElementTypeOrSelf(x);
  bool isNarrow =
      element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 32;
  Type wide = isNarrow ? emit.si32() : element;
  return emit.convert(step(emit.cast(x, wide), emit.cast(y, wide)), element);
}

/// pow(self, exponent)
static FailureOr<Value> lowerPow(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit, "self", "exponent");
  if (failed(pair))
    return failure();
  auto [x, y] = *pair;
  std::optional<double> exponent = literal(node, "exponent");
  if (isComplex(x))
    return exponent == 2.0 ? emit.mul(x, x) : complexPower(emit, x, y);
  if (isFloat(x))
    return emit.pow(x, y);
  if (getElementTypeOrSelf(x).getIntOrFloatBitWidth() < 32)
    emit.depart(Departure::IntegerPower);
  return inWideIntegers(emit, x, y, [&](Value base, Value power) {
    return integerPower(emit, base, power, exponent);
  });
}

/// ldexp(self, other) = self * 2^other
static FailureOr<Value> lowerLdexp(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  return emit.mul(pair->lhs,
                  emit.pow(numberLike(emit, 2.0, pair->rhs), pair->rhs));
}

//===----------------------------------------------------------------------===//
// Signs and angles
//===----------------------------------------------------------------------===//

/// copysign(self, other): |self| with the sign bit of other.
static FailureOr<Value> lowerCopysign(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  Value magnitude = absolute(emit, pair->lhs);
  return emit.where(hasSignBit(emit, pair->rhs), emit.negate(magnitude),
                    magnitude);
}

/// atan2(self, other): the angle of the point (other, self).
static FailureOr<Value> lowerAtan2(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  emit.depart(Departure::Atan2);
  return arcTangent2(emit, pair->lhs, pair->rhs);
}

static FailureOr<Value> lowerHypot(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  return hypotenuse(emit, pair->lhs, pair->rhs);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <typename Op>
static FailureOr<Value> lowerBitwise(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  return emit.create<Op>({pair->lhs, pair->rhs});
}

/// bitwise_left_shift(self, other) = self * 2^other, modulo the width.
///
/// The power wraps to 0 from the width on and is 0 below zero, where torch
/// gives 0 as well.
static FailureOr<Value> lowerLeftShift(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  return inWideIntegers(emit, pair->lhs, pair->rhs, [&](Value x, Value shift) {
    return emit.mul(x, emit.pow(numberLike(emit, 2, shift), shift));
  });
}

/// bitwise_right_shift(self, other) = floor(self / 2^other)
///
/// Shifts that leave no bit (too far, or negative) give 0 or -1 by the sign.
/// They must not reach the division, which cannot hold their power of two.
static FailureOr<Value> lowerRightShift(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  auto [x, shift] = *pair;
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(x));
  if (!element)
    return emit.error(node) << node.op() << " of " << getElementTypeOrSelf(x)
                            << ", want an integer";
  int64_t farthest = element.getWidth() - (element.isUnsigned() ? 1 : 2);
  Value zero = emit.scalar(0, element);
  Value nothing = zero;
  if (!element.isUnsigned())
    nothing = emit.where(isBelowZero(emit, x), emit.scalar(-1, element), zero);
  if (std::optional<double> number = literal(node, "other")) {
    if (*number < 0 || *number > farthest)
      return element.isUnsigned() ? emit.mul(x, zero) : nothing;
    int64_t power = int64_t(1) << static_cast<int64_t>(*number);
    return emit.floorDivide(x, emit.scalar(power, element));
  }
  Value tooFar =
      emit.logicalOr(emit.greater(shift, emit.scalar(farthest, element)),
                     emit.greater(zero, shift));
  Value power =
      emit.pow(emit.scalar(2, element), emit.where(tooFar, zero, shift));
  return emit.where(tooFar, nothing, emit.floorDivide(x, power));
}

/// nextafter(self, other): the neighbour of self in the direction of other.
///
/// Neighbours are 2^(e - p) apart, with e the binary exponent and p the digits
/// of the type, and half as far below a power of two; subnormal numbers are all
/// as far apart as the smallest of them from zero.
static FailureOr<Value> lowerNextafter(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return emit.error(node)
           << "numbers of " << element << " have no neighbours";
  FailureOr<Value> self = emit.operand(node, "self", emit.f32());
  FailureOr<Value> other = emit.operand(node, "other", emit.f32());
  if (failed(self) || failed(other))
    return failure();
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int digits = llvm::APFloat::semanticsPrecision(semantics);
  int lowest = llvm::APFloat::semanticsMinExponent(semantics) - digits + 1;
  double largest = llvm::APFloat::getLargest(semantics).convertToDouble();

  Value x = *self, zero = numberLike(emit, 0.0, x);
  Value magnitude = absolute(emit, x);
  Value exponent = binaryExponent(emit, x);
  Value up = emit.greater(*other, x);
  Value outward = emit.logicalOr(emit.equal(x, zero),
                                 emit.equal(up, emit.greater(x, zero)));
  Value isPower = emit.equal(
      magnitude, scaleByPowerOfTwo(emit, numberLike(emit, 0.5, x), exponent));
  Value step = emit.sub(exponent, numberLike(emit, digits, exponent));
  step = emit.sub(step,
                  emit.cast(emit.logicalAnd(isPower, emit.logicalNot(outward)),
                            emit.f32()));
  step = emit.maximum(step, numberLike(emit, lowest, step));
  step = emit.where(emit.equal(x, zero), numberLike(emit, lowest, step), step);
  Value distance = scaleByPowerOfTwo(emit, numberLike(emit, 1.0, step), step);
  Value grown = emit.add(magnitude, distance);
  Value shrunk = emit.sub(magnitude, distance);
  shrunk =
      emit.where(isInfinite(emit, x), numberLike(emit, largest, x), shrunk);
  Value length = emit.where(outward, grown, shrunk);
  Value isNegative = emit.where(emit.equal(x, zero), emit.logicalNot(up),
                                isBelowZero(emit, x));
  Value moved = emit.where(isNegative, emit.negate(length), length);
  Value result = emit.where(emit.equal(x, *other), *other, moved);
  Value isUndefined = emit.logicalOr(isNan(emit, x), isNan(emit, *other));
  return emit.cast(emit.where(isUndefined, emit.add(x, *other), result),
                   element);
}

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

/// Euclid's algorithm on all elements at once, until the last one is done.
static Value greatestDivisor(Emitter &emit, Value x, Value y) {
  Value zero = numberLike(emit, 0, x), one = numberLike(emit, 1, x);
  // Both in the shape of the result.
  Value a = emit.add(x, emit.mul(y, zero)), b = emit.add(y, emit.mul(x, zero));
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, emit.type(a).getRank()));
  Results last = loop(
      emit, {a, b},
      [&](ValueRange state) {
        return emit.reduce<coreai::AnyOp>(emit.notEqual(state[1], zero), axes,
                                          /*keepDims=*/false);
      },
      [&](ValueRange state) {
        Value isDone = emit.equal(state[1], zero);
        Value rest = emit.modulo(state[0], emit.where(isDone, one, state[1]));
        return Results{emit.where(isDone, state[0], state[1]),
                       emit.where(isDone, state[1], rest)};
      });
  return absolute(emit, last[0]);
}

/// gcd(self, other), never negative; gcd(0, 0) is 0.
static FailureOr<Value> lowerGcd(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  return greatestDivisor(emit, pair->lhs, pair->rhs);
}

/// lcm(self, other) = |self / gcd * other|, 0 where both are.
static FailureOr<Value> lowerLcm(const AtenNode &node, Emitter &emit) {
  FailureOr<Pair> pair = operands(node, emit);
  if (failed(pair))
    return failure();
  Value divisor = emit.maximum(greatestDivisor(emit, pair->lhs, pair->rhs),
                               numberLike(emit, 1, pair->lhs));
  return absolute(emit, emit.mul(emit.divide(pair->lhs, divisor), pair->rhs));
}

llvm::ArrayRef<TableEntry> corten::loweringsArithmetic() {
#define IN_Arithmetic ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
