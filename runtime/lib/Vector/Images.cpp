// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of elements put together, lane by lane: windows of images.

#include "Images.h"

#include "Elements.h"
#include "Reductions.h"

namespace corten::runtime::CORTEN_LEVEL {
namespace {

template <typename Element>
inline F lanesAt(const void *tap, int64_t first, int64_t count) {
  using Type = typename Element::Type;
  const Type *from = static_cast<const Type *>(tap) + first;
  if (count >= kWidth)
    return F(Element::lanes(loadAs<typename Element::Memory>(from)));
  alignas(64) int32_t lanes[kWidth];
  loadLanes<Element>(from, 1, lanes, count);
  return F(load(lanes));
}

template <typename Element>
inline void keep(F x, void *to, int64_t first, int64_t count) {
  alignas(64) int32_t lanes[kWidth];
  store(lanes, I(x));
  storeLanes<Element, true>(lanes,
                            static_cast<typename Element::Type *>(to) + first,
                            1, count < kWidth ? count : kWidth);
}

void poolColumns(ReduceMode mode, const void *const *taps, int64_t numTaps,
                 ElementType type, void *to, int64_t count) {
  bool isMax = mode == ReduceMode::Max;
  withElement(type, [&]<typename Element>() {
    for (int64_t i = 0; i < count; i += kWidth) {
      F total = isMax ? splat(-__builtin_inff()) : F{};
      for (int64_t tap = 0; tap != numTaps; ++tap) {
        F x = lanesAt<Element>(taps[tap], i, count - i);
        total = isMax ? maximum(total, x) : total + x;
      }
      keep<Element>(total, to, i, count - i);
    }
  });
}

void poolRow(ReduceMode mode, const tile::Rows &from, float *totals,
             int64_t count) {
  withElement(from.type, [&]<typename Element>() {
    using Type = typename Element::Type;
    const Type *elements = static_cast<const Type *>(from.data);
    alignas(64) int32_t lanes[kTileSize + kWidth];
    loadLanes<Element>(elements, from.step, lanes, count);
    // Behind the last total there may be others: they stay.
    I place;
    for (int lane = 0; lane != kWidth; ++lane)
      place[lane] = lane;
    for (int64_t i = 0; i < count; i += kWidth) {
      F x = F(load(lanes + i));
      F total = load(totals + i);
      F taken = mode == ReduceMode::Max ? maximum(total, x) : total + x;
      I isInside = place < splat(int32_t(count - i));
      store(totals + i, isInside ? taken : total);
    }
  });
}

void blendColumns(const void *const *taps, const float *shares, int64_t numTaps,
                  ElementType type, void *to, ElementType toType,
                  int64_t count) {
  withElement(type, [&]<typename Element>() {
    for (int64_t i = 0; i < count; i += kWidth) {
      F total = {};
      for (int64_t tap = 0; tap != numTaps; ++tap)
        total = fma(lanesAt<Element>(taps[tap], i, count - i),
                    splat(shares[tap]), total);
      if (toType == type)
        keep<Element>(total, to, i, count - i);
      else
        keep<F32Element>(total, to, i, count - i);
    }
  });
}

} // namespace

const Images kImages = {poolColumns, poolRow, blendColumns};

} // namespace corten::runtime::CORTEN_LEVEL
