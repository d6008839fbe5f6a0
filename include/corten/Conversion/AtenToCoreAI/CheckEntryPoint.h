// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether names fit a program, before anything is converted.

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_CHECKENTRYPOINT_H
#define CORTEN_CONVERSION_ATENTOCOREAI_CHECKENTRYPOINT_H

#include "llvm/Support/Error.h"

namespace corten {

struct EntryPoint;

/// What a conversion would say of the names of inputs, outputs and states.
llvm::Error checkEntryPoint(const EntryPoint &entry);

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_CHECKENTRYPOINT_H
