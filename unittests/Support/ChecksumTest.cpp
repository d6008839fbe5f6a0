// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Support/Checksum.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"

#include "gtest/gtest.h"

#include <string>

using namespace corten;
using llvm::StringRef;

namespace {
TEST(ChecksumTest, KnownValue) {
  EXPECT_EQ(checksum("123456789"), 0xcbf43926U);
  EXPECT_EQ(checksum(""), 0U);
  EXPECT_EQ(checksum(StringRef(), 17), 17U);
}

TEST(ChecksumTest, GoesOnFromWhatStandsInFront) {
  std::string data(300, 'x');
  for (size_t cut : {0, 1, 64, 200, 300})
    EXPECT_EQ(checksum(StringRef(data).drop_front(cut),
                       checksum(StringRef(data).take_front(cut))),
              checksum(data));
}

TEST(ChecksumTest, EqualsTheSlowOneAtEveryLengthAndOffset) {
  std::string data;
  for (unsigned i = 0; i < 1000; ++i)
    data += static_cast<char>(i * i * 7 + i / 3);
  for (size_t offset : {0, 1, 7, 13})
    for (size_t length = 0; length + offset <= data.size(); ++length) {
      StringRef part = StringRef(data).substr(offset, length);
      ASSERT_EQ(checksum(part), llvm::crc32(llvm::arrayRefFromStringRef(part)))
          << offset << ", " << length;
    }
}
} // namespace
