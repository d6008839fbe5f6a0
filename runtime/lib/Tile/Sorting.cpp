// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows are sorted as whole numbers: keys and places (SortKeys.h).

#include "SortKeys.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;
using namespace corten::runtime::tile;

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
    writeEntries(rows, row, rows.length, isDescending, entries);
    sortEntries(entries, entries + rows.length, rows.length);
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
    writeElements(rows, row, entries, rows.to);
  });
  return Error::success();
}

static Error argsort(const Vectors &, const Invocation &call) {
  SortedRows rows(call);
  sortRows(call, rows, [&](int64_t row, const uint64_t *entries) {
    writePlaces(row, entries, rows.to);
  });
  return Error::success();
}

CORTEN_VARIANTS_WITH_SCRATCH(Sort, accepts<false>, sort, scratchOf)
CORTEN_VARIANTS_WITH_SCRATCH(Argsort, accepts<true>, argsort, scratchOf)
