// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tiles.h"

#include "corten/Runtime/ThreadPool.h"

using namespace corten::runtime;
using Kernel = PortableKernel;
using Op = TileOpcode;

namespace {

/// Two results of three inputs: x * a + b, and whether that is larger than x.
const TileProgram kProgram = {
    3,
    5,
    {{Op::Mul, 3, 0, 1}, {Op::Add, 3, 3, 2}, {Op::Greater, 4, 3, 0}},
    {},
    {3, 4}};

TEST(Tile, ViewsInAnyOrder) {
  std::mt19937 random(2);
  for (int round = 0; round != 120; ++round) {
    std::vector<int64_t> shape;
    for (int axis = int(random() % 5); axis != 0; --axis)
      shape.push_back(
          int64_t(random() % 8 == 0 ? 1 + random() % 40 : 1 + random() % 7));
    // Views have gaps.
    int64_t room[] = {2};
    for (int64_t extent : shape)
      room[0] *= extent + 1;
    if (round % 20 == 0 && !shape.empty())
      shape[0] = 0;
    std::vector<AnyTensor> memory;
    std::vector<Tensor> inputs;
    for (ElementType type :
         {ElementType::F32, ElementType::F16, ElementType::F32}) {
      memory.emplace_back(type, room);
      fillRandom(memory.back(), random);
      inputs.push_back(viewOf(memory.back(), shape, random, true));
    }
    ElementType types[] = {ElementType::F32, ElementType::Bool};
    std::vector<AnyTensor> wanted =
        runByKernels(kProgram, inputs, types, shape);
    for (Isa isa : testedIsas()) {
      AnyTensor sum(ElementType::F32, room);
      AnyTensor flag(ElementType::Bool, room);
      Tensor outputs[] = {viewOf(sum, shape, random, false),
                          viewOf(flag, shape, random, false)};
      Invocation call{inputs, outputs, {}, &kProgram};
      ASSERT_EQ(runWith(isa, Kernel::Tile, call), "");
      for (size_t i = 0; i != 2; ++i) {
        AnyTensor dense(types[i], shape);
        ASSERT_EQ(run(Kernel::Copy, {outputs[i]}, dense.tensor), "");
        ASSERT_TRUE(sameElements(dense, wanted[i]))
            << "round " << round << ", " << name(isa) << ", output " << i;
      }
    }
  }
}

TEST(Tile, IsTheSameForAnyNumberOfThreads) {
  std::mt19937 random(3);
  // Channels last by strides; weights along the channels.
  int64_t shape[] = {2, 24, 57, 61};
  int64_t last[] = {24 * 57 * 61, 1, 61 * 24, 24};
  int64_t channels[] = {0, 1, 0, 0};
  AnyTensor x(ElementType::F32, shape);
  AnyTensor weight(ElementType::F32, shape);
  fillRandom(x, random);
  fillRandom(weight, random);
  Tensor inputs[] = {x.tensor.view(shape, last),
                     weight.tensor.view(shape, channels),
                     weight.tensor.view(shape, channels, 24)};
  for (Isa isa : testedIsas()) {
    AnyTensor first(ElementType::F32, shape);
    for (int threads : {0, 1, 2, 3, 7}) {
      AnyTensor sum(ElementType::F32, shape);
      AnyTensor flag(ElementType::Bool, shape);
      Tensor outputs[] = {sum.tensor.view(shape, last),
                          flag.tensor.view(shape, last)};
      Invocation call{inputs, outputs, {}, &kProgram};
      ThreadPool pool(std::max(threads, 1));
      call.pool = threads ? &pool : nullptr;
      ASSERT_EQ(runWith(isa, Kernel::Tile, call), "");
      if (threads == 0)
        first = std::move(sum);
      else
        ASSERT_TRUE(sameElements(sum, first)) << threads;
    }
  }
}

TEST(Tile, WritesOverItsInput) {
  AnyTensor x(ElementType::F32, {{1000}});
  for (int i = 0; i != 1000; ++i)
    x.tensor.as<float>()[i] = float(i);
  TileProgram program = {
      1, 2, {{Op::Add, 1, 0, 0}, {Op::Add, 1, 1, 0}}, {}, {1}};
  for (Isa isa : testedIsas()) {
    Invocation call{{&x.tensor, 1}, {&x.tensor, 1}, {}, &program};
    ASSERT_EQ(runWith(isa, Kernel::Tile, call), "");
    for (int i = 0; i != 1000; ++i) {
      ASSERT_EQ(x.tensor.as<float>()[i], 3 * float(i)) << name(isa);
      x.tensor.as<float>()[i] = float(i);
    }
  }
}

TEST(Tile, PassesOnAnInputThatIsWrittenOver) {
  AnyTensor x(ElementType::F32, {{1024}});
  AnyTensor copy(ElementType::F32, {{1024}});
  TileProgram program = {1, 2, {{Op::Add, 1, 0, 0}}, {}, {1, 0}};
  for (Isa isa : testedIsas()) {
    for (int i = 0; i != 1024; ++i)
      x.tensor.as<float>()[i] = float(i);
    Tensor outputs[] = {x.tensor, copy.tensor};
    Invocation call{{&x.tensor, 1}, outputs, {}, &program};
    ASSERT_EQ(runWith(isa, Kernel::Tile, call), "");
    for (int i = 0; i != 1024; ++i) {
      ASSERT_EQ(x.tensor.as<float>()[i], 2 * float(i)) << name(isa);
      ASSERT_EQ(copy.tensor.as<float>()[i], float(i)) << name(isa);
    }
  }
}

TEST(Tile, SaysWhatDoesNotFit) {
  Owned<float> x({2, 3});
  Owned<float> small({3});
  Owned<int64_t> wide({2, 3});
  Owned<int32_t> whole({2, 3});
  TileProgram program = {1, 1, {{Op::Exp, 0, 0}}, {}, {0}};
  auto attempt = [&](Tensor input, Tensor output,
                     const TileProgram *which) -> std::string {
    return runWith(Isa::Portable, Kernel::Tile,
                   {{&input, 1}, {&output, 1}, {}, which});
  };
  EXPECT_EQ(attempt(x.tensor, x.tensor, &program), "");
  EXPECT_MENTIONS(attempt(x.tensor, x.tensor, nullptr), "without a program");
  EXPECT_MENTIONS(attempt(small.tensor, x.tensor, &program),
                  "f32[3] does not fit f32[2, 3]");
  EXPECT_MENTIONS(attempt(wide.tensor, x.tensor, &program), "si64");
  EXPECT_MENTIONS(attempt(x.tensor, wide.tensor, &program), "si64");
  EXPECT_MENTIONS(attempt(whole.tensor, x.tensor, &program),
                  "Exp does not take");
  Tensor none[1];
  EXPECT_MENTIONS(
      runWith(Isa::Portable, Kernel::Tile, {{}, {none, 1}, {}, &program}),
      "of 1 inputs");
}
} // namespace
