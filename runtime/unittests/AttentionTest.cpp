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

TEST(Attention, SinksTakePartInSumsAlone) {
  // Scores 0 and ln 3, and a sink of ln 4: weights 1/8 and 3/8.
  Owned<float> q({1, 1}, {1});
  Owned<float> k({2, 1}, {0, std::log(3)});
  Owned<float> v({2, 2}, {4, 8, 0, 4});
  Owned<float> sink({1, 1}, {std::log(4)});
  Owned<float> out({1, 2});
  std::vector<Tensor> inputs = {q.tensor, k.tensor, v.tensor, Tensor(),
                                sink.tensor};
  auto attend = [&] {
    return run(Kernel::AttentionWithSinks, inputs, out.tensor,
               {bitsOf(1), 0, 0});
  };
  ASSERT_EQ(attend(), "");
  EXPECT_NUMBERS(out.numbers(), 0.5, 2.5);
  // Who sees no key sees the sink.
  Owned<bool> mask({1, 2}, {0, 0});
  inputs[3] = mask.tensor;
  ASSERT_EQ(attend(), "");
  EXPECT_NUMBERS(out.numbers(), 0, 0);
  // One that is hidden is none.
  sink.elements[0] = -INFINITY;
  ASSERT_EQ(attend(), "");
  EXPECT_NUMBERS(out.numbers(), kNan, kNan);
  inputs[4] = v.tensor;
  EXPECT_MENTIONS(attend(), "with f32[2, 2] do not make f32[1, 2]");
}

/// Operands of a random call in f32, and calls of the kernel and its twins.
struct RandomCall {
  std::mt19937 &random;
  std::vector<RandomView> memory;
  std::vector<Tensor> inputs;

  explicit RandomCall(std::mt19937 &random) : random(random) {}

  const Tensor &add(ElementType type, std::vector<int64_t> shape,
                    bool mayRepeat = false) {
    RandomView &view = memory.emplace_back(type, shape, random, mayRepeat);
    fillRandom(view.memory, random, false);
    inputs.push_back(view.tensor);
    return inputs.back();
  }
};

TEST(Attention, OfAnyWidth) {
  std::mt19937 random(44);
  constexpr int64_t kDepths[] = {1, 33, 255, 257, 512, 576, 1000};
  for (int64_t depth : kDepths)
    for (int64_t length : {1, 3, 70})
      for (ElementType type : {ElementType::F32, ElementType::BF16}) {
        int64_t width = kDepths[random() % std::size(kDepths)];
        RandomCall call(random);
        call.add(type, {2, length, depth});
        call.add(type, {2, 75, depth});
        call.add(type, {2, 75, width});
        call.inputs.emplace_back();
        RandomView output(type, std::vector<int64_t>{2, length, width}, random,
                          false);
        expectTwins(Kernel::Attention, call.inputs, output.tensor,
                    {bitsOf(0.3 / std::sqrt(double(depth))), 0, 0},
                    {toleranceOf(type).relative * 4,
                     type == ElementType::BF16 ? 0.05 : 5e-4});
        if (HasFatalFailure())
          return;
      }
}

TEST(Attention, WithSinks) {
  std::mt19937 random(45);
  constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16,
                                     ElementType::BF16};
  constexpr int64_t kLengths[] = {1, 2, 3, 5, 17, 64, 65, 100};
  for (int round = 0; round != 60; ++round) {
    ElementType type = kFloats[round % 3];
    int64_t heads = 1 + int64_t(random() % 3);
    int64_t m = kLengths[random() % std::size(kLengths)];
    int64_t n = kLengths[random() % std::size(kLengths)];
    RandomCall call(random);
    call.add(type, {2, heads, m, 24});
    call.add(type, {2, heads, n, 24}, true);
    call.add(type, {2, heads, n, 20}, true);
    if (round % 2)
      call.add(round % 4 == 1 ? ElementType::Bool : type, {2, heads, m, n},
               true);
    else
      call.inputs.emplace_back();
    // One for each head, or for each query; now and then one that is hidden.
    call.add(round % 5 ? type : ElementType::F32, {2, heads, m, 1}, true);
    if (round % 6 == 0)
      withType(call.inputs[4].type, [&]<typename T>() {
        if constexpr (FloatElement<T>)
          *call.inputs[4].as<T>() = T(-INFINITY);
      });
    RandomView output(type, std::vector<int64_t>{2, heads, m, 20}, random,
                      false);
    expectTwins(Kernel::AttentionWithSinks, call.inputs, output.tensor,
                {bitsOf(0.2), round % 7 == 0, round % 3 == 0},
                {toleranceOf(type).relative * 4,
                 type == ElementType::BF16 ? 0.05 : 5e-4});
    if (HasFatalFailure())
      return;
  }
}

/// Fills a mask so that queries see keys around their own place only.
void fillBand(const Tensor &mask, int64_t before, int64_t after,
              double hidden) {
  int row = mask.rank - 2;
  for (int64_t head = 0; head != mask.extents[0]; ++head)
    for (int64_t i = 0; i != mask.extents[row]; ++i)
      for (int64_t j = 0; j != mask.extents[row + 1]; ++j) {
        int64_t at = head * mask.steps[0] + i * mask.steps[row] +
                     j * mask.steps[row + 1];
        bool isSeen = j >= i - before && j <= i + after;
        if (mask.type == ElementType::Bool)
          mask.as<bool>()[at] = isSeen;
        else
          mask.as<float>()[at] = isSeen ? 0.5f : float(hidden);
      }
}

// Blocks of keys that nobody sees are left out, and others are not.
TEST(Attention, OfWindows) {
  std::mt19937 random(46);
  struct Window {
    int64_t before, after;
  };
  constexpr Window kWindows[] = {{300, 0}, {40, 0}, {5, 90}, {0, 0}, {-80, 90}};
  for (Window window : kWindows)
    for (double hidden : {-HUGE_VAL, -1e4, -3e38})
      for (bool isTruth : {false, true})
        for (int64_t m : {2, 200}) {
          RandomCall call(random);
          call.add(ElementType::F32, {2, m, 24});
          call.add(ElementType::F32, {2, 230, 24});
          call.add(ElementType::F32, {2, 230, 16});
          RandomView mask(isTruth ? ElementType::Bool : ElementType::F32,
                          std::vector<int64_t>{2, m, 230}, random, false);
          fillBand(mask.tensor, window.before, window.after, hidden);
          call.inputs.push_back(mask.tensor);
          RandomView output(ElementType::F32, std::vector<int64_t>{2, m, 16},
                            random, false);
          // Of a query that sees nothing, scores lose digits to -1e4.
          double absolute = hidden == -1e4 ? 1e-2 : 5e-4;
          for (int64_t isZero : {0, 1})
            expectTwins(Kernel::Attention, call.inputs, output.tensor,
                        {bitsOf(0.2), 0, isZero}, {1e-5, absolute});
          if (HasFatalFailure())
            return;
        }
}

TEST(Attention, OfHeadsThatShareKeys) {
  std::mt19937 random(43);
  for (auto [heads, n] :
       {std::pair<int64_t, int64_t>{2, 40}, {7, 130}, {20, 9}})
    for (bool hasMask : {false, true}) {
      bool hasSinks = hasMask == (n > 100);
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
      RandomView sinks = fill({kGroups, heads, 1, 1});
      for (RandomView *shared : {&k, &v}) {
        shared->tensor.extents[1] = heads;
        shared->tensor.steps[1] = 0;
      }
      std::vector<Tensor> inputs = {q.tensor, k.tensor, v.tensor,
                                    hasMask ? mask.tensor : Tensor()};
      if (hasSinks)
        inputs.push_back(sinks.tensor);
      expectTwins(hasSinks ? Kernel::AttentionWithSinks : Kernel::Attention,
                  inputs, output.tensor, {bitsOf(0.2), 0, 0}, {1e-5, 5e-4});
      if (HasFatalFailure())
        return;
    }
}
} // namespace
