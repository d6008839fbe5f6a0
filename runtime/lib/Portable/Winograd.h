// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_RUNTIME_LIB_PORTABLE_WINOGRAD_H
#define CORTEN_RUNTIME_LIB_PORTABLE_WINOGRAD_H

#include "Portable.h"

#include "corten/Runtime/Winograd.h"

namespace corten::runtime::portable {

/// What the kernels check of their operands.
Error checkPackWinograd(const Invocation &call);
Error checkWinograd(const Invocation &call);

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_PORTABLE_WINOGRAD_H
