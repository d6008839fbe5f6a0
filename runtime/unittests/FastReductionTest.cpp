// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

#include "corten/Runtime/Modes.h"

using namespace corten::runtime;
using Kernel = PortableKernel;
using Op = TileOpcode;

namespace {

struct Reduction {
  Kernel kernel;
  ReduceMode mode;
};
constexpr Reduction kReductions[] = {
    {Kernel::ReduceSum, ReduceMode::Sum},
    {Kernel::ReduceMean, ReduceMode::Mean},
    {Kernel::ReduceProduct, ReduceMode::Product},
    {Kernel::ReduceMax, ReduceMode::Max},
    {Kernel::ReduceMin, ReduceMode::Min},
    {Kernel::ReduceAll, ReduceMode::All},
    {Kernel::ReduceAny, ReduceMode::Any}};

ElementType anyType(ReduceMode mode, std::mt19937 &random) {
  constexpr ElementType kAll[] = {
      ElementType::F32,  ElementType::F32, ElementType::F16, ElementType::BF16,
      ElementType::SI32, ElementType::SI8, ElementType::UI16};
  if (mode == ReduceMode::All || mode == ReduceMode::Any)
    return ElementType::Bool;
  return kAll[random() % (mode == ReduceMode::Mean ? 4 : std::size(kAll))];
}

/// A shape, and the same with some axes of extent 1.
struct Shapes {
  std::vector<int64_t> full;
  std::vector<int64_t> kept;

  explicit Shapes(std::mt19937 &random) {
    for (size_t axes = 1 + random() % 4; full.size() < axes;) {
      int64_t extent = int64_t(random() % 3 == 0   ? 1 + random() % 90
                               : random() % 9 == 0 ? 1
                                                   : 1 + random() % 9);
      full.push_back(extent);
      kept.push_back(random() % 2 ? 1 : extent);
    }
  }
};

Tolerance sumTolerance(ElementType type, int64_t count) {
  Tolerance tolerance = toleranceOf(type);
  // Terms of either sign: relative to their number.
  if (tileLane(type) == TileLane::F)
    tolerance.absolute = 4e-7 * double(count) * 10;
  return tolerance;
}

TEST(FastReduction, AgreesWithItsTwin) {
  std::mt19937 random(11);
  for (int round = 0; round != 140; ++round) {
    const Reduction &reduction = kReductions[round % std::size(kReductions)];
    ElementType type = anyType(reduction.mode, random);
    Shapes shapes(random);
    RandomView input(type, shapes.full, random, false);
    RandomView output(type, shapes.kept, random, false);
    fillRandom(input.memory, random, round % 4 == 0);
    Tolerance tolerance = reduction.mode == ReduceMode::Product
                              ? Tolerance{1e-3, 0}
                              : sumTolerance(type, input.tensor.size());
    expectTwins(reduction.kernel, {&input.tensor, 1}, output.tensor, {},
                tolerance);
    if (HasFatalFailure())
      return;
  }
}

TEST(FastReduction, OfPrograms) {
  std::mt19937 random(12);
  // (x - y)^2
  TileProgram program = {
      2, 3, {{Op::Sub, 2, 0, 1}, {Op::Mul, 2, 2, 2}}, {}, {2}};
  for (int round = 0; round != 100; ++round) {
    Shapes shapes(random);
    RandomView x(ElementType::F32, shapes.full, random, false);
    RandomView y(round % 2 ? ElementType::F32 : ElementType::F16, shapes.full,
                 random, true);
    fillRandom(x.memory, random, false);
    fillRandom(y.memory, random, false);
    Tensor inputs[] = {x.tensor, y.tensor};
    // What the same is by two kernels.
    RandomView squares(ElementType::F32, shapes.full, random, false);
    ASSERT_EQ(runWith(Isa::Portable, Kernel::Tile,
                      {inputs, {&squares.tensor, 1}, {}, &program}),
              "");
    RandomView wanted(ElementType::F32, shapes.kept, random, false);
    ASSERT_EQ(run(Kernel::ReduceMean, {squares.tensor}, wanted.tensor), "");
    RandomView output(ElementType::F32, shapes.kept, random, false);
    expectTwins(Kernel::TileReduce, inputs, output.tensor,
                {int64_t(ReduceMode::Mean)}, {1e-6, 1e-30}, true, &program);
    ASSERT_TRUE(closeElements(denseOf(output.tensor), denseOf(wanted.tensor),
                              {1e-6, 1e-30}));
  }
}

TEST(FastReduction, OfManyIsStillRight) {
  int64_t shape[] = {1000003};
  int64_t one[] = {1};
  AnyTensor x(ElementType::F32, shape);
  for (int64_t i = 0; i != shape[0]; ++i)
    x.tensor.as<float>()[i] = 0.1f;
  AnyTensor sum(ElementType::F32, one);
  expectTwins(Kernel::ReduceSum, {&x.tensor, 1}, sum.tensor, {}, {2e-7, 0});
}

TEST(FastReduction, OfNothing) {
  Owned<float> none({3, 0});
  Owned<float> out({3, 1});
  for (Isa isa : testedIsas()) {
    Invocation call{{&none.tensor, 1}, {&out.tensor, 1}, {}};
    ASSERT_EQ(runWith(isa, Kernel::ReduceSum, call), "");
    EXPECT_NUMBERS(out.numbers(), 0, 0, 0);
    ASSERT_EQ(runWith(isa, Kernel::ReduceMean, call), "");
    EXPECT_NUMBERS(out.numbers(), kNan, kNan, kNan);
    ASSERT_EQ(runWith(isa, Kernel::ReduceProduct, call), "");
    EXPECT_NUMBERS(out.numbers(), 1, 1, 1);
    EXPECT_MENTIONS(runWith(isa, Kernel::ReduceMax, call),
                    "none of no elements");
  }
}

TEST(FastReduction, SaysWhatDoesNotFit) {
  Owned<float> x({2, 3});
  Owned<float> out({2, 1});
  Owned<float> wrong({4, 1});
  TileProgram program = {1, 1, {}, {}, {0}};
  auto attempt = [&](Tensor output, int64_t mode, const TileProgram *which) {
    return runWith(detectedIsa(), Kernel::TileReduce,
                   {{&x.tensor, 1}, {&output, 1}, {&mode, 1}, which});
  };
  EXPECT_EQ(attempt(out.tensor, 0, &program), "");
  EXPECT_MENTIONS(attempt(out.tensor, 0, nullptr), "without a program");
  EXPECT_MENTIONS(attempt(out.tensor, 7, &program), "a mode that there is");
  EXPECT_MENTIONS(attempt(wrong.tensor, 0, &program), "does not fit");
  EXPECT_MENTIONS(attempt(out.tensor, int64_t(ReduceMode::All), &program),
                  "no form for");
}
} // namespace
