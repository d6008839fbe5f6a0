// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Tensor.h"

#include <algorithm>

using namespace corten::runtime;

std::array<int64_t, kMaxRank>
corten::runtime::rowMajorStrides(std::span<const int64_t> shape) {
  std::array<int64_t, kMaxRank> strides = {};
  int64_t next = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = next;
    next *= shape[axis];
  }
  return strides;
}

Tensor::Tensor(ElementType type, void *data, std::span<const int64_t> shape)
    : data(data), steps(rowMajorStrides(shape)), rank(uint8_t(shape.size())),
      type(type) {
  std::ranges::copy(shape, extents.begin());
}

int64_t Tensor::size() const {
  int64_t count = 1;
  for (int64_t extent : shape())
    count *= extent;
  return count;
}

bool Tensor::isContiguous() const {
  int64_t next = 1;
  for (int axis = rank; axis-- > 0;) {
    if (extents[axis] == 0)
      return true;
    if (extents[axis] != 1 && steps[axis] != next)
      return false;
    next *= extents[axis];
  }
  return true;
}

Tensor Tensor::view(std::span<const int64_t> shape,
                    std::span<const int64_t> strides, int64_t offset) const {
  Tensor result;
  result.type = type;
  result.rank = uint8_t(shape.size());
  result.data = static_cast<char *>(data) + offset * int64_t(byteSize(type));
  std::ranges::copy(shape, result.extents.begin());
  std::ranges::copy(strides, result.steps.begin());
  return result;
}

Tensor Tensor::transposed(std::span<const int> permutation) const {
  Tensor result = *this;
  for (size_t axis = 0; axis != permutation.size(); ++axis) {
    result.extents[axis] = extents[permutation[axis]];
    result.steps[axis] = steps[permutation[axis]];
  }
  return result;
}

Tensor Tensor::withAxisLast(int axis) const {
  Tensor result = *this;
  std::rotate(result.extents.begin() + axis, result.extents.begin() + axis + 1,
              result.extents.begin() + rank);
  std::rotate(result.steps.begin() + axis, result.steps.begin() + axis + 1,
              result.steps.begin() + rank);
  return result;
}

std::string Tensor::describe() const {
  std::string text(spelling(type));
  text += "[";
  for (int axis = 0; axis != rank; ++axis)
    text += (axis ? ", " : "") + std::to_string(extents[axis]);
  return text + "]";
}
