// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_KERNELNAMESPACE_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_KERNELNAMESPACE_H

#include "llvm/ADT/StringRef.h"

namespace corten {

/// The namespace of the operator that makes vectors of sizes for kernels.
inline constexpr llvm::StringRef kKernelSizesNamespace = "coreai_metal";

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_KERNELNAMESPACE_H
