// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the user's Metal kernels.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_CONTROL_METALKERNEL_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_CONTROL_METALKERNEL_H

#include "Emission/Emitter.h"

#include "corten/Metal/Kernel.h"

namespace corten {

/// Emits the kernel between copies into and out of Metal buffers. The call has
/// the kernel's inputs, then the grid, the threadgroup, and one shape for each
/// result.
mlir::FailureOr<Results> lowerMetalKernel(const metal::Kernel &kernel,
                                          const AtenNode &node, Emitter &emit);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_CONTROL_METALKERNEL_H
