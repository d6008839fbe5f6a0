// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_ASSET_SAVEOPTIONS_H
#define CORTEN_ASSET_SAVEOPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>

namespace corten {

struct SaveOptions {
  /// Writes the SHA-256 of the program beside it. It can be left out: the
  /// loaders on Linux do without, and it takes longer than the disk does.
  bool hash = true;
  /// Replaces whatever is at the target, also what is no asset.
  bool force = false;
  /// Looks at the asset that was written, in a folder beside the target, before
  /// it goes there. After an error everything is as it was.
  std::function<llvm::Error(llvm::StringRef folder)> inspect = nullptr;
  /// Told from time to time how many bytes of the program have been written.
  std::function<void(uint64_t bytes)> progress = nullptr;
};

} // namespace corten

#endif // CORTEN_ASSET_SAVEOPTIONS_H
