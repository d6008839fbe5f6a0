// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that go to one of several matrices each, as an index says. Those of the
// same matrix are taken together, so that it is read once; what no row goes to
// is not read at all.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_ROUTEDROWS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_ROUTEDROWS_H

#include "Common.h"

#include <span>

namespace corten::runtime::products {

class RoutedRows {
public:
  /// Rows that are multiplied with a panel at a time: whole tiles of any
  /// machine, and not more than a block has.
  static constexpr int64_t kSliceRows = 48;
  /// So many threads do not need rows in blocks of their own: there is a slice
  /// for each matrix.
  static constexpr int kAllRows = 0;

  /// Some rows of one matrix.
  struct Slice {
    int64_t matrix;
    int64_t first;
    int64_t count;
  };

  /// Each index has so many rows.
  RoutedRows(const Tensor &indices, int64_t rows, int64_t rowsOfIndex,
             int64_t matrices)
      : indices(indices), rows(rows), rowsOfIndex(rowsOfIndex),
        matrices(matrices) {}

  void take(Scratch &scratch);

  /// By matrix, and within one as they come. An index that points nowhere is an
  /// error.
  Error sort(std::string_view kernel);

  /// Those of one matrix are neighbours.
  std::span<const Slice> slices() const { return {all, size_t(numSlices)}; }
  const int64_t *rowsOf(const Slice &slice) const {
    return order + slice.first;
  }

private:
  const Tensor &indices;
  int64_t rows;
  int64_t rowsOfIndex;
  int64_t matrices;
  /// The matrix of each row, all rows by matrix, and where those of each end.
  int64_t *matrixOf = nullptr;
  int64_t *order = nullptr;
  int64_t *ends = nullptr;
  Slice *all = nullptr;
  int64_t numSlices = 0;
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_ROUTEDROWS_H
