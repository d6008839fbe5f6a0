// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The archives that torch writes: a ZIP archive in which all entries lie in one
// folder, whatever it is called.

#ifndef CORTEN_LIB_PT2_ARCHIVE_H
#define CORTEN_LIB_PT2_ARCHIVE_H

#include "corten/Support/Zip.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace corten::pt2 {

using Bytes = SharedBytes;

class TorchArchive {
public:
  static llvm::Expected<TorchArchive> open(Bytes file);

  bool has(llvm::StringRef name) const { return find(name) != nullptr; }
  /// An entry by its name in the folder. Asking twice gives the same memory.
  llvm::Expected<Bytes> read(llvm::StringRef name) const;
  /// What stands between `prefix` and `suffix` in the names of the entries that
  /// have both, in the order of the directory.
  std::vector<std::string> namesBetween(llvm::StringRef prefix,
                                        llvm::StringRef suffix) const;

private:
  explicit TorchArchive(ZipArchive zip);
  const ZipEntry *find(llvm::StringRef name) const;

  ZipArchive zip;
  /// With a slash at its end, or empty.
  std::string folder;
  mutable llvm::StringMap<Bytes> seen;
};

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_ARCHIVE_H
