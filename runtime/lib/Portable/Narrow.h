// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What products of narrow factors check, in plain form and fast.

#ifndef CORTEN_RUNTIME_LIB_PORTABLE_NARROW_H
#define CORTEN_RUNTIME_LIB_PORTABLE_NARROW_H

#include "Window.h"

#include "corten/Runtime/Panels.h"

namespace corten::runtime::portable {

Error checkPackPairs(const Invocation &call);
Error checkPackQuads(const Invocation &call);
/// Of their operands and of the program.
Error checkPairProduct(const Invocation &call);
Error checkQuadProduct(const Invocation &call);

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_PORTABLE_NARROW_H
