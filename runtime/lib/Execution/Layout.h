// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors lie in memory, and what is said when there is none.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_LAYOUT_H
#define CORTEN_RUNTIME_LIB_EXECUTION_LAYOUT_H

#include "corten/Runtime/Error.h"
#include "corten/Runtime/Tensor.h"

namespace corten::runtime::execution {

struct Engine;

/// Whether a tensor of the same extents lies in memory as `wanted` does.
bool hasLayout(const Tensor &tensor, const Tensor &wanted);

Error outOfMemory(const Engine &engine, int64_t bytes);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_LAYOUT_H
