// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tensors.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

TEST(Products, MatricesInBatches) {
  Owned<float> x({2, 1, 2}, {1, 2, 3, 4});
  Owned<float> y({2, 2}, {1, 10, 100, 1000});
  Owned<float> out({2, 1, 2});
  // One matrix for both.
  ASSERT_EQ(run(Kernel::MatMul,
                {x.tensor, y.tensor.view({{2, 2, 2}}, {{0, 2, 1}})},
                out.tensor),
            "");
  EXPECT_NUMBERS(out.numbers(), 201, 2010, 403, 4030);
  EXPECT_MENTIONS(run(Kernel::MatMul, {x.tensor, x.tensor}, out.tensor),
                  "do not make");
}

TEST(Products, OfNothingAreZero) {
  Owned<float> x({2, 0});
  Owned<float> y({0, 2});
  Owned<float> out({2, 2}, {7, 7, 7, 7});
  ASSERT_EQ(run(Kernel::MatMul, {x.tensor, y.tensor}, out.tensor), "");
  EXPECT_NUMBERS(out.numbers(), 0, 0, 0, 0);
}

TEST(Products, HalvesAndIntegers) {
  Owned<Float16> ones({1, 4096});
  for (int i = 0; i != 4096; ++i)
    ones.elements[i] = Float16(1.0f);
  Owned<Float16> sum({1, 1});
  ASSERT_EQ(run(Kernel::MatMul,
                {ones.tensor, ones.tensor.view({{4096, 1}}, {{1, 0}})},
                sum.tensor),
            "");
  EXPECT_NUMBERS(sum.numbers(), 4096);
  Owned<int8_t> bytes({1, 2}, {100, 100});
  Owned<int8_t> product({1, 1});
  ASSERT_EQ(run(Kernel::MatMul,
                {bytes.tensor, bytes.tensor.view({{2, 1}}, {{1, 0}})},
                product.tensor),
            "");
  EXPECT_NUMBERS(product.numbers(), 32); // 20000 mod 256
}

TEST(Products, ConvolutionWithStridePaddingAndDilation) {
  Owned<float> x({1, 1, 5}, {1, 2, 3, 4, 5});
  Owned<float> weight({1, 1, 3}, {1, 10, 100});
  Owned<float> out({1, 1, 3});
  ASSERT_EQ(run(Kernel::Convolution, {x.tensor, weight.tensor}, out.tensor,
                {1, 1, 0, 1}),
            "");
  EXPECT_NUMBERS(out.numbers(), 321, 432, 543);
  // From one before the first, every second, and every second of them.
  ASSERT_EQ(run(Kernel::Convolution, {x.tensor, weight.tensor}, out.tensor,
                {2, 2, 2, 1}),
            "");
  EXPECT_NUMBERS(out.numbers(), 310, 531, 53);
}

TEST(Products, ConvolutionInGroups) {
  Owned<float> x({1, 2, 1, 1}, {3, 5});
  Owned<float> weight({4, 1, 1, 1}, {1, 10, 100, 1000});
  Owned<float> out({1, 4, 1, 1});
  ASSERT_EQ(run(Kernel::Convolution, {x.tensor, weight.tensor}, out.tensor,
                {1, 1, 1, 1, 0, 0, 2}),
            "");
  EXPECT_NUMBERS(out.numbers(), 3, 30, 500, 5000);
}

TEST(Products, TransposedConvolution) {
  Owned<float> x({1, 1, 3}, {1, 2, 3});
  Owned<float> weight({1, 1, 3}, {1, 10, 100});
  Owned<float> out({1, 1, 7});
  ASSERT_EQ(run(Kernel::ConvolutionTransposed, {x.tensor, weight.tensor},
                out.tensor, {2, 1, 0, 1}),
            "");
  EXPECT_NUMBERS(out.numbers(), 1, 10, 102, 20, 203, 30, 300);
  Owned<float> cut({1, 1, 5});
  ASSERT_EQ(run(Kernel::ConvolutionTransposed, {x.tensor, weight.tensor},
                cut.tensor, {2, 1, 1, 1}),
            "");
  EXPECT_NUMBERS(cut.numbers(), 10, 102, 20, 203, 30);
}

TEST(Products, Pools) {
  Owned<float> x({1, 1, 5}, {1, kNan, 3, -1, -2});
  Owned<float> out({1, 1, 3});
  ASSERT_EQ(run(Kernel::MaxPool, {x.tensor}, out.tensor, {2, 2, 1, 0}), "");
  // The last window is partly outside.
  EXPECT_TRUE(std::isnan(out.elements[0]));
  EXPECT_EQ(out.elements[1], 3);
  EXPECT_EQ(out.elements[2], -2);
  Owned<float> y({1, 1, 4}, {1, 2, 3, 4});
  Owned<float> sums({1, 1, 2});
  ASSERT_EQ(run(Kernel::SumPool, {y.tensor}, sums.tensor, {2, 1, 2, 0}), "");
  EXPECT_NUMBERS(sums.numbers(), 4, 6);
}

TEST(Products, Interpolation) {
  Owned<float> x({1, 2}, {0, 10});
  Owned<float> scale({2}, {1, 2});
  Owned<float> offset({2}, {0, 0});
  Owned<float> out({1, 4});
  ASSERT_EQ(run(Kernel::Interpolate, {x.tensor, scale.tensor, offset.tensor},
                out.tensor, {0}),
            "");
  EXPECT_NUMBERS(out.numbers(), 0, 2.5, 7.5, 10);
  ASSERT_EQ(run(Kernel::Interpolate, {x.tensor, scale.tensor, offset.tensor},
                out.tensor, {1}),
            "");
  EXPECT_NUMBERS(out.numbers(), 0, 0, 10, 10);
  Owned<float> field({2, 2}, {0, 1, 2, 3});
  Owned<float> places({2, 2}, {0.5, 0.5, -3, 9});
  Owned<float> values({2});
  ASSERT_EQ(run(Kernel::InterpolateCoordinates, {field.tensor, places.tensor},
                values.tensor, {0}),
            "");
  EXPECT_NUMBERS(values.numbers(), 1.5, 1);
}
} // namespace
