// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConvolutionCases.h"

#include "corten/Runtime/Panels.h"
#include "corten/Runtime/Winograd.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

struct Form {
  int64_t batches, channels, outputs, height, width;
  std::vector<int64_t> before = {1, 1};
  std::vector<int64_t> after = {1, 1};

  std::vector<int64_t> outputShape() const {
    return {batches, outputs, height + before[0] + after[0] - 2,
            width + before[1] + after[1] - 2};
  }
};

const Form kForms[] = {
    {1, 16, 32, 8, 8},
    {2, 33, 7, 9, 5},
    {1, 5, 65, 7, 13},
    {3, 20, 31, 1, 2},
    {1, 64, 64, 6, 6, {0, 0}, {0, 0}},
    {1, 17, 33, 5, 9, {2, 0}, {0, 3}},
    // Padding that takes away.
    {1, 18, 5, 9, 8, {-2, 1}, {1, -1}},
    // Many pieces of k, and more blocks and lots of squares than one.
    {1, 1030, 3, 17, 19},
    {2, 12, 40, 30, 27},
    // Enough squares for seven threads to have their own, and one too many.
    {1, 9, 33, 53, 37},
};

std::string describe(const Form &form, int64_t square) {
  return testing::PrintToString(
             std::vector<int64_t>{form.batches, form.channels, form.outputs,
                                  form.height, form.width}) +
         testing::PrintToString(form.before) + " by " + std::to_string(square);
}

Factors transformedWeights(const Factors &weights, int64_t square) {
  const Tensor &tensor = weights.tensor;
  Factors packed(ElementType::F32,
                 {winogradPoints(square), panelCount(tensor.extents[0]),
                  tensor.extents[1], kPanelWidth});
  EXPECT_EQ(run(Kernel::PackWinograd, {tensor}, packed.tensor), "");
  return packed;
}

TEST(Winograd, VariantsAgree) {
  for (const Form &form : kForms)
    for (int64_t square : {2, 4}) {
      Factors x(ElementType::F32,
                {form.batches, form.channels, form.height, form.width});
      Factors weights(ElementType::F32, {form.outputs, form.channels, 3, 3});
      Factors packed = transformedWeights(weights, square);
      for (bool isLast : {true, false})
        for (bool hasProgram : {false, true}) {
          VariantCase test{
              Kernel::ConvolutionWinograd,
              {isLast ? lastChannels(x.tensor) : x.tensor, packed.tensor}};
          test.numbers = form.before;
          test.shape = form.outputShape();
          test.terms = form.channels;
          // What is added and subtracted on the way.
          test.magnitude = square == 2 ? 4 : 100;
          compareWithPrograms(test, isLast, hasProgram,
                              describe(form, square) + (isLast ? " last" : ""));
        }
    }
}

TEST(Winograd, IsAConvolution) {
  for (const Form &form : kForms) {
    if (form.channels > 100)
      continue;
    for (int64_t square : {2, 4}) {
      Factors x(ElementType::F32,
                {form.batches, form.channels, form.height, form.width});
      Factors weights(ElementType::F32, {form.outputs, form.channels, 3, 3});
      Factors packed = transformedWeights(weights, square);
      Factors wanted(ElementType::F32, form.outputShape());
      Factors got(ElementType::F32, form.outputShape());
      EXPECT_EQ(run(Kernel::Convolution, {x.tensor, weights.tensor},
                    wanted.tensor,
                    {1, 1, 1, 1, form.before[0], form.before[1], 1}),
                "");
      EXPECT_EQ(run(Kernel::ConvolutionWinograd, {x.tensor, packed.tensor},
                    got.tensor, form.before),
                "");
      EXPECT_LT(got.difference(wanted), square == 2 ? 1e-5 : 5e-5)
          << describe(form, square);
    }
  }
}

TEST(Winograd, PackedAlike) {
  for (int64_t square : {2, 4})
    for (int64_t outputs : {1, 32, 47}) {
      Factors weights(ElementType::F32, {outputs, 19, 3, 3});
      // Any strides will do.
      for (const Tensor &view :
           {weights.tensor, lastChannels(weights.tensor)}) {
        VariantCase test{Kernel::PackWinograd, {view}};
        test.shape = {winogradPoints(square), panelCount(outputs), 19,
                      kPanelWidth};
        EXPECT_VARIANTS(test, std::to_string(square));
      }
    }
}

TEST(Winograd, RefusesWhatDoesNotFit) {
  Factors x(ElementType::F32, {1, 4, 6, 6});
  Factors packed(ElementType::F32, {16, 1, 4, 32});
  Factors other(ElementType::F32, {25, 1, 4, 32});
  Factors output(ElementType::F32, {1, 8, 6, 6});
  EXPECT_EQ(run(Kernel::ConvolutionWinograd, {x.tensor, packed.tensor},
                output.tensor, {1, 1}),
            "");
  EXPECT_MENTIONS(run(Kernel::ConvolutionWinograd, {x.tensor, packed.tensor},
                      output.tensor, {std::numeric_limits<int64_t>::min(), 1}),
                  "do not make");
  EXPECT_EQ(run(Kernel::ConvolutionWinograd, {x.tensor, other.tensor},
                output.tensor, {1, 1}),
            "ConvolutionWinograd: " + x.tensor.describe() + " and " +
                other.tensor.describe() + " do not make " +
                output.tensor.describe());
  Factors weights(ElementType::F32, {8, 4, 3, 2});
  EXPECT_EQ(run(Kernel::PackWinograd, {weights.tensor}, packed.tensor),
            "PackWinograd: " + weights.tensor.describe() + " does not make " +
                packed.tensor.describe());
}

} // namespace
