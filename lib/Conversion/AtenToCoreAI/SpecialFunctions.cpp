// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that the dialect has neither an op nor a short formula for. They
// are approximated with the accuracy of f32; other types are computed in it.

#include "DerivedOps.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <limits>
#include <numbers>

using namespace corten;
using namespace mlir;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kPi = std::numbers::pi;

/// `function` of the operand in f32, in the type of the result.
static Value inSingle(const AtenNode &node, Emitter &emit,
                      llvm::function_ref<Value(Value)> function) {
  Value x = emit.cast(emit.tensor(node, "self"), emit.f32());
  return emit.cast(function(x), emit.elementType(node.result().dtype));
}

static Value inverse(Emitter &emit, Value x) {
  return emit.divide(numberLike(emit, 1.0, x), x);
}

static Value plus(Emitter &emit, Value x, double number) {
  return emit.add(x, numberLike(emit, number, x));
}

static Value logarithm(Emitter &emit, Value x) {
  return emit.create<coreai::LogOp>({x});
}

/// x minus the nearest integer: sines and tangents of πx only need that, and
/// of the whole number they would lose all digits.
static Value distanceFromInteger(Emitter &emit, Value x) {
  return emit.sub(x, emit.create<coreai::RoundOp>({x}));
}

/// erfc(self) = 1 - erf(self), with its digits kept where it is tiny.
///
///   t e^(-z² + p(t)),  z = |x|, t = 1 / (1 + z/2)
///
/// A Chebyshev fit with a relative error below 1.2e-7 everywhere; negative
/// arguments are 2 minus that.
static Value lowerErfc(const AtenNode &node, Emitter &emit) {
  return inSingle(node, emit, [&](Value x) {
    Value z = absolute(emit, x);
    Value t = inverse(emit, plus(emit, emit.scaleBy(z, 0.5), 1.0));
    Value fit = polynomial(emit, t,
                           {-1.26551223, 1.00002368, 0.37409196, 0.09678418,
                            -0.18628806, 0.27886807, -1.13520398, 1.48851587,
                            -0.82215223, 0.17087277});
    Value tail = emit.mul(
        t, emit.create<coreai::ExpOp>({emit.sub(fit, emit.mul(z, z))}));
    return emit.where(isBelowZero(emit, x),
                      emit.sub(numberLike(emit, 2.0, x), tail), tail);
  });
}

/// erfinv(self): x p(w) with w = -ln(1 - x²), p from one of two fits for the
/// middle and the tails; ±inf at ±1 and NaN beyond.
static Value lowerErfinv(const AtenNode &node, Emitter &emit) {
  return inSingle(node, emit, [&](Value x) {
    Value one = numberLike(emit, 1.0, x);
    Value w = emit.negate(
        logarithm(emit, emit.mul(emit.sub(one, x), emit.add(one, x))));
    Value middle = polynomial(emit, plus(emit, w, -2.5),
                              {1.50140941, 0.246640727, -0.00417768164,
                               -0.00125372503, 0.00021858087, -4.39150654e-06,
                               -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
    Value tail = polynomial(
        emit, plus(emit, emit.create<coreai::SqrtOp>({w}), -3.0),
        {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773,
         -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257});
    Value isTail = emit.greater(w, numberLike(emit, 5.0, w));
    Value result = emit.mul(emit.where(isTail, tail, middle), x);
    Value isEnd = emit.equal(absolute(emit, x), one);
    return emit.where(isEnd, emit.scaleBy(x, kInfinity), result);
  });
}

/// ln Γ(x) for x >= 1/2, by Lanczos' series.
static Value lnGamma(Emitter &emit, Value x) {
  constexpr double kTerms[] = {76.18009172947146,     -86.50532032941677,
                               24.01409824083091,     -1.231739572450155,
                               0.1208650973866179e-2, -0.5395239384953e-5};
  Value series = numberLike(emit, 1.000000000190015, x);
  double offset = 1;
  for (double term : kTerms)
    series = emit.add(series, emit.divide(numberLike(emit, term, x),
                                          plus(emit, x, offset++)));
  Value log = logarithm(emit, plus(emit, x, 5.5));
  Value growth = emit.mul(plus(emit, x, 0.5), plus(emit, log, -1.0));
  Value rest =
      logarithm(emit, emit.divide(emit.scaleBy(series, 2.5066282746310005), x));
  return emit.add(plus(emit, growth, -5.0), rest);
}

/// lgamma(self) = ln |Γ(self)|
///
/// Below 1/2 by reflection: ln(π / |sin πx|) - ln Γ(1 - x), which is infinite
/// at 0, -1, -2, …
static Value lowerLgamma(const AtenNode &node, Emitter &emit) {
  return inSingle(node, emit, [&](Value x) {
    Value isLow = emit.greater(numberLike(emit, 0.5, x), x);
    Value mirrored = emit.sub(numberLike(emit, 1.0, x), x);
    Value value = lnGamma(emit, emit.where(isLow, mirrored, x));
    Value sine =
        absolute(emit, emit.create<coreai::SinOp>(
                           {emit.scaleBy(distanceFromInteger(emit, x), kPi)}));
    Value reflected = emit.sub(
        logarithm(emit, emit.divide(numberLike(emit, kPi, x), sine)), value);
    Value result = emit.where(isLow, reflected, value);
    return emit.where(isInfinite(emit, x), numberLike(emit, kInfinity, x),
                      result);
  });
}

/// The derivative of ln Γ for x >= 1/2: six steps of the recurrence, then the
/// asymptotic series.
static Value digamma(Emitter &emit, Value x) {
  Value steps = inverse(emit, x);
  for (int step = 1; step < 6; ++step)
    steps = emit.add(steps, inverse(emit, plus(emit, x, step)));
  Value y = inverse(emit, plus(emit, x, 6.0));
  Value tail =
      polynomial(emit, emit.mul(y, y), {0.0, 1.0 / 12, -1.0 / 120, 1.0 / 252});
  Value series =
      emit.sub(logarithm(emit, plus(emit, x, 6.0)), emit.scaleBy(y, 0.5));
  return emit.sub(emit.sub(series, tail), steps);
}

/// digamma(self)
///
/// Below 1/2 by reflection: ψ(1 - x) - π / tan πx. It is -inf at 0 and NaN at
/// the negative integers.
static Value lowerDigamma(const AtenNode &node, Emitter &emit) {
  return inSingle(node, emit, [&](Value x) {
    Value isLow = emit.greater(numberLike(emit, 0.5, x), x);
    Value mirrored = emit.sub(numberLike(emit, 1.0, x), x);
    Value value = digamma(emit, emit.where(isLow, mirrored, x));
    Value distance = distanceFromInteger(emit, x);
    Value tangent = emit.create<coreai::TanOp>({emit.scaleBy(distance, kPi)});
    Value reflected =
        emit.sub(value, emit.divide(numberLike(emit, kPi, x), tangent));
    Value isPole =
        emit.logicalAnd(isBelowZero(emit, x),
                        emit.equal(distance, numberLike(emit, 0.0, distance)));
    Value nan = numberLike(emit, std::numeric_limits<double>::quiet_NaN(), x);
    return emit.where(isPole, nan, emit.where(isLow, reflected, value));
  });
}

/// i0(self): the modified Bessel function of order zero, by a fit in x² below
/// 3.75 and one in 1/|x| times e^|x| / sqrt|x| above.
static Value lowerI0(const AtenNode &node, Emitter &emit) {
  return inSingle(node, emit, [&](Value x) {
    Value z = absolute(emit, x);
    Value t = emit.scaleBy(z, 1 / 3.75);
    Value low = polynomial(emit, emit.mul(t, t),
                           {1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732,
                            0.0360768, 0.0045813});
    Value fit =
        polynomial(emit, inverse(emit, t),
                   {0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281,
                    -0.02057706, 0.02635537, -0.01647633, 0.00392377});
    Value high = emit.mul(emit.mul(emit.create<coreai::ExpOp>({z}), fit),
                          emit.create<coreai::RsqrtOp>({z}));
    return emit.where(emit.greater(z, numberLike(emit, 3.75, z)), high, low);
  });
}

llvm::ArrayRef<TableEntry> corten::loweringsSpecialFunctions() {
#define SPECIAL_FUNCTIONS(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "AtenTable.def"
  };
  return entries;
}
