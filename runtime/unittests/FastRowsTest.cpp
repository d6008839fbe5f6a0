// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16,
                                   ElementType::BF16};

int64_t bitsOf(double number) { return std::bit_cast<int64_t>(number); }

/// The lengths of rows that are worth trying.
int64_t anyLength(std::mt19937 &random) {
  constexpr int64_t kLengths[] = {1,   7,   8,   15,  16,   17,
                                  100, 255, 256, 257, 1000, 5000};
  return kLengths[random() % std::size(kLengths)];
}

TEST(FastRows, SoftmaxAlongAnyAxis) {
  std::mt19937 random(21);
  for (int round = 0; round != 120; ++round) {
    ElementType type = kFloats[round % 3];
    std::vector<int64_t> shape = {int64_t(1 + random() % 3),
                                  int64_t(1 + random() % 5)};
    int64_t length = anyLength(random);
    shape.insert(shape.begin() + long(random() % 3), length);
    int64_t axis = int64_t(random() % 3);
    RandomView input(type, shape, random, false);
    RandomView output(type, shape, random, false);
    fillRandom(input.memory, random, round % 4 == 0);
    expectTwins(Kernel::Softmax, {&input.tensor, 1}, output.tensor, {axis},
                {toleranceOf(type).relative * 2, toleranceOf(type).absolute});
    if (HasFatalFailure())
      return;
  }
}

TEST(FastRows, SoftmaxOfLargeAndHiddenNumbers) {
  Owned<float> x({3, 4}, {1000, 999, -HUGE_VAL, 1000, -HUGE_VAL, -HUGE_VAL,
                          -HUGE_VAL, -HUGE_VAL, 1, kNan, 2, 3});
  Owned<float> out({3, 4});
  expectTwins(Kernel::Softmax, {&x.tensor, 1}, out.tensor, {1}, {1e-6, 0});
  expectTwins(Kernel::Softmax, {&x.tensor, 1}, out.tensor, {0}, {1e-6, 0});
  // Where the input is.
  for (Isa isa : testedIsas()) {
    Owned<float> same({2, 2}, {1, 1, 0, -HUGE_VAL});
    int64_t axis = 1;
    ASSERT_EQ(runWith(isa, Kernel::Softmax,
                      {{&same.tensor, 1}, {&same.tensor, 1}, {&axis, 1}}),
              "");
    EXPECT_NUMBERS(same.numbers(), 0.5, 0.5, 1, 0);
  }
}

TEST(FastRows, Normalizations) {
  std::mt19937 random(22);
  for (int round = 0; round != 120; ++round) {
    ElementType type = kFloats[round % 3];
    int64_t axes = 1 + int64_t(random() % 2);
    std::vector<int64_t> shape = {int64_t(1 + random() % 4), 3};
    std::vector<int64_t> last;
    for (int64_t i = 0; i != axes; ++i)
      last.push_back(i ? int64_t(1 + random() % 4) : anyLength(random));
    shape.insert(shape.end(), last.begin(), last.end());
    AnyTensor input(type, shape);
    AnyTensor output(type, shape);
    AnyTensor weight(type, last);
    AnyTensor bias(type, last);
    for (AnyTensor *tensor : {&input, &weight, &bias})
      fillRandom(*tensor, random, false);
    std::vector<Tensor> inputs = {input.tensor, Tensor(), Tensor()};
    if (round % 4 != 0)
      inputs[1] = weight.tensor;
    if (round % 4 > 1)
      inputs[2] = bias.tensor;
    Tolerance tolerance = {toleranceOf(type).relative * 4, 1e-5};
    if (type == ElementType::BF16)
      tolerance.absolute = 1e-3;
    for (Kernel kernel : {Kernel::LayerNorm, Kernel::RmsNorm})
      expectTwins(kernel, inputs, output.tensor, {axes, bitsOf(1e-5)},
                  tolerance);
    if (HasFatalFailure())
      return;
  }
}

TEST(FastRows, NormalizationOfNumbersFarFromZero) {
  std::mt19937 random(23);
  AnyTensor input(ElementType::F32, {{2, 1000}});
  AnyTensor output(ElementType::F32, {{2, 1000}});
  fillRandom(input, random, false);
  for (int i = 0; i != 2000; ++i)
    input.tensor.as<float>()[i] += 10000;
  Tensor inputs[] = {input.tensor, Tensor(), Tensor()};
  expectTwins(Kernel::LayerNorm, inputs, output.tensor, {1, bitsOf(1e-6)},
              {1e-5, 1e-5});
}

TEST(FastRows, Groups) {
  std::mt19937 random(24);
  for (int round = 0; round != 60; ++round) {
    ElementType type = kFloats[round % 3];
    int64_t groups = 1 + int64_t(random() % 4);
    std::vector<int64_t> shape = {int64_t(1 + random() % 3),
                                  groups * int64_t(1 + random() % 9)};
    for (size_t axes = random() % 3; axes != 0; --axes)
      shape.push_back(int64_t(1 + random() % 12));
    RandomView input(type, shape, random, false);
    RandomView output(type, shape, random, false);
    AnyTensor weight(type, {{shape[1]}});
    AnyTensor bias(type, {{shape[1]}});
    for (AnyTensor *tensor : {&input.memory, &weight, &bias})
      fillRandom(*tensor, random, false);
    std::vector<Tensor> inputs = {input.tensor, Tensor(), Tensor()};
    if (round % 4 != 0)
      inputs[1] = weight.tensor;
    if (round % 4 > 1)
      inputs[2] = bias.tensor;
    expectTwins(Kernel::GroupNorm, inputs, output.tensor,
                {groups, bitsOf(1e-5)},
                {toleranceOf(type).relative * 4,
                 type == ElementType::BF16 ? 1e-2 : 1e-4});
    if (HasFatalFailure())
      return;
  }
}

TEST(Normalization, OfAFewNumbers) {
  Owned<float> x({1, 4}, {1, 2, 3, 6});
  Owned<float> weight({4}, {1, 1, 2, 1});
  Owned<float> bias({4}, {0, 1, 0, 0});
  Owned<float> out({1, 4});
  // Mean 3, variance 3.5.
  ASSERT_EQ(run(Kernel::LayerNorm, {x.tensor, weight.tensor, bias.tensor},
                out.tensor, {1, bitsOf(0.5)}),
            "");
  EXPECT_NUMBERS(out.numbers(), -1, 0.5, 0, 1.5);
  // The mean of squares is 12.5.
  ASSERT_EQ(run(Kernel::RmsNorm, {x.tensor, Tensor(), Tensor()}, out.tensor,
                {1, bitsOf(3.5)}),
            "");
  EXPECT_NUMBERS(out.numbers(), 0.25, 0.5, 0.75, 1.5);
  // Two groups of two channels.
  ASSERT_EQ(run(Kernel::GroupNorm, {x.tensor, weight.tensor, Tensor()},
                out.tensor, {2, bitsOf(0.0)}),
            "");
  EXPECT_NUMBERS(out.numbers(), -1, 1, -2, 1);
  EXPECT_MENTIONS(run(Kernel::GroupNorm, {x.tensor, Tensor(), Tensor()},
                      out.tensor, {3, 0}),
                  "3 groups");
  EXPECT_MENTIONS(run(Kernel::LayerNorm, {x.tensor, x.tensor, Tensor()},
                      out.tensor, {1, 0}),
                  "does not fit");
  EXPECT_MENTIONS(run(Kernel::LayerNorm, {x.tensor, Tensor(), Tensor()},
                      out.tensor, {3, 0}),
                  "has no 3 last axes");
}
} // namespace
