// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/ElementType.h"

#include "gtest/gtest.h"

#include <random>

using namespace corten::runtime;

/// Floats from all over, and those near what decides.
static std::vector<float> manyFloats() {
  std::vector<float> floats = {0.0f,      -0.0f,  65504.0f,      65519.9f,
                               65520.0f,  1e-8f,  5.9604645e-8f, 2.9802322e-8f,
                               448.0f,    464.0f, 465.0f,        HUGE_VALF,
                               -HUGE_VALF};
  // NOLINTNEXTLINE(bugprone-random-generator-seed): the same every time
  std::mt19937 random(7);
  for (int i = 0; i != 200000; ++i) {
    float value = std::bit_cast<float>(uint32_t(random()));
    if (value == value)
      floats.push_back(value);
  }
  std::uniform_real_distribution<float> near(-70000, 70000);
  for (int i = 0; i != 200000; ++i)
    floats.push_back(near(random));
  return floats;
}

template <typename Ours, typename Native> static void compareWithCompiler() {
  for (uint32_t code = 0; code != 1u << 16; ++code) {
    auto ours = Ours::fromBits(uint16_t(code));
    auto native = std::bit_cast<Native>(uint16_t(code));
    if (float(native) != float(native)) {
      EXPECT_NE(float(ours), float(ours)) << code;
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(float(ours)),
              std::bit_cast<uint32_t>(float(native)))
        << code;
    ASSERT_EQ(Ours(float(ours)).bits(), code);
  }
  for (float value : manyFloats())
    ASSERT_EQ(Ours(value).bits(), std::bit_cast<uint16_t>(Native(value)))
        << value;
}

// GCC 12 does not know the second name for AArch64.
#ifdef __aarch64__
using NativeHalf = __fp16;
#else
using NativeHalf = _Float16;
#endif

TEST(SmallTypes, HalvesAreThoseOfTheCompiler) {
  compareWithCompiler<Float16, NativeHalf>();
}

// Without a type of the compiler: the upper half of a float, rounded.
TEST(SmallTypes, BrainFloatsAreTheUpperHalf) {
  for (uint32_t code = 0; code != 1u << 16; ++code) {
    float expected = std::bit_cast<float>(code << 16);
    auto ours = BFloat16::fromBits(uint16_t(code));
    if (expected != expected) {
      EXPECT_NE(float(ours), float(ours));
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(float(ours)), code << 16);
    ASSERT_EQ(BFloat16(expected).bits(), code);
  }
  for (float value : manyFloats()) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    ASSERT_EQ(BFloat16(value).bits(), rounded) << value;
  }
  EXPECT_NE(float(BFloat16(NAN)), float(BFloat16(NAN)));
}

/// Every float must become the nearest number of the format, the even one of
/// two.
template <typename Small> static void checkNearest(unsigned codes) {
  std::vector<std::pair<float, unsigned>> numbers;
  for (unsigned code = 0; code != codes / 2; ++code) {
    float value = Small::fromBits(uint8_t(code));
    if (value == value && std::isfinite(value))
      numbers.emplace_back(value, code);
  }
  for (size_t i = 1; i != numbers.size(); ++i)
    ASSERT_LT(numbers[i - 1].first, numbers[i].first);
  for (size_t i = 1; i != numbers.size(); ++i) {
    auto [low, lowCode] = numbers[i - 1];
    auto [high, highCode] = numbers[i];
    float middle = (low + high) / 2;
    unsigned even = lowCode % 2 == 0 ? lowCode : highCode;
    EXPECT_EQ(Small(middle).bits(), even) << middle;
    EXPECT_EQ(Small(std::nextafter(middle, 0.0f)).bits(), lowCode) << middle;
    EXPECT_EQ(Small(std::nextafter(middle, HUGE_VALF)).bits(), highCode);
    EXPECT_EQ(Small(-high).bits(), highCode | codes / 2);
  }
}

TEST(SmallTypes, FloatsOfEightAndFourBits) {
  checkNearest<Float8E4M3FN>(256);
  checkNearest<Float8E5M2>(256);
  checkNearest<Float4E2M1FN>(16);
  EXPECT_EQ(float(Float8E4M3FN(448.0f)), 448.0f);
  EXPECT_EQ(Float8E4M3FN(500.0f).bits(), 0x7f); // NaN
  EXPECT_EQ(Float8E5M2(1e6f).bits(), 0x7c);     // infinity
  EXPECT_EQ(float(Float4E2M1FN(-100.0f)), -6.0f);
  EXPECT_EQ(float(Float8E8M0FNU::fromBits(127)), 1.0f);
  EXPECT_EQ(float(Float8E8M0FNU(0.25f)), 0.25f);
  EXPECT_EQ(Float8E8M0FNU(NAN).bits(), 0xff);
}

TEST(SmallTypes, IntegersTakeTheLowestBits) {
  EXPECT_EQ(int8_t(SmallInt<4>(7)), 7);
  EXPECT_EQ(int8_t(SmallInt<4>(8)), -8);
  EXPECT_EQ(int8_t(SmallInt<2>(-1)), -1);
  EXPECT_EQ(uint8_t(SmallUInt<3>(-1)), 7);
}

TEST(SmallTypes, TypesHaveTheirSpelling) {
  EXPECT_EQ(spelling(ElementType::F8E4M3FN), "f8E4M3FN");
  EXPECT_EQ(elementType("ui3"), ElementType::UI3);
  EXPECT_EQ(elementType("i32"), std::nullopt);
  EXPECT_EQ(packedBits(ElementType::UI3), 3u);
  EXPECT_EQ(byteSize(ElementType::UI3), 1u);
  EXPECT_EQ(byteSize(ElementType::C64), 8u);
}
