// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From one element type to another: integers saturate, a float that becomes one
// is cut off, everything that is not 0 is true.

#include "Portable.h"

#include <algorithm>
#include <utility>

using namespace corten::runtime;
using namespace corten::runtime::portable;

namespace {

/// A type that has every number of T: all pairs of types are two short steps.
template <typename T>
using Wide = std::conditional_t<
    ComplexElement<T>, std::complex<float>,
    std::conditional_t<FloatElement<T>, double,
                       std::conditional_t<std::is_unsigned_v<ComputeType<T>>,
                                          uint64_t, int64_t>>>;

/// The bounds of an integer type.
template <typename T> struct Bounds {
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kMax = std::numeric_limits<T>::max();
  static constexpr int kDigits = std::numeric_limits<T>::digits;
};
template <int B, bool S> struct Bounds<SmallInteger<B, S>> {
  static constexpr int kMin = SmallInteger<B, S>::kMin;
  static constexpr int kMax = SmallInteger<B, S>::kMax;
  static constexpr int kDigits = B - S;
};
} // namespace

template <IntegerElement To> static To toInteger(std::integral auto value) {
  if (std::cmp_less(value, Bounds<To>::kMin))
    return To(Bounds<To>::kMin);
  if (std::cmp_greater(value, Bounds<To>::kMax))
    return To(Bounds<To>::kMax);
  return To(value);
}

template <IntegerElement To> static To toInteger(double value) {
  if (value != value)
    return To(0);
  // The first number that is too large is a power of two, which is a double.
  constexpr double kEnd =
      2.0 * double(uint64_t(1) << (Bounds<To>::kDigits - 1));
  if (value >= kEnd)
    return To(Bounds<To>::kMax);
  if (value <= double(Bounds<To>::kMin))
    return To(Bounds<To>::kMin);
  if constexpr (std::is_same_v<To, uint64_t>)
    return To(value);
  else
    return To(int64_t(value));
}

template <typename To, typename From> static To convert(From value) {
  if constexpr (std::is_same_v<To, bool>)
    return value != From(0);
  else if constexpr (ComplexElement<From> && !ComplexElement<To>)
    return convert<To>(double(value.real()));
  else if constexpr (IntegerElement<To>)
    return toInteger<To>(value);
  else if constexpr (ComplexElement<To> && !ComplexElement<From>)
    return To(float(value));
  else
    return To(ComputeType<To>(value));
}

Error portable::runCast(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  if (Error error = checkShape("Cast", input, output))
    return error;
  constexpr int64_t kChunk = 256;
  // Reads a part of a run into wide numbers, and writes them.
  auto convertRun = [&]<typename Number>(auto &&read) {
    std::array<Number, kChunk> wide;
    withType(output.type, [&]<typename To>() {
      stridedLoop<2>(
          output.shape(), {input.steps.data(), output.steps.data()},
          [&](const auto &offsets, int64_t count, const auto &steps) {
            for (int64_t first = 0; first < count; first += kChunk) {
              int64_t length = std::min(kChunk, count - first);
              read(wide.data(), offsets[0] + first * steps[0], steps[0],
                   length);
              To *to = output.as<To>() + offsets[1] + first * steps[1];
              for (int64_t i = 0; i != length; ++i)
                to[i * steps[1]] = convert<To>(wide[i]);
            }
          });
    });
  };
  /// One function for each type that is read, not one for each pair.
  auto readerOf = [&]<typename Number>() {
    using Read = void (*)(const Tensor &, Number *, int64_t, int64_t, int64_t);
    Read chosen = nullptr;
    withType(input.type, [&]<typename From>() {
      if constexpr (std::is_same_v<Wide<From>, Number>)
        chosen = [](const Tensor &tensor, Number *wide, int64_t offset,
                    int64_t step, int64_t length) {
          const From *from = tensor.as<From>() + offset;
          for (int64_t i = 0; i != length; ++i)
            // NOLINTNEXTLINE(bugprone-signed-char-misuse): it is a number
            wide[i] = Number(ComputeType<From>(from[i * step]));
        };
    });
    if (chosen)
      convertRun.template operator()<Number>(
          [&](Number *wide, int64_t offset, int64_t step, int64_t length) {
            chosen(input, wide, offset, step, length);
          });
  };
  readerOf.template operator()<double>();
  readerOf.template operator()<int64_t>();
  readerOf.template operator()<uint64_t>();
  readerOf.template operator()<std::complex<float>>();
  return Error::success();
}
