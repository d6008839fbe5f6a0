// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

static int64_t bitsOf(double number) { return std::bit_cast<int64_t>(number); }

namespace {

TEST(Attention, OfAFewNumbers) {
  // Scores 0 and ln 3: weights 1/4 and 3/4.
  Owned<float> q({1, 1}, {1});
  Owned<float> k({2, 1}, {0, std::log(3) / 2});
  Owned<float> v({2, 2}, {4, 8, 0, 4});
  Owned<float> out({1, 2});
  std::vector<Tensor> inputs = {q.tensor, k.tensor, v.tensor, Tensor()};
  ASSERT_EQ(run(Kernel::Attention, inputs, out.tensor, {bitsOf(2), 0, 0}), "");
  EXPECT_NUMBERS(out.numbers(), 1, 5);
  // The first query sees the first key only.
  ASSERT_EQ(run(Kernel::Attention, inputs, out.tensor, {bitsOf(2), 1, 0}), "");
  EXPECT_NUMBERS(out.numbers(), 4, 8);
  Owned<bool> mask({1, 2}, {0, 1, 0});
  inputs[3] = mask.tensor;
  ASSERT_EQ(run(Kernel::Attention, inputs, out.tensor, {bitsOf(2), 0, 0}), "");
  EXPECT_NUMBERS(out.numbers(), 0, 4);
  mask.elements[1] = false;
  ASSERT_EQ(run(Kernel::Attention, inputs, out.tensor, {bitsOf(2), 0, 0}), "");
  EXPECT_NUMBERS(out.numbers(), kNan, kNan);
  ASSERT_EQ(run(Kernel::Attention, inputs, out.tensor, {bitsOf(2), 0, 1}), "");
  EXPECT_NUMBERS(out.numbers(), 0, 0);
  inputs[3] = v.tensor;
  EXPECT_MENTIONS(run(Kernel::Attention, inputs, out.tensor, {0, 0, 0}),
                  "do not make f32[1, 2]");
}

TEST(Attention, AgreesWithItsTwin) {
  std::mt19937 random(41);
  constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16,
                                     ElementType::BF16};
  constexpr int64_t kLengths[] = {1, 2, 3, 5, 17, 63, 64, 65, 100, 131};
  constexpr int64_t kWidths[] = {1, 8, 20, 64, 80};
  for (int round = 0; round != 80; ++round) {
    ElementType type = kFloats[round % 3];
    int64_t batch = 1 + int64_t(random() % 2);
    int64_t heads = 1 + int64_t(random() % 3);
    int64_t m = kLengths[random() % std::size(kLengths)];
    int64_t n = kLengths[random() % std::size(kLengths)];
    int64_t d = kWidths[random() % std::size(kWidths)];
    int64_t e = kWidths[random() % std::size(kWidths)];
    RandomView q(type, std::vector{batch, heads, m, d}, random, false);
    RandomView k(type, std::vector{batch, heads, n, d}, random, round % 2);
    RandomView v(type, std::vector{batch, heads, n, e}, random, round % 2);
    ElementType maskType = round % 4 == 1 ? ElementType::Bool : type;
    RandomView mask(maskType, std::vector{batch, heads, m, n}, random, true);
    RandomView output(type, std::vector{batch, heads, m, e}, random, false);
    for (RandomView *view : {&q, &k, &v, &mask})
      fillRandom(view->memory, random, false);
    std::vector<Tensor> inputs = {q.tensor, k.tensor, v.tensor,
                                  round % 4 < 2 ? mask.tensor : Tensor()};
    // Sums of products of large numbers: what is left of their digits.
    expectTwins(
        Kernel::Attention, inputs, output.tensor,
        {bitsOf(1 / std::sqrt(double(d))), round % 5 == 0, round % 7 == 0},
        {toleranceOf(type).relative * 4,
         type == ElementType::BF16 ? 0.05 : 5e-4});
    if (HasFatalFailure())
      return;
  }
}

TEST(Attention, OfHeadsThatShareKeys) {
  std::mt19937 random(43);
  for (auto [heads, n] :
       {std::pair<int64_t, int64_t>{2, 40}, {7, 130}, {20, 9}})
    for (bool hasMask : {false, true}) {
      constexpr int64_t kGroups = 3;
      constexpr int64_t kDepth = 24;
      auto fill = [&](std::vector<int64_t> shape) {
        RandomView view(ElementType::F32, shape, random, false);
        fillRandom(view.memory, random, false);
        return view;
      };
      RandomView q = fill({kGroups, heads, 1, kDepth});
      RandomView k = fill({kGroups, 1, n, kDepth});
      RandomView v = fill({kGroups, 1, n, kDepth});
      RandomView mask = fill({kGroups, heads, 1, n});
      RandomView output = fill({kGroups, heads, 1, kDepth});
      for (RandomView *shared : {&k, &v}) {
        shared->tensor.extents[1] = heads;
        shared->tensor.steps[1] = 0;
      }
      std::vector<Tensor> inputs = {q.tensor, k.tensor, v.tensor,
                                    hasMask ? mask.tensor : Tensor()};
      expectTwins(Kernel::Attention, inputs, output.tensor, {bitsOf(0.2), 0, 0},
                  {1e-5, 5e-4});
      if (HasFatalFailure())
        return;
    }
}
} // namespace
