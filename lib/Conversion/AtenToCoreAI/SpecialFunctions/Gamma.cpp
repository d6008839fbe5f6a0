// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gamma function, its logarithm, derivatives and incomplete integrals, and
// the Hurwitz zeta function.

#include "Emission/Loop.h"
#include "SpecialFunctions/SpecialFunctions.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cmath>

using namespace corten;
using namespace mlir;

/// x minus the nearest integer: sin(πx) and cot(πx) only depend on it, up to
/// sign.
static Value distanceToInteger(Emitter &emit, Value x) {
  return emit.sub(x, emit.create<coreai::RoundOp>({x}));
}

//===----------------------------------------------------------------------===//
// The logarithm of the gamma function
//===----------------------------------------------------------------------===//

/// x (ln Γ(x) - Stirling's formula) of x >= 3.
static Value stirlingRest(Emitter &emit, Value x) {
  Value t = affine(emit, reciprocal(emit, emit.mul(x, x)), 18, -1);
  return polynomial(
      emit, t, {0.08318136638, -0.0001497000825, 2.188214299e-6, -7.802917e-8});
}

/// ln Γ(x) of x >= 0.
///
/// Below 1, ln Γ(x) = ln Γ(x + 1) - ln x. Up to 3, a polynomial times the zeros
/// at 1 and 2. Above, Stirling's formula.
static Value logGammaPositive(Emitter &emit, Value x) {
  Value isSmall = isBelow(emit, x, 1);
  Value y = emit.where(isSmall, affine(emit, x, 1, 1), x);
  Value t = affine(emit, y, 1, -2);
  Value middle =
      polynomial(emit, t,
                 {0.4227843357, -0.1003172731, 0.03296494688, -0.01238497512,
                  0.004999480513, -0.002102061579, 0.0009105063088,
                  -0.0004255713697, 0.0001957994742, -5.241944203e-5,
                  2.024937682e-5, -3.873420964e-5, 1.930875049e-5});
  middle = emit.mul(emit.mul(t, affine(emit, y, 1, -1)), middle);
  // (y - 1/2) ln y - y + ln(2π)/2, without a difference of infinities.
  double constant = std::log(2 * kPi) / 2 - 0.5;
  Value large = emit.mul(affine(emit, y, 1, -0.5),
                         affine(emit, logarithm(emit, y), 1, -1));
  large = emit.add(affine(emit, large, 1, constant),
                   emit.divide(stirlingRest(emit, y), y));
  Value result = emit.where(isAbove(emit, y, 3), large, middle);
  return emit.sub(
      result, emit.where(isSmall, logarithm(emit, x), numberLike(emit, 0, x)));
}

Value corten::logGamma(Emitter &emit, Value x) {
  // Γ(x) Γ(1 - x) = π / sin(πx) leads from the negative numbers to positive
  // ones; at the poles it divides by zero.
  Value isNegative = isBelowZero(emit, x);
  Value positive =
      logGammaPositive(emit, emit.where(isNegative, affine(emit, x, -1, 1), x));
  Value wave =
      absolute(emit, sine(emit, emit.scaleBy(distanceToInteger(emit, x), kPi)));
  Value reflected = emit.sub(
      logarithm(emit, emit.divide(numberLike(emit, kPi, x), wave)), positive);
  Value result = emit.where(isNegative, reflected, positive);
  return emit.where(isEqual(emit, x, -kInfinity),
                    numberLike(emit, kInfinity, x), result);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// The derivative of ln Γ(x).
///
/// From x >= 8 on, its asymptotic series; smaller numbers are lifted there by
/// ψ(x) = ψ(x + 1) - 1/x, and negative ones by ψ(x) = ψ(1 - x) - π cot(πx).
static Value digamma(Emitter &emit, Value x) {
  constexpr int kLift = 8;
  Value isNegative = isBelowZero(emit, x);
  Value y = emit.where(isNegative, affine(emit, x, -1, 1), x);
  Value isSmall = isBelow(emit, y, kLift);
  // The first term keeps the sign of a zero, which decides between infinities.
  Value sum = reciprocal(emit, y);
  for (int step = 1; step < kLift; ++step)
    sum = emit.add(sum, reciprocal(emit, affine(emit, y, 1, step)));
  Value z = emit.where(isSmall, affine(emit, y, 1, kLift), y);
  Value u = reciprocal(emit, emit.mul(z, z));
  Value series = emit.mul(
      u, polynomial(emit, u, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240}));
  Value result = emit.sub(
      emit.sub(logarithm(emit, z), emit.scaleBy(reciprocal(emit, z), 0.5)),
      series);
  result =
      emit.sub(result, emit.where(isSmall, sum, numberLike(emit, 0.0, sum)));

  Value distance = distanceToInteger(emit, x);
  Value angle = emit.scaleBy(distance, kPi);
  Value cotangent = emit.divide(cosine(emit, angle), sine(emit, angle));
  Value reflected = emit.sub(result, emit.scaleBy(cotangent, kPi));
  // torch has no value at the poles but the one at zero.
  reflected = emit.where(isEqual(emit, distance, 0), numberLike(emit, kNan, x),
                         reflected);
  return emit.where(isNegative, reflected, result);
}

/// Bernoulli numbers B2j over (2j)!, from j = 1 on.
static constexpr double kBernoulli[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240,
                                        -1.0 / 1209600, 1.0 / 47900160};

/// The sum over k >= 0 of (q + k)^-s, for q > 0: the first terms one by one,
/// the rest by the formula of Euler and Maclaurin.
static Value zetaPositive(Emitter &emit, Value s, Value q, int terms) {
  Value exponent = emit.negate(s);
  Value sum = emit.pow(q, exponent);
  for (int k = 1; k < terms; ++k)
    sum = emit.add(sum, emit.pow(affine(emit, q, 1, k), exponent));
  Value a = affine(emit, q, 1, terms);
  Value power = emit.pow(a, exponent);
  Value integral = emit.divide(emit.mul(power, a), affine(emit, s, 1, -1));
  sum = emit.add(emit.add(sum, integral), emit.scaleBy(power, 0.5));
  // s (s + 1) … (s + 2j - 2) a^(-s - 2j + 1)
  Value factor = emit.divide(emit.mul(s, power), a);
  Value square = emit.mul(a, a);
  for (auto [j, bernoulli] : llvm::enumerate(kBernoulli)) {
    sum = emit.add(sum, emit.scaleBy(factor, bernoulli));
    double step = 2.0 * static_cast<double>(j) + 1;
    factor =
        emit.divide(emit.mul(factor, emit.mul(affine(emit, s, 1, step),
                                              affine(emit, s, 1, step + 1))),
                    square);
  }
  return sum;
}

/// Coefficients of the n-th derivative of cot(πx) / π^n as a polynomial of
/// c = cot(πx): each derivative is -(1 + c²) times that by c.
static SmallVector<double> cotangentDerivative(int64_t n) {
  SmallVector<double> result = {0, 1};
  for (int64_t order = 0; order < n; ++order) {
    SmallVector<double> next(result.size() + 1, 0.0);
    for (size_t power = 1; power < result.size(); ++power) {
      double slope = result[power] * static_cast<double>(power);
      next[power - 1] -= slope;
      next[power + 1] -= slope;
    }
    result = next;
  }
  return result;
}

/// polygamma(n, self): the n-th derivative of digamma.
///
///   x > 0 : (-1)^(n+1) n! ζ(n + 1, x)
///   x < 0 : (-1)^n ψn(1 - x) - π dⁿ/dxⁿ cot(πx)
static Value lowerPolygamma(const AtenNode &node, Emitter &emit) {
  Value x = emit.cast(emit.tensor(node, "self"), emit.f32());
  Type element = emit.elementType(node.result().dtype);
  int64_t n = node.integer("n");
  if (n == 0)
    return emit.cast(digamma(emit, x), element);
  double sign = n % 2 == 0 ? 1 : -1;
  double factorial = std::tgamma(static_cast<double>(n) + 1);
  Value isNegative = isBelowZero(emit, x);
  Value y = emit.where(isNegative, affine(emit, x, -1, 1), x);
  // The series of the rest converges as long as s stays below q + terms.
  Value s = numberLike(emit, static_cast<double>(n) + 1, x);
  Value positive = emit.scaleBy(
      zetaPositive(emit, s, y, static_cast<int>(n) + 8), -sign * factorial);

  Value distance = distanceToInteger(emit, x);
  Value angle = emit.scaleBy(distance, kPi);
  Value cotangent =
      emit.where(isEqual(emit, distance, 0), numberLike(emit, kInfinity, x),
                 emit.divide(cosine(emit, angle), sine(emit, angle)));
  Value wave = emit.scaleBy(polynomial(emit, cotangent, cotangentDerivative(n)),
                            std::pow(kPi, static_cast<double>(n) + 1));
  Value reflected = emit.sub(emit.scaleBy(positive, sign), wave);
  return emit.cast(emit.where(isNegative, reflected, positive), element);
}

/// The Hurwitz zeta function: the sum over k >= 0 of (q + k)^-s.
///
/// A negative q is counted up to the first positive one term by term; then s
/// has to be an integer. Without a value: s < 1. Infinite: s = 1, and q = 0,
/// -1, …
static Value zeta(Emitter &emit, Value s, Value q) {
  Value zero = numberLike(emit, 0.0, q);
  // Every q has the shape of the result from here on.
  q = emit.add(q, emit.scaleBy(s, 0.0));
  Value isNegative = isBelowZero(emit, q);
  Value start = emit.where(isInfinite(emit, q), zero, q);
  Value none = emit.scaleBy(start, 0.0);
  Results lifted = loop(
      emit, {start, none},
      [&](ValueRange state) {
        Value below = emit.reshape(isBelowZero(emit, state[0]), {-1});
        // The appended place keeps the reduction from being empty.
        Value padded =
            emit.concat({below, emit.reshape(emit.scalar(false), {1})}, 0);
        return emit.reduce<coreai::AnyOp>(padded, {0}, /*keepDims=*/false);
      },
      [&](ValueRange state) {
        Value below = isBelowZero(emit, state[0]);
        Value term = emit.pow(state[0], emit.negate(s));
        return Results{
            emit.where(below, affine(emit, state[0], 1, 1), state[0]),
            emit.add(state[1], emit.where(below, term, zero))};
      });
  Value result = emit.add(lifted[1], zetaPositive(emit, s, lifted[0], 10));
  Value isWhole = emit.equal(s, floor(emit, s));
  result = emit.where(emit.logicalAnd(isNegative, emit.logicalNot(isWhole)),
                      numberLike(emit, kNan, s), result);
  Value isPole = emit.logicalAnd(emit.equal(q, floor(emit, q)),
                                 emit.logicalNot(isAbove(emit, q, 0)));
  Value infinity = numberLike(emit, kInfinity, s);
  result = emit.where(isPole, infinity, result);
  result = emit.where(isBelow(emit, s, 1), numberLike(emit, kNan, s), result);
  return emit.where(isEqual(emit, s, 1), infinity, result);
}

//===----------------------------------------------------------------------===//
// Incomplete integrals
//===----------------------------------------------------------------------===//

/// x^a e^-x / Γ(a + 1) of positive numbers.
///
/// For large a the three factors cancel almost completely. With x = a (1 + u)
/// what is left of them is a (ln(1 + u) - u), over Stirling's formula.
static Value integralScale(Emitter &emit, Value a, Value x) {
  Value small = emit.sub(emit.sub(emit.mul(a, logarithm(emit, x)), x),
                         logGammaPositive(emit, affine(emit, a, 1, 1)));
  Value u = emit.divide(emit.sub(x, a), a);
  Value large = emit.mul(a, emit.sub(logOnePlus(emit, u), u));
  large = emit.sub(large, emit.divide(stirlingRest(emit, a), a));
  large = emit.sub(
      large, emit.scaleBy(logarithm(emit, emit.scaleBy(a, 2 * kPi)), 0.5));
  return exponential(emit, emit.where(isAbove(emit, a, 8), large, small));
}

/// Terms beyond this add nothing in f32 unless a is in the millions.
static constexpr int kMostTerms = 2000;

/// Some element of the rank-n i1 `flags` is true; none of no elements is.
static Value anyOf(Emitter &emit, Value flags) {
  Value padded = emit.concat(
      {emit.reshape(flags, {-1}), emit.reshape(emit.scalar(false), {1})}, 0);
  return emit.reduce<coreai::AnyOp>(padded, {0}, /*keepDims=*/false);
}

/// The sum over k >= 0 of x^k / ((a + 1) … (a + k)), where `isWanted`; P(a, x)
/// is this times the scale.
static Value lowerSeries(Emitter &emit, Value a, Value x, Value isWanted) {
  Value one =
      emit.where(isWanted, numberLike(emit, 1.0, x), numberLike(emit, 0.0, x));
  Value ratio = emit.where(isWanted, x, numberLike(emit, 0.0, x));
  Results state = loop(
      emit, {emit.index(1), one, one},
      [&](ValueRange state) {
        Value goesOn = emit.greater(state[1], emit.scaleBy(state[2], 1e-8));
        return emit.logicalAnd(anyOf(emit, goesOn),
                               emit.greater(emit.index(kMostTerms), state[0]));
      },
      [&](ValueRange state) {
        Value divisor = emit.add(a, emit.cast(state[0], emit.f32()));
        Value term = emit.divide(emit.mul(state[1], ratio), divisor);
        return Results{emit.add(state[0], emit.index(1)), term,
                       emit.add(state[2], term)};
      });
  return state[2];
}

/// The continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - …)) by
/// Lentz's method, where `isWanted`; Q(a, x) is this times the scale and a.
static Value upperFraction(Emitter &emit, Value a, Value x, Value isWanted) {
  // Elsewhere the fraction of a = 1, x = 1, which ends at once.
  Value one = numberLike(emit, 1.0, x);
  a = emit.where(isWanted, a, one);
  x = emit.where(isWanted, x, one);
  Value b = emit.sub(affine(emit, x, 1, 1), a);
  Value d = reciprocal(emit, b);
  Value c = numberLike(emit, 1e30, x);
  c = emit.add(c, emit.scaleBy(b, 0.0));
  Results state = loop(
      emit, {emit.index(1), b, c, d, d, emit.scaleBy(b, 0.0)},
      [&](ValueRange state) {
        Value change = absolute(emit, affine(emit, state[5], 1, -1));
        return emit.logicalAnd(anyOf(emit, isAbove(emit, change, 1e-7)),
                               emit.greater(emit.index(kMostTerms), state[0]));
      },
      [&](ValueRange state) {
        Value step = emit.cast(state[0], emit.f32());
        Value weight = emit.mul(step, emit.sub(a, step));
        Value next = affine(emit, state[1], 1, 2);
        // Lentz: a vanishing denominator becomes a tiny one.
        auto guarded = [&](Value value) {
          return emit.where(isEqual(emit, value, 0),
                            numberLike(emit, 1e-30, value), value);
        };
        Value lower = reciprocal(
            emit, guarded(emit.add(emit.mul(weight, state[3]), next)));
        Value upper = guarded(emit.add(emit.divide(weight, state[2]), next));
        Value change = emit.mul(lower, upper);
        return Results{emit.add(state[0], emit.index(1)), next,  upper, lower,
                       emit.mul(state[4], change),        change};
      });
  return state[4];
}

/// igamma(a, x) and igammac(a, x): the regularized lower and upper incomplete
/// gamma functions P and Q = 1 - P. The series serves x <= a or x <= 1, the
/// continued fraction the rest.
template <bool isUpper>
static Value incompleteGamma(Emitter &emit, Value a, Value x) {
  Value zero = numberLike(emit, 0.0, x), one = numberLike(emit, 1.0, x);
  Value nan = numberLike(emit, kNan, x);
  // Both have the shape of the result from here on.
  Value spread =
      emit.mul(emit.scaleBy(emit.where(isInfinite(emit, a), one, a), 0.0),
               emit.scaleBy(emit.where(isInfinite(emit, x), one, x), 0.0));
  a = emit.add(a, spread);
  x = emit.add(x, spread);
  Value isOrdinary =
      emit.logicalAnd(emit.logicalAnd(isAbove(emit, a, 0), isAbove(emit, x, 0)),
                      emit.logicalNot(emit.logicalOr(isInfinite(emit, a),
                                                     isInfinite(emit, x))));
  Value safeA = emit.where(isOrdinary, a, one);
  Value safeX = emit.where(isOrdinary, x, one);
  Value usesFraction =
      emit.logicalAnd(emit.greater(safeX, safeA), isAbove(emit, safeX, 1));
  Value scale = integralScale(emit, safeA, safeX);
  Value lower = emit.mul(
      scale, lowerSeries(emit, safeA, safeX, emit.logicalNot(usesFraction)));
  Value upper = emit.mul(emit.mul(scale, safeA),
                         upperFraction(emit, safeA, safeX, usesFraction));
  Value result =
      isUpper ? emit.where(usesFraction, upper, affine(emit, lower, -1, 1))
              : emit.where(usesFraction, affine(emit, upper, -1, 1), lower);

  // What P is where it is not computed: 0 at x = 0 or a = inf, 1 at x = inf or
  // a = 0.
  Value atZero = isUpper ? one : zero, atInfinity = isUpper ? zero : one;
  Value isZeroX = isEqual(emit, x, 0), isZeroA = isEqual(emit, a, 0);
  Value isInfiniteX = isEqual(emit, x, kInfinity);
  Value isInfiniteA = isEqual(emit, a, kInfinity);
  result = emit.where(isInfiniteX, atInfinity, result);
  result =
      emit.where(isInfiniteA, emit.where(isInfiniteX, nan, atZero), result);
  result = emit.where(isZeroX, atZero, result);
  result = emit.where(isZeroA, emit.where(isAbove(emit, x, 0), atInfinity, nan),
                      result);
  Value isOutside = emit.logicalOr(isBelowZero(emit, a), isBelowZero(emit, x));
  isOutside =
      emit.logicalOr(isOutside, emit.logicalOr(isNan(emit, a), isNan(emit, x)));
  return emit.where(isOutside, nan, result);
}

llvm::ArrayRef<TableEntry> corten::loweringsGamma() {
#define IN_Gamma ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
