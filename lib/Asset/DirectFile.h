// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new file that is written from front to back and is on the disk when it is
// finished. A large one goes past the page cache where the file system can do
// that: its bytes have to reach the disk anyway, and filling the cache with
// them first costs several times as much as the transfer.

#ifndef CORTEN_LIB_ASSET_DIRECTFILE_H
#define CORTEN_LIB_ASSET_DIRECTFILE_H

#include "llvm/Support/Error.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>

namespace corten {

class DirectFile {
public:
  /// Fails if there is something at `path`.
  static llvm::Expected<std::unique_ptr<DirectFile>>
  create(const std::string &path);
  ~DirectFile();

  /// The first failure is kept for finish(); what comes after it is dropped.
  void append(const char *data, size_t size);
  bool hasFailed() const { return static_cast<bool>(error); }

  /// Writes what is left and waits for the disk. Nothing may follow.
  std::error_code finish();

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };

  DirectFile(int descriptor, std::unique_ptr<char, Free> block)
      : descriptor(descriptor), block(std::move(block)) {}

  void writeAll(const char *data, size_t size);
  bool setDirect(bool value);

  int descriptor;
  /// Bytes for the disk come from here, aligned as it wants them.
  std::unique_ptr<char, Free> block;
  size_t filled = 0;
  bool isDirect = false;
  std::error_code error;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_DIRECTFILE_H
