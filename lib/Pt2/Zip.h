// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of a ZIP archive that lies in memory. torch stores its entries as
// they are and at aligned offsets, so an entry is a view of the archive; one
// that some other program has deflated is inflated. Nothing is ever written to
// a file, and every offset and length is checked before it is used.

#ifndef CORTEN_LIB_PT2_ZIP_H
#define CORTEN_LIB_PT2_ZIP_H

#include "corten/Support/Bytes.h"
#include "corten/Support/ReadWindow.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace corten::pt2 {

using Bytes = SharedBytes;

struct ZipEntry {
  llvm::StringRef name;
  /// As it lies in the archive.
  llvm::StringRef stored;
  uint64_t size = 0;
  uint32_t checksum = 0;
  bool isDeflated = false;
};

class ZipArchive {
public:
  /// Reads the directory. `archive.owner` is kept by all that is read.
  static llvm::Expected<ZipArchive> open(Bytes archive);

  /// In the order of the directory.
  llvm::ArrayRef<ZipEntry> entries() const { return list; }
  /// Null if there is none of that name.
  const ZipEntry *find(llvm::StringRef name) const;

  /// What the entry holds; its checksum is verified.
  llvm::Expected<Bytes> read(const ZipEntry &entry) const;

private:
  bool isIntact(llvm::StringRef data, uint32_t expected) const;
  llvm::Error readEntry(llvm::StringRef &directory);
  llvm::Error checkOverlaps() const;

  Bytes archive;
  /// For all entries: a file is as large as its weights.
  std::unique_ptr<ReadWindow> window = std::make_unique<ReadWindow>();
  std::vector<ZipEntry> list;
  llvm::StringMap<size_t> byName;
};

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_ZIP_H
