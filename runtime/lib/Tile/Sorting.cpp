// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows are sorted as whole numbers: a key whose order is that of the elements,
// and behind it the place, so that equal ones stay in order.

#include "../Portable/Portable.h"
#include "../Products/Common.h"

#include <algorithm>
#include <cmath>

using namespace corten::runtime;
using namespace corten::runtime::products;

/// Shorter rows are sorted by comparisons.
static constexpr int64_t kFewest = 512;
static constexpr int kDigitBits = 11;
static constexpr int kDigits = 3;

/// Elements whose order fits into 32 bits.
static bool hasKey(ElementType type) {
  return byteSize(type) <= 4 && (isFloat(type) || isInteger(type));
}

/// NaN comes last in both directions, and zeros are equal.
template <typename T> static uint32_t keyOf(T element, bool isDescending) {
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

/// By digits of the keys, the last one first; the result is in `entries`.
static void sortByDigits(uint64_t *entries, uint64_t *other, int64_t count) {
  constexpr uint32_t kMask = (1u << kDigitBits) - 1;
  auto digit = [](uint64_t entry, int which) {
    return uint32_t(entry >> (32 + which * kDigitBits)) & kMask;
  };
  uint32_t places[kDigits][kMask + 1] = {};
  for (int64_t i = 0; i != count; ++i)
    for (int which = 0; which != kDigits; ++which)
      ++places[which][digit(entries[i], which)];
  uint64_t *from = entries, *to = other;
  for (int which = 0; which != kDigits; ++which) {
    uint32_t *starts = places[which];
    // A digit that all have in common changes nothing.
    if (starts[digit(from[0], which)] == uint64_t(count))
      continue;
    uint32_t next = 0;
    for (uint32_t value = 0; value <= kMask; ++value) {
      uint32_t here = starts[value];
      starts[value] = next;
      next += here;
    }
    for (int64_t i = 0; i != count; ++i)
      to[starts[digit(from[i], which)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries)
    std::copy_n(from, count, entries);
}

namespace {
/// Rows along the axis of a call.
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
  int64_t toStep() const { return to.steps[to.rank - 1]; }
};
} // namespace

/// Keys of a row, each with its place behind it.
static void writeEntries(const SortedRows &rows, int64_t row, bool isDescending,
                         uint64_t *entries) {
  withType(rows.from.type, [&]<typename T>() {
    if constexpr (sizeof(T) <= 4 && (FloatElement<T> || IntegerElement<T>)) {
      const T *from = rows.from.as<T>() + rows.offset(rows.from, row);
      for (int64_t i = 0; i != rows.length; ++i)
        entries[i] = uint64_t(keyOf<T>(from[i * rows.fromStep()], isDescending))
                         << 32 |
                     uint64_t(i);
    }
  });
}

/// Calls `store(row, entries)` for each row, sorted: places are the low halves.
/// Types are looked at for each row, before and after it is sorted: for each
/// pair of them, the code that sorts would be there once more.
template <typename Store>
static void sortRows(const Invocation &call, const SortedRows &rows,
                     Store &&store) {
  bool isDescending = call.number(1) != 0;
  auto *scratch = static_cast<uint64_t *>(call.scratch);
  forEachChunk(call, rows.count, [&](int64_t row, int thread) {
    uint64_t *entries = scratch + int64_t(thread) * 2 * rows.length;
    writeEntries(rows, row, isDescending, entries);
    if (rows.length < kFewest)
      std::sort(entries, entries + rows.length);
    else
      sortByDigits(entries, entries + rows.length, rows.length);
    store(row, entries);
  });
}

template <bool isArgsort> static bool accepts(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  return call.number(0) >= 0 && call.number(0) < input.rank &&
         std::ranges::equal(input.shape(), output.shape()) &&
         hasKey(input.type) && input.size() < INT32_MAX &&
         (isArgsort ? isInteger(output.type) : input.type == output.type);
}

static size_t scratchOf(const Vectors &, const Invocation &call) {
  return size_t(SortedRows(call).length * 2 * threadsOf(call)) *
         sizeof(uint64_t);
}

static Error sort(const Vectors &, const Invocation &call) {
  SortedRows rows(call);
  sortRows(call, rows, [&](int64_t row, const uint64_t *entries) {
    portable::withWidth(rows.to.type, [&]<typename T>() {
      const T *from = rows.from.as<T>() + rows.offset(rows.from, row);
      T *to = rows.to.as<T>() + rows.offset(rows.to, row);
      for (int64_t i = 0; i != rows.length; ++i)
        to[i * rows.toStep()] =
            from[int64_t(uint32_t(entries[i])) * rows.fromStep()];
    });
  });
  return Error::success();
}

static Error argsort(const Vectors &, const Invocation &call) {
  SortedRows rows(call);
  sortRows(call, rows, [&](int64_t row, const uint64_t *entries) {
    portable::withWidth(rows.to.type, [&]<typename Index>() {
      Index *to = rows.to.as<Index>() + rows.offset(rows.to, row);
      for (int64_t i = 0; i != rows.length; ++i)
        to[i * rows.toStep()] = Index(uint32_t(entries[i]));
    });
  });
  return Error::success();
}

CORTEN_VARIANTS_WITH_SCRATCH(Sort, accepts<false>, sort, scratchOf)
CORTEN_VARIANTS_WITH_SCRATCH(Argsort, accepts<true>, argsort, scratchOf)
