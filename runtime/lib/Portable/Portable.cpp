// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Portable.h"
#include "Scratch.h"

#include <algorithm>

using namespace corten::runtime;

size_t portable::scratchOf(PortableKernel kernel, const Invocation &call) {
  switch (kernel) {
  case PortableKernel::Sort:
  case PortableKernel::Argsort:
  case PortableKernel::TopK:
    return scratchOfSort(call);
  case PortableKernel::Attention:
  case PortableKernel::AttentionWithSinks:
    return scratchOfAttention(call);
  case PortableKernel::GatedDelta:
    return scratchOfGatedDelta(call);
  case PortableKernel::MatMulCompressed:
    return scratchOfMatMulCompressed(call);
  case PortableKernel::MatMulRoutedCompressed:
    return scratchOfMatMulRoutedCompressed(call);
  case PortableKernel::MatMulSparse:
    return scratchOfMatMulSparse(call);
  default:
    return 0;
  }
}

Error portable::unknownType(std::string_view kernel, const Tensor &tensor) {
  return Error(std::string(kernel) + " has no form for " + tensor.describe());
}

Error portable::checkShape(std::string_view kernel, const Tensor &tensor,
                           const Tensor &other) {
  if (std::ranges::equal(tensor.shape(), other.shape()))
    return Error::success();
  return Error(std::string(kernel) + ": " + tensor.describe() +
               " does not fit " + other.describe());
}

Error portable::checkSame(std::string_view kernel, const Tensor &tensor,
                          const Tensor &other) {
  if (Error error = checkShape(kernel, tensor, other))
    return error;
  return tensor.type == other.type ? Error::success()
                                   : unknownType(kernel, other);
}

Error portable::outOfRange(std::string_view kernel, int64_t index,
                           int64_t extent) {
  return Error(std::string(kernel) + ": index " + std::to_string(index) +
               " is out of range for an axis of " + std::to_string(extent));
}

portable::IndexReader portable::indexReader(ElementType type) {
  return withType(type, []<typename T>() -> IndexReader {
    if constexpr (IntegerElement<T>)
      return [](const Tensor &tensor, int64_t offset) {
        return int64_t(ComputeType<T>(tensor.as<T>()[offset]));
      };
    else
      return nullptr;
  });
}
