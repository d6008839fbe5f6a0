// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What two elements make, for every kernel that combines some. An operation has
// no form for types that it is not defined on. Integers wrap around.

#ifndef CORTEN_RUNTIME_LIB_ARITHMETIC_H
#define CORTEN_RUNTIME_LIB_ARITHMETIC_H

#include "Portable.h"

namespace corten::runtime::portable {

template <typename T>
concept Real = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <typename T>
concept Whole = Real<T> && std::is_integral_v<T>;

/// Arithmetic on the bits of integers, in a type that cannot overflow.
template <Whole T> using Bits = std::make_unsigned_t<T>;

/// Towards zero; the smallest by -1 is itself.
template <Whole T> T truncatedQuotient(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return T(Bits<T>(0) - Bits<T>(a));
  return T(a / b);
}

/// With the sign of the dividend.
template <Whole T> T truncatedRemainder(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return 0;
  return T(a % b);
}

/// The operands' type is that of the result.
struct Arithmetic {
  template <typename T> using Result = T;
};
struct Comparison {
  template <typename T> using Result = bool;
};

struct Add : Arithmetic {
  static bool apply(bool a, bool b) { return a || b; }
  static auto apply(auto a, auto b) -> decltype(a) {
    if constexpr (Whole<decltype(a)>)
      return decltype(a)(Bits<decltype(a)>(a) + Bits<decltype(a)>(b));
    else
      return a + b;
  }
};

struct Sub : Arithmetic {
  static bool apply(bool, bool) = delete;
  static auto apply(auto a, auto b) -> decltype(a) {
    if constexpr (Whole<decltype(a)>)
      return decltype(a)(Bits<decltype(a)>(a) - Bits<decltype(a)>(b));
    else
      return a - b;
  }
};

struct Mul : Arithmetic {
  static bool apply(bool a, bool b) { return a && b; }
  static auto apply(auto a, auto b) -> decltype(a) {
    // Narrow unsigned numbers would be multiplied as signed ones.
    if constexpr (Whole<decltype(a)>)
      return decltype(a)(uint64_t(Bits<decltype(a)>(a)) * Bits<decltype(a)>(b));
    else
      return a * b;
  }
};

/// Integer forms whose divisor must not be 0.
struct Division : Arithmetic {
  static constexpr bool kDivides = true;
};

struct Divide : Division {
  static bool apply(bool, bool) = delete;
  static auto apply(auto a, auto b) -> decltype(a) {
    if constexpr (Whole<decltype(a)>)
      return truncatedQuotient(a, b);
    else
      return a / b;
  }
};

struct FloorDivide : Division {
  static bool apply(bool, bool) = delete;
  template <Whole T> static T apply(T a, T b) {
    T quotient = truncatedQuotient(a, b);
    bool isExact = truncatedRemainder(a, b) == 0;
    return !isExact && ((a < 0) != (b < 0)) ? T(quotient - 1) : quotient;
  }
  // The remainder is exact, the quotient of two floats is not: 1 / 0.1 is 10,
  // and 0.1 goes 9 times into 1.
  template <std::floating_point T> static T apply(T a, T b) {
    if (b == 0)
      return a / b;
    T remainder = std::fmod(a, b);
    T quotient = (a - remainder) / b;
    if (remainder != 0 && (b < 0) != (remainder < 0))
      quotient -= 1;
    if (quotient == 0)
      return std::copysign(T(0), a / b);
    T floor = std::floor(quotient);
    return quotient - floor > T(0.5) ? floor + 1 : floor;
  }
};

struct Modulo : Division {
  static bool apply(bool, bool) = delete;
  template <Whole T> static T apply(T a, T b) {
    return truncatedRemainder(a, b);
  }
  template <std::floating_point T> static T apply(T a, T b) {
    return std::fmod(a, b);
  }
};

struct Pow : Arithmetic {
  static bool apply(bool, bool) = delete;
  template <Whole T> static T apply(T base, T exponent) {
    if (exponent < 0) {
      // One over a whole number is 0, but for 1 and -1.
      if (base == 1)
        return 1;
      if (std::is_signed_v<T> && base == T(-1))
        return exponent % 2 == 0 ? T(1) : T(-1);
      return 0;
    }
    uint64_t result = 1;
    uint64_t factor = Bits<T>(base);
    for (auto left = Bits<T>(exponent); left != 0; left >>= 1) {
      if (left & 1)
        result *= factor;
      factor *= factor;
    }
    return T(result);
  }
  template <std::floating_point T> static T apply(T base, T exponent) {
    return T(std::pow(double(base), double(exponent)));
  }
  static std::complex<float> apply(std::complex<float> base,
                                   std::complex<float> exponent) {
    return std::complex<float>(
        std::pow(std::complex<double>(base), std::complex<double>(exponent)));
  }
};

/// NaN wins; of two zeros the first.
struct Maximum : Arithmetic {
  static bool apply(bool, bool) = delete;
  template <Real T> static T apply(T a, T b) {
    return isNaN(a) || a >= b ? a : b;
  }
};

struct Minimum : Arithmetic {
  static bool apply(bool, bool) = delete;
  template <Real T> static T apply(T a, T b) {
    return isNaN(a) || a <= b ? a : b;
  }
};

struct BitwiseAnd : Arithmetic {
  static bool apply(bool a, bool b) { return a && b; }
  template <Whole T> static T apply(T a, T b) { return T(a & b); }
};

struct BitwiseOr : Arithmetic {
  static bool apply(bool a, bool b) { return a || b; }
  template <Whole T> static T apply(T a, T b) { return T(a | b); }
};

struct BitwiseXor : Arithmetic {
  static bool apply(bool a, bool b) { return a != b; }
  template <Whole T> static T apply(T a, T b) { return T(a ^ b); }
};

struct Equal : Comparison {
  static bool apply(auto a, auto b) { return a == b; }
};

struct NotEqual : Comparison {
  static bool apply(auto a, auto b) { return a != b; }
};

struct Greater : Comparison {
  static bool apply(bool a, bool b) { return a && !b; }
  template <Real T> static bool apply(T a, T b) { return a > b; }
};

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_ARITHMETIC_H
