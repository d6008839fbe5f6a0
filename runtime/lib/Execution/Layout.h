// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors lie in memory, and what is said when there is none.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_LAYOUT_H
#define CORTEN_RUNTIME_LIB_EXECUTION_LAYOUT_H

#include "corten/Runtime/Error.h"
#include "corten/Runtime/Tensor.h"

#include <optional>
#include <string>
#include <utility>

namespace corten::runtime::execution {

struct Engine;

/// Whether a tensor of the same extents lies in memory as `wanted` does.
bool hasLayout(const Tensor &tensor, const Tensor &wanted);

/// Where a view begins and ends, in bytes from its first element; nothing if
/// they cannot be counted.
std::optional<std::pair<int64_t, int64_t>> hullOf(const Tensor &tensor);

Error outOfMemory(const Engine &engine, int64_t bytes);
/// The same of something else; `limit` is that of the pool.
Error outOfMemory(const std::string &what, size_t limit);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_LAYOUT_H
