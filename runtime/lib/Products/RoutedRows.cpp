// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RoutedRows.h"

#include "../Portable/Portable.h"
#include "LeftRows.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::products;

void RoutedRows::take(Scratch &scratch) {
  matrixOf = scratch.take<int64_t>(rows);
  order = scratch.take<int64_t>(rows);
  ends = scratch.take<int64_t>(matrices);
  all = scratch.take<Slice>(std::min(rows, matrices) + rows / kSliceRows);
}

Error RoutedRows::sort(std::string_view kernel) {
  std::fill_n(ends, matrices, 0);
  portable::IndexReader read = portable::indexReader(indices.type);
  for (int64_t row = 0; row != rows; ++row) {
    if (row % rowsOfIndex != 0) {
      matrixOf[row] = matrixOf[row - 1];
    } else {
      int64_t index = read(indices, batchOffset(indices, 0, row / rowsOfIndex));
      auto matrix = portable::wrapIndex(index, matrices);
      if (!matrix)
        return portable::outOfRange(kernel, index, matrices);
      matrixOf[row] = *matrix;
    }
    ++ends[matrixOf[row]];
  }
  numSlices = 0;
  int64_t first = 0;
  for (int64_t matrix = 0; matrix != matrices; ++matrix) {
    int64_t some = ends[matrix];
    ends[matrix] = first;
    EvenParts parts(some, std::max<int64_t>(ceilDivide(some, kSliceRows), 1));
    for (int64_t done = 0; done != some;) {
      auto [start, length] = parts.next();
      all[numSlices++] = {matrix, first + start, length};
      done += length;
    }
    first += some;
  }
  for (int64_t row = 0; row != rows; ++row)
    order[ends[matrixOf[row]]++] = row;
  return Error::success();
}
