// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes with what keeps them alive: mapped files, weights, what was inflated.

#ifndef CORTEN_SUPPORT_BYTES_H
#define CORTEN_SUPPORT_BYTES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace corten {

struct SharedBytes {
  llvm::StringRef data;
  std::shared_ptr<const void> owner;
};

/// Maps a file into memory; an empty one gives no bytes. The error is that of
/// the system and does not name the file.
llvm::Expected<SharedBytes> mapFile(llvm::StringRef path);

/// Memory that the elements of any tensor may lie in; null if there is none
/// left.
std::shared_ptr<char> allocateElements(size_t size);

/// The bytes where elements can be read, see kElementAlignment: as they are, or
/// a copy if they start elsewhere (a slice of a larger storage, a mapped file).
SharedBytes alignedWeight(SharedBytes bytes);

} // namespace corten

#endif // CORTEN_SUPPORT_BYTES_H
