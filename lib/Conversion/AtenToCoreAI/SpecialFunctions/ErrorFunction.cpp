// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error function's complements, its inverse, and the normal distribution.

#include "SpecialFunctions/SpecialFunctions.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cmath>
#include <numbers>

using namespace corten;
using namespace mlir;

static constexpr double kRootHalf = 1 / std::numbers::sqrt2;

/// erfcx(x) = e^x² erfc(x) of x >= 0.
///
/// (1 + 2x) erfcx(x) is a polynomial of t = (x - 2) / (x + 2), here written so
/// that infinity gives 1.
static Value scaledComplement(Emitter &emit, Value x) {
  Value t = affine(emit, reciprocal(emit, affine(emit, x, 1, 2)), -4, 1);
  Value scaled = polynomial(
      emit, t,
      {1.276978391, -0.09276376277, -0.1660310957, 0.1640494541, -0.05421195849,
       -0.008018963079, 0.008689159658, 0.001217410592, -0.001395706946,
       -0.0003579204478, 0.0001608035817, 6.336945838e-5});
  return emit.divide(scaled, affine(emit, x, 2, 1));
}

/// e^-x² of x >= 0.
///
/// x = h + l with h a multiple of 1/16, whose square is exact: rounding x²
/// itself would cost the result as many digits as x² has before the point.
static Value gaussian(Emitter &emit, Value x) {
  Value high = emit.scaleBy(
      emit.create<coreai::RoundOp>({emit.scaleBy(x, 16.0)}), 1.0 / 16);
  Value rest = emit.mul(emit.sub(x, high), emit.add(x, high));
  return emit.mul(exponential(emit, emit.negate(emit.mul(high, high))),
                  exponential(emit, emit.negate(rest)));
}

/// 1 - erf(x), with all digits for large x.
static Value complement(Emitter &emit, Value x) {
  // Beyond 10.1 it vanishes in f32; the limit keeps infinity out of `gaussian`.
  Value magnitude = emit.minimum(absolute(emit, x), numberLike(emit, 12.0, x));
  Value upper =
      emit.mul(scaledComplement(emit, magnitude), gaussian(emit, magnitude));
  return emit.where(isBelowZero(emit, x), affine(emit, upper, -1, 2), upper);
}

static Value erfcx(Emitter &emit, Value x) {
  Value upper = scaledComplement(emit, absolute(emit, x));
  Value growth = emit.scaleBy(exponential(emit, emit.mul(x, x)), 2.0);
  return emit.where(isBelowZero(emit, x), emit.sub(growth, upper), upper);
}

/// The inverse of erf at x, given w = -ln(1 - x²); after M. Giles,
/// "Approximating the erfinv function".
static Value inverseAt(Emitter &emit, Value x, Value w) {
  Value central = polynomial(emit, affine(emit, w, 1, -2.5),
                             {1.50140941, 0.246640727, -0.00417768164,
                              -0.00125372503, 0.00021858087, -4.39150654e-06,
                              -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  Value tail = polynomial(emit, affine(emit, squareRoot(emit, w), 1, -3),
                          {2.83297682, 1.00167406, 0.00943887047, -0.0076224613,
                           0.00573950773, -0.00367342844, 0.00134934322,
                           0.000100950558, -0.000200214257});
  Value result = emit.mul(emit.where(isAbove(emit, w, 5), tail, central), x);
  return emit.where(isEqual(emit, w, kInfinity), emit.scaleBy(x, kInfinity),
                    result);
}

static Value inverse(Emitter &emit, Value x) {
  Value product = emit.mul(affine(emit, x, -1, 1), affine(emit, x, 1, 1));
  return inverseAt(emit, x, emit.negate(logarithm(emit, product)));
}

/// log_ndtr(x) = ln(erfc(-x / √2) / 2), which vanishes below -14 in f32 unless
/// its exponential is taken out.
static Value logNormal(Emitter &emit, Value x) {
  Value z = emit.scaleBy(x, kRootHalf);
  Value lower =
      emit.sub(logarithm(emit, emit.scaleBy(erfcx(emit, emit.negate(z)), 0.5)),
               emit.mul(z, z));
  Value upper = logOnePlus(emit, emit.scaleBy(complement(emit, z), -0.5));
  return emit.where(isBelow(emit, x, -1), lower, upper);
}

/// ndtri(p) below `kTail`: Newton's method for log_ndtr(x) = ln p, from
///
///   x² = -2 ln p - ln(-2 ln p) - ln 2π.
///
/// The slope, the density over the probability, is nearly |x| + 1/|x| there.
static Value normalQuantileOfTail(Emitter &emit, Value p) {
  Value logP = logarithm(emit, p);
  Value t = emit.scaleBy(logP, -2.0);
  Value square = affine(emit, emit.sub(t, logarithm(emit, t)), 1,
                        -std::log(2 * std::numbers::pi));
  Value x = emit.negate(emit.create<coreai::SqrtOp>({square}));
  for (int step = 0; step < 2; ++step) {
    Value distance = emit.negate(x);
    Value slope =
        emit.add(distance, emit.divide(numberLike(emit, 1.0, x), distance));
    x = emit.sub(x, emit.divide(emit.sub(logNormal(emit, x), logP), slope));
  }
  return x;
}

/// ndtri(p): the inverse of the normal distribution.
///
/// √2 erfinv(2p - 1), where 1 - (2p - 1)² = 4p (1 - p) keeps the digits of a
/// small p. The polynomials of erfinv end where f32 cannot tell 2p - 1 from -1.
static Value normalQuantile(Emitter &emit, Value p) {
  constexpr double kTail = 1e-6;
  Value product = emit.scaleBy(emit.mul(p, affine(emit, p, -1, 1)), 4.0);
  Value w = emit.negate(logarithm(emit, product));
  Value central = emit.scaleBy(inverseAt(emit, affine(emit, p, 2, -1), w),
                               std::numbers::sqrt2);
  Value isTail = emit.logicalAnd(isBelow(emit, p, kTail),
                                 emit.greater(p, numberLike(emit, 0.0, p)));
  Value inTail = emit.where(isTail, p, numberLike(emit, kTail, p));
  return emit.where(isTail, normalQuantileOfTail(emit, inTail), central);
}

llvm::ArrayRef<TableEntry> corten::loweringsErrorFunction() {
#define IN_ErrorFunction ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
