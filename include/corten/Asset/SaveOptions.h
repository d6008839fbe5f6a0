// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_ASSET_SAVEOPTIONS_H
#define CORTEN_ASSET_SAVEOPTIONS_H

namespace corten {

struct SaveOptions {
  /// Writes the SHA-256 of the program beside it. It can be left out: the
  /// loaders on Linux do without, and it takes longer than the disk does.
  bool hash = true;
  /// Replaces whatever is at the target, also what is no asset.
  bool force = false;
};

} // namespace corten

#endif // CORTEN_ASSET_SAVEOPTIONS_H
