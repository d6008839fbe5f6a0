// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fast kernels that move elements have in common.

#ifndef CORTEN_RUNTIME_LIB_MOVEMENT_H
#define CORTEN_RUNTIME_LIB_MOVEMENT_H

#include "../Portable/Portable.h"
#include "Nest.h"

namespace corten::runtime::tile {

/// Copies elements of one shape and width.
void copyFast(const Tensor &input, const Tensor &output, ThreadPool *pool);

/// Whether axes from one on are without gaps.
bool isDenseFrom(const Tensor &tensor, int axis);

/// Whether `parts` has the shape and the type of what the rows of `indices`
/// point to in `tensor`: the first axes of the indices, then those axes of the
/// tensor that are not indexed, of which there may be none.
bool fitsParts(const Tensor &tensor, const Tensor &indices,
               const Tensor &parts);

/// Where the row of a number begins in a tensor whose first axes are those of
/// `shape`.
int64_t offsetOfRow(const Tensor &tensor, std::span<const int64_t> shape,
                    int64_t row);

/// Checks all indices of a kernel along an axis; those that are repeated once.
Error checkIndices(std::string_view kernel, const Tensor &indices,
                   int64_t extent);

/// Rows of `indices` that each point to a part of `tensor`.
class PartIndices {
public:
  PartIndices(const Tensor &tensor, const Tensor &indices);

  /// How many rows there are, and the elements of a part.
  int64_t rows() const { return numRows; }
  int64_t length() const { return numElements; }
  /// The shape of the rows.
  std::span<const int64_t> shape() const {
    return indices.shape().first(size_t(indices.rank - 1));
  }

  /// Where the part of a row begins; nothing, and what is wrong in `error`, if
  /// it points outside.
  int64_t offset(std::string_view kernel, int64_t row, Error &error) const;

private:
  const Tensor &tensor;
  const Tensor &indices;
  portable::IndexReader read;
  int64_t numRows = 1;
  int64_t numElements = 1;
};

} // namespace corten::runtime::tile

#endif // CORTEN_RUNTIME_LIB_MOVEMENT_H
