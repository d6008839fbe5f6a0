// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of memory in lanes, and back.

#ifndef CORTEN_RUNTIME_LIB_ELEMENTS_H
#define CORTEN_RUNTIME_LIB_ELEMENTS_H

#include "Simd.h"

#include "../Tile/TileCode.h"

#include "corten/Runtime/TileProgram.h"

namespace corten::runtime::CORTEN_LEVEL {

/// What converts between memory and lanes: the type of an element, whether it
/// is a float, a vector of them, `lanes` and `fromFloats` and `fromIntegers`,
/// which narrow as casts do.
struct F32Element {
  using Type = float;
  static constexpr bool isFloat = true;
  using Memory = F;
  static I lanes(F x) { return I(x); }
  static F fromFloats(F x) { return x; }
  static F fromIntegers(I x) { return toFloat(x); }
};

struct F16Element {
  using Type = uint16_t;
  static constexpr bool isFloat = true;
  using Memory = UI16s;
  static I lanes(UI16s x) { return I(fromF16(x)); }
  static UI16s fromFloats(F x) { return toF16(x); }
  static UI16s fromIntegers(I x) { return toF16(toFloat(x)); }
};

struct BF16Element {
  using Type = uint16_t;
  static constexpr bool isFloat = true;
  using Memory = UI16s;
  static I lanes(UI16s x) { return I(fromBF16(x)); }
  static UI16s fromFloats(F x) { return toBF16(x); }
  static UI16s fromIntegers(I x) { return toBF16(toFloat(x)); }
};

/// Cut off; what is too large or too small is the largest or smallest, NaN is
/// 0.
inline I saturate(F x) {
  I y = truncate(x);
  y = I(x >= 0x1p31f) ? splat(int32_t(INT32_MAX)) : y;
  return I(x == x) ? y : I{};
}

struct SI32Element {
  using Type = int32_t;
  static constexpr bool isFloat = false;
  using Memory = I;
  static I lanes(I x) { return x; }
  static I fromFloats(F x) { return saturate(x); }
  static I fromIntegers(I x) { return x; }
};

template <typename T, typename V, int low, int high> struct NarrowElement {
  using Type = T;
  static constexpr bool isFloat = false;
  using Memory = V;
  static I lanes(V x) { return __builtin_convertvector(x, I); }
  static V fromIntegers(I x) {
    x = I(x < low) ? splat(low) : x;
    x = I(x > high) ? splat(high) : x;
    return __builtin_convertvector(x, V);
  }
  static V fromFloats(F x) { return fromIntegers(saturate(x)); }
};
using SI8Element = NarrowElement<int8_t, SI8s, INT8_MIN, INT8_MAX>;
using UI8Element = NarrowElement<uint8_t, UI8s, 0, UINT8_MAX>;
using SI16Element = NarrowElement<int16_t, SI16s, INT16_MIN, INT16_MAX>;
using UI16Element = NarrowElement<uint16_t, UI16s, 0, UINT16_MAX>;

struct BoolElement {
  using Type = uint8_t;
  static constexpr bool isFloat = false;
  using Memory = UI8s;
  static I lanes(UI8s x) { return __builtin_convertvector(x, I); }
  static UI8s fromFloats(F x) {
    return __builtin_convertvector(I(x != 0.0f) & 1, UI8s);
  }
  static UI8s fromIntegers(I x) {
    return __builtin_convertvector(I(x != 0) & 1, UI8s);
  }
};

/// Calls `function.template operator()<Element>()` for a type with a lane.
template <typename Function>
inline void withElement(ElementType type, Function &&function) {
  switch (type) {
#define ELEMENT(NAME)                                                          \
  case ElementType::NAME:                                                      \
    return function.template operator()<NAME##Element>();
    ELEMENT(F32)
    ELEMENT(F16)
    ELEMENT(BF16)
    ELEMENT(SI32)
    ELEMENT(SI16)
    ELEMENT(SI8)
    ELEMENT(UI16)
    ELEMENT(UI8)
    ELEMENT(Bool)
#undef ELEMENT
  default:
    return;
  }
}

/// The lanes of `count` elements that are `step` apart. Writes whole vectors.
template <typename Element>
inline void loadLanes(const typename Element::Type *from, int64_t step,
                      int32_t *to, int64_t count) {
  using Memory = typename Element::Memory;
  int64_t i = 0;
  if (step == 1)
    for (; i + kWidth <= count; i += kWidth)
      store(to + i, Element::lanes(loadAs<Memory>(from + i)));
  for (; i + kWidth <= count; i += kWidth) {
    Memory all = {};
    for (int lane = 0; lane != kWidth; ++lane)
      all[lane] = from[(i + lane) * step];
    store(to + i, Element::lanes(all));
  }
  while (i < count) {
    Memory some = {};
    for (int lane = 0; lane != kWidth && i + lane < count; ++lane)
      some[lane] = from[(i + lane) * step];
    store(to + i, Element::lanes(some));
    i += kWidth;
  }
}

template <typename Element, bool isFloat>
inline void storeLanes(const int32_t *from, typename Element::Type *to,
                       int64_t step, int64_t count) {
  using Memory = typename Element::Memory;
  auto narrow = [&](int64_t i) -> Memory {
    if constexpr (isFloat)
      return Element::fromFloats(F(load(from + i)));
    else
      return Element::fromIntegers(load(from + i));
  };
  int64_t i = 0;
  if (step == 1)
    for (; i + kWidth <= count; i += kWidth)
      store(to + i, narrow(i));
  for (; i + kWidth <= count; i += kWidth) {
    Memory all = narrow(i);
    for (int lane = 0; lane != kWidth; ++lane)
      to[(i + lane) * step] = all[lane];
  }
  while (i < count) {
    Memory some = narrow(i);
    for (int lane = 0; lane != kWidth && i + lane < count; ++lane)
      to[(i + lane) * step] = some[lane];
    i += kWidth;
  }
}

/// Elements of a row as floats, with zeros up to a whole vector. Of all types,
/// so one copy in a source is enough.
__attribute__((noinline)) inline void readFloats(const tile::Rows &rows,
                                                 int64_t row, int64_t first,
                                                 int64_t count, float *to) {
  withElement(rows.type, [&]<typename Element>() {
    using Type = typename Element::Type;
    const Type *from = static_cast<const Type *>(rows.data) +
                       row * rows.rowStep + first * rows.step;
    loadLanes<Element>(from, rows.step, reinterpret_cast<int32_t *>(to), count);
  });
}

/// Floats, of which whole vectors are read, as elements of a row.
__attribute__((noinline)) inline void writeFloats(const float *from,
                                                  const tile::Rows &rows,
                                                  int64_t row, int64_t first,
                                                  int64_t count) {
  withElement(rows.type, [&]<typename Element>() {
    using Type = typename Element::Type;
    storeLanes<Element, true>(reinterpret_cast<const int32_t *>(from),
                              static_cast<Type *>(rows.data) +
                                  row * rows.rowStep + first * rows.step,
                              rows.step, count);
  });
}

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_ELEMENTS_H
