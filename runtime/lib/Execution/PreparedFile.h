// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was computed from constants when a plan was loaded, kept in a file: the
// next process maps it instead of packing weights again, and those that run at
// once share its pages.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_PREPAREDFILE_H
#define CORTEN_RUNTIME_LIB_EXECUTION_PREPAREDFILE_H

#include "MappedFile.h"

#include "corten/Runtime/Isa.h"

#include <array>
#include <optional>

namespace corten::runtime::execution {

/// What the contents depend on.
struct PreparedKey {
  /// Of the plan, which has that of the asset.
  std::array<unsigned char, 16> planDigest = {};
  Isa isa = Isa::Portable;
  uint64_t bytes = 0;
};

/// Maps a file if it is there, whole, and made for this.
std::optional<MappedFile> openPrepared(const std::string &path,
                                       const PreparedKey &key);
/// The bytes in it.
std::span<const std::byte> preparedBytes(const MappedFile &file);

/// Writes a file, which is there when it is whole. False if that cannot be
/// done: whoever keeps files can do without.
bool writePrepared(const std::string &path, const PreparedKey &key,
                   std::span<const std::byte> bytes);

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_PREPAREDFILE_H
