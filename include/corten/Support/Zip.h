// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ZIP archives: the entries of one that lies in memory, and how one is written.
// torch stores its entries as
// they are and at aligned offsets, so an entry is a view of the archive; one
// that some other program has deflated is inflated. Nothing is ever written to
// a file, and every offset and length is checked before it is used.

#ifndef CORTEN_SUPPORT_ZIP_H
#define CORTEN_SUPPORT_ZIP_H

#include "corten/Support/Bytes.h"
#include "corten/Support/ReadWindow.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corten {

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
  static llvm::Expected<ZipArchive> open(SharedBytes archive);

  /// In the order of the directory.
  llvm::ArrayRef<ZipEntry> entries() const { return list; }
  /// Null if there is none of that name.
  const ZipEntry *find(llvm::StringRef name) const;

  /// What the entry holds; its checksum is verified.
  llvm::Expected<SharedBytes> read(const ZipEntry &entry) const;

private:
  bool isIntact(llvm::StringRef data, uint32_t expected) const;
  llvm::Error readEntry(llvm::StringRef &directory);
  llvm::Error checkOverlaps() const;

  SharedBytes archive;
  /// For all entries: a file is as large as its weights.
  std::unique_ptr<ReadWindow> window = std::make_unique<ReadWindow>();
  std::vector<ZipEntry> list;
  llvm::StringMap<size_t> byName;
};

/// Writes an archive of entries as they are, of any size.
class ZipWriter {
public:
  explicit ZipWriter(llvm::raw_ostream &os) : os(os) {}

  /// An entry that is these parts, one after the other.
  void add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> parts);
  /// Nothing comes after it.
  void finish();

private:
  llvm::raw_ostream &os;
  uint64_t written = 0;
  uint64_t numEntries = 0;
  std::string directory;
};

} // namespace corten

#endif // CORTEN_SUPPORT_ZIP_H
