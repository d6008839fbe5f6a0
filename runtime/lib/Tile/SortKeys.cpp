// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SortKeys.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::tile;

/// Shorter rows are sorted by comparisons.
static constexpr int64_t kFewest = 512;
static constexpr int kDigitBits = 11;
static constexpr int kDigits = 3;

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

void tile::sortEntries(uint64_t *entries, uint64_t *other, int64_t count) {
  if (count < kFewest)
    std::sort(entries, entries + count);
  else
    sortByDigits(entries, other, count);
}

void tile::writeEntries(const SortedRows &rows, int64_t row, int64_t count,
                        bool isDescending, uint64_t *entries) {
  withType(rows.from.type, [&]<typename T>() {
    if constexpr (sizeof(T) <= 4 && (FloatElement<T> || IntegerElement<T>)) {
      const T *from = rows.from.as<T>() + rows.offset(rows.from, row);
      for (int64_t i = 0; i != count; ++i)
        entries[i] =
            entryOf(keyOf<T>(from[i * rows.fromStep()], isDescending), i);
    }
  });
}

void tile::writeElements(const SortedRows &rows, int64_t row,
                         const uint64_t *entries, const Tensor &to) {
  int last = to.rank - 1;
  portable::withWidth(to.type, [&]<typename T>() {
    const T *from = rows.from.as<T>() + rows.offset(rows.from, row);
    T *first = to.as<T>() + rows.offset(to, row);
    for (int64_t i = 0; i != to.extents[last]; ++i)
      first[i * to.steps[last]] =
          from[int64_t(uint32_t(entries[i])) * rows.fromStep()];
  });
}

void tile::writePlaces(int64_t row, const uint64_t *entries, const Tensor &to) {
  int last = to.rank - 1;
  portable::withWidth(to.type, [&]<typename Index>() {
    Index *first = to.as<Index>() + SortedRows::offset(to, row);
    for (int64_t i = 0; i != to.extents[last]; ++i)
      first[i * to.steps[last]] = Index(uint32_t(entries[i]));
  });
}
