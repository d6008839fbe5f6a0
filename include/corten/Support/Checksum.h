// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checksum of ZIP entries, fast enough to verify gigabytes of weights on
// the way: a model with a flipped bit must not convert.

#ifndef CORTEN_SUPPORT_CHECKSUM_H
#define CORTEN_SUPPORT_CHECKSUM_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace corten {

/// CRC-32 as in ZIP and zlib; `before` is that of what stands in front.
uint32_t checksum(llvm::StringRef data, uint32_t before = 0);

} // namespace corten

#endif // CORTEN_SUPPORT_CHECKSUM_H
