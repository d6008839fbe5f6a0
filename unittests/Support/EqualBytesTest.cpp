// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/EqualBytes.h"

#include "Mapping.h"

#include "gtest/gtest.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace corten;
using llvm::StringRef;
using test::kPage;

namespace {

/// Pieces of files that are mapped as weights are. The kernel reads no page
/// that nobody asks for.
class EqualBytesTest : public testing::Test {
protected:
  static constexpr size_t kSize = size_t(4) << 20;
  static constexpr size_t kPieces = 4;

  EqualBytesTest() {
    EXPECT_EQ(::madvise(mapping.memory, mapping.size, MADV_RANDOM), 0);
  }

  StringRef piece(size_t number) const {
    return {mapping.memory + number * kSize, kSize};
  }

  /// Writes to a page, which then counts as read.
  void write(size_t number, size_t at, char byte) const {
    auto place = static_cast<off_t>(number * kSize + at);
    ASSERT_EQ(::pwrite(mapping.file, &byte, 1, place), 1);
  }

  /// How much of a piece was read.
  size_t read(size_t number) const {
    return mapping.cached(number * kSize, kSize);
  }

  test::Mapping mapping{kPieces * kSize, MAP_PRIVATE, PROT_READ | PROT_WRITE};
  ReadWindow window;
  EqualBytes contents{window};
};

TEST_F(EqualBytesTest, WhatIsAloneInItsSizeOrKindIsNotRead) {
  int kind = 0;
  EXPECT_EQ(contents.find(nullptr, piece(0)), 0u);
  EXPECT_EQ(contents.find(nullptr, piece(1).drop_back()), 1u);
  EXPECT_EQ(contents.find(&kind, piece(2)), 2u);
  EXPECT_EQ(mapping.cached(0, mapping.size), 0u);
}

TEST_F(EqualBytesTest, OfWhatDiffersAtOnceAPageIsRead) {
  write(1, 17, 'x');
  write(2, 18, 'x');
  for (size_t number = 0; number < 3; ++number)
    EXPECT_EQ(contents.find(nullptr, piece(number)), number);
  for (size_t number = 0; number < 3; ++number)
    EXPECT_EQ(read(number), kPage) << number;
}

TEST_F(EqualBytesTest, InTheMiddleAndAtTheEndAPageMoreIsRead) {
  write(1, kSize / 2 + 17, 'x');
  write(2, kSize - 1, 'x');
  for (size_t number = 0; number < 3; ++number)
    EXPECT_EQ(contents.find(nullptr, piece(number)), number);
  EXPECT_EQ(read(0), 3 * kPage);
  EXPECT_EQ(read(1), 2 * kPage);
  EXPECT_EQ(read(2), 3 * kPage);
}

TEST_F(EqualBytesTest, WhatIsEqualIsReadOnce) {
  EXPECT_EQ(contents.find(nullptr, piece(0)), 0u);
  EXPECT_EQ(contents.find(nullptr, piece(1)), 0u);
  EXPECT_EQ(read(0), kSize);
  EXPECT_EQ(read(1), kSize);
  ASSERT_EQ(::madvise(mapping.memory, mapping.size, MADV_DONTNEED), 0);
  ASSERT_EQ(mapping.resident(), 0u);
  EXPECT_EQ(contents.find(nullptr, piece(3)), 0u);
  EXPECT_EQ(read(3), kSize);
  // With a page, those around it come that are in the cache.
  EXPECT_LE(mapping.resident(), kSize + 16 * kPage);
}

TEST_F(EqualBytesTest, OneByteTellsApartWhatLooksEqual) {
  write(1, kPage, 'x');
  write(2, kPage, 'x');
  EXPECT_EQ(contents.find(nullptr, piece(0)), 0u);
  EXPECT_EQ(contents.find(nullptr, piece(1)), 1u);
  EXPECT_EQ(contents.find(nullptr, piece(2)), 1u);
  EXPECT_EQ(contents.find(nullptr, piece(3)), 0u);
}

TEST_F(EqualBytesTest, WhatIsOneMemoryIsReadNoFurther) {
  EXPECT_EQ(contents.find(nullptr, piece(0)), 0u);
  EXPECT_EQ(contents.find(nullptr, piece(0)), 0u);
  EXPECT_EQ(read(0), kPage);
}

TEST_F(EqualBytesTest, PiecesLargerThanTheWindowDoNotStayInMemory) {
  test::Mapping large(2 * ReadWindow::kSize, MAP_PRIVATE,
                      PROT_READ | PROT_WRITE);
  {
    ReadWindow window;
    EqualBytes contents(window);
    StringRef half(large.memory, ReadWindow::kSize);
    EXPECT_EQ(contents.find(nullptr, half), 0u);
    EXPECT_EQ(contents.find(nullptr, {half.end(), half.size()}), 0u);
    EXPECT_LE(large.resident(), ReadWindow::kSize);
  }
  EXPECT_LE(large.resident(), ReadWindow::kStep);
}

} // namespace
