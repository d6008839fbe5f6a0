// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of two elements, and the choice between two. Integers wrap around.

#include "Portable.h"

using namespace corten::runtime;
using namespace corten::runtime::portable;

template <typename T>
concept Real = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <typename T>
concept Whole = Real<T> && std::is_integral_v<T>;

/// Arithmetic on the bits of integers, in a type that cannot overflow.
template <Whole T> using Bits = std::make_unsigned_t<T>;

/// Towards zero; the smallest by -1 is itself.
template <Whole T> static T truncatedQuotient(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return T(Bits<T>(0) - Bits<T>(a));
  return T(a / b);
}

/// With the sign of the dividend.
template <Whole T> static T truncatedRemainder(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1))
      return 0;
  return T(a % b);
}

namespace {
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

} // namespace

template <typename Op, typename T>
concept Takes = requires(ComputeType<T> x) { Op::apply(x, x); };

template <typename Op>
concept Divides = requires { Op::kDivides; };

/// True if an element is 0.
template <typename T> static bool hasZero(const Tensor &tensor) {
  bool found = false;
  stridedLoop<1>(tensor.shape(), {tensor.steps.data()},
                 [&](const auto &offsets, int64_t count, const auto &steps) {
                   const T *from = tensor.as<T>() + offsets[0];
                   for (int64_t i = 0; i != count; ++i)
                     found |= from[i * steps[0]] == 0;
                 });
  return found;
}

template <typename Op>
static Error runBinary(std::string_view name, const Invocation &call) {
  const Tensor &left = call.input(0);
  const Tensor &right = call.input(1);
  const Tensor &output = call.output();
  if (Error error = checkShape(name, left, output))
    return error;
  if (Error error = checkShape(name, right, output))
    return error;
  if (left.type != right.type)
    return unknownType(name, right);
  return withType(left.type, [&]<typename T>() -> Error {
    if constexpr (Takes<Op, T>) {
      using Result = typename Op::template Result<T>;
      if (output.type != kElementType<Result>)
        return unknownType(name, output);
      if constexpr (Divides<Op> && IntegerElement<T>)
        if (hasZero<T>(right))
          return Error(std::string(name) + ": an integer is divided by zero");
      mapBinary<T, Result>(left, right, output,
                           [](auto a, auto b) { return Op::apply(a, b); });
      return Error::success();
    } else {
      return unknownType(name, left);
    }
  });
}
#define BINARY(NAME)                                                           \
  Error portable::run##NAME(const Invocation &call) {                          \
    return runBinary<NAME>(#NAME, call);                                       \
  }
#define UNARY(NAME)
#define KERNEL(NAME, INPUTS, OUTPUTS, NUMBERS)
#include "corten/Runtime/PortableKernels.def"

Error portable::runWhere(const Invocation &call) {
  const Tensor &condition = call.input(0);
  const Tensor &output = call.output();
  for (const Tensor &input : call.inputs)
    if (Error error = checkShape("Where", input, output))
      return error;
  if (condition.type != ElementType::Bool)
    return unknownType("Where", condition);
  if (call.input(1).type != output.type || call.input(2).type != output.type)
    return unknownType("Where", call.input(1));
  withWidth(output.type, [&]<typename T>() {
    stridedLoop<4>(output.shape(),
                   {condition.steps.data(), call.input(1).steps.data(),
                    call.input(2).steps.data(), output.steps.data()},
                   [&](const auto &offsets, int64_t count, const auto &steps) {
                     const bool *chosen = condition.as<bool>() + offsets[0];
                     const T *a = call.input(1).as<T>() + offsets[1];
                     const T *b = call.input(2).as<T>() + offsets[2];
                     T *to = output.as<T>() + offsets[3];
                     for (int64_t i = 0; i != count; ++i)
                       to[i * steps[3]] = chosen[i * steps[0]]
                                              ? a[i * steps[1]]
                                              : b[i * steps[2]];
                   });
  });
  return Error::success();
}

Error portable::runCreateComplex(const Invocation &call) {
  for (const Tensor &input : call.inputs) {
    if (Error error = checkShape("CreateComplex", input, call.output()))
      return error;
    if (input.type != ElementType::F32)
      return unknownType("CreateComplex", input);
  }
  if (call.output().type != ElementType::C64)
    return unknownType("CreateComplex", call.output());
  mapBinary<float, std::complex<float>>(
      call.input(0), call.input(1), call.output(),
      [](float a, float b) { return std::complex<float>(a, b); });
  return Error::success();
}
