// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

TEST(GatedDelta, OfAFewNumbers) {
  // Two steps of a state of one number: half of it remains, and the second step
  // learns half of what it gets wrong.
  Owned<float> q({1, 1, 2, 1}, {2, 3});
  Owned<float> k({1, 1, 2, 1}, {1, 2});
  Owned<float> v({1, 1, 2, 1}, {5, 10});
  Owned<float> g({1, 1, 2}, {std::log(0.5), 0});
  Owned<float> beta({1, 1, 2}, {1, 0.5});
  Owned<float> before({1, 1, 1, 1}, {4});
  Owned<float> out({1, 2, 1, 1});
  Owned<float> after({1, 1, 1, 1});
  std::vector<Tensor> inputs = {q.tensor, k.tensor,    v.tensor,
                                g.tensor, beta.tensor, before.tensor};
  std::vector<Tensor> outputs = {out.tensor, after.tensor};
  std::vector<int64_t> numbers = {0};
  Error error = call(Kernel::GatedDelta, {inputs, outputs, numbers});
  ASSERT_FALSE(error) << error.message();
  // 4 / 2 = 2, recalls 2 of 5, becomes 5; recalls 10 of 10, stays.
  EXPECT_NUMBERS(out.numbers(), 10, 15);
  EXPECT_NUMBERS(after.numbers(), 5);
  inputs[2] = q.tensor.view(std::array<int64_t, 3>{1, 1, 2},
                            std::array<int64_t, 3>{2, 2, 1});
  error = call(Kernel::GatedDelta, {inputs, outputs, numbers});
  ASSERT_TRUE(error);
  EXPECT_NE(error.message().find("do not make"), std::string::npos);
}

/// Sizes of a call.
struct Sizes {
  int64_t batch, heads, times, length, depth, width;
};

void expectTwins(ElementType type, const Sizes &sizes, bool isNormalized,
                 std::mt19937 &random) {
  int64_t valueHeads = sizes.heads * sizes.times;
  using Shape = std::vector<int64_t>;
  Shape rows = {sizes.batch, sizes.heads, sizes.length, sizes.depth};
  Shape states = {sizes.batch, valueHeads, sizes.depth, sizes.width};
  Shape steps = {sizes.batch, valueHeads, sizes.length};
  RandomView q(type, rows, random, false);
  RandomView k(type, rows, random, false);
  RandomView v(type, Shape{sizes.batch, valueHeads, sizes.length, sizes.width},
               random, false);
  RandomView g(type, steps, random, false);
  RandomView beta(type, steps, random, false);
  RandomView before(type, states, random, true);
  RandomView out(type,
                 Shape{sizes.batch, sizes.length, valueHeads, sizes.width},
                 random, false);
  RandomView after(type, states, random, false);
  // What remains is less than all, and a key does not blow a state up.
  auto fill = [&](RandomView &view, double least, double most) {
    std::uniform_real_distribution<double> numbers(least, most);
    withType(type, [&]<typename T>() {
      if constexpr (FloatElement<T>)
        for (int64_t i = 0; i != view.memory.tensor.size(); ++i)
          view.memory.tensor.as<T>()[i] = T(ComputeType<T>(numbers(random)));
    });
  };
  double most = 1 / std::sqrt(double(sizes.depth));
  fill(q, -1, 1);
  fill(k, -most, most);
  fill(v, -1, 1);
  fill(g, -0.5, 0);
  fill(beta, 0, 1);
  fill(before, -1, 1);
  std::vector<Tensor> inputs = {q.tensor, k.tensor,    v.tensor,
                                g.tensor, beta.tensor, before.tensor};
  std::vector<Tensor> outputs = {out.tensor, after.tensor};
  std::vector<int64_t> numbers = {isNormalized};
  Invocation invocation{inputs, outputs, numbers};
  Error error = call(Kernel::GatedDelta, invocation);
  ASSERT_FALSE(error) << error.message();
  AnyTensor wanted = denseOf(out.tensor);
  AnyTensor wantedState = denseOf(after.tensor);
  Tolerance tolerance = {toleranceOf(type).relative * 2, 2e-6};
  for (Isa isa : testedIsas()) {
    if (isa == Isa::Portable)
      continue;
    ASSERT_NE(selectVariant(Kernel::GatedDelta, isa, invocation), nullptr);
    for (int threads : {1, 3}) {
      ThreadPool pool(threads);
      invocation.pool = &pool;
      ASSERT_EQ(runWith(isa, Kernel::GatedDelta, invocation), "");
      ASSERT_TRUE(closeElements(denseOf(out.tensor), wanted, tolerance));
      ASSERT_TRUE(closeElements(denseOf(after.tensor), wantedState, tolerance));
    }
  }
}

TEST(GatedDelta, AgreesWithItsTwin) {
  std::mt19937 random(17);
  constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16,
                                     ElementType::BF16};
  constexpr int64_t kLengths[] = {0, 1, 2, 7, 20};
  constexpr int64_t kWidths[] = {1, 5, 16, 33, 64, 100};
  for (int round = 0; round != 40; ++round) {
    auto pick = [&](auto &from) { return from[random() % std::size(from)]; };
    Sizes sizes = {1 + int64_t(random() % 2),
                   1 + int64_t(random() % 2),
                   1 + int64_t(random() % 3),
                   pick(kLengths),
                   pick(kWidths),
                   pick(kWidths)};
    expectTwins(kFloats[round % 3], sizes, round % 2, random);
    if (HasFatalFailure())
      return;
  }
}
} // namespace
