// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view of memory that somebody else owns.

#ifndef CORTEN_RUNTIME_TENSOR_H
#define CORTEN_RUNTIME_TENSOR_H

#include "corten/Runtime/ElementType.h"

#include <array>
#include <span>
#include <string>

namespace corten::runtime {

/// More axes than any program has: a frame has its tensors in one array.
inline constexpr int kMaxRank = 16;

/// A strided view. Strides count elements; one of 0 repeats along its axis, a
/// negative one goes backwards from `data`.
struct Tensor {
  void *data = nullptr;
  std::array<int64_t, kMaxRank> extents = {};
  std::array<int64_t, kMaxRank> steps = {};
  uint8_t rank = 0;
  ElementType type = ElementType::F32;

  Tensor() = default;
  /// A view of memory without gaps, in row-major order.
  Tensor(ElementType type, void *data, std::span<const int64_t> shape);

  std::span<const int64_t> shape() const { return {extents.data(), rank}; }
  std::span<const int64_t> strides() const { return {steps.data(), rank}; }
  int64_t size() const;
  /// Whether elements lie one after the other in row-major order.
  bool isContiguous() const;
  template <typename T> T *as() const { return static_cast<T *>(data); }

  /// This memory with other axes: those of `shape`, each with a stride.
  Tensor view(std::span<const int64_t> shape, std::span<const int64_t> strides,
              int64_t offset = 0) const;
  /// With axes of this in another order.
  Tensor transposed(std::span<const int> permutation) const;
  /// With one axis at the end.
  Tensor withAxisLast(int axis) const;

  /// As in `f32[2, 3]`, for messages.
  std::string describe() const;
};

/// Row-major strides.
std::array<int64_t, kMaxRank> rowMajorStrides(std::span<const int64_t> shape);

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_TENSOR_H
