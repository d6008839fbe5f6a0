// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that portable kernels need besides their tensors. Plans have a place
// for it, so that no call allocates.

#ifndef CORTEN_RUNTIME_LIB_SCRATCH_H
#define CORTEN_RUNTIME_LIB_SCRATCH_H

#include "corten/Runtime/Kernel.h"

#include <vector>

namespace corten::runtime::portable {

/// How many bytes of scratch a kernel needs; nothing for calls that it refuses.
size_t scratchOf(PortableKernel kernel, const Invocation &call);
size_t scratchOfSort(const Invocation &call);
size_t scratchOfAttention(const Invocation &call);
size_t scratchOfGatedDelta(const Invocation &call);
size_t scratchOfMatMulCompressed(const Invocation &call);
size_t scratchOfMatMulRoutedCompressed(const Invocation &call);
size_t scratchOfMatMulSparse(const Invocation &call);

/// Numbers in the scratch of a call, or, where it has none because it is of no
/// plan, in memory of their own.
template <typename T> class Scratch {
public:
  Scratch(const Invocation &call, int64_t count)
      : own(call.scratch ? 0 : size_t(count)),
        elements(call.scratch ? static_cast<T *>(call.scratch) : own.data(),
                 size_t(count)) {}

  std::span<T> numbers() const { return elements; }

private:
  std::vector<T> own;
  std::span<T> elements;
};

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_SCRATCH_H
