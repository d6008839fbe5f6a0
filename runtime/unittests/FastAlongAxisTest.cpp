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
