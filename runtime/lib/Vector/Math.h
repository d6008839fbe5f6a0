// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of vectors. Polynomials are minimax approximations of our own
// (scripts/polynomials.py makes them). How far results are off is measured over
// all of f32 in VectorMathTest: up to 2 units in the last place for exp, log,
// sigmoid, tanh and erf, up to 4 for the others. NaN, infinities, zeros and
// subnormals are as in the portable kernels.

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

/// e^(x + tail) as a number around 1 and two powers of two, each of which is a
/// float also where their product is too small or too large for one. `tail` is
/// what x was rounded off.
struct Exponential {
  F number;
  F first;
  F second;

  F value() const { return number * first * second; }
};
/// Where an exponential is 0, whatever it is multiplied with.
inline constexpr float kExpZero = -130.0f;

inline Exponential expOf(F x, F tail) {
  // Beyond these it is infinite or 0 anyway; NaN stays.
  x = smaller(splat(89.0f), larger(splat(kExpZero), x));
  I n = toNearest(x * kLog2E);
  F steps = toFloat(n);
  F r = fma(steps, splat(-kLn2High), x);
  r = fma(steps, splat(-kLn2Low), r) + tail;
  F p = polynomial(r, 0.4999999345f, 0.1666652063f, 0.04166838758f,
                   0.008368716736f, 0.001381462715f);
  // 1 + r is rounded; what that was is added to the rest, which is small.
  F sum = r + 1.0f;
  F y = sum + fma(r * r, p, r - (sum - 1.0f));
  I half = n >> 1;
  return {y, F((half + 127) << 23), F((n - half + 127) << 23)};
}
inline F exp(F x) { return expOf(x, F{}).value(); }

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

/// x / (1 + e^-(y + tail)), of y with the sign of x.
inline F gated(F x, F y, F tail) {
  I isNegative = y < 0.0f;
  // What is beyond the range of exponentials has no tail.
  tail = I(abs(y) < -kExpZero) ? tail : F{};
  Exponential e = expOf(-abs(y), isNegative ? tail : -tail);
  F share = 1.0f / (e.value() + 1.0f);
  F rest = I(y < kExpZero) ? F{} : e.second;
  return isNegative ? x * e.first * e.number * share * rest : x * share;
}

inline F silu(F x) { return gated(x, x, F{}); }

inline F tanh(F x) {
  F t = abs(x);
  F square = x * x;
  F p = polynomial(square, -0.3333328195f, 0.1333144222f, -0.05373971391f,
                   0.02063907846f, -0.005704974394f);
  F small = fma(square * x, p, x);
  F large = 1.0f - 2.0f / (exp(smaller(splat(20.0f), t + t)) + 1.0f);
  return withSign(I(t < 0.625f) ? small : large, x);
}

/// erfc(t / sqrt 2) e^(t^2 / 2) (1 + t) of 1 to 14.6.
inline F scaledErfc(F t) {
  F q = (t - 4.0f) / (t + 4.0f);
  return polynomial(q, 0.944106411f, -0.1934068882f, 0.02799951577f,
                    0.05719798876f, -0.06440080185f, 0.03590259094f,
                    -0.009964807069f, -0.0006978899202f, 0.00125440946f);
}

inline F erf(F x) {
  F t = smaller(splat(10.0f), abs(x));
  F square = x * x;
  // Of what there is besides x: little of it is rounded.
  F p = polynomial(square, 0.128379167f, -0.3761262622f, 0.1128358827f,
                   -0.02685391718f, 0.005188500945f, -0.0008011565616f,
                   7.858046707e-5f);
  F scaled = t * 1.41421356f;
  F large = 1.0f - scaledErfc(scaled) * exp(-(t * t)) / (scaled + 1.0f);
  return I(t < 1.0f) ? fma(x, p, x) : withSign(large, x);
}

/// x times the share of a normal distribution that is below x.
inline F gelu(F x) {
  F t = smaller(splat(14.5f), abs(x));
  F square = t * t;
  F rest = fma(t, t, -square);
  F share = scaledErfc(t) * 0.5f;
  Exponential e = expOf(square * -0.5f, rest * -0.5f);
  F second = I(t < 14.5f) ? e.second : F{};
  F below = e.number * share / (t + 1.0f);
  F y = I(x < 0.0f) ? x * e.first * below * second
                    : x * (1.0f - below * e.first * e.second);
  // Around 0 by how much more or less than one half it is.
  F p = polynomial(square, 0.3989422801f, -0.06649035993f, 0.009973323422f,
                   -0.001186329975f, 0.0001134864076f, -7.654221888e-6f);
  return I(t < 1.0f) ? x * fma(x, p, 0.5f) : y;
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
