// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What portable kernels have in common.

#ifndef CORTEN_RUNTIME_LIB_PORTABLE_H
#define CORTEN_RUNTIME_LIB_PORTABLE_H

#include "corten/Runtime/Kernel.h"

namespace corten::runtime::portable {

#define KERNEL(NAME, INPUTS, OUTPUTS, NUMBERS)                                 \
  Error run##NAME(const Invocation &call);
#include "corten/Runtime/PortableKernels.def"

/// That a kernel does not know tensors of this type.
Error unknownType(std::string_view kernel, const Tensor &tensor);
/// Checks that `tensor` has the shape of `other`.
Error checkShape(std::string_view kernel, const Tensor &tensor,
                 const Tensor &other);

/// Checks that it has the type as well.
Error checkSame(std::string_view name, const Tensor &tensor,
                const Tensor &other);

/// Checks the shapes and types of queries, keys, values, mask, sinks and
/// result.
Error checkAttention(const Invocation &call);
/// The sinks of attention; no tensor if it has none.
Tensor sinksOf(const Invocation &call);
/// Checks the axis, the shapes and the types of what it takes and gives.
Error checkTopK(const Invocation &call);
/// Checks the shapes and types of what it takes and gives.
Error checkGatedDelta(const Invocation &call);

/// Calls `inner(offsets, count, steps)` for each run of elements along the last
/// axis of `shape`, in row-major order: where the run begins in each of N
/// tensors, how long it is, and how far its elements are apart.
template <size_t N, typename Inner>
void stridedLoop(std::span<const int64_t> shape,
                 const std::array<const int64_t *, N> &strides, Inner &&inner) {
  int rank = int(shape.size());
  for (int64_t extent : shape)
    if (extent == 0)
      return;
  std::array<int64_t, N> offsets = {};
  std::array<int64_t, N> steps = {};
  int64_t count = 1;
  if (rank != 0) {
    count = shape[rank - 1];
    for (size_t operand = 0; operand != N; ++operand)
      steps[operand] = strides[operand][rank - 1];
  }
  std::array<int64_t, kMaxRank> index = {};
  while (true) {
    inner(offsets, count, steps);
    int axis = rank - 2;
    for (; axis >= 0; --axis) {
      for (size_t operand = 0; operand != N; ++operand)
        offsets[operand] += strides[operand][axis];
      if (++index[axis] != shape[axis])
        break;
      for (size_t operand = 0; operand != N; ++operand)
        offsets[operand] -= strides[operand][axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}

/// `output = function(input)` for each element, in types that C++ computes in.
template <typename In, typename Out, typename Function>
void mapUnary(const Tensor &input, const Tensor &output, Function &&function) {
  const In *from = input.as<In>();
  Out *to = output.as<Out>();
  stridedLoop<2>(output.shape(), {input.steps.data(), output.steps.data()},
                 [&](const auto &offsets, int64_t count, const auto &steps) {
                   const In *source = from + offsets[0];
                   Out *target = to + offsets[1];
                   for (int64_t i = 0; i != count; ++i)
                     target[i * steps[1]] =
                         Out(function(ComputeType<In>(source[i * steps[0]])));
                 });
}

template <typename In, typename Out, typename Function>
void mapBinary(const Tensor &left, const Tensor &right, const Tensor &output,
               Function &&function) {
  const In *a = left.as<In>();
  const In *b = right.as<In>();
  Out *to = output.as<Out>();
  stridedLoop<3>(output.shape(),
                 {left.steps.data(), right.steps.data(), output.steps.data()},
                 [&](const auto &offsets, int64_t count, const auto &steps) {
                   const In *x = a + offsets[0];
                   const In *y = b + offsets[1];
                   Out *target = to + offsets[2];
                   for (int64_t i = 0; i != count; ++i)
                     target[i * steps[2]] =
                         Out(function(ComputeType<In>(x[i * steps[0]]),
                                      ComputeType<In>(y[i * steps[1]])));
                 });
}

/// Calls `function.template operator()<T>()` with an unsigned integer as wide
/// as an element of `type`: for what moves elements and does not look at them.
template <typename Function>
decltype(auto) withWidth(ElementType type, Function &&function) {
  switch (byteSize(type)) {
  case 1:
    return function.template operator()<uint8_t>();
  case 2:
    return function.template operator()<uint16_t>();
  case 4:
    return function.template operator()<uint32_t>();
  default:
    return function.template operator()<uint64_t>();
  }
}

/// An element, as a number.
template <typename T> double numberAt(const Tensor &tensor, int64_t offset) {
  return double(ComputeType<T>(tensor.as<T>()[offset]));
}

/// Copies elements of the same type and shape, wherever they lie: they need not
/// be aligned.
void copyElements(const Tensor &from, const Tensor &to);

/// False for whole numbers, which all are numbers.
template <typename T> bool isNaN(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

/// Where an index points on an axis: from the end if negative; nothing if it
/// points outside.
inline std::optional<int64_t> wrapIndex(int64_t index, int64_t extent) {
  if (index < 0)
    index += extent;
  if (index < 0 || index >= extent)
    return std::nullopt;
  return index;
}

/// Reads the whole number that lies at an offset of a tensor.
using IndexReader = int64_t (*)(const Tensor &, int64_t);
/// Nothing for a type that is none of whole numbers.
IndexReader indexReader(ElementType type);

/// That an index points outside of its axis.
Error outOfRange(std::string_view kernel, int64_t index, int64_t extent);

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_PORTABLE_H
