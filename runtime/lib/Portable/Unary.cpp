// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one element. Floats are computed in double and rounded once.

#include "Portable.h"

using namespace corten::runtime;
using namespace corten::runtime::portable;

using Complex = std::complex<double>;

/// Applies a function of doubles to every float, and one of complex numbers
/// where there is one.
template <typename Function>
static Error mapFloats(std::string_view name, const Invocation &call,
                       Function &&function) {
  const Tensor &input = call.input();
  if (Error error = checkSame(name, input, call.output()))
    return error;
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      mapUnary<T, T>(input, call.output(), [&](ComputeType<T> x) {
        return ComputeType<T>(function(double(x)));
      });
      return Error::success();
    } else if constexpr (ComplexElement<T> &&
                         std::is_invocable_r_v<Complex, Function, Complex>) {
      using Wide =
          std::complex<std::conditional_t<ComplexElement<T>, double, T>>;
      mapUnary<T, T>(input, call.output(),
                     [&](T x) { return T(function(Wide(x))); });
      return Error::success();
    } else {
      return unknownType(name, input);
    }
  });
}

/// Applies a function of real numbers, integers among them.
template <typename Function>
static Error mapReals(std::string_view name, const Invocation &call,
                      Function &&function) {
  const Tensor &input = call.input();
  if (Error error = checkSame(name, input, call.output()))
    return error;
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      mapUnary<T, T>(input, call.output(), [&](ComputeType<T> x) {
        return ComputeType<T>(function(x));
      });
      return Error::success();
    } else {
      return unknownType(name, input);
    }
  });
}

#define FLOATS(NAME, EXPRESSION)                                               \
  Error portable::run##NAME(const Invocation &call) {                          \
    return mapFloats(#NAME, call, [](double x) { return EXPRESSION; });        \
  }
#define FLOATS_AND_COMPLEX(NAME, EXPRESSION)                                   \
  Error portable::run##NAME(const Invocation &call) {                          \
    return mapFloats(#NAME, call, [](auto x) { return EXPRESSION; });          \
  }
#include "Functions.def"

Error portable::runAbs(const Invocation &call) {
  return mapReals("Abs", call, []<typename T>(T x) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else if constexpr (std::is_unsigned_v<T>)
      return x;
    else // The smallest integer is its own.
      return x < 0 ? T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(x))
                   : x;
  });
}

// Keeps NaN and -0.
Error portable::runRelu(const Invocation &call) {
  return mapReals("Relu", call,
                  []<typename T>(T x) -> T { return x < T(0) ? T(0) : x; });
}

// In the precision of the type: its error is far below that of a rounding.
Error portable::runErf(const Invocation &call) {
  return mapFloats("Erf", call, [&](double x) -> double {
    return call.input().type == ElementType::F64 ? std::erf(x)
                                                 : std::erf(float(x));
  });
}

// Ties to even.
Error portable::runRound(const Invocation &call) {
  return mapReals("Round", call, []<typename T>(T x) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return std::nearbyint(x);
    else
      return x;
  });
}

Error portable::runNot(const Invocation &call) {
  if (Error error = checkShape("Not", call.input(), call.output()))
    return error;
  if (call.input().type != ElementType::Bool ||
      call.output().type != ElementType::Bool)
    return unknownType("Not", call.input());
  mapUnary<bool, bool>(call.input(), call.output(), [](bool x) { return !x; });
  return Error::success();
}

static Error complexPart(std::string_view name, const Invocation &call,
                         bool isReal) {
  if (Error error = checkShape(name, call.input(), call.output()))
    return error;
  if (call.input().type != ElementType::C64 ||
      call.output().type != ElementType::F32)
    return unknownType(name, call.input());
  mapUnary<std::complex<float>, float>(
      call.input(), call.output(),
      [&](std::complex<float> x) { return isReal ? x.real() : x.imag(); });
  return Error::success();
}

Error portable::runRealPart(const Invocation &call) {
  return complexPart("RealPart", call, true);
}

Error portable::runImaginaryPart(const Invocation &call) {
  return complexPart("ImaginaryPart", call, false);
}
