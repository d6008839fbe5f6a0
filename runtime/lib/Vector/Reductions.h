// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_RUNTIME_LIB_REDUCTIONS_H
#define CORTEN_RUNTIME_LIB_REDUCTIONS_H

#include "Simd.h"

namespace corten::runtime::CORTEN_LEVEL {

/// NaN wins; of two zeros the first.
inline F maximum(F a, F b) { return I(b == b) ? larger(b, a) : b; }
inline F minimum(F a, F b) { return I(b == b) ? smaller(b, a) : b; }

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_REDUCTIONS_H
