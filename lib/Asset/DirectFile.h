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
#include <future>
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

  /// Writes what is left and waits for the disk. Nothing may follow.
  std::error_code finish();

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };

  using Block = std::unique_ptr<char, Free>;

  DirectFile(int descriptor, Block first, Block second)
      : descriptor(descriptor), block(std::move(first)),
        onItsWay(std::move(second)) {}

  void writeAll(const char *data, size_t size);
  bool setDirect(bool value);
  void await();

  int descriptor;
  /// Bytes for the disk come from these, aligned as it wants them: one is
  /// filled while the other is written.
  Block block, onItsWay;
  size_t filled = 0;
  bool isDirect = false;
  /// Holds the disk's part of the work; what is below belongs to it meanwhile.
  std::future<void> writing;
  std::error_code error;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_DIRECTFILE_H
