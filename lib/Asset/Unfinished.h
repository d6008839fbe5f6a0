// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders of assets that are being written, so that a signal which ends the
// process can remove them.

#ifndef CORTEN_LIB_ASSET_UNFINISHED_H
#define CORTEN_LIB_ASSET_UNFINISHED_H

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

private:
  std::string folder;
  size_t slot = 0;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_UNFINISHED_H
