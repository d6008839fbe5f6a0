// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/ReadWindow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace corten;
using llvm::StringRef;

namespace {

constexpr size_t kSize = 3 * ReadWindow::kSize;
constexpr size_t kPage = 4096;

/// A file of zeros that takes no room, mapped; or memory that is in no file.
class Mapping {
public:
  explicit Mapping(int flags, int protection = PROT_READ) {
    int file = -1;
    if (!(flags & MAP_ANONYMOUS)) {
      llvm::SmallString<128> path;
      EXPECT_FALSE(
          llvm::sys::fs::createTemporaryFile("window", "bin", file, path));
      EXPECT_EQ(::ftruncate(file, kSize), 0);
      ::unlink(path.c_str());
    }
    memory =
        static_cast<char *>(::mmap(nullptr, kSize, protection, flags, file, 0));
    EXPECT_NE(memory, MAP_FAILED);
    if (file >= 0)
      ::close(file);
  }
  ~Mapping() { ::munmap(memory, kSize); }

  /// How much of it the process has in memory, in bytes.
  size_t resident() const {
    auto text = llvm::MemoryBuffer::getFileAsStream("/proc/self/smaps");
    std::string begin = llvm::utohexstr(reinterpret_cast<uintptr_t>(memory),
                                        /*LowerCase=*/true);
    StringRef rest = (*text)->getBuffer();
    rest = rest.substr(rest.find("\n" + begin + "-"));
    rest = rest.substr(rest.find("\nRss:") + 5).ltrim();
    size_t kilobytes = 0;
    EXPECT_FALSE(rest.consumeInteger(10, kilobytes));
    return kilobytes << 10;
  }

  /// How much of its beginning the kernel has in its cache, in bytes.
  size_t cached(size_t size) const {
    std::vector<unsigned char> pages(size / kPage);
    EXPECT_EQ(::mincore(memory, size, pages.data()), 0);
    return kPage * llvm::count_if(pages, [](unsigned char page) {
             return (page & 1) != 0;
           });
  }

  /// Reads all of it through a window; the most that was in memory on the way.
  size_t read() {
    ReadWindow window;
    size_t most = 0;
    for (size_t at = 0; at < kSize; at += ReadWindow::kStep) {
      for (size_t page = 0; page < ReadWindow::kStep; page += kPage)
        sum += memory[at + page];
      most = std::max(most, resident());
      window.passed({memory + at, ReadWindow::kStep});
    }
    return most;
  }

  char *memory;
  int sum = 0;
};

TEST(ReadWindowTest, KeepsNoMoreOfAFileThanAWindow) {
  Mapping mapping(MAP_SHARED);
  EXPECT_LE(mapping.read(), ReadWindow::kSize);
  EXPECT_LE(mapping.resident(), ReadWindow::kStep);
}

TEST(ReadWindowTest, WhatIsAnnouncedIsInTheCacheAndNotInTheProcess) {
  Mapping mapping(MAP_SHARED);
  size_t size = ReadWindow::kStep;
  ASSERT_EQ(mapping.cached(size), 0u);
  // From where no page begins, and of no mapping at all.
  ReadWindow::announce({mapping.memory + 100, size - 100});
  ReadWindow::announce({});
  for (int tries = 0; mapping.cached(size) == 0 && tries < 1000; ++tries)
    ::usleep(10'000);
  EXPECT_GT(mapping.cached(size), 0u);
  EXPECT_EQ(mapping.resident(), 0u);
}

TEST(ReadWindowTest, KeepsNoMoreOfAPrivateMapping) {
  Mapping mapping(MAP_PRIVATE, PROT_READ | PROT_WRITE);
  EXPECT_LE(mapping.read(), ReadWindow::kSize);
}

TEST(ReadWindowTest, LosesNothingThatWasWritten) {
  for (int flags : {MAP_PRIVATE, MAP_SHARED, MAP_PRIVATE | MAP_ANONYMOUS}) {
    Mapping mapping(flags, PROT_READ | PROT_WRITE);
    for (size_t at = 0; at < kSize; at += size_t(1) << 20)
      mapping.memory[at] = 1;
    mapping.read();
    for (size_t at = 0; at < kSize; at += size_t(1) << 20)
      ASSERT_EQ(mapping.memory[at], 1) << at;
  }
}

TEST(ReadWindowTest, LeavesMemoryAloneThatIsInNoFile) {
  Mapping mapping(MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ | PROT_WRITE);
  for (size_t at = 0; at < kSize; at += kPage)
    mapping.memory[at] = 1;
  mapping.read();
  EXPECT_EQ(mapping.resident(), kSize);
}

TEST(ReadWindowTest, LeavesWhatFitsIntoAWindowAlone) {
  Mapping mapping(MAP_SHARED);
  size_t size = ReadWindow::kSize / 4;
  {
    ReadWindow window;
    for (size_t at = 0; at < size; at += kPage)
      mapping.sum += mapping.memory[at];
    window.passed({mapping.memory, size});
  }
  EXPECT_GE(mapping.resident(), size);
}

} // namespace
