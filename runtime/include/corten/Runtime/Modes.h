// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels may be told by a number.

#ifndef CORTEN_RUNTIME_MODES_H
#define CORTEN_RUNTIME_MODES_H

#include <cstdint>

namespace corten::runtime {

/// How an axis goes on beyond its ends. By one value it is not here: that is a
/// fill and a copy.
enum class PaddingMode : int64_t { Replicate, Reflect, Symmetric, Circular };

/// What becomes of an element that an update meets.
enum class ScatterMode : int64_t { Update, Add, Sub, Mul, Div, Max, Min };

/// What a reduction does; each means what the portable kernel of its name does.
enum class ReduceMode : int64_t { Sum, Mean, Product, Max, Min, All, Any };

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_MODES_H
