// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are mapped, and how much of them is in memory.

#ifndef CORTEN_UNITTESTS_SUPPORT_MAPPING_H
#define CORTEN_UNITTESTS_SUPPORT_MAPPING_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace corten::test {

constexpr size_t kPage = 4096;

/// A file of zeros that takes no room, mapped; or memory that is in no file.
class Mapping {
public:
  explicit Mapping(size_t size, int flags, int protection = PROT_READ)
      : size(size) {
    if (!(flags & MAP_ANONYMOUS)) {
      llvm::SmallString<128> path;
      EXPECT_FALSE(
          llvm::sys::fs::createTemporaryFile("mapping", "bin", file, path));
      EXPECT_EQ(::ftruncate(file, static_cast<off_t>(size)), 0);
      ::unlink(path.c_str());
    }
    memory =
        static_cast<char *>(::mmap(nullptr, size, protection, flags, file, 0));
    EXPECT_NE(memory, MAP_FAILED);
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() {
    ::munmap(memory, size);
    if (file >= 0)
      ::close(file);
  }

  /// How much of it the process has in memory, in bytes.
  size_t resident() const {
    auto text = llvm::MemoryBuffer::getFileAsStream("/proc/self/smaps");
    std::string begin = llvm::utohexstr(reinterpret_cast<uintptr_t>(memory),
                                        /*LowerCase=*/true);
    llvm::StringRef rest = (*text)->getBuffer();
    rest = rest.substr(rest.find("\n" + begin + "-"));
    rest = rest.substr(rest.find("\nRss:") + 5).ltrim();
    size_t kilobytes = 0;
    EXPECT_FALSE(rest.consumeInteger(10, kilobytes));
    return kilobytes << 10;
  }

  /// How much of a part the kernel has in its cache, in bytes.
  size_t cached(size_t begin, size_t length) const {
    std::vector<unsigned char> pages(length / kPage);
    EXPECT_EQ(::mincore(memory + begin, length, pages.data()), 0);
    return kPage * llvm::count_if(pages, [](unsigned char page) {
             return (page & 1) != 0;
           });
  }

  const size_t size;
  int file = -1;
  char *memory;
};

} // namespace corten::test

#endif // CORTEN_UNITTESTS_SUPPORT_MAPPING_H
