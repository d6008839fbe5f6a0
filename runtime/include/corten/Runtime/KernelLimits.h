// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compilers have to know about fast kernels. Numbers only: it is also read
// where code is made for other instruction sets.

#ifndef CORTEN_RUNTIME_KERNELLIMITS_H
#define CORTEN_RUNTIME_KERNELLIMITS_H

#include <cstdint>

namespace corten::runtime {

/// The longest rows of queries and values that fast attention takes.
inline constexpr int64_t kAttentionWidth = 256;

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_KERNELLIMITS_H
