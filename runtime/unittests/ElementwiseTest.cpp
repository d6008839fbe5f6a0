// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tensors.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
TEST(Elementwise, BroadcastsByViews) {
  Owned<float> row({3}, {1, 2, 3});
  Owned<float> column({2}, {10, 20});
  Owned<float> sum({2, 3});
  ASSERT_EQ(run(Kernel::Add,
                {row.tensor.view({{2, 3}}, {{0, 1}}),
                 column.tensor.view({{2, 3}}, {{1, 0}})},
                sum.tensor),
            "");
  EXPECT_NUMBERS(sum.numbers(), 11, 12, 13, 21, 22, 23);
}

TEST(Elementwise, HalvesRoundOnce) {
  // 2048 + 1 is between two halves, 2049 + 2 is not.
  Owned<Float16> a({2}, {2048, 2050});
  Owned<Float16> b({2}, {1, 2});
  Owned<Float16> sum({2});
  ASSERT_EQ(run(Kernel::Add, {a.tensor, b.tensor}, sum.tensor), "");
  EXPECT_NUMBERS(sum.numbers(), 2048, 2052);
}

TEST(Elementwise, IntegersWrap) {
  Owned<int8_t> a({4}, {127, -128, 100, -128});
  Owned<int8_t> b({4}, {1, 1, 3, -1});
  Owned<int8_t> out({4});
  ASSERT_EQ(run(Kernel::Add, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), -128, -127, 103, 127);
  ASSERT_EQ(run(Kernel::Mul, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 127, -128, 44, -128);
  ASSERT_EQ(run(Kernel::Divide, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 127, -128, 33, -128);
  Owned<uint16_t> large({1}, {65535});
  Owned<uint16_t> square({1});
  ASSERT_EQ(run(Kernel::Mul, {large.tensor, large.tensor}, square.tensor), "");
  EXPECT_NUMBERS(square.numbers(), 1);
}

TEST(Elementwise, DivisionOfIntegers) {
  Owned<int32_t> a({4}, {7, -7, 7, -7});
  Owned<int32_t> b({4}, {2, 2, -2, -2});
  Owned<int32_t> out({4});
  ASSERT_EQ(run(Kernel::Divide, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 3, -3, -3, 3);
  ASSERT_EQ(run(Kernel::FloorDivide, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 3, -4, -4, 3);
  ASSERT_EQ(run(Kernel::Modulo, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 1, -1, 1, -1);
  Owned<int32_t> zero({4}, {1, 1, 0, 1});
  for (Kernel kernel : {Kernel::Divide, Kernel::FloorDivide, Kernel::Modulo})
    EXPECT_MENTIONS(run(kernel, {a.tensor, zero.tensor}, out.tensor),
                    "divided by zero");
}

TEST(Elementwise, FloorDivisionOfFloatsIsThatOfTheExactQuotient) {
  Owned<float> a({3}, {1, -1, 1});
  Owned<float> b({3}, {0.1, 0.1, 0});
  Owned<float> out({3});
  ASSERT_EQ(run(Kernel::FloorDivide, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 9, -10, kInfinity);
}

TEST(Elementwise, PowersOfIntegers) {
  Owned<int32_t> base({5}, {3, -1, 1, 2, -2});
  Owned<int32_t> exponent({5}, {4, -3, -5, -1, 31});
  Owned<int32_t> out({5});
  ASSERT_EQ(run(Kernel::Pow, {base.tensor, exponent.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 81, -1, 1, 0, -2147483648.0);
}

TEST(Elementwise, NanWinsAndComparesFalse) {
  Owned<float> a({3}, {kNan, 1, -0.0});
  Owned<float> b({3}, {1, kNan, 0.0});
  Owned<float> out({3});
  ASSERT_EQ(run(Kernel::Maximum, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), kNan, kNan, 0);
  EXPECT_TRUE(std::signbit(out.elements[2]));
  ASSERT_EQ(run(Kernel::Minimum, {a.tensor, b.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), kNan, kNan, 0);
  Owned<bool> flags({3});
  ASSERT_EQ(run(Kernel::Greater, {a.tensor, b.tensor}, flags.tensor), "");
  EXPECT_NUMBERS(flags.numbers(), 0, 0, 0);
  ASSERT_EQ(run(Kernel::NotEqual, {a.tensor, b.tensor}, flags.tensor), "");
  EXPECT_NUMBERS(flags.numbers(), 1, 1, 0);
}

TEST(Elementwise, FunctionsAtTheirEdges) {
  Owned<float> x({4}, {-kInfinity, -0.0, 2.5, kNan});
  Owned<float> out({4});
  ASSERT_EQ(run(Kernel::Relu, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 0, 0, 2.5, kNan);
  EXPECT_TRUE(std::signbit(out.elements[1]));
  ASSERT_EQ(run(Kernel::Round, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), -kInfinity, 0, 2, kNan);
  ASSERT_EQ(run(Kernel::Rsqrt, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), kNan, -kInfinity, 0.63245553, kNan);
  ASSERT_EQ(run(Kernel::Gelu, {x.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), kNan, 0, 2.4844757, kNan);
  Owned<int8_t> smallest({1}, {-128});
  Owned<int8_t> result({1});
  ASSERT_EQ(run(Kernel::Abs, {smallest.tensor}, result.tensor), "");
  EXPECT_NUMBERS(result.numbers(), -128);
}

TEST(Elementwise, CastsSaturate) {
  Owned<float> x({7}, {-1.9, 300, kNan, 1e30, -1e30, 127.9, kInfinity});
  Owned<int8_t> bytes({7});
  ASSERT_EQ(run(Kernel::Cast, {x.tensor}, bytes.tensor), "");
  EXPECT_NUMBERS(bytes.numbers(), -1, 127, 0, 127, -128, 127, 127);
  Owned<uint64_t> wide({7});
  ASSERT_EQ(run(Kernel::Cast, {x.tensor}, wide.tensor), "");
  EXPECT_EQ(wide.elements[3], UINT64_MAX);
  EXPECT_EQ(wide.elements[4], 0u);
  Owned<bool> flags({7});
  ASSERT_EQ(run(Kernel::Cast, {x.tensor}, flags.tensor), "");
  EXPECT_NUMBERS(flags.numbers(), 1, 1, 1, 1, 1, 1, 1);
  Owned<int32_t> whole({2}, {-1, 200});
  Owned<uint32_t> positive({2});
  ASSERT_EQ(run(Kernel::Cast, {whole.tensor}, positive.tensor), "");
  EXPECT_NUMBERS(positive.numbers(), 0, 200);
  Owned<SmallInt<4>> nibbles({2});
  ASSERT_EQ(run(Kernel::Cast, {whole.tensor}, nibbles.tensor), "");
  EXPECT_NUMBERS(nibbles.numbers(), -1, 7);
}

TEST(Elementwise, CastsKeepWholeNumbersWhole) {
  Owned<int64_t> x({2});
  x.elements[0] = INT64_MAX;
  x.elements[1] = (int64_t(1) << 53) + 1;
  Owned<int64_t> same({2});
  ASSERT_EQ(run(Kernel::Cast, {x.tensor}, same.tensor), "");
  EXPECT_EQ(same.elements[0], INT64_MAX);
  EXPECT_EQ(same.elements[1], (int64_t(1) << 53) + 1);
  Owned<uint64_t> large({1});
  large.elements[0] = UINT64_MAX;
  Owned<int64_t> limited({1});
  ASSERT_EQ(run(Kernel::Cast, {large.tensor}, limited.tensor), "");
  EXPECT_EQ(limited.elements[0], INT64_MAX);
}

TEST(Elementwise, ComplexNumbers) {
  Owned<float> one({1}, {1});
  Owned<float> two({1}, {2});
  Owned<std::complex<float>> z({1});
  ASSERT_EQ(run(Kernel::CreateComplex, {one.tensor, two.tensor}, z.tensor), "");
  Owned<std::complex<float>> square({1});
  ASSERT_EQ(run(Kernel::Mul, {z.tensor, z.tensor}, square.tensor), "");
  EXPECT_EQ(square.elements[0], std::complex<float>(-3, 4));
  Owned<float> part({1});
  ASSERT_EQ(run(Kernel::ImaginaryPart, {square.tensor}, part.tensor), "");
  EXPECT_NUMBERS(part.numbers(), 4);
  EXPECT_MENTIONS(run(Kernel::Tanh, {z.tensor}, square.tensor),
                  "no form for complex<f32>[1]");
}

TEST(Elementwise, ShapesAndCountsAreChecked) {
  Owned<float> a({2});
  Owned<float> b({3});
  EXPECT_MENTIONS(run(Kernel::Add, {a.tensor, b.tensor}, b.tensor),
                  "f32[2] does not fit f32[3]");
  EXPECT_MENTIONS(run(Kernel::Add, {a.tensor}, a.tensor),
                  "too many or too few");
}
} // namespace
