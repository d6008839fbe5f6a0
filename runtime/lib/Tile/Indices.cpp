// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices of gathers and scatters, checked before anything is moved.

#include "Movement.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::tile;

bool tile::isDenseFrom(const Tensor &tensor, int axis) {
  Tensor part = tensor.view(tensor.shape().subspan(size_t(axis)),
                            tensor.strides().subspan(size_t(axis)));
  return part.isContiguous();
}

bool tile::fitsParts(const Tensor &tensor, const Tensor &indices,
                     const Tensor &parts) {
  int outer = indices.rank - 1;
  if (outer < 0 || tensor.type != parts.type || !isInteger(indices.type))
    return false;
  int64_t depth = indices.extents[outer];
  if (depth < 1 || depth > tensor.rank ||
      parts.rank != outer + tensor.rank - depth)
    return false;
  for (int axis = 0; axis != parts.rank; ++axis)
    if (parts.extents[axis] != (axis < outer
                                    ? indices.extents[axis]
                                    : tensor.extents[axis - outer + depth]))
      return false;
  return true;
}

int64_t tile::offsetOfRow(const Tensor &tensor, std::span<const int64_t> shape,
                          int64_t row) {
  int64_t offset = 0;
  for (size_t axis = shape.size(); axis-- != 0;) {
    offset += row % shape[axis] * tensor.steps[axis];
    row /= shape[axis];
  }
  return offset;
}

namespace {
struct Bounds {
  int64_t least = 0;
  int64_t most = 0;
};
} // namespace

/// The smallest and the largest of some numbers, and 0.
static Bounds boundsOf(const Tensor &indices) {
  return withType(indices.type, [&]<typename T>() -> Bounds {
    if constexpr (IntegerElement<T>) {
      ComputeType<T> least = 0, most = 0;
      portable::stridedLoop<1>(
          indices.shape(), {indices.steps.data()},
          [&](const auto &at, int64_t count, const auto &steps) {
            const T *from = indices.as<T>() + at[0];
            for (int64_t i = 0; i != count; ++i) {
              auto index = ComputeType<T>(from[i * steps[0]]);
              least = std::min(least, index);
              most = std::max(most, index);
            }
          });
      return {int64_t(least), int64_t(most)};
    } else {
      return {};
    }
  });
}

Error tile::checkIndices(std::string_view kernel, const Tensor &indices,
                         int64_t extent) {
  Tensor once = indices;
  for (int axis = 0; axis != once.rank; ++axis)
    if (once.steps[axis] == 0)
      once.extents[axis] = std::min<int64_t>(once.extents[axis], 1);
  if (once.size() == 0)
    return Error::success();
  Bounds bounds = boundsOf(once);
  if (extent > 0 && portable::wrapIndex(bounds.least, extent) &&
      portable::wrapIndex(bounds.most, extent))
    return Error::success();
  // The first that is wrong.
  portable::IndexReader read = portable::indexReader(once.type);
  Error error;
  portable::stridedLoop<1>(
      once.shape(), {once.steps.data()},
      [&](const auto &at, int64_t count, const auto &steps) {
        for (int64_t i = 0; i != count && !error; ++i) {
          int64_t index = read(once, at[0] + i * steps[0]);
          if (!portable::wrapIndex(index, extent))
            error = portable::outOfRange(kernel, index, extent);
        }
      });
  return error;
}

PartIndices::PartIndices(const Tensor &tensor, const Tensor &indices)
    : tensor(tensor), indices(indices),
      read(portable::indexReader(indices.type)) {
  for (int64_t extent : shape())
    numRows *= extent;
  for (int64_t axis = indices.extents[indices.rank - 1]; axis != tensor.rank;
       ++axis)
    numElements *= tensor.extents[axis];
}

int64_t PartIndices::offset(std::string_view kernel, int64_t row,
                            Error &error) const {
  int last = indices.rank - 1;
  int64_t from = offsetOfRow(indices, shape(), row);
  int64_t offset = 0;
  for (int64_t axis = 0; axis != indices.extents[last]; ++axis) {
    int64_t index = read(indices, from + axis * indices.steps[last]);
    std::optional<int64_t> place =
        portable::wrapIndex(index, tensor.extents[axis]);
    if (!place) {
      error = portable::outOfRange(kernel, index, tensor.extents[axis]);
      return 0;
    }
    offset += *place * tensor.steps[axis];
  }
  return offset;
}
