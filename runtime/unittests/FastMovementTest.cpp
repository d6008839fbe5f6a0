// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

#include "corten/Runtime/Modes.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F16,
                                  ElementType::SI64, ElementType::UI8};

std::vector<int64_t> anyShape(std::mt19937 &random, size_t atLeast = 0) {
  std::vector<int64_t> shape;
  for (size_t axes = atLeast + random() % 4; shape.size() < axes;)
    shape.push_back(int64_t(1 + random() % (random() % 3 == 0 ? 70 : 6)));
  return shape;
}

TEST(FastMovement, CopiesAnyView) {
  std::mt19937 random(31);
  for (int round = 0; round != 150; ++round) {
    ElementType type = kTypes[round % std::size(kTypes)];
    std::vector<int64_t> shape = anyShape(random);
    RandomView input(type, shape, random, true);
    RandomView output(type, shape, random, false);
    fillRandom(input.memory, random);
    expectTwins(Kernel::Copy, {&input.tensor, 1}, output.tensor, {}, {});
  }
}

TEST(FastMovement, TransposesOfImages) {
  std::mt19937 random(32);
  int64_t shape[] = {2, 33, 41, 67};
  int64_t last[] = {33 * 41 * 67, 1, 67 * 33, 33};
  AnyTensor x(ElementType::F32, shape);
  AnyTensor y(ElementType::F32, shape);
  fillRandom(x, random);
  Tensor channelsLast = x.tensor.view(shape, last);
  expectTwins(Kernel::Copy, {&channelsLast, 1}, y.tensor, {}, {});
  expectTwins(Kernel::Copy, {&x.tensor, 1}, y.tensor.view(shape, last), {}, {});
}

TEST(FastMovement, Fills) {
  std::mt19937 random(33);
  for (ElementType type : kTypes) {
    AnyTensor value(type, {});
    fillRandom(value, random, false);
    RandomView output(type, std::vector<int64_t>{3, 50, 7}, random, false);
    expectTwins(Kernel::Fill, {&value.tensor, 1}, output.tensor, {}, {});
  }
}

/// Numbers from -extent to extent - 1.
void fillIndices(AnyTensor &indices, int64_t extent, std::mt19937 &random) {
  withType(indices.tensor.type, [&]<typename T>() {
    if constexpr (IntegerElement<T>)
      for (int64_t i = 0; i != indices.tensor.size(); ++i)
        indices.tensor.as<T>()[i] =
            T(int64_t(random() % uint64_t(2 * extent)) - extent);
  });
}

TEST(FastMovement, GathersRows) {
  std::mt19937 random(34);
  for (int round = 0; round != 60; ++round) {
    ElementType type = kTypes[round % std::size(kTypes)];
    ElementType index = round % 2 ? ElementType::SI32 : ElementType::SI64;
    std::vector<int64_t> table = anyShape(random, 1);
    int64_t depth = 1 + int64_t(random() % table.size());
    std::vector<int64_t> places = anyShape(random);
    std::vector<int64_t> shape = places;
    shape.insert(shape.end(), table.begin() + depth, table.end());
    places.push_back(depth);
    AnyTensor input(type, table);
    RandomView indices(index, places, random, true);
    AnyTensor output(type, shape);
    fillRandom(input, random);
    fillIndices(indices.memory,
                *std::min_element(table.begin(), table.begin() + depth),
                random);
    Tensor inputs[] = {input.tensor, indices.tensor};
    expectTwins(Kernel::GatherNd, inputs, output.tensor, {}, {});
  }
}

TEST(FastMovement, GathersAlongAnAxis) {
  std::mt19937 random(35);
  for (int round = 0; round != 60; ++round) {
    ElementType type = kTypes[round % std::size(kTypes)];
    std::vector<int64_t> shape = anyShape(random, 1);
    auto axis = int64_t(random() % shape.size());
    std::vector<int64_t> places = shape;
    places[axis] = 1 + int64_t(random() % 9);
    RandomView input(type, shape, random, false);
    RandomView indices(ElementType::SI32, places, random, true);
    RandomView output(type, places, random, false);
    fillRandom(input.memory, random);
    fillIndices(indices.memory, shape[axis], random);
    Tensor inputs[] = {input.tensor, indices.tensor};
    expectTwins(Kernel::GatherAlongAxis, inputs, output.tensor, {axis}, {});
  }
}

TEST(FastMovement, ScattersParts) {
  std::mt19937 random(36);
  for (int round = 0; round != 80; ++round) {
    ElementType type = kTypes[round % std::size(kTypes)];
    ElementType index = round % 2 ? ElementType::SI32 : ElementType::SI64;
    std::vector<int64_t> table = anyShape(random, 1);
    int64_t depth = 1 + int64_t(random() % table.size());
    std::vector<int64_t> places = anyShape(random);
    std::vector<int64_t> shape = places;
    shape.insert(shape.end(), table.begin() + depth, table.end());
    places.push_back(depth);
    RandomView input(type, table, random, true);
    RandomView indices(index, places, random, true);
    AnyTensor updates(type, shape);
    AnyTensor output(type, table);
    fillRandom(input.memory, random);
    fillRandom(updates, random);
    fillIndices(indices.memory,
                *std::min_element(table.begin(), table.begin() + depth),
                random);
    Tensor inputs[] = {input.tensor, indices.tensor, updates.tensor};
    for (int64_t isReplaced : {1, 0})
      expectTwins(Kernel::ScatterNd, inputs, output.tensor, {isReplaced}, {});
  }
}

/// So many rows into a table of others: some parts are more than a thread is
/// given.
void expectScatteredRows(int64_t rows, int64_t extent, int64_t length) {
  std::mt19937 random(38);
  std::vector<int64_t> table = {extent, length}, places = {rows, 1},
                       shape = {rows, length};
  AnyTensor input(ElementType::F32, table);
  AnyTensor indices(ElementType::SI32, places);
  AnyTensor updates(ElementType::F32, shape);
  AnyTensor output(ElementType::F32, table);
  fillRandom(input, random);
  fillRandom(updates, random);
  fillIndices(indices, extent, random);
  Tensor inputs[] = {input.tensor, indices.tensor, updates.tensor};
  expectTwins(Kernel::ScatterNd, inputs, output.tensor, {1}, {});
}

TEST(FastMovement, ScattersManyShortRows) {
  expectScatteredRows(30000, 5000, 20);
}
TEST(FastMovement, ScattersFewLongRows) { expectScatteredRows(5, 3, 50001); }

TEST(FastMovement, ScattersAlongAnAxis) {
  std::mt19937 random(37);
  constexpr ElementType kSome[] = {ElementType::F32,  ElementType::F16,
                                   ElementType::BF16, ElementType::SI64,
                                   ElementType::SI32, ElementType::SI16,
                                   ElementType::UI8,  ElementType::Bool};
  for (int round = 0; round != 80; ++round) {
    ElementType type = kSome[round % std::size(kSome)];
    std::vector<int64_t> shape = anyShape(random, 1);
    auto axis = int64_t(random() % shape.size());
    std::vector<int64_t> places = shape;
    places[axis] = 1 + int64_t(random() % 90);
    // Shorter along another axis.
    auto other = random() % shape.size();
    if (int64_t(other) != axis && round % 3 == 0)
      places[other] = 1 + places[other] / 2;
    RandomView input(type, shape, random, true);
    RandomView indices(ElementType::SI32, places, random, round % 2);
    RandomView updates(type, places, random, true);
    RandomView output(type, shape, random, false);
    for (RandomView *view : {&input, &updates})
      fillRandom(view->memory, random, false);
    fillIndices(indices.memory, shape[axis], random);
    Tensor inputs[] = {input.tensor, indices.tensor, updates.tensor};
    // Integers are not divided by what may be zero.
    int64_t mode = int64_t(random() % 7);
    if (ScatterMode(mode) == ScatterMode::Div && !isFloat(type))
      mode = int64_t(ScatterMode::Add);
    expectTwins(Kernel::ScatterAlongAxis, inputs, output.tensor, {axis, mode},
                {});
    if (HasFatalFailure())
      return;
  }
}

// Whole rows, as index_add has them: all have one index.
TEST(FastMovement, ScattersRowsAlongAnAxis) {
  std::mt19937 random(39);
  for (ElementType type : {ElementType::F32, ElementType::F16,
                           ElementType::SI32, ElementType::SI64})
    for (ScatterMode mode :
         {ScatterMode::Update, ScatterMode::Add, ScatterMode::Max})
      for (int64_t axis : {0, 1}) {
        std::vector<int64_t> shape = {3, 7, 300};
        std::vector<int64_t> places = shape;
        places[size_t(axis)] = 40;
        RandomView input(type, shape, random, false);
        AnyTensor numbers(ElementType::SI64, std::vector<int64_t>{40});
        AnyTensor updates(type, places);
        AnyTensor output(type, shape);
        fillRandom(input.memory, random, false);
        fillRandom(updates, random, false);
        fillIndices(numbers, shape[size_t(axis)], random);
        std::vector<int64_t> steps(3);
        steps[size_t(axis)] = 1;
        Tensor indices = numbers.tensor.view(places, steps);
        Tensor inputs[] = {input.tensor, indices, updates.tensor};
        expectTwins(Kernel::ScatterAlongAxis, inputs, output.tensor,
                    {axis, int64_t(mode)}, {});
      }
}

TEST(FastMovement, IndicesOutsideAreErrors) {
  Owned<float> table({3, 2}, {1, 2, 3, 4, 5, 6});
  Owned<int32_t> indices({2, 1}, {0, 3});
  Owned<float> out({2, 2});
  std::vector<Tensor> inputs = {table.tensor, indices.tensor};
  for (Isa isa : testedIsas()) {
    EXPECT_MENTIONS(
        runWith(isa, Kernel::GatherNd, {inputs, {&out.tensor, 1}, {}}),
        "index 3 is out of range for an axis of 3");
    Owned<float> few({2, 1});
    int64_t axis = 0;
    EXPECT_MENTIONS(runWith(isa, Kernel::GatherAlongAxis,
                            {inputs, {&few.tensor, 1}, {&axis, 1}}),
                    "index 3 is out of range for an axis of 3");
    // Nothing has been written then, not even in place.
    Owned<float> updates({2, 2}, {7, 7, 7, 7});
    std::vector<Tensor> scattered = {table.tensor, indices.tensor,
                                     updates.tensor};
    int64_t isReplaced = 1;
    EXPECT_MENTIONS(runWith(isa, Kernel::ScatterNd,
                            {scattered, {&table.tensor, 1}, {&isReplaced, 1}}),
                    "ScatterNd: index 3 is out of range for an axis of 3");
    Owned<float> some({2, 1}, {7, 7});
    scattered[2] = some.tensor;
    int64_t numbers[] = {0, int64_t(ScatterMode::Add)};
    EXPECT_MENTIONS(runWith(isa, Kernel::ScatterAlongAxis,
                            {scattered, {&table.tensor, 1}, numbers}),
                    "ScatterAlongAxis: index 3 is out of range");
    for (int64_t mode : {-1, 7, 1 << 30}) {
      numbers[1] = mode;
      EXPECT_MENTIONS(runWith(isa, Kernel::ScatterAlongAxis,
                              {scattered, {&table.tensor, 1}, numbers}),
                      "ScatterAlongAxis: there is no mode " +
                          std::to_string(mode));
    }
    EXPECT_NUMBERS(table.numbers(), 1, 2, 3, 4, 5, 6);
  }
}
} // namespace
