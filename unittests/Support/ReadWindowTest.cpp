// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/ReadWindow.h"

#include "Mapping.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

using namespace corten;
using test::kPage;

namespace {

constexpr size_t kSize = 3 * ReadWindow::kSize;

class Mapping : public test::Mapping {
public:
  explicit Mapping(int flags, int protection = PROT_READ)
      : test::Mapping(kSize, flags, protection) {}

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
  ASSERT_EQ(mapping.cached(0, size), 0u);
  // From where no page begins, and of no mapping at all.
  ReadWindow::announce({mapping.memory + 100, size - 100});
  ReadWindow::announce({});
  for (int tries = 0; mapping.cached(0, size) == 0 && tries < 1000; ++tries)
    ::usleep(10'000);
  EXPECT_GT(mapping.cached(0, size), 0u);
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
