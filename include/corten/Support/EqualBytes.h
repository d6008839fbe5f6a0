// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds pieces of memory of equal content, such as weights of two files that
// were saved from one model, without reading more than is needed to tell them
// apart: one that is alone of its kind and size is not read at all, one that
// has company by its first page, and only what looks equal so far is read as a
// whole, each byte once.

#ifndef CORTEN_SUPPORT_EQUALBYTES_H
#define CORTEN_SUPPORT_EQUALBYTES_H

#include "corten/Support/ReadWindow.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace corten {

class EqualBytes {
public:
  explicit EqualBytes(ReadWindow &window) : window(window) {}

  /// The number of the first piece of this kind and content. A new one gets the
  /// next number, from zero on, and has to stay where it is.
  size_t find(const void *kind, llvm::StringRef bytes);

private:
  using Hash = std::pair<uint64_t, uint64_t>;
  using Group = std::pair<const void *, size_t>;
  /// A piece, and what was read of it.
  struct Entry {
    llvm::StringRef bytes;
    /// Of its parts, as far as somebody asked.
    llvm::SmallVector<Hash, 3> hashes;
  };

  const Hash &hashOf(Entry &entry, size_t part);
  bool areEqual(Entry &left, Entry &right);

  ReadWindow &window;
  std::vector<Entry> entries;
  /// The only one of a kind and size, of which nothing was read; afterwards
  /// none.
  llvm::DenseMap<Group, std::optional<size_t>> alone;
  /// By the first page.
  llvm::DenseMap<std::pair<Group, Hash>, llvm::SmallVector<size_t, 1>> byHead;
};

} // namespace corten

#endif // CORTEN_SUPPORT_EQUALBYTES_H
