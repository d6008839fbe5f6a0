// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bessel functions of order 0 and 1, and Airy's function.

#include "SpecialFunctions/SpecialFunctions.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <numbers>

using namespace corten;
using namespace mlir;

static Value inverseRoot(Emitter &emit, Value x) {
  return emit.create<coreai::RsqrtOp>({x});
}

//===----------------------------------------------------------------------===//
// Modified functions
//===----------------------------------------------------------------------===//

/// e^-x I0(x) of x >= 0: t = x/4 - 1 up to 8, then t = 16/x - 1.
static Value scaledI0(Emitter &emit, Value x) {
  Value small =
      polynomial(emit, affine(emit, x, 0.25, -1),
                 {0.2070019238, -0.1130043364, 0.09451521631, -0.08904287536,
                  0.08735429559, -0.08497324396, 0.07916500427, -0.0694632888,
                  0.05733398345, -0.04331789301, 0.02860796226, -0.01885735484,
                  0.01452830177, -0.008018236782, 0.001227721405,
                  -0.0007548949905, 0.001981479329, -0.0008519843905});
  Value large = polynomial(emit, affine(emit, reciprocal(emit, x), 16, -1),
                           {0.4021765128, 0.0033605557, 0.0001361560321,
                            1.111214829e-5, 1.639134872e-6, 3.626670385e-7});
  return emit.where(isAbove(emit, x, 8), emit.mul(large, inverseRoot(emit, x)),
                    small);
}

/// e^-x I1(x) of x >= 0.
static Value scaledI1(Emitter &emit, Value x) {
  Value small =
      polynomial(emit, affine(emit, x, 0.25, -1),
                 {0.04468771023, -0.06112430717, 0.06805754345, -0.06848407319,
                  0.06376889553, -0.05525975282, 0.04465943708, -0.0337968025,
                  0.02376264204, -0.01516256889, 0.009367400356,
                  -0.006281605661, 0.003361420373, -0.0007787034917,
                  0.0004114421938, -0.0007282784877, 0.0003074142171});
  Value large = polynomial(emit, affine(emit, reciprocal(emit, x), 16, -1),
                           {0.3893984552, -0.00974958137, -0.0002191680885,
                            -1.500396547e-5, -2.00978899e-6, -4.210350155e-7});
  return emit.where(isAbove(emit, x, 8), emit.mul(large, inverseRoot(emit, x)),
                    emit.mul(small, x));
}

static Value withSignOf(Emitter &emit, Value magnitude, Value x) {
  return emit.where(isBelowZero(emit, x), emit.negate(magnitude), magnitude);
}

static Value i0e(Emitter &emit, Value x) {
  return scaledI0(emit, absolute(emit, x));
}

static Value i1e(Emitter &emit, Value x) {
  return withSignOf(emit, scaledI1(emit, absolute(emit, x)), x);
}

/// scaled · e^|x|; an infinite x has the exponential's infinity, not 0 · inf.
static Value unscaled(Emitter &emit, Value scaled, Value magnitude) {
  return emit.where(isEqual(emit, magnitude, kInfinity), magnitude,
                    emit.mul(scaled, exponential(emit, magnitude)));
}

static Value i0(Emitter &emit, Value x) {
  Value magnitude = absolute(emit, x);
  return unscaled(emit, scaledI0(emit, magnitude), magnitude);
}

static Value i1(Emitter &emit, Value x) {
  Value magnitude = absolute(emit, x);
  return withSignOf(emit, unscaled(emit, scaledI1(emit, magnitude), magnitude),
                    x);
}

/// Infinite at 0 and without a value below it.
static Value withPoleAtZero(Emitter &emit, Value result, Value x, double pole) {
  result = emit.where(isEqual(emit, x, 0), numberLike(emit, pole, x), result);
  return emit.where(isBelowZero(emit, x), numberLike(emit, kNan, x), result);
}

namespace {
enum class Scaling { None, Exponential };
} // namespace

/// Joins the two branches of K0 or K1 at 2: `small` is the function itself,
/// `large` is √x e^x times it.
static Value joinK(Emitter &emit, Value x, Value small, Value large,
                   Scaling scaling) {
  large = emit.mul(large, inverseRoot(emit, x));
  if (scaling == Scaling::None)
    large = emit.mul(large, exponential(emit, emit.negate(x)));
  else
    small = emit.mul(small, exponential(emit, x));
  Value result = emit.where(isAbove(emit, x, 2), large, small);
  return withPoleAtZero(emit, result, x, kInfinity);
}

/// K0(x) = p(x²) - ln(x/2) I0(x) up to 2.
template <Scaling scaling> static Value k0(Emitter &emit, Value x) {
  Value t = affine(emit, emit.mul(x, x), 0.5, -1);
  Value regular = polynomial(emit, t,
                             {-0.303620771, 0.3404973211, 0.07177697606,
                              0.005053392064, 0.0001828969682, 4.055665726e-6});
  Value small = emit.sub(
      regular, emit.mul(logarithm(emit, emit.scaleBy(x, 0.5)), i0(emit, x)));
  Value large = polynomial(emit, affine(emit, reciprocal(emit, x), 4, -1),
                           {1.21859533, -0.03107144737, 0.003033149526,
                            -0.0004799567472, 9.831780428e-5, -2.408833968e-5,
                            8.853803646e-6, -2.982713535e-6});
  return joinK(emit, x, small, large, scaling);
}

/// K1(x) = p(x²)/x + ln(x/2) I1(x) up to 2.
template <Scaling scaling> static Value k1(Emitter &emit, Value x) {
  Value t = affine(emit, emit.mul(x, x), 0.5, -1);
  Value regular =
      polynomial(emit, t,
                 {0.8850882877, -0.3322409562, -0.2438385289, -0.02785422732,
                  -0.00138316874, -3.893449827e-5, -7.082840418e-7});
  Value small =
      emit.add(emit.divide(regular, x),
               emit.mul(logarithm(emit, emit.scaleBy(x, 0.5)), i1(emit, x)));
  Value large = polynomial(emit, affine(emit, reciprocal(emit, x), 4, -1),
                           {1.3631519, 0.1033497206, -0.00556704141,
                            0.000735947382, -0.000138086427, 3.207374494e-5,
                            -1.120627393e-5, 3.67429384e-6});
  return joinK(emit, x, small, large, scaling);
}

//===----------------------------------------------------------------------===//
// Oscillating functions
//===----------------------------------------------------------------------===//

namespace {
enum class Kind { First, Second };

/// J or Y of x > 5: √(2/πx) (P cos χ - Q sin χ) or √(2/πx) (P sin χ + Q cos χ)
/// with χ = x - phase; P and xQ are polynomials of t = 50/x² - 1.
struct Wave {
  double phase;
  ArrayRef<double> p, xq;
};
} // namespace

static Value evaluate(Emitter &emit, Value x, const Wave &wave, Kind kind) {
  Value inverse = reciprocal(emit, x);
  Value t = affine(emit, emit.mul(inverse, inverse), 50, -1);
  Value p = polynomial(emit, t, wave.p);
  Value q = emit.mul(polynomial(emit, t, wave.xq), inverse);
  Value angle = affine(emit, x, 1, -wave.phase);
  Value cos = cosine(emit, angle), sin = sine(emit, angle);
  Value sum = kind == Kind::First
                  ? emit.sub(emit.mul(p, cos), emit.mul(q, sin))
                  : emit.add(emit.mul(p, sin), emit.mul(q, cos));
  return emit.mul(sum, squareRoot(emit, emit.scaleBy(inverse, 2 / kPi)));
}

static Wave waveOfOrder0() {
  static constexpr double p[] = {0.9986347663, -0.001327475811, 3.491020498e-5,
                                 -2.527746847e-6, 3.15906047e-7};
  static constexpr double xq[] = {-0.1236149653,   0.001314215842,
                                  -6.335651925e-5, 6.224576627e-6,
                                  -1.019463179e-6, 2.162085242e-7};
  return {kPi / 4, p, xq};
}

static Wave waveOfOrder1() {
  static constexpr double p[] = {1.002290646, 0.002241443541, -4.577486291e-5,
                                 3.055672693e-6, -3.671748186e-7};
  static constexpr double xq[] = {0.3730474351,   -0.001864851677,
                                  7.894693583e-5, -7.353943383e-6,
                                  1.167053209e-6, -2.429343783e-7};
  return {3 * kPi / 4, p, xq};
}

/// t = 2x²/25 - 1, for the polynomials up to 5.
static Value nearZero(Emitter &emit, Value x) {
  return affine(emit, emit.mul(x, x), 2.0 / 25, -1);
}

static Value j0Near(Emitter &emit, Value x) {
  return polynomial(emit, nearZero(emit, x),
                    {-0.3847445098, -0.2165054084, 0.709416003, -0.3601808398,
                     0.0853918275, -0.01203494845, 0.001134352428,
                     -7.718846119e-5, 3.941169372e-6});
}

static Value j1Near(Emitter &emit, Value x) {
  return emit.mul(x, polynomial(emit, nearZero(emit, x),
                                {0.03464086445, -0.2270131208, 0.1728868244,
                                 -0.05465077087, 0.009627887839, -0.00108897529,
                                 8.650781029e-5, -5.046724434e-6}));
}

static Value j0(Emitter &emit, Value x) {
  x = absolute(emit, x);
  return emit.where(isAbove(emit, x, 5),
                    evaluate(emit, x, waveOfOrder0(), Kind::First),
                    j0Near(emit, x));
}

static Value j1(Emitter &emit, Value x) {
  Value magnitude = absolute(emit, x);
  Value result =
      emit.where(isAbove(emit, magnitude, 5),
                 evaluate(emit, magnitude, waveOfOrder1(), Kind::First),
                 j1Near(emit, magnitude));
  return withSignOf(emit, result, x);
}

/// Y0(x) = p(x²) + 2/π ln(x) J0(x) up to 5.
static Value y0(Emitter &emit, Value x) {
  Value regular = polynomial(
      emit, nearZero(emit, x),
      {0.4837248578, -0.4326558326, -0.4705763646, 0.3885165365, -0.1115168294,
       0.0176348527, -0.001802788373, 0.0001306029034, -7.009831718e-6});
  Value log = emit.scaleBy(logarithm(emit, x), 2 / kPi);
  Value near = emit.add(regular, emit.mul(log, j0Near(emit, x)));
  Value result =
      emit.where(isAbove(emit, x, 5),
                 evaluate(emit, x, waveOfOrder0(), Kind::Second), near);
  return withPoleAtZero(emit, result, x, -kInfinity);
}

/// Y1(x) = x p(x²) + 2/π (ln(x) J1(x) - 1/x) up to 5.
static Value y1(Emitter &emit, Value x) {
  Value regular = emit.mul(
      x, polynomial(emit, nearZero(emit, x),
                    {0.1397493903, 0.09108650785, -0.1631202035, 0.06634696073,
                     -0.0134334341, 0.001668777293, -0.0001414173503,
                     8.767537709e-6, -4.125291223e-7}));
  Value singular = emit.sub(emit.mul(logarithm(emit, x), j1Near(emit, x)),
                            reciprocal(emit, x));
  Value near = emit.add(regular, emit.scaleBy(singular, 2 / kPi));
  Value result =
      emit.where(isAbove(emit, x, 5),
                 evaluate(emit, x, waveOfOrder1(), Kind::Second), near);
  return withPoleAtZero(emit, result, x, -kInfinity);
}

/// sin(x) / x; 1 at 0 and 0 at infinity.
static Value sphericalJ0(Emitter &emit, Value x) {
  Value one = numberLike(emit, 1.0, x);
  Value isZero = isEqual(emit, x, 0);
  Value ratio = emit.divide(sine(emit, x), emit.where(isZero, one, x));
  ratio = emit.where(isZero, one, ratio);
  return emit.where(isInfinite(emit, x), numberLike(emit, 0.0, x), ratio);
}

//===----------------------------------------------------------------------===//
// Airy's function
//===----------------------------------------------------------------------===//

/// Ai(x): a polynomial of x / 2.5 between -2.5 and 2.5; beyond, waves or decay
/// with z = 2/3 |x|^(3/2).
static Value airyAi(Emitter &emit, Value x) {
  constexpr double kZ = 2.635231383473649; // z at 2.5
  Value near =
      polynomial(emit, emit.scaleBy(x, 0.4),
                 {0.3550280542, -0.6470484959, -5.100555244e-8, 0.9245515776,
                  -0.8425097151, 8.909861494e-6, 0.4815235402, -0.3134890261,
                  7.280925917e-5, 0.1046775458, -0.05462761724,
                  -0.0003183367115, 0.01273343301, -0.005139464405,
                  -0.0003655091608, 0.0007827861639, -0.0001545166296});
  Value magnitude = absolute(emit, x);
  Value root = squareRoot(emit, magnitude);
  Value z = emit.scaleBy(emit.mul(magnitude, root), 2.0 / 3);
  Value inverse = reciprocal(emit, z);
  Value fourthRoot = inverseRoot(emit, root);
  Value decay = polynomial(emit, affine(emit, inverse, 2 * kZ, -1),
                           {0.9879561392, -0.01107495737, 0.0008368487414,
                            -0.0001077867579, 1.863349212e-5, -4.48152378e-6,
                            1.146796263e-6});
  decay = emit.mul(emit.mul(decay, fourthRoot),
                   emit.scaleBy(exponential(emit, emit.negate(z)),
                                0.5 * std::numbers::inv_sqrtpi));
  Value t = affine(emit, emit.mul(inverse, inverse), 2 * kZ * kZ, -1);
  Value f = polynomial(emit, t,
                       {0.9975572902, -0.002257416019, 0.0001531237725,
                        -2.349353816e-5, 5.377444501e-6, -2.326674862e-6,
                        9.623845068e-7});
  Value g = emit.mul(
      inverse, polynomial(emit, t,
                          {0.06712860357, -0.002006813454, 0.0002370832592,
                           -4.926397359e-5, 1.428538954e-5, -5.138215497e-6,
                           1.298901205e-6, -3.234846174e-7, 1.004593936e-6,
                           -6.283031709e-7}));
  Value angle = affine(emit, z, 1, kPi / 4);
  Value waves = emit.sub(emit.mul(f, sine(emit, angle)),
                         emit.mul(g, cosine(emit, angle)));
  waves = emit.scaleBy(emit.mul(waves, fourthRoot), std::numbers::inv_sqrtpi);
  Value far = emit.where(isBelowZero(emit, x), waves, decay);
  Value result = emit.where(isAbove(emit, magnitude, 2.5), far, near);
  return emit.where(isInfinite(emit, x), numberLike(emit, kNan, x), result);
}

llvm::ArrayRef<TableEntry> corten::loweringsBessel() {
#define IN_Bessel ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
