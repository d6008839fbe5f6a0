// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Twins.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kTypes[] = {
    ElementType::F32,  ElementType::F16,  ElementType::BF16,
    ElementType::SI32, ElementType::SI8,  ElementType::SI16,
    ElementType::UI8,  ElementType::UI16, ElementType::Bool};

std::vector<int64_t> anyShape(std::mt19937 &random) {
  std::vector<int64_t> shape;
  for (size_t axes = random() % 4; shape.size() < axes;)
    shape.push_back(int64_t(1 + random() % (random() % 4 == 0 ? 50 : 7)));
  return shape;
}

bool isComparison(Kernel kernel) {
  return kernel == Kernel::Equal || kernel == Kernel::NotEqual ||
         kernel == Kernel::Greater;
}

/// Kernels of a number of inputs of one type, all types that they know.
void testElementwise(Kernel kernel, int numInputs) {
  std::mt19937 random(unsigned(kernel) + 1);
  int taken = 0;
  for (int round = 0; round != 60; ++round) {
    ElementType type = kTypes[random() % std::size(kTypes)];
    std::vector<int64_t> shape = anyShape(random);
    std::vector<RandomView> views;
    std::vector<Tensor> inputs;
    views.reserve(3);
    for (int i = 0; i != numInputs; ++i) {
      views.emplace_back(type, shape, random, true);
      fillRandom(views.back().memory, random);
      inputs.push_back(views.back().tensor);
    }
    RandomView output(isComparison(kernel) ? ElementType::Bool : type, shape,
                      random, false);
    // What the kernel does not know, variants do not take either.
    Invocation call{inputs, {&output.tensor, 1}, {}};
    bool isKnown = !corten::runtime::call(kernel, call);
    bool isTaken = selectVariant(kernel, knownIsas().back(), call) != nullptr;
    if (!isKnown) {
      bool divides = type != ElementType::Bool && numInputs == 2;
      EXPECT_TRUE(!isTaken || divides)
          << info(kernel).name << " of " << inputs[0].describe();
      continue;
    }
    // Far from 0 the portable formula of gelu has no digits left.
    Tolerance tolerance = toleranceOf(output.tensor.type);
    if (kernel == Kernel::Gelu || kernel == Kernel::GeluTanh)
      tolerance.absolute = 1e-6;
    taken += isTaken;
    expectTwins(kernel, inputs, output.tensor, {}, tolerance, false);
  }
  EXPECT_GT(taken, 0) << info(kernel).name;
}

TEST(FastElementwise, OfOne) {
  for (Kernel kernel = Kernel::Abs; kernel <= Kernel::Tanh;
       kernel = Kernel(int(kernel) + 1))
    testElementwise(kernel, 1);
}

TEST(FastElementwise, OfTwo) {
  for (Kernel kernel = Kernel::Add; kernel <= Kernel::Sub;
       kernel = Kernel(int(kernel) + 1))
    testElementwise(kernel, 2);
}

TEST(FastElementwise, Choices) {
  std::mt19937 random(7);
  for (int round = 0; round != 40; ++round) {
    ElementType type = kTypes[random() % std::size(kTypes)];
    std::vector<int64_t> shape = anyShape(random);
    RandomView condition(ElementType::Bool, shape, random, true);
    RandomView a(type, shape, random, true);
    RandomView b(type, shape, random, true);
    RandomView output(type, shape, random, false);
    fillRandom(condition.memory, random);
    fillRandom(a.memory, random);
    fillRandom(b.memory, random);
    Tensor inputs[] = {condition.tensor, a.tensor, b.tensor};
    expectTwins(Kernel::Where, inputs, output.tensor, {}, {});
  }
}

TEST(FastElementwise, CastsOfAllPairs) {
  std::mt19937 random(8);
  for (ElementType from : kTypes)
    for (ElementType to : kTypes) {
      std::vector<int64_t> shape = {5, 67};
      RandomView input(from, shape, random, true);
      RandomView output(to, shape, random, false);
      fillRandom(input.memory, random);
      expectTwins(Kernel::Cast, {&input.tensor, 1}, output.tensor, {}, {});
    }
}

TEST(FastElementwise, Quantization) {
  std::mt19937 random(9);
  for (ElementType type :
       {ElementType::SI8, ElementType::UI8, ElementType::SI4, ElementType::UI4,
        ElementType::SI2, ElementType::UI6})
    for (ElementType real : {ElementType::F32, ElementType::F16}) {
      std::vector<int64_t> shape = {3, 70};
      RandomView x(real, shape, random, false);
      RandomView scale(real, shape, random, true);
      RandomView zero(type, shape, random, true);
      RandomView offset(real, shape, random, true);
      RandomView codes(type, shape, random, false);
      RandomView back(real, shape, random, false);
      fillRandom(x.memory, random);
      fillRandom(scale.memory, random, false);
      fillRandom(zero.memory, random);
      fillRandom(offset.memory, random, false);
      Tensor inputs[] = {x.tensor, scale.tensor, zero.tensor, offset.tensor};
      expectTwins(Kernel::Quantize, inputs, codes.tensor, {}, {});
      inputs[0] = codes.tensor;
      expectTwins(Kernel::Dequantize, inputs, back.tensor, {}, {});
    }
}
} // namespace
