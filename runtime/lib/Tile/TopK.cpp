// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first elements of sorted rows, without sorting the others: what comes
// before the last of the best so far is kept, and now and then all but the best
// of it goes. Most of a long row is compared with that one element and dropped.

#include "SortKeys.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::tile;

/// Elements that are compared at a time.
static constexpr int64_t kPiece = 1024;
/// Entries that are kept besides twice the best.
static constexpr int64_t kSpare = 64;
/// The fewest elements of a row that are all kept to begin with.
static constexpr int64_t kFirst = 256;
/// Elements of short rows that are one chunk of work.
static constexpr int64_t kElementsOfChunk = 4096;

namespace {
/// Chooses among rows of one call, on one thread.
class Selection {
public:
  Selection(const Vectors &vectors, const SortedRows &rows, int64_t wanted,
            bool isDescending, void *memory)
      : vectors(vectors), rows(rows), wanted(wanted),
        isDescending(isDescending), entries(static_cast<uint64_t *>(memory)) {}

  /// Entries that it needs memory for: what is kept, and room to sort it.
  static int64_t entriesOf(int64_t length, int64_t wanted) {
    return begin(length, wanted) + kPiece + kSpare + 2 * wanted;
  }

  /// The best of a row, in order.
  const uint64_t *choose(int64_t row) {
    if (2 * wanted >= rows.length) {
      writeEntries(rows, row, rows.length, isDescending, entries);
      sortEntries(entries, entries + rows.length, rows.length);
      return entries;
    }
    int64_t first = begin(rows.length, wanted);
    writeEntries(rows, row, first, isDescending, entries);
    int64_t kept = keepBest(first);
    for (; first < rows.length; first += kPiece) {
      int64_t count = std::min(kPiece, rows.length - first);
      // Of equal elements the first ones are the best, and are there already.
      kept += vectors.collectBelow(rowOf(row), first, count, isDescending,
                                   uint32_t(entries[wanted - 1] >> 32),
                                   entries + kept);
      if (kept > 2 * wanted + kSpare)
        kept = keepBest(kept);
    }
    keepBest(kept);
    // They are in no order, which sorting by digits would keep among equals.
    std::sort(entries, entries + wanted);
    return entries;
  }

private:
  const Vectors &vectors;
  const SortedRows &rows;
  int64_t wanted;
  bool isDescending;
  uint64_t *entries;

  static int64_t begin(int64_t length, int64_t wanted) {
    return std::min(length, std::max(2 * wanted, kFirst));
  }

  Rows rowOf(int64_t row) const {
    return {rows.from.as<char>() +
                rows.offset(rows.from, row) * int64_t(byteSize(rows.from.type)),
            rows.fromStep(), 0, rows.from.type};
  }

  /// The best come first, and the last one of them is in its place.
  int64_t keepBest(int64_t count) {
    std::nth_element(entries, entries + wanted - 1, entries + count);
    return wanted;
  }
};
} // namespace

static int64_t wantedBy(const Invocation &call) {
  return call.output(0).extents[size_t(call.number(0))];
}

static bool accepts(const Invocation &call) {
  const Tensor &input = call.input();
  return !portable::checkTopK(call) && hasKey(input.type) &&
         tileLane(input.type) && input.size() < INT32_MAX && wantedBy(call) > 0;
}

static size_t scratchOf(const Vectors &, const Invocation &call) {
  int64_t length = call.input().extents[size_t(call.number(0))];
  return size_t(Selection::entriesOf(length, wantedBy(call)) *
                products::threadsOf(call)) *
         sizeof(uint64_t);
}

static Error select(const Vectors &vectors, const Invocation &call) {
  SortedRows rows(call);
  Tensor values = rows.to;
  Tensor places = call.output(1).withAxisLast(int(call.number(0)));
  int64_t wanted = wantedBy(call);
  int64_t entries = Selection::entriesOf(rows.length, wanted);
  int64_t some = std::max<int64_t>(1, kElementsOfChunk / rows.length);
  products::forEachChunk(
      call, products::ceilDivide(rows.count, some),
      [&](int64_t chunk, int thread) {
        Selection selection(vectors, rows, wanted, call.number(1) != 0,
                            static_cast<uint64_t *>(call.scratch) +
                                thread * entries);
        int64_t end = std::min(rows.count, (chunk + 1) * some);
        for (int64_t row = chunk * some; row != end; ++row) {
          const uint64_t *best = selection.choose(row);
          writeElements(rows, row, best, values);
          writePlaces(row, best, places);
        }
      });
  return Error::success();
}

CORTEN_VARIANTS_WITH_SCRATCH(TopK, accepts, select, scratchOf)
