// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PreparedFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

using namespace corten::runtime;
using namespace corten::runtime::execution;

namespace {
/// The contents begin at the next page.
struct Header {
  std::array<char, 8> magic = {'C', 'P', 'R', 'E', 'P', 0, 0, 1};
  std::array<unsigned char, 16> planDigest = {};
  uint64_t isa = 0;
  uint64_t bytes = 0;

  bool operator==(const Header &) const = default;
};
constexpr size_t kHeaderBytes = 4096;
} // namespace

static Header headerFor(const PreparedKey &key) {
  Header header;
  header.planDigest = key.planDigest;
  header.isa = uint64_t(key.isa);
  header.bytes = key.bytes;
  return header;
}

std::optional<MappedFile> execution::openPrepared(const std::string &path,
                                                  const PreparedKey &key) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return std::nullopt;
  std::span<const std::byte> bytes = file->bytes();
  Header header;
  if (bytes.size() != kHeaderBytes + key.bytes)
    return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header != headerFor(key))
    return std::nullopt;
  return std::move(*file);
}

std::span<const std::byte> execution::preparedBytes(const MappedFile &file) {
  return file.bytes().subspan(kHeaderBytes);
}

static bool writeAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // The system takes no more than 2 GiB at once.
    ssize_t count =
        write(file, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes = bytes.subspan(size_t(count));
  }
  return true;
}

bool execution::writePrepared(const std::string &path, const PreparedKey &key,
                              std::span<const std::byte> bytes) {
  std::string unfinished = path + ".XXXXXX";
  int file = mkostemp(unfinished.data(), O_CLOEXEC);
  if (file < 0)
    return false;
  std::array<std::byte, kHeaderBytes> first = {};
  Header header = headerFor(key);
  std::memcpy(first.data(), &header, sizeof header);
  bool isWhole = writeAll(file, first) && writeAll(file, bytes);
  isWhole &= close(file) == 0;
  if (isWhole && rename(unfinished.c_str(), path.c_str()) == 0)
    return true;
  (void)unlink(unfinished.c_str());
  return false;
}
