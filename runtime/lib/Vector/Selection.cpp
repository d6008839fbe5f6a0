// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the few elements of a row that come before one, whose keys are those of
// Tile/SortKeys.h.

#include "Elements.h"
#include "Vectors.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

/// Elements that are looked at one by one if any of them is found.
constexpr int64_t kLanes = 4 * kWidth;
constexpr int32_t kSign = INT32_MIN;

/// Keys as numbers with a sign, which is the other way around there.
template <typename Element> inline I keysOf(I lanes, bool isDescending) {
  using Type = typename Element::Type;
  constexpr bool isFloat = Element::isFloat;
  I key;
  if constexpr (isFloat) {
    // Zeros are equal.
    I bits = I(F(lanes) == 0.0f) ? I{} : lanes;
    key = bits ^ ((bits >> 31) & INT32_MAX);
  } else {
    key = Type(-1) < Type(0) ? lanes : lanes ^ kSign;
  }
  key = isDescending ? ~key : key;
  if constexpr (isFloat)
    key = I(F(lanes) == F(lanes)) ? key : splat(int32_t(INT32_MAX));
  return key;
}

template <typename Element>
int64_t collect(const typename Element::Type *from, int64_t step, int64_t first,
                int64_t count, bool isDescending, int32_t bound,
                uint64_t *found) {
  alignas(64) int32_t keys[kLanes];
  int64_t number = 0;
  for (int64_t i = 0; i < count; i += kLanes) {
    int64_t some = count - i < kLanes ? count - i : kLanes;
    loadLanes<Element>(from + i * step, step, keys, some);
    I below = {};
    for (int64_t lane = 0; lane < some; lane += kWidth) {
      I key = keysOf<Element>(load(keys + lane), isDescending);
      store(keys + lane, key);
      below |= I(key < bound);
    }
    if (!any(below))
      continue;
    // What is behind the last element of the row is none of it.
    for (int64_t lane = 0; lane != some; ++lane)
      if (keys[lane] < bound)
        found[number++] = uint64_t(uint32_t(keys[lane] ^ kSign)) << 32 |
                          uint64_t(first + i + lane);
  }
  return number;
}
} // namespace

int64_t collectBelow(const tile::Rows &row, int64_t first, int64_t count,
                     bool isDescending, uint32_t bound, uint64_t *found) {
  int64_t number = 0;
  withElement(row.type, [&]<typename Element>() {
    using Type = typename Element::Type;
    number = collect<Element>(
        static_cast<const Type *>(row.data) + first * row.step, row.step, first,
        count, isDescending, int32_t(bound ^ uint32_t(kSign)), found);
  });
  return number;
}

} // namespace corten::runtime::CORTEN_LEVEL
