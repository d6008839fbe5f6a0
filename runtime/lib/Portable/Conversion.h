// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an element becomes in another type: integers saturate, a float that
// becomes one is cut off, everything that is not 0 is true.

#ifndef CORTEN_RUNTIME_LIB_CONVERSION_H
#define CORTEN_RUNTIME_LIB_CONVERSION_H

#include "corten/Runtime/ElementType.h"

#include <utility>

namespace corten::runtime::portable {

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

template <IntegerElement To> To toInteger(std::integral auto value) {
  if (std::cmp_less(value, Bounds<To>::kMin))
    return To(Bounds<To>::kMin);
  if (std::cmp_greater(value, Bounds<To>::kMax))
    return To(Bounds<To>::kMax);
  return To(value);
}

template <IntegerElement To> To toInteger(double value) {
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

template <typename To, typename From> To convert(From value) {
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

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_CONVERSION_H
