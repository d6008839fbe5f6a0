// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConvolutionCases.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F16,
                                  ElementType::BF16};

struct Form {
  int64_t batches, channels, outputs;
  std::vector<int64_t> space, kernel, strides, dilations, before, after;
  int64_t groups = 1;
};

/// One with the same in all of `rank` axes.
Form even(int rank, int64_t channels, int64_t outputs, int64_t extent,
          int64_t kernel, int64_t stride = 1, int64_t dilation = 1,
          int64_t padding = 0, int64_t groups = 1) {
  auto all = [&](int64_t value) {
    return std::vector<int64_t>(size_t(rank), value);
  };
  return {2,           channels,      outputs,      all(extent),  all(kernel),
          all(stride), all(dilation), all(padding), all(padding), groups};
}

std::string describe(const Form &form) {
  return testing::PrintToString(std::vector<int64_t>{
             form.batches, form.channels, form.outputs, form.groups}) +
         testing::PrintToString(std::vector{form.space, form.kernel,
                                            form.strides, form.dilations,
                                            form.before});
}

std::vector<int64_t> outputShape(const Form &form, bool isTransposed = false) {
  std::vector<int64_t> shape = {form.batches, form.outputs};
  for (size_t i = 0; i != form.space.size(); ++i) {
    int64_t window = (form.kernel[i] - 1) * form.dilations[i] + 1;
    int64_t padding = form.before[i] + form.after[i];
    shape.push_back(
        isTransposed
            ? (form.space[i] - 1) * form.strides[i] + window - padding
            : (form.space[i] + padding - window) / form.strides[i] + 1);
  }
  return shape;
}

std::vector<int64_t> numbersOf(const Form &form, bool hasKernel,
                               bool hasGroups) {
  std::vector<int64_t> numbers;
  auto append = [&](const std::vector<int64_t> &list) {
    numbers.insert(numbers.end(), list.begin(), list.end());
  };
  if (hasKernel)
    append(form.kernel);
  append(form.strides);
  append(form.dilations);
  append(form.before);
  if (hasGroups)
    numbers.push_back(form.groups);
  return numbers;
}

int64_t tapsOf(const Form &form) {
  int64_t taps = 1;
  for (int64_t extent : form.kernel)
    taps *= extent;
  return taps;
}

std::vector<int64_t> with(std::vector<int64_t> first,
                          const std::vector<int64_t> &rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

struct Operands {
  ElementType x = ElementType::F32;
  ElementType weights = ElementType::F32;
  ElementType output = ElementType::F32;
  bool isInputLast = true;
  bool isOutputLast = true;
  bool hasProgram = false;
};

std::string describe(const Operands &operands) {
  return std::string(spelling(operands.x)) + " " +
         std::string(spelling(operands.weights)) + " " +
         std::string(spelling(operands.output)) +
         (operands.isInputLast ? " last" : " first") +
         (operands.isOutputLast ? " last" : " first") +
         (operands.hasProgram ? " program" : "");
}

/// Runs a case as it is, or with programs after it.
void compare(VariantCase test, const Operands &operands,
             const std::string &name) {
  test.type = operands.output;
  compareWithPrograms(test, operands.isOutputLast, operands.hasProgram, name);
}

void comparePacked(const Form &form, const Operands &operands) {
  Factors x(operands.x, with({form.batches, form.channels}, form.space));
  Factors weights(
      operands.weights,
      with({form.outputs, form.channels / form.groups}, form.kernel));
  Factors packed = packWeights(weights, form.groups, operands.weights);
  VariantCase test{Kernel::ConvolutionPacked,
                   {operands.isInputLast ? lastChannels(x.tensor) : x.tensor,
                    packed.tensor}};
  test.numbers = numbersOf(form, true, true);
  test.shape = outputShape(form);
  test.terms = tapsOf(form) * form.channels / form.groups;
  compare(test, operands, describe(form) + describe(operands));
}

/// Both sides rounded, in pairs of channels.
void comparePairs(const Form &form, const Operands &operands) {
  Factors x(operands.x, with({form.batches, form.channels}, form.space));
  int64_t channels = form.channels / form.groups;
  int64_t outputs = form.outputs / form.groups;
  Factors matrices(operands.weights,
                   {form.groups, tapsOf(form), channels, outputs});
  Factors packed(ElementType::BF16,
                 {form.groups, panelCount(outputs),
                  tapsOf(form) * pairCount(channels), kPairRow});
  ASSERT_EQ(run(Kernel::PackPairs, {matrices.tensor}, packed.tensor), "");
  VariantCase test{Kernel::ConvolutionPairs,
                   {operands.isInputLast ? lastChannels(x.tensor) : x.tensor,
                    packed.tensor}};
  test.numbers = numbersOf(form, true, true);
  test.shape = outputShape(form);
  test.terms = tapsOf(form) * channels;
  compare(test, operands, "pairs " + describe(form) + describe(operands));
}

void comparePlain(const Form &form, const Operands &operands,
                  bool isTransposed = false) {
  Factors x(operands.x, with({form.batches, form.channels}, form.space));
  std::vector<int64_t> shape = {form.outputs, form.channels / form.groups};
  if (isTransposed)
    shape = {form.channels, form.outputs / form.groups};
  Factors weights(operands.x, with(shape, form.kernel));
  VariantCase test{isTransposed ? Kernel::ConvolutionTransposed
                                : Kernel::Convolution,
                   {operands.isInputLast ? lastChannels(x.tensor) : x.tensor,
                    weights.tensor}};
  test.numbers = numbersOf(form, false, true);
  test.shape = outputShape(form, isTransposed);
  test.terms = tapsOf(form) * form.channels / form.groups;
  Operands same = operands;
  same.output = operands.x;
  compare(test, same, describe(form) + describe(operands));
}

void compareTransposedPacked(const Form &form, const Operands &operands) {
  Factors x(operands.x, with({form.batches, form.channels}, form.space));
  Factors weights(
      operands.weights,
      with({form.channels, form.outputs / form.groups}, form.kernel));
  Factors packed = packWeights(weights, form.groups, operands.weights,
                               /*isTransposed=*/true);
  VariantCase test{Kernel::ConvolutionTransposedPacked,
                   {operands.isInputLast ? lastChannels(x.tensor) : x.tensor,
                    packed.tensor}};
  test.numbers = numbersOf(form, true, true);
  test.shape = outputShape(form, /*isTransposed=*/true);
  test.terms = tapsOf(form) * form.channels / form.groups;
  compare(test, operands, describe(form) + describe(operands));
}

const Form kForms[] = {
    even(2, 7, 33, 5, 1),
    even(2, 33, 7, 9, 3, 1, 1, 1),
    even(2, 17, 65, 8, 3, 2, 1, 1),
    even(2, 16, 31, 9, 3, 1, 2, 2),
    even(2, 3, 40, 13, 7, 2, 1, 3),
    even(2, 20, 24, 7, 2, 2, 1, 0),
    even(2, 8, 12, 6, 3, 1, 1, 1, 4),
    even(2, 64, 64, 5, 3, 1, 1, 1, 2),
    even(1, 5, 35, 20, 5, 2, 3, 4),
    even(1, 40, 3, 33, 3),
    even(3, 4, 18, 4, 3, 1, 1, 1),
    even(3, 18, 4, 5, 2, 2, 1, 1),
    // Larger than the input, and with more on one side.
    {1, 18, 5, {2, 3}, {5, 4}, {1, 2}, {1, 1}, {3, 2}, {2, 4}, 1},
    {1, 3, 9, {2, 3}, {5, 4}, {1, 2}, {1, 1}, {3, 2}, {2, 4}, 1},
    // Padding that takes away.
    {1, 18, 5, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {-2, 1}, {1, -1}, 1},
    {1, 3, 5, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {-2, 1}, {1, -1}, 1},
    // Many pieces of k and blocks of rows.
    {1, 150, 70, {12, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {1, 600, 70, {7, 19}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
};

TEST(ConvolutionVariants, Packed) {
  for (const Form &form : kForms)
    for (bool isInputLast : {true, false})
      for (bool isOutputLast : {true, false})
        for (bool hasProgram : {false, true})
          comparePacked(form, {.isInputLast = isInputLast,
                               .isOutputLast = isOutputLast,
                               .hasProgram = hasProgram});
}

TEST(ConvolutionVariants, Pairs) {
  for (const Form &form : kForms)
    for (bool isInputLast : {true, false})
      for (bool hasProgram : {false, true})
        comparePairs(form, {.isInputLast = isInputLast,
                            .isOutputLast = isInputLast,
                            .hasProgram = hasProgram});
  // Of bf16 they are read where they are, if there is no odd one.
  for (ElementType x : kTypes)
    for (ElementType output : kTypes)
      for (int64_t channels : {9, 20})
        for (bool isLast : {false, true})
          comparePairs(even(2, channels, 20, 6, 3, 1, 1, 1),
                       {.x = x,
                        .weights = x,
                        .output = output,
                        .isInputLast = isLast,
                        .isOutputLast = isLast,
                        .hasProgram = isLast});
}

// Pairs that would be of two groups are left to the portable kernel.
TEST(ConvolutionVariants, PairsOfOddGroups) {
  Factors x(ElementType::F32, {1, 6, 4, 4});
  Factors packed(ElementType::BF16, {2, 1, 2, kPairRow});
  Factors result(ElementType::F32, {1, 4, 4, 4});
  std::vector<Tensor> inputs = {x.tensor, packed.tensor};
  std::vector<int64_t> numbers = {1, 1, 1, 1, 1, 1, 0, 0, 2};
  Invocation odd{inputs, {&result.tensor, 1}, numbers};
  EXPECT_EQ(selectVariant(Kernel::ConvolutionPairs, detectedIsa(), odd),
            nullptr);
}

TEST(ConvolutionVariants, PackedOfTypes) {
  for (ElementType x : kTypes)
    for (ElementType weights : kTypes)
      for (ElementType output : kTypes)
        for (bool isLast : {false, true})
          comparePacked(even(2, 9, 20, 6, 3, 1, 1, 1), {.x = x,
                                                        .weights = weights,
                                                        .output = output,
                                                        .isInputLast = isLast,
                                                        .isOutputLast = isLast,
                                                        .hasProgram = isLast});
}

TEST(ConvolutionVariants, Plain) {
  for (const Form &form : kForms)
    for (bool isLast : {true, false})
      comparePlain(form, {.isInputLast = isLast, .isOutputLast = isLast});
  for (ElementType type : kTypes)
    comparePlain(even(2, 9, 20, 6, 3, 1, 1, 1),
                 {.x = type, .isInputLast = false, .isOutputLast = false});
}

const Form kTransposedForms[] = {
    even(2, 7, 33, 5, 1),
    even(2, 33, 7, 5, 3, 2, 1, 1),
    even(2, 12, 18, 4, 2, 2),
    even(2, 12, 18, 4, 4, 2, 1, 1, 3),
    even(1, 700, 5, 9, 3, 3, 2, 1),
    // A stride that is larger than the window leaves places without any.
    even(2, 5, 6, 3, 2, 3),
    even(3, 4, 5, 3, 3, 2, 1, 1),
    {1, 6, 40, {5, 4}, {3, 5}, {2, 1}, {1, 2}, {0, 2}, {1, 0}, 2},
};

// What comes after it sees the places that a part of the taps serves, too.
TEST(ConvolutionVariants, TransposedPacked) {
  for (const Form &form : kTransposedForms)
    for (bool isInputLast : {true, false})
      for (bool isOutputLast : {true, false})
        for (bool hasProgram : {false, true})
          compareTransposedPacked(form, {.isInputLast = isInputLast,
                                         .isOutputLast = isOutputLast,
                                         .hasProgram = hasProgram});
  for (ElementType x : kTypes)
    for (ElementType weights : kTypes)
      for (ElementType output : kTypes)
        compareTransposedPacked(
            kTransposedForms[1],
            {.x = x, .weights = weights, .output = output, .hasProgram = true});
}

TEST(ConvolutionVariants, Transposed) {
  for (const Form &form : kTransposedForms)
    for (bool isLast : {true, false})
      comparePlain(form, {.isInputLast = isLast, .isOutputLast = isLast},
                   /*isTransposed=*/true);
  for (ElementType type : kTypes)
    comparePlain(kTransposedForms[1],
                 {.x = type, .isInputLast = false, .isOutputLast = false},
                 /*isTransposed=*/true);
}

void compareDepthwise(const Form &form, const Operands &operands) {
  Factors x(operands.x, with({form.batches, form.channels}, form.space));
  Factors weights(operands.weights, {tapsOf(form), form.channels});
  VariantCase test{Kernel::ConvolutionDepthwise,
                   {operands.isInputLast ? lastChannels(x.tensor) : x.tensor,
                    weights.tensor}};
  test.numbers = numbersOf(form, true, false);
  test.shape = outputShape(form);
  test.terms = tapsOf(form);
  compare(test, operands, describe(form) + describe(operands));
}

TEST(ConvolutionVariants, Depthwise) {
  for (int64_t channels : {1, 7, 31, 33, 65})
    for (const Form &form : {even(2, channels, channels, 9, 3, 1, 1, 1),
                             even(2, channels, channels, 10, 3, 2, 1, 1),
                             even(2, channels, channels, 9, 5, 1, 2, 4),
                             even(1, channels, channels, 20, 4, 1, 1, 3),
                             even(1, channels, channels, 21, 5, 2, 1, 1),
                             even(2, channels, channels, 12, 7, 1, 1, 3),
                             even(2, channels, channels, 23, 3, 2, 1, 0),
                             even(2, channels, channels, 2, 3, 1, 1, 1),
                             even(3, channels, channels, 4, 2)})
      for (bool isLast : {true, false})
        for (bool hasProgram : {false, true}) {
          Operands operands{.isInputLast = isLast,
                            .isOutputLast = isLast,
                            .hasProgram = hasProgram};
          compareDepthwise(form, operands);
          Form grouped = form;
          grouped.groups = channels;
          if (!hasProgram)
            comparePlain(grouped, operands);
        }
  for (ElementType x : kTypes)
    for (ElementType weights : kTypes)
      for (ElementType output : kTypes)
        compareDepthwise(even(2, 20, 20, 6, 3, 1, 1, 1),
                         {.x = x, .weights = weights, .output = output});
}

// Nothing in, or nothing out.
TEST(ConvolutionVariants, OfNothing) {
  Form form = even(2, 8, 8, 4, 3, 1, 1, 1);
  form.batches = 0;
  comparePacked(form, {});
  comparePairs(form, {});
  comparePlain(form, {});
  comparePlain(form, {}, true);
  form = even(2, 0, 8, 4, 3, 1, 1, 1);
  comparePacked(form, {});
  comparePairs(form, {});
  comparePlain(form, {});
}

} // namespace
