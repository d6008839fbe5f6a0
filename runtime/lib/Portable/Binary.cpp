// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of two elements, and the choice between two. Integers wrap around.

#include "Arithmetic.h"

using namespace corten::runtime;
using namespace corten::runtime::portable;

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
