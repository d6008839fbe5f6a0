// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of a file, as memory that cannot be written.

#ifndef CORTEN_RUNTIME_LIB_EXECUTION_MAPPEDFILE_H
#define CORTEN_RUNTIME_LIB_EXECUTION_MAPPEDFILE_H

#include "corten/Runtime/Error.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace corten::runtime::execution {

class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  static Expected<MappedFile> open(const std::string &path);

  std::span<const std::byte> bytes() const { return {data, size}; }
  /// When it was changed last, in nanoseconds.
  int64_t modified() const { return changed; }

private:
  void swap(MappedFile &other) noexcept;

  const std::byte *data = nullptr;
  size_t size = 0;
  int64_t changed = 0;
};

} // namespace corten::runtime::execution

#endif // CORTEN_RUNTIME_LIB_EXECUTION_MAPPEDFILE_H
