// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of vectors. Polynomials are minimax approximations of our own
// (scripts/polynomials.py makes them). How far results are off is measured over
// all of f32 in VectorMathTest: up to 2 units in the last place for exp, log,
// sigmoid, tanh and erf, up to 5 for gelu, up to 4 for the others. NaN,
// infinities, zeros and subnormals are as in the portable kernels.

#ifndef CORTEN_RUNTIME_LIB_MATH_H
#define CORTEN_RUNTIME_LIB_MATH_H

#include "Simd.h"

#include <math.h>

namespace corten::runtime::CORTEN_LEVEL {

/// c0 + c1 x + c2 x^2 and so on.
template <typename V, typename... Rest>
inline V polynomial(V x, auto first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return splat(first);
  else
    return fma(polynomial(x, rest...), x, first);
}

//===----------------------------------------------------------------------===//
// In f32
//===----------------------------------------------------------------------===//

inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693147182f;
inline constexpr float kLn2Low = -1.90465421e-9f;

/// x as n ln 2 + rest, of a whole n. Of numbers whose exponential is a float.
struct Powers {
  F n;
  F rest;
};
inline Powers powersOf(F x) {
  F n = round<kToNearest>(x * kLog2E);
  F rest = fma(n, splat(-kLn2High), x);
  return {n, fma(n, splat(-kLn2Low), rest)};
}
/// (e^r - 1 - r) / r^2 of such a rest.
inline F expRest(F r) {
  return polynomial(r, 0.4999999345f, 0.1666652063f, 0.04166838758f,
                    0.008368716736f, 0.001381462715f);
}
/// e^r 2^n times 2^64, for what is to be multiplied with it before it becomes
/// too small for a normal number.
inline F raisedExp(F r, F n) {
  return scaleBy(fma(r * r, expRest(r), r) + 1.0f, n + 64.0f);
}

inline F exp(F x) {
  // Beyond these it is infinite or 0 anyway; NaN stays.
  x = smaller(splat(89.0f), larger(splat(-130.0f), x));
  auto [n, r] = powersOf(x);
  // 1 + r is rounded; what that was is added to the rest, which is small.
  F sum = r + 1.0f;
  F y = sum + fma(r * r, expRest(r), r - (sum - 1.0f));
#ifdef __AVX512F__
  return scaleBy(y, n);
#else
  // Each of these is a float also where their product is none.
  F half = round<kDown>(n * 0.5f);
  return scaleBy(scaleBy(y, half), n - half);
#endif
}

inline F log(F x) {
  constexpr int32_t kSqrtHalf = 0x3f3504f3;
  I isSmall = x < 0x1p-126f;
  F scaled = isSmall ? x * 0x1p25f : x;
  // x = m * 2^n with m between the roots of 1/2 and 2.
  I bits = I(scaled) - kSqrtHalf;
  F n = toFloat((bits >> 23) - (isSmall & 25));
  F f = F((bits & 0x7fffff) + kSqrtHalf) - 1.0f;
  F square = f * f;
  F p =
      polynomial(f, 0.3333333168f, -0.2500082106f, 0.200012283f, -0.1662335778f,
                 0.1420173098f, -0.1316015139f, 0.1276173599f, -0.07634765384f);
  F y = fma(n, splat(kLn2Low), square * f * p);
  y = fma(square, splat(-0.5f), y);
  y = fma(n, splat(kLn2High), f + y);
  F infinity = splat(__builtin_inff());
  y = x == infinity ? infinity : y;
  y = x == 0.0f ? -infinity : y;
  return I(x >= 0.0f) ? y : splat(__builtin_nanf(""));
}

inline F sigmoid(F x) {
  // Of the negative magnitude: nothing overflows, and small results are exact.
  F e = exp(-abs(x));
  I isNegative = x < 0.0f;
  F sum = e + 1.0f;
  F y = (isNegative ? e : splat(1.0f)) / sum;
  // The sum was rounded; its inverse is y, or what y lacks of 1.
  return fma(y * (sum - 1.0f - e), isNegative ? 1.0f - y : y, y);
}

/// x / (1 + e^-y), of y with the sign of x, if -|y| is n ln 2 + r.
inline F gatedBy(F x, F y, F r, F n) {
  F e = raisedExp(r, n);
  F result = x / fma(e, splat(0x1p-64f), 1.0f);
  return I(y < 0.0f) ? result * e * 0x1p-64f : result;
}
/// Whose exponential is 0, raised or not.
inline constexpr float kGateZero = -300.0f;

inline F silu(F x) {
  auto [n, r] = powersOf(larger(splat(kGateZero), -abs(x)));
  return gatedBy(x, x, r, n);
}

/// The same of y + tail; `tail` is what y was rounded off.
inline F gated(F x, F y, F tail) {
  auto [n, r] = powersOf(larger(splat(kGateZero), -abs(y)));
  // What is beyond the range of exponentials has none.
  tail = I(abs(y) < 130.0f) ? tail : F{};
  return gatedBy(x, y, r + (I(y < 0.0f) ? tail : -tail), n);
}

inline F tanh(F x) {
  F t = abs(x);
  F square = x * x;
  F p = polynomial(square, -0.3333328195f, 0.1333144222f, -0.05373971391f,
                   0.02063907846f, -0.005704974394f);
  F small = fma(square * x, p, x);
  F large = 1.0f - 2.0f / (exp(smaller(splat(20.0f), t + t)) + 1.0f);
  return withSign(I(t < 0.625f) ? small : large, x);
}

/// erfc(t / sqrt 2) e^(t^2 / 2) of 0 to 14.6.
inline F scaledErfc(F t) {
  F inverse = 1.0f / (t + 2.0f);
  // (t - 2) / (t + 2)
  F q = fma(inverse, splat(-4.0f), 1.0f);
  return inverse * polynomial(q, 1.344815986f, -0.6628091342f, 0.05759680033f,
                              0.07344332133f, -0.0009664479968f,
                              -0.01350398732f, -0.003781431395f, 0.00177048518f,
                              0.001449353449f, 5.983128033e-5f,
                              -0.0001537907652f);
}

inline F erf(F x) {
  F t = smaller(splat(10.0f), abs(x));
  F square = x * x;
  // Of what there is besides x: little of it is rounded.
  F p = polynomial(square, 0.128379167f, -0.3761262622f, 0.1128358827f,
                   -0.02685391718f, 0.005188500945f, -0.0008011565616f,
                   7.858046707e-5f);
  F scaled = t * 1.41421356f;
  F large = 1.0f - scaledErfc(scaled) * exp(-(t * t));
  return I(t < 1.0f) ? fma(x, p, x) : withSign(large, x);
}

/// x times the share of a normal distribution that is below x.
inline F gelu(F x) {
  F t = smaller(splat(14.5f), abs(x));
  F square = t * t;
  auto [n, r] = powersOf(square * -0.5f);
  // What the square was rounded off.
  r = fma(fma(t, t, -square), splat(-0.5f), r);
  F e = I(t < 14.5f) ? raisedExp(r, n) : F{};
  // The share that is beyond t, times 2^65.
  F beyond = e * scaledErfc(t);
  return I(x < 0.0f) ? x * beyond * 0x1p-65f
                     : x * fma(beyond, splat(-0x1p-65f), 1.0f);
}

inline F geluSigmoid(F x) {
  constexpr double kFactor = 1.702;
  constexpr float kHigh = float(kFactor);
  F y = x * kHigh;
  F tail = fma(x, splat(kHigh), -y) + x * float(kFactor - kHigh);
  return gated(x, y, tail);
}

/// x / 2 (1 + tanh y) is x / (1 + e^-2y), with
/// y = sqrt(2 / pi) (x + 0.044715 x^3).
inline F geluTanh(F x) {
  constexpr double kFactor = 2 * 0.79788456080286535588;
  constexpr double kCube = kFactor * 0.044715;
  constexpr float kFactorHigh = float(kFactor);
  constexpr float kCubeHigh = float(kCube);
  F square = x * x;
  F squareTail = fma(x, x, -square);
  F cube = square * kCubeHigh;
  F cubeTail = fma(square, splat(kCubeHigh), -cube);
  // Of either of which may be the larger.
  F sum = cube + kFactorHigh;
  F added = sum - cube;
  F sumTail = (cube - (sum - added)) + (kFactorHigh - added) + cubeTail;
  sumTail = fma(square, splat(float(kCube - kCubeHigh)), sumTail);
  sumTail =
      fma(squareTail, splat(kCubeHigh), sumTail) + float(kFactor - kFactorHigh);
  F y = x * sum;
  F tail = fma(x, sum, -y) + x * sumTail;
  return gated(x, y, tail);
}

//===----------------------------------------------------------------------===//
// In double, which costs twice as much, and is right to the last bit but for
// the rounding.
//===----------------------------------------------------------------------===//

inline constexpr double kHalfPi = 1.57079632679489661923;

template <typename Function> inline F inDouble(F x, Function &&function) {
  return join(function(firstHalf(x)), function(secondHalf(x)));
}

inline D expD(D x) {
  x = smaller(splat(700.0), larger(splat(-700.0), x));
  D n = round<kToNearest>(x * 1.44269504088896340736);
  D r = fma(n, splat(-0.69314718055994528623), x);
  r = fma(n, splat(-2.3190468138462995584e-17), r);
  D p = polynomial(r, 0.49999999999664357, 0.16666666667265197,
                   0.041666666962229451, 0.0083333330951485781,
                   0.0013888811145506366, 0.00019841538976302219,
                   2.4880809814470749e-5, 2.7493120246435873e-6);
  D y = fma(r * r, p, r) + 1.0;
  // The lowest bits of a number that large are those of a whole number.
  L power = (L(n + 0x1.8p52) + 1023) << 52;
  return y * D(power);
}

/// Of normal numbers, zeros, infinities and NaN, as floats have them.
inline D logD(D x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  // Never negative: the shift, and the way to a double, are those of AVX2.
  UL bits = UL(x) - kSqrtHalf + (uint64_t(1023) << 52);
  D n = D((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
  D m = D((bits & ((uint64_t(1) << 52) - 1)) + kSqrtHalf);
  D f = (m - 1.0) / (m + 1.0);
  D square = f * f;
  D p = polynomial(square, 0.99999999999997324, 0.33333333339851152,
                   0.19999997428951949, 0.14286084704537553,
                   0.11087060991354648, 0.098049249429814101);
  D y = fma(n, splat(0.69314718055994530942), 2.0 * f * p);
  D infinity = splat(__builtin_inf());
  y = x == infinity ? infinity : y;
  y = x == 0.0 ? -infinity : y;
  return L(x >= 0.0) ? y : splat(__builtin_nan(""));
}

/// The remainder by pi/2, nearest to 0, and how often that was taken, in the
/// lowest bits. Of numbers up to 2^30.
struct Quarters {
  D rest;
  L count;
};
inline Quarters quartersOf(D x) {
  D shifted = fma(x, splat(1 / kHalfPi), 0x1.8p52);
  D n = shifted - 0x1.8p52;
  D rest = fma(n, splat(-kHalfPi), x);
  return {fma(n, splat(-6.1232339957367658861e-17), rest), L(shifted)};
}

inline D sinOfRest(D r) {
  D square = r * r;
  D p = polynomial(square, -0.16666666640591376, 0.00833332928070024,
                   -0.00019839304437643886, 2.7180464964718836e-6);
  return fma(square * r, p, r);
}
inline D cosOfRest(D r) {
  D square = r * r;
  D p = polynomial(square, 0.04166666661910525, -0.0013888883467156794,
                   2.4799451528566315e-5, -2.7205044737288705e-7);
  return fma(square * square, p, fma(square, splat(-0.5), 1.0));
}

/// The sine of x + quarters * pi/2.
inline D sinD(D x, int64_t quarters) {
  Quarters parts = quartersOf(x);
  L count = parts.count + quarters;
  D y = L((count & 1) == 0) ? sinOfRest(parts.rest) : cosOfRest(parts.rest);
  return D(L(y) ^ ((count & 2) << 62));
}
inline D tanD(D x) {
  Quarters parts = quartersOf(x);
  D s = sinOfRest(parts.rest);
  D c = cosOfRest(parts.rest);
  L isEven = (parts.count & 1) == 0;
  return (isEven ? s : -c) / (isEven ? c : s);
}

/// `fast` of the numbers for which it is right, and a function of the C library
/// for those that are too large for it, and for infinities.
template <typename Fast>
inline F periodic(F x, Fast &&fast, double (*exact)(double)) {
  F y = inDouble(x, fast);
  I isFar = ~I(abs(x) < 0x1p30f);
  if (!any(isFar)) [[likely]]
    return y;
  for (int i = 0; i != kWidth; ++i)
    if (isFar[i])
      y[i] = float(exact(double(x[i])));
  return y;
}

inline F sin(F x) {
  F y = periodic(x, [](D half) { return sinD(half, 0); }, ::sin);
  return I(x == 0.0f) ? x : y;
}
inline F cos(F x) {
  return periodic(x, [](D half) { return sinD(half, 1); }, ::cos);
}
inline F tan(F x) {
  F y = periodic(x, [](D half) { return tanD(half); }, ::tan);
  return I(x == 0.0f) ? x : y;
}

inline D atanD(D x) {
  D t = abs(x);
  L isLarge = t > 1.0;
  t = isLarge ? 1.0 / t : t;
  L isMiddle = t > 0.4142135623730950488;
  t = isMiddle ? (t - 1.0) / (t + 1.0) : t;
  D square = t * t;
  D p = polynomial(square, -0.33333332489752172, 0.19999903028395542,
                   -0.14281981294498185, 0.11044348006005561,
                   -0.084742631161163435, 0.047397263198756191);
  D y = fma(square * t, p, t);
  y = isMiddle ? y + kHalfPi / 2 : y;
  y = isLarge ? kHalfPi - y : y;
  return withSign(y, x);
}

inline F atan(F x) {
  return inDouble(x, [](D half) { return atanD(half); });
}
inline F asin(F x) {
  return inDouble(x, [](D half) {
    return atanD(half / sqrt((1.0 - half) * (1.0 + half)));
  });
}
inline F acos(F x) {
  return inDouble(
      x, [](D half) { return 2.0 * atanD(sqrt((1.0 - half) / (1.0 + half))); });
}

// Close to 0, where the formulas cancel, by their series.

inline F sinh(F x) {
  return inDouble(x, [](D half) {
    D e = expD(half);
    D square = half * half;
    D p = polynomial(square, 1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880,
                     1.0 / 39916800);
    return L(abs(half) < 1.0) ? half * p : 0.5 * (e - 1.0 / e);
  });
}
inline F cosh(F x) {
  return inDouble(x, [](D half) {
    D e = expD(half);
    return 0.5 * (e + 1.0 / e);
  });
}
inline F asinh(F x) {
  return inDouble(x, [](D half) {
    D t = abs(half);
    D square = t * t;
    D p = polynomial(square, 1.0, -1.0 / 6, 3.0 / 40, -15.0 / 336);
    D y = L(t < 0x1p-6) ? t * p : logD(t + sqrt(square + 1.0));
    return withSign(y, half);
  });
}
inline F acosh(F x) {
  return inDouble(x, [](D half) {
    D y = logD(half + sqrt((half - 1.0) * (half + 1.0)));
    return L(half >= 1.0) ? y : splat(__builtin_nan(""));
  });
}
inline F atanh(F x) {
  return inDouble(x, [](D half) {
    D square = half * half;
    D p = polynomial(square, 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7);
    D y = 0.5 * logD((1.0 + half) / (1.0 - half));
    return L(abs(half) < 0x1p-6) ? half * p : y;
  });
}

inline D powD(D x, D y) {
  D t = abs(x);
  D z = expD(y * logD(t));
  z = L(t == 1.0) & L(y == y) ? splat(1.0) : z;
  L isWhole = round<kToNearest>(y) == y;
  L isOdd = isWhole & L(round<kToNearest>(y * 0.5) * 2.0 != y);
  z = D(L(z) ^ (L(x) & INT64_MIN & isOdd));
  D nan = splat(__builtin_nan(""));
  z = L(x < 0.0) & L(t < __builtin_inf()) & ~isWhole ? nan : z;
  return L(x == 1.0) | L(y == 0.0) ? splat(1.0) : z;
}
inline F pow(F x, F y) {
  return join(powD(firstHalf(x), firstHalf(y)),
              powD(secondHalf(x), secondHalf(y)));
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

/// The exact remainder, with the sign of the dividend. Up to 2^28 times the
/// divisor nothing is rounded in double, and the quotient is cut off right.
inline F modulo(F a, F b) {
  auto half = [](D x, D y) {
    D n = round<kToZero>(x / y);
    return withSign(fma(-n, y, x), x);
  };
  F y = join(half(firstHalf(a), firstHalf(b)),
             half(secondHalf(a), secondHalf(b)));
  I isFar = ~(I(abs(a) < abs(b) * 0x1p27f) & I(abs(b) < __builtin_inff()));
  if (!any(isFar)) [[likely]]
    return y;
  for (int i = 0; i != kWidth; ++i)
    if (isFar[i])
      y[i] = ::fmodf(a[i], b[i]);
  return y;
}

inline F floorDivide(F a, F b) {
  F rest = modulo(a, b);
  F quotient = (a - rest) / b;
  I isBelow = I(rest != 0.0f) & (I(b < 0.0f) ^ I(rest < 0.0f));
  quotient = isBelow ? quotient - 1.0f : quotient;
  F floor = round<kDown>(quotient);
  F y = I(quotient - floor > 0.5f) ? floor + 1.0f : floor;
  y = I(quotient == 0.0f) ? withSign(F{}, a / b) : y;
  return I(b == 0.0f) ? a / b : y;
}

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_MATH_H
