// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with the matrix that an index says.

#include "Variants.h"

#include "corten/Runtime/Panels.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

struct RoutedCase {
  /// Of indices, and how many rows go with each.
  std::vector<int64_t> places;
  int64_t rows, depth, columns, matrices;
  ElementType left = ElementType::F32;
  ElementType right = ElementType::F32;
  bool hasProgram = false;

  std::string name() const {
    std::string text = std::to_string(places.size());
    for (int64_t number : {rows, depth, columns, matrices})
      text += " " + std::to_string(number);
    return text + " " + std::string(spelling(left)) + " " +
           std::string(spelling(right));
  }
};

/// Any matrices, some of them counted from the end.
void fillIndices(Owned<int32_t> &indices, int64_t matrices) {
  static std::mt19937 random(11);
  for (int64_t i = 0; i != indices.tensor.size(); ++i)
    indices.elements[size_t(i)] =
        int32_t(int64_t(random() % size_t(2 * matrices)) - matrices);
}

void compare(const RoutedCase &test) {
  Factors matrices(test.right, {test.matrices, test.depth, test.columns});
  AnyTensor packed(test.right,
                   std::vector<int64_t>{test.matrices, panelCount(test.columns),
                                        test.depth, kPanelWidth});
  ASSERT_EQ(run(Kernel::PackMatrix, {matrices.tensor}, packed.tensor), "");
  std::vector<int64_t> shape = test.places;
  Owned<int32_t> indices(shape);
  fillIndices(indices, test.matrices);
  shape.insert(shape.end(), {test.rows, test.depth});
  Factors left(test.left, shape);
  shape.back() = test.columns;
  VariantCase variant{Kernel::MatMulRouted,
                      {left.tensor, packed.tensor, indices.tensor}};
  variant.shape = shape;
  variant.terms = test.depth;
  Factors bias(ElementType::F32, {test.columns});
  Factors residual(ElementType::F32, shape);
  TileProgram program = biasReluResidual();
  if (test.hasProgram) {
    std::vector<int64_t> steps(shape.size());
    steps.back() = 1;
    variant.inputs.push_back(bias.tensor.view(shape, steps));
    variant.inputs.push_back(residual.tensor);
    variant.program = &program;
  }
  EXPECT_VARIANTS(variant, test.name());
}

TEST(RoutedProduct, AwkwardSizes) {
  for (const std::vector<int64_t> &places :
       {std::vector<int64_t>{}, {1}, {3, 2}, {0}, {70, 2}})
    for (int64_t rows : {0, 1, 3})
      for (int64_t depth : {0, 1, 37})
        for (int64_t columns : {1, 33, 64})
          for (int64_t matrices : {1, 5})
            compare({.places = places,
                     .rows = rows,
                     .depth = depth,
                     .columns = columns,
                     .matrices = matrices,
                     .hasProgram = columns == 33});
}

// Many rows of each matrix, several pieces of k, and matrices without a row.
TEST(RoutedProduct, Large) {
  for (int64_t matrices : {1, 3, 400})
    compare({.places = {100, 2},
             .rows = 1,
             .depth = 1100,
             .columns = 200,
             .matrices = matrices,
             .hasProgram = matrices == 3});
}

TEST(RoutedProduct, Types) {
  for (ElementType left :
       {ElementType::F32, ElementType::F16, ElementType::BF16})
    for (ElementType right :
         {ElementType::F32, ElementType::F16, ElementType::BF16})
      compare({.places = {9},
               .rows = 2,
               .depth = 40,
               .columns = 70,
               .matrices = 3,
               .left = left,
               .right = right});
}

// An index that points nowhere is an error of every variant.
TEST(RoutedProduct, Faults) {
  Owned<float> left({2, 1, 4});
  Owned<float> packed({3, 1, 4, kPanelWidth});
  Owned<float> output({2, 1, 5});
  for (double wrong : {3, -4}) {
    Owned<int32_t> indices({2}, {0, wrong});
    std::vector<Tensor> inputs{left.tensor, packed.tensor, indices.tensor};
    EXPECT_MENTIONS(run(Kernel::MatMulRouted, inputs, output.tensor),
                    "MatMulRouted");
    for (const KernelVariant *variant : kernelVariants()) {
      if (variant->kernel != Kernel::MatMulRouted ||
          variant->isa > detectedIsa())
        continue;
      Invocation call{inputs, {&output.tensor, 1}, {}};
      std::vector<char> scratch(variant->scratch(call) + 64);
      call.scratch = scratch.data();
      EXPECT_TRUE(bool(variant->function(call))) << variant->name;
    }
  }
  Owned<int32_t> indices({2}, {0, 1});
  EXPECT_EQ(run(Kernel::MatMulRouted,
                {left.tensor, packed.tensor, indices.tensor}, output.tensor),
            "");
  EXPECT_MENTIONS(
      run(Kernel::MatMulRouted, {left.tensor, packed.tensor}, output.tensor),
      "needs two matrices and indices");
  Owned<int32_t> more({3}, {0, 1, 2});
  EXPECT_MENTIONS(run(Kernel::MatMulRouted,
                      {left.tensor, packed.tensor, more.tensor}, output.tensor),
                  "do not make");
  Owned<float> floats({2});
  EXPECT_NE(run(Kernel::MatMulRouted,
                {left.tensor, packed.tensor, floats.tensor}, output.tensor),
            "");
}

} // namespace
