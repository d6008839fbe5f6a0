// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with packed weights, in their portable form: against the ones with
// weights as they are, and by hand.

#include "Factors.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

TEST(Packed, PanelsAreFilledUpWithZeros) {
  Factors matrix(ElementType::F32, {2, 3, 33});
  Factors packed(ElementType::F32, {2, 2, 3, 32});
  ASSERT_EQ(run(Kernel::PackMatrix, {matrix.tensor}, packed.tensor), "");
  for (int64_t b = 0; b != 2; ++b)
    for (int64_t k = 0; k != 3; ++k)
      for (int64_t n = 0; n != 64; ++n) {
        double wanted = n < 33 ? matrix.number((b * 3 + k) * 33 + n) : 0;
        EXPECT_EQ(packed.number(((b * 2 + n / 32) * 3 + k) * 32 + n % 32),
                  wanted);
      }
  Factors half(ElementType::F16, {3, 33});
  Factors wide(ElementType::F32, {2, 3, 32});
  EXPECT_EQ(run(Kernel::PackMatrix, {half.tensor}, wide.tensor), "");
  EXPECT_EQ(wide.number(97), 0);
  EXPECT_EQ(wide.number(128), half.number(65));
  EXPECT_MENTIONS(run(Kernel::PackMatrix, {wide.tensor}, half.tensor),
                  "does not make");
  Factors narrow(ElementType::BF16, {2, 3, 32});
  EXPECT_MENTIONS(run(Kernel::PackMatrix, {half.tensor}, narrow.tensor),
                  "has no form");
}

TEST(Packed, ProductsAreThoseOfTheMatrix) {
  for (bool isShared : {false, true}) {
    Factors a(ElementType::F32, {2, 3, 5});
    Factors b(ElementType::F32, {isShared ? 1 : 2, 5, 40});
    Factors packed(ElementType::F32, {isShared ? 1 : 2, 2, 5, 32});
    ASSERT_EQ(run(Kernel::PackMatrix, {b.tensor}, packed.tensor), "");
    Factors wanted(ElementType::F32, {2, 3, 40});
    Factors result(ElementType::F32, {2, 3, 40});
    Tensor right = b.tensor, panels = packed.tensor;
    if (isShared) {
      right = b.tensor.view({{2, 5, 40}}, {{0, 40, 1}});
      panels = packed.tensor.view({{2, 5, 32}}, {{160, 32, 1}});
    }
    ASSERT_EQ(run(Kernel::MatMul, {a.tensor, right}, wanted.tensor), "");
    ASSERT_EQ(run(Kernel::MatMulPacked, {a.tensor, panels}, result.tensor), "");
    EXPECT_EQ(result.difference(wanted), 0);
  }
  Factors a(ElementType::F32, {3, 5});
  Factors packed(ElementType::F32, {2, 4, 32});
  Factors result(ElementType::F32, {3, 40});
  EXPECT_MENTIONS(
      run(Kernel::MatMulPacked, {a.tensor, packed.tensor}, result.tensor),
      "do not make");
}

TEST(Packed, ConvolutionsAreThoseOfTheWeights) {
  // 4 channels in 2 groups, 6 outputs; stride, dilation and padding.
  Factors x(ElementType::F32, {2, 4, 7, 6});
  Factors weights(ElementType::F32, {6, 2, 3, 2});
  std::vector<int64_t> numbers = {2, 1, 1, 2, 1, 0, 2};
  Factors wanted(ElementType::F32, {2, 6, 4, 4});
  ASSERT_EQ(run(Kernel::Convolution, {x.tensor, weights.tensor}, wanted.tensor,
                numbers),
            "");
  Factors packed = packWeights(weights, 2, ElementType::F32);
  numbers.insert(numbers.begin(), {3, 2});
  Factors result(ElementType::F32, {2, 6, 4, 4});
  ASSERT_EQ(run(Kernel::ConvolutionPacked, {x.tensor, packed.tensor},
                result.tensor, numbers),
            "");
  EXPECT_LT(result.difference(wanted), 1e-6);
  numbers.back() = 4;
  EXPECT_MENTIONS(run(Kernel::ConvolutionPacked, {x.tensor, packed.tensor},
                      result.tensor, numbers),
                  "do not fit");
  numbers.pop_back();
  EXPECT_MENTIONS(run(Kernel::ConvolutionPacked, {x.tensor, packed.tensor},
                      result.tensor, numbers),
                  "do not make");
}

TEST(Packed, TransposedConvolutionsAreThoseOfTheWeights) {
  // 4 channels in 2 groups, 6 outputs; stride, dilation and padding.
  Factors x(ElementType::F32, {2, 4, 3, 5});
  Factors weights(ElementType::F32, {4, 3, 3, 2});
  std::vector<int64_t> numbers = {2, 1, 1, 2, 1, 0, 2};
  Factors wanted(ElementType::F32, {2, 6, 5, 7});
  ASSERT_EQ(run(Kernel::ConvolutionTransposed, {x.tensor, weights.tensor},
                wanted.tensor, numbers),
            "");
  Factors packed =
      packWeights(weights, 2, ElementType::F32, /*isTransposed=*/true);
  numbers.insert(numbers.begin(), {3, 2});
  Factors result(ElementType::F32, {2, 6, 5, 7});
  ASSERT_EQ(run(Kernel::ConvolutionTransposedPacked, {x.tensor, packed.tensor},
                result.tensor, numbers),
            "");
  EXPECT_LT(result.difference(wanted), 1e-6);
  numbers.back() = 4;
  EXPECT_MENTIONS(run(Kernel::ConvolutionTransposedPacked,
                      {x.tensor, packed.tensor}, result.tensor, numbers),
                  "do not fit");
}

// A step from place to place, a distance of taps, or a margin that is more than
// memory has.
TEST(Packed, WindowsThatReachTooFar) {
  Factors x(ElementType::F32, {2, 4, 7, 6});
  Factors weights(ElementType::F32, {6, 4, 3, 2});
  Factors packed = packWeights(weights, 1, ElementType::F32);
  Factors result(ElementType::F32, {2, 6, 4, 4});
  constexpr int64_t kFar = 1729382256910270473;
  for (size_t place = 0; place != 6; ++place)
    for (int64_t number : {kFar, -kFar}) {
      std::vector<int64_t> numbers = {2, 1, 1, 2, 1, 0, 1};
      numbers[place] = number;
      EXPECT_MENTIONS(run(Kernel::Convolution, {x.tensor, weights.tensor},
                          result.tensor, numbers),
                      "do not make");
      EXPECT_MENTIONS(run(Kernel::MaxPool, {x.tensor}, result.tensor, numbers),
                      "does not make");
      numbers.insert(numbers.begin(), {3, 2});
      EXPECT_MENTIONS(run(Kernel::ConvolutionPacked, {x.tensor, packed.tensor},
                          result.tensor, numbers),
                      "do not make");
    }
  // Each number is small enough, but not what they make together.
  EXPECT_MENTIONS(run(Kernel::Convolution, {x.tensor, weights.tensor},
                      result.tensor,
                      {int64_t{1} << 36, int64_t{1} << 36, 1, 1, 0, 0, 1}),
                  "do not make");
  Factors row(ElementType::F32, {6});
  EXPECT_MENTIONS(run(Kernel::PadByRule, {row.tensor}, row.tensor,
                      {0, std::numeric_limits<int64_t>::min()}),
                  "before the first one");
}

// Most of the places that are a step apart are outside.
TEST(Packed, StridesBeyondTheOutput) {
  Factors x(ElementType::F32, {1, 2, 1});
  Factors weights(ElementType::F32, {2, 3, 2});
  Factors near(ElementType::F32, {1, 3, 2}), far(ElementType::F32, {1, 3, 2});
  ASSERT_EQ(run(Kernel::ConvolutionTransposed, {x.tensor, weights.tensor},
                near.tensor, {2, 1, 0, 1}),
            "");
  ASSERT_EQ(run(Kernel::ConvolutionTransposed, {x.tensor, weights.tensor},
                far.tensor, {int64_t{1} << 39, 1, 0, 1}),
            "");
  EXPECT_EQ(far.difference(near), 0);
}

TEST(Packed, DepthwiseConvolutions) {
  Factors x(ElementType::F32, {2, 3, 9});
  Factors weights(ElementType::F32, {3, 1, 4});
  Factors wanted(ElementType::F32, {2, 3, 5});
  ASSERT_EQ(run(Kernel::Convolution, {x.tensor, weights.tensor}, wanted.tensor,
                {2, 1, 2, 3}),
            "");
  Tensor byTaps = weights.tensor.view({{4, 3}}, {{1, 4}});
  Factors result(ElementType::F32, {2, 3, 5});
  ASSERT_EQ(run(Kernel::ConvolutionDepthwise, {x.tensor, byTaps}, result.tensor,
                {4, 2, 1, 2}),
            "");
  EXPECT_LT(result.difference(wanted), 1e-6);
  EXPECT_MENTIONS(run(Kernel::ConvolutionDepthwise,
                      {x.tensor, weights.tensor.view({{4, 2}}, {{1, 4}})},
                      result.tensor, {4, 2, 1, 2}),
                  "do not fit");
}

TEST(Packed, ConvolutionsNeedWeights) {
  Factors x(ElementType::F32, {1, 4, 6, 6});
  Factors output(ElementType::F32, {1, 4, 6, 6});
  for (Kernel kernel :
       {Kernel::ConvolutionPacked, Kernel::ConvolutionTransposedPacked,
        Kernel::ConvolutionPairs, Kernel::ConvolutionDepthwise})
    EXPECT_MENTIONS(
        run(kernel, {x.tensor}, output.tensor, {1, 1, 1, 1, 1, 1, 0, 0}),
        " needs an input and weights");
}

TEST(Packed, ProgramsComeAfterProducts) {
  Owned<float> a({2, 1}, {1, -2});
  Owned<float> packed({1, 1, 32}, {3, 5, 7});
  Owned<float> bias({3}, {10, -20, 30});
  Owned<Float16> residual({2, 3}, {1, 2, 3, 4, 5, 6});
  Owned<Float16> out({2, 3});
  TileProgram program = biasReluResidual();
  std::vector<Tensor> inputs = {a.tensor, packed.tensor,
                                bias.tensor.view({{2, 3}}, {{0, 1}}),
                                residual.tensor};
  Invocation invocation{inputs, {&out.tensor, 1}, {}, &program};
  Error error = call(Kernel::MatMulPacked, invocation);
  ASSERT_FALSE(bool(error)) << error.message();
  // relu(a * b + bias) + residual
  EXPECT_NUMBERS(out.numbers(), 14, 2, 40, 8, 5, 22);
  // Whole numbers are not added to floats.
  Owned<int32_t> whole({2, 3});
  inputs[3] = whole.tensor;
  error = call(Kernel::MatMulPacked, invocation);
  EXPECT_TRUE(bool(error));
  inputs.pop_back();
  invocation.inputs = inputs;
  error = call(Kernel::MatMulPacked, invocation);
  ASSERT_TRUE(bool(error));
  EXPECT_MENTIONS(error.message(), "inputs");
}

} // namespace
