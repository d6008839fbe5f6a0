// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kTypes[] = {
    ElementType::F32,  ElementType::SI32, ElementType::F16, ElementType::UI8,
    ElementType::BF16, ElementType::SI16, ElementType::SI4};
constexpr int64_t kLengths[] = {1, 7, 100, 700, 3000};

/// Few different numbers, zeros of both signs and none at all among them.
void fillWithTies(AnyTensor &tensor, std::mt19937 &random) {
  withType(tensor.tensor.type, [&]<typename T>() {
    if constexpr (FloatElement<T> || IntegerElement<T>)
      for (int64_t i = 0; i != tensor.tensor.size(); ++i) {
        // What has no sign begins at zero.
        double number = double(random() % 40) -
                        (std::is_unsigned_v<ComputeType<T>> ? 0 : 20);
        if constexpr (FloatElement<T>) {
          number = random() % 50 == 0 ? std::nan("") : number / 8;
          number = random() % 9 == 0 ? -0.0 : number;
          number = random() % 60 == 0 ? -INFINITY : number;
        }
        tensor.tensor.as<T>()[i] = T(ComputeType<T>(number));
      }
  });
}

/// Rows of each length and type, along the first and the last axis.
template <typename Body> void forEachCase(Body &&body) {
  std::mt19937 random(41);
  for (ElementType type : kTypes)
    for (int64_t length : kLengths)
      for (int64_t axis : {0, 1}) {
        std::vector<int64_t> shape = {3, 3};
        shape[size_t(axis)] = length;
        RandomView input(type, shape, random, false);
        fillWithTies(input.memory, random);
        body(input.tensor, shape, axis, random);
      }
}

TEST(FastAlongAxis, Sorts) {
  forEachCase([](const Tensor &input, const auto &shape, int64_t axis,
                 std::mt19937 &random) {
    RandomView sorted(input.type, shape, random, false);
    RandomView order(random() % 2 ? ElementType::SI32 : ElementType::SI64,
                     shape, random, false);
    for (int64_t isDescending : {0, 1}) {
      expectTwins(Kernel::Sort, {&input, 1}, sorted.tensor,
                  {axis, isDescending}, {});
      expectTwins(Kernel::Argsort, {&input, 1}, order.tensor,
                  {axis, isDescending}, {});
    }
  });
}

/// Both results of a choice, by the portable kernel and by fast ones.
void expectChoice(const Tensor &input, std::vector<int64_t> shape, int64_t axis,
                  int64_t isDescending, std::mt19937 &random) {
  ElementType index = random() % 2 ? ElementType::SI32 : ElementType::SI64;
  RandomView values(input.type, shape, random, false);
  RandomView places(index, shape, random, false);
  std::vector<Tensor> outputs = {values.tensor, places.tensor};
  std::vector<int64_t> numbers = {axis, isDescending};
  Invocation invocation{{&input, 1}, outputs, numbers};
  ASSERT_FALSE(call(Kernel::TopK, invocation));
  AnyTensor wantedValues = denseOf(values.tensor);
  AnyTensor wantedPlaces = denseOf(places.tensor);
  for (Isa isa : testedIsas())
    for (int threads : {1, 3}) {
      fillRandom(values.memory, random);
      ThreadPool pool(threads);
      invocation.pool = &pool;
      if (isa != Isa::Portable && tileLane(input.type))
        ASSERT_NE(selectVariant(Kernel::TopK, isa, invocation), nullptr);
      ASSERT_EQ(runWith(isa, Kernel::TopK, invocation), "");
      ASSERT_TRUE(sameElements(denseOf(values.tensor), wantedValues))
          << input.describe() << ", " << shape[size_t(axis)] << " of them, "
          << name(isa);
      ASSERT_TRUE(sameElements(denseOf(places.tensor), wantedPlaces))
          << input.describe() << ", " << shape[size_t(axis)] << " of them, "
          << name(isa);
    }
}

TEST(FastAlongAxis, ChoosesTheFirst) {
  forEachCase(
      [](const Tensor &input, auto shape, int64_t axis, std::mt19937 &random) {
        int64_t length = shape[size_t(axis)];
        for (int64_t wanted : {int64_t(1), int64_t(5), length / 2, length}) {
          if (wanted < 1 || wanted > length || testing::Test::HasFatalFailure())
            continue;
          shape[size_t(axis)] = wanted;
          expectChoice(input, shape, axis, int64_t(random() % 2), random);
        }
      });
}

// What is longest to choose from: each element is better than those before.
TEST(FastAlongAxis, ChoosesAmongRisingNumbers) {
  std::mt19937 random(43);
  AnyTensor input(ElementType::F32, std::vector<int64_t>{50000});
  for (int64_t i = 0; i != 50000; ++i)
    input.tensor.as<float>()[i] = float(i / 3);
  for (int64_t isDescending : {0, 1})
    for (int64_t wanted : {1, 64, 700})
      expectChoice(input.tensor, {wanted}, 0, isDescending, random);
}

TEST(FastAlongAxis, MoreThanThereAreAreAnError) {
  Owned<float> x({3}, {1, 2, 3});
  Owned<float> values({4});
  Owned<int32_t> places({4});
  std::vector<Tensor> outputs = {values.tensor, places.tensor};
  std::vector<int64_t> numbers = {0, 1};
  for (Isa isa : testedIsas())
    EXPECT_MENTIONS(
        runWith(isa, Kernel::TopK, {{&x.tensor, 1}, outputs, numbers}),
        "TopK: f32[4] does not fit f32[3]");
}

TEST(FastAlongAxis, Scans) {
  forEachCase([](const Tensor &input, const auto &shape, int64_t axis,
                 std::mt19937 &random) {
    RandomView output(input.type, shape, random, false);
    for (Kernel kernel : {Kernel::ScanSum, Kernel::ScanProduct, Kernel::ScanMin,
                          Kernel::ScanMax})
      for (int64_t isReverse : {0, 1})
        expectTwins(kernel, {&input, 1}, output.tensor, {axis, isReverse}, {});
  });
}

TEST(FastAlongAxis, ManyColumns) {
  std::mt19937 random(42);
  int64_t shape[] = {2, 9, 150};
  AnyTensor input(ElementType::F32, shape);
  AnyTensor output(ElementType::F32, shape);
  fillRandom(input, random);
  for (int64_t axis : {0, 1, 2})
    expectTwins(Kernel::ScanSum, {&input.tensor, 1}, output.tensor, {axis, 0},
                {});
}

} // namespace
