// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tensors are made of.

#ifndef CORTEN_RUNTIME_ELEMENTTYPE_H
#define CORTEN_RUNTIME_ELEMENTTYPE_H

#include "corten/Runtime/SmallTypes.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace corten::runtime {

/// The numbers are part of the plan format: new ones come at the end.
enum class ElementType : uint8_t {
#define ELEMENT(NAME, SPELLING, BITS, TYPE) NAME,
#include "corten/Runtime/ElementTypes.def"
};

/// All of them, in their order.
inline constexpr ElementType kElementTypes[] = {
#define ELEMENT(NAME, SPELLING, BITS, TYPE) ElementType::NAME,
#include "corten/Runtime/ElementTypes.def"
};
inline constexpr size_t kNumElementTypes = std::size(kElementTypes);

/// The spelling of the dialect.
std::string_view spelling(ElementType type);
/// The type of a spelling, if it is one.
std::optional<ElementType> elementType(std::string_view spelling);
/// How many bits an element has in a file.
unsigned packedBits(ElementType type);
/// How many bytes an element has in memory.
size_t byteSize(ElementType type);
/// Whether an integer that is no boolean.
bool isInteger(ElementType type);
/// Whether a real float of any width.
bool isFloat(ElementType type);

/// The element type of a C++ type.
template <typename T> inline constexpr ElementType kElementType = {};
#define ELEMENT(NAME, SPELLING, BITS, TYPE)                                    \
  template <>                                                                  \
  inline constexpr ElementType kElementType<TYPE> = ElementType::NAME;
#include "corten/Runtime/ElementTypes.def"

namespace detail {
template <typename T> inline constexpr bool isSmallInteger = false;
template <int Bits, bool IsSigned>
inline constexpr bool isSmallInteger<SmallInteger<Bits, IsSigned>> = true;
template <typename T> inline constexpr bool isSmallFloat = false;
template <int E, int M, FloatKind K>
inline constexpr bool isSmallFloat<SmallFloat<E, M, K>> = true;
template <> inline constexpr bool isSmallFloat<Float8E8M0FNU> = true;
} // namespace detail

template <typename T>
concept ComplexElement = std::is_same_v<T, std::complex<float>>;
template <typename T>
concept FloatElement = std::is_floating_point_v<T> || detail::isSmallFloat<T>;
template <typename T>
concept IntegerElement = (std::is_integral_v<T> && !std::is_same_v<T, bool>) ||
                         detail::isSmallInteger<T>;

/// What one element is computed in: a small float in float, a small integer in
/// its byte, everything else in itself.
template <typename T> struct ComputeTypeOf {
  using type = T;
};
template <typename T>
  requires detail::isSmallFloat<T>
struct ComputeTypeOf<T> {
  using type = float;
};
template <typename T>
  requires detail::isSmallInteger<T>
struct ComputeTypeOf<T> {
  using type = typename T::Storage;
};
template <typename T> using ComputeType = typename ComputeTypeOf<T>::type;

/// What sums of this type are kept in.
template <typename T>
using SumType = std::conditional_t<
    FloatElement<T>, double,
    std::conditional_t<ComplexElement<T>, std::complex<double>,
                       ComputeType<T>>>;

/// Calls `function.template operator()<T>()` with the C++ type of `type`.
template <typename Function>
decltype(auto) withType(ElementType type, Function &&function) {
  switch (type) {
#define ELEMENT(NAME, SPELLING, BITS, TYPE)                                    \
  case ElementType::NAME:                                                      \
    return function.template operator()<TYPE>();
#include "corten/Runtime/ElementTypes.def"
  }
  __builtin_unreachable();
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_ELEMENTTYPE_H
