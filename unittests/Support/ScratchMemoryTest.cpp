// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/ScratchMemory.h"

#include "corten/Support/ReadWindow.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <optional>

using namespace corten;
using llvm::StringRef;

namespace {

constexpr size_t kPage = 4096;

/// How much of a kind ("RssAnon") the process has in memory, in bytes.
size_t resident(StringRef kind) {
  auto text = llvm::MemoryBuffer::getFileAsStream("/proc/self/status");
  StringRef rest = (*text)->getBuffer();
  rest = rest.substr(rest.find(kind) + kind.size() + 1).ltrim();
  size_t kilobytes = 0;
  EXPECT_FALSE(rest.consumeInteger(10, kilobytes));
  return kilobytes << 10;
}

/// Sets the folder of temporary files, as long as it lives.
class TemporaryFolder {
public:
  explicit TemporaryFolder(const char *path) {
    if (const char *value = std::getenv("TMPDIR"))
      before = value;
    ::setenv("TMPDIR", path, /*replace=*/1);
  }
  ~TemporaryFolder() {
    if (before)
      ::setenv("TMPDIR", before->c_str(), /*replace=*/1);
    else
      ::unsetenv("TMPDIR");
  }

private:
  std::optional<std::string> before;
};

TEST(ScratchMemoryTest, KeepsWhatWasWrittenButNotInMemory) {
  constexpr size_t size = 2 * ReadWindow::kSize;
  std::shared_ptr<char> memory = allocateScratch(size);
  ASSERT_TRUE(memory);
  size_t anonymous = resident("RssAnon:");
  {
    ReadWindow window;
    for (size_t at = 0; at < size; at += ReadWindow::kStep) {
      std::fill_n(memory.get() + at, ReadWindow::kStep, char(at >> 20));
      window.passed({memory.get() + at, ReadWindow::kStep});
    }
  }
  EXPECT_LE(resident("RssAnon:"), anonymous + ReadWindow::kStep);
  EXPECT_LE(resident("RssFile:") + resident("RssShmem:"), ReadWindow::kSize);
  for (size_t at = 0; at < size; at += kPage)
    ASSERT_EQ(memory.get()[at], char(at >> 24 << 4)) << at;
}

TEST(ScratchMemoryTest, NeedsNoFolderForFiles) {
  TemporaryFolder folder("/nowhere");
  std::shared_ptr<char> memory = allocateScratch(4 * kLeastScratch);
  ASSERT_TRUE(memory);
  std::fill_n(memory.get(), 4 * kLeastScratch, 1);
  EXPECT_EQ(memory.get()[4 * kLeastScratch - 1], 1);
}

TEST(ScratchMemoryTest, IsThereForNothing) { EXPECT_TRUE(allocateScratch(0)); }

} // namespace
