// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kFloats[] = {ElementType::F32, ElementType::F16,
                                   ElementType::BF16};

/// Strides of channels that are neighbours.
std::vector<int64_t> channelsLast(const std::vector<int64_t> &shape) {
  std::vector<int64_t> steps(shape.size(), 1);
  int64_t next = shape[1];
  for (size_t axis = shape.size() - 1; axis > 1; --axis) {
    steps[axis] = next;
    next *= shape[axis];
  }
  steps[0] = next;
  return steps;
}

Tensor imageOf(AnyTensor &memory, const std::vector<int64_t> &shape,
               bool isLast) {
  return isLast ? memory.tensor.view(shape, channelsLast(shape))
                : memory.tensor;
}

TEST(FastImages, Pools) {
  std::mt19937 random(51);
  for (int round = 0; round != 90; ++round) {
    ElementType type = kFloats[round % 3];
    int rank = 1 + int(random() % 3);
    std::vector<int64_t> shape = {int64_t(1 + random() % 2),
                                  int64_t(1 + random() % 40)};
    std::vector<int64_t> pooled = shape;
    std::vector<int64_t> numbers(4 * size_t(rank));
    for (int i = 0; i != rank; ++i) {
      int64_t extent =
          int64_t(random() % 4 == 0 && rank == 1 ? 600 : 4 + random() % 16);
      int64_t window = 1 + int64_t(random() % 3);
      int64_t stride = 1 + int64_t(random() % 3);
      int64_t dilation = 1 + int64_t(random() % 2);
      int64_t before = int64_t(random() % 3);
      shape.push_back(extent);
      pooled.push_back(
          (extent + 2 * before - dilation * (window - 1) - 1) / stride + 1);
      numbers[size_t(i)] = window;
      numbers[size_t(rank + i)] = stride;
      numbers[size_t(2 * rank + i)] = dilation;
      numbers[size_t(3 * rank + i)] = before;
    }
    AnyTensor x(type, shape);
    AnyTensor y(type, pooled);
    fillRandom(x, random, round % 4 == 0);
    Tensor input = imageOf(x, shape, round % 2);
    Tensor output = imageOf(y, pooled, round % 2);
    expectTwins(Kernel::MaxPool, {&input, 1}, output, numbers, {});
    Tolerance tolerance = toleranceOf(type);
    tolerance.absolute = 3e-5;
    // Of either infinity, or of numbers whose sum is too large for a float.
    if (round % 4 != 0)
      expectTwins(Kernel::SumPool, {&input, 1}, output, numbers, tolerance);
    if (HasFatalFailure())
      return;
  }
}

TEST(FastImages, Interpolation) {
  std::mt19937 random(52);
  for (int round = 0; round != 80; ++round) {
    ElementType type = kFloats[round % 3];
    std::vector<int64_t> shape = {int64_t(1 + random() % 2),
                                  int64_t(1 + random() % 40)};
    std::vector<int64_t> resized = shape;
    Owned<float> scale({4}, {1, 1, 1, 1});
    Owned<float> offset({4}, {0, 0, 0, 0});
    for (int i = 0; i != 2; ++i) {
      shape.push_back(int64_t(1 + random() % 20));
      resized.push_back(int64_t(1 + random() % 40));
      scale.elements[i + 2] = float(resized.back()) / float(shape.back());
      offset.elements[i + 2] = round % 4 == 0 ? 0.25f : 0.0f;
    }
    AnyTensor x(type, shape);
    AnyTensor y(type, resized);
    fillRandom(x, random, false);
    std::vector<Tensor> inputs = {imageOf(x, shape, round % 2), scale.tensor,
                                  offset.tensor};
    Tensor output = imageOf(y, resized, round % 2);
    Tolerance tolerance = toleranceOf(type);
    tolerance.absolute = 1e-5;
    expectTwins(Kernel::Interpolate, inputs, output, {round % 5 == 0},
                tolerance);
    if (HasFatalFailure())
      return;
  }
}

TEST(FastImages, PackedElements) {
  std::mt19937 random(53);
  for (ElementType type :
       {ElementType::SI2, ElementType::SI4, ElementType::UI1, ElementType::UI2,
        ElementType::UI3, ElementType::UI4, ElementType::UI6})
    for (int64_t count : {1, 7, 8, 9, 1000, 70001}) {
      int64_t bytes[] = {(count * int64_t(packedBits(type)) + 7) / 8};
      int64_t shape[] = {count};
      AnyTensor packed(ElementType::UI8, bytes);
      AnyTensor output(type, shape);
      for (int64_t i = 0; i != bytes[0]; ++i)
        packed.tensor.as<uint8_t>()[i] = uint8_t(random());
      expectTwins(Kernel::Unpack, {&packed.tensor, 1}, output.tensor, {}, {});
    }
}

TEST(FastImages, Palettes) {
  std::mt19937 random(54);
  for (int round = 0; round != 40; ++round) {
    std::vector<int64_t> shape;
    std::vector<int64_t> tables;
    for (size_t axes = 1 + random() % 3; shape.size() < axes;) {
      tables.push_back(int64_t(1 + random() % 3));
      shape.push_back(tables.back() * int64_t(1 + random() % 9));
    }
    auto axis = int64_t(random() % shape.size());
    int64_t width = 1 + int64_t(random() % 3);
    tables.push_back(16);
    tables.push_back(width);
    std::vector<int64_t> dense = shape;
    dense[size_t(axis)] *= width;
    RandomView codes(ElementType::UI4, shape, random, false);
    AnyTensor table(round % 2 ? ElementType::F16 : ElementType::F32, tables);
    RandomView output(table.tensor.type, dense, random, false);
    fillRandom(table, random);
    for (char &code : codes.memory.bytes)
      code = char(random() % 16);
    Tensor inputs[] = {codes.tensor, table.tensor};
    expectTwins(Kernel::LutToDense, inputs, output.tensor, {axis}, {});
  }
  // An entry that there is not.
  Owned<SmallUInt<4>> codes({2}, {1, 3});
  Owned<float> table({1, 2, 1}, {5, 6});
  Owned<float> out({2});
  std::vector<Tensor> inputs = {codes.tensor, table.tensor};
  int64_t axis = 0;
  for (Isa isa : testedIsas())
    EXPECT_MENTIONS(runWith(isa, Kernel::LutToDense,
                            {inputs, {&out.tensor, 1}, {&axis, 1}}),
                    "index 3 is out of range for an axis of 2");
}
} // namespace
