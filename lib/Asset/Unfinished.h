// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders of assets that are being written: a signal which ends the process
// removes them, and where the process had no time for that, the next writer.

#ifndef CORTEN_LIB_ASSET_UNFINISHED_H
#define CORTEN_LIB_ASSET_UNFINISHED_H

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <string>

namespace corten {

/// Known to the handler of removeUnfinishedAssetsOnSignals() while it lives.
/// Of more than a few at a time some are not.
class UnfinishedFolder {
public:
  /// To be made before the folder is: there is no moment when it is unknown.
  explicit UnfinishedFolder(std::string path);
  ~UnfinishedFolder();
  UnfinishedFolder(const UnfinishedFolder &) = delete;
  UnfinishedFolder &operator=(const UnfinishedFolder &) = delete;

  const std::string &path() const { return folder; }

  /// Says that somebody is writing there, for as long as this lives and the
  /// process does. To be called when the folder has been made. False if the
  /// folder is gone: another writer found it before that.
  bool lock();

private:
  std::string folder;
  size_t slot = 0;
  int descriptor = -1;
};

/// The folder beside `target` that an asset is made in, with a place of its own
/// for each writer: a pattern for llvm::sys::fs::createUniquePath.
std::string unfinishedPattern(llvm::StringRef target);

/// Where the asset that was at the target is put meanwhile, if the file system
/// cannot exchange two names.
std::string asideOf(llvm::StringRef folder);

/// Removes what writers that are gone have left beside `target`. What somebody
/// is writing stays.
void removeAbandoned(llvm::StringRef target);

} // namespace corten

#endif // CORTEN_LIB_ASSET_UNFINISHED_H
