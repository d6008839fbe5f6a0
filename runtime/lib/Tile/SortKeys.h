// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of rows as whole numbers: a key whose order is that of the elements,
// and behind it the place, so that equal ones stay in order.

#ifndef CORTEN_RUNTIME_LIB_SORTKEYS_H
#define CORTEN_RUNTIME_LIB_SORTKEYS_H

#include "../Portable/Portable.h"
#include "../Products/Common.h"

#include <bit>
#include <cmath>

namespace corten::runtime::tile {

/// Elements whose order fits into 32 bits.
inline bool hasKey(ElementType type) {
  return byteSize(type) <= 4 && (isFloat(type) || isInteger(type));
}

/// NaN comes last in both directions, and zeros are equal.
template <typename T> uint32_t keyOf(T element, bool isDescending) {
  uint32_t key;
  if constexpr (FloatElement<T>) {
    auto number = float(ComputeType<T>(element));
    if (std::isnan(number))
      return UINT32_MAX;
    auto bits = std::bit_cast<uint32_t>(number == 0 ? 0.0f : number);
    key = bits ^ (bits >> 31 ? UINT32_MAX : 0x80000000u);
  } else {
    key = uint32_t(ComputeType<T>(element)) ^
          (std::is_signed_v<ComputeType<T>> ? 0x80000000u : 0);
  }
  return isDescending ? ~key : key;
}

inline uint64_t entryOf(uint32_t key, int64_t place) {
  return uint64_t(key) << 32 | uint64_t(place);
}

/// Rows along the axis of a call, which is its first number.
struct SortedRows {
  Tensor from;
  Tensor to;
  int64_t length;
  int64_t count;

  explicit SortedRows(const Invocation &call)
      : from(call.input().withAxisLast(int(call.number(0)))),
        to(call.output().withAxisLast(int(call.number(0)))),
        length(from.extents[from.rank - 1]),
        count(length ? from.size() / length : 0) {}

  static int64_t offset(const Tensor &tensor, int64_t row) {
    int64_t offset = 0;
    for (int axis = tensor.rank - 1; axis-- > 0;) {
      offset += row % tensor.extents[axis] * tensor.steps[axis];
      row /= tensor.extents[axis];
    }
    return offset;
  }
  int64_t fromStep() const { return from.steps[from.rank - 1]; }
};

/// Keys of the first elements of a row, each with its place behind it.
void writeEntries(const SortedRows &rows, int64_t row, int64_t count,
                  bool isDescending, uint64_t *entries);

/// Sorts entries; `other` has room for as many.
void sortEntries(uint64_t *entries, uint64_t *other, int64_t count);

/// The elements of a row that entries stand for, or their places, to the row of
/// `to`, which has the axis of rows last.
void writeElements(const SortedRows &rows, int64_t row, const uint64_t *entries,
                   const Tensor &to);
void writePlaces(int64_t row, const uint64_t *entries, const Tensor &to);

} // namespace corten::runtime::tile

#endif // CORTEN_RUNTIME_LIB_SORTKEYS_H
