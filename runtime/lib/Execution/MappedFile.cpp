// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MappedFile.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace corten::runtime;
using namespace corten::runtime::execution;

static Error fail(const std::string &path) {
  return Error(path + ": " + std::strerror(errno));
}

Expected<MappedFile> MappedFile::open(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail(path);
  struct stat status;
  if (fstat(file, &status) != 0) {
    Error error = fail(path);
    close(file);
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    close(file);
    return Error(path + ": this is no file");
  }
  MappedFile result;
  result.size = size_t(status.st_size);
  result.changed =
      int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  if (result.size != 0) {
    void *mapped = mmap(nullptr, result.size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) {
      result.size = 0;
      Error error = fail(path);
      close(file);
      return error;
    }
    result.data = static_cast<const std::byte *>(mapped);
  }
  close(file);
  return result;
}

MappedFile::~MappedFile() {
  if (data)
    munmap(const_cast<std::byte *>(data), size);
}

void MappedFile::swap(MappedFile &other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  std::swap(changed, other.changed);
}
