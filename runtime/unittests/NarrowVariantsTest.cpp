// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products of factors that are rounded to bf16 or quantized to bytes.

#include "Variants.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F16,
                                  ElementType::BF16};

struct NarrowCase {
  bool isPairs = true;
  int64_t rows, depth, columns;
  ElementType left = ElementType::F32;
  ElementType output = ElementType::F32;
  int64_t batches = 1;
  /// Whether the left side lies the other way round, or has rows apart.
  bool isTransposed = false;
  bool isApart = false;
  bool hasProgram = false;
};

std::string describe(const NarrowCase &test) {
  return (test.isPairs ? "pairs " : "quads ") +
         testing::PrintToString(std::vector<int64_t>{
             test.batches, test.rows, test.depth, test.columns}) +
         " " + std::string(spelling(test.left)) + " " +
         std::string(spelling(test.output)) +
         (test.isTransposed ? " transposed" : "") +
         (test.isApart ? " apart" : "") + (test.hasProgram ? " program" : "");
}

/// A matrix in panels, which the portable kernel made.
Factors packed(const Factors &matrix, bool isPairs) {
  int64_t depth = matrix.tensor.extents[0];
  int64_t columns = matrix.tensor.extents[1];
  int64_t panels = panelCount(columns);
  Factors result =
      isPairs
          ? Factors(ElementType::BF16, {panels, pairCount(depth), kPairRow})
          : Factors(ElementType::UI8, {panels, 1 + quadCount(depth), kQuadRow});
  Tensor whole =
      isPairs ? matrix.tensor.view({{1, depth, columns}}, {{0, columns, 1}})
              : matrix.tensor;
  EXPECT_EQ(run(isPairs ? Kernel::PackPairs : Kernel::PackQuads, {whole},
                result.tensor),
            "");
  return result;
}

void compareNarrow(const NarrowCase &test) {
  int64_t apart = test.isApart ? 6 : 0;
  Factors left(test.left, {test.batches, test.rows, test.depth + apart});
  std::vector<int64_t> shape = {test.batches, test.rows, test.depth};
  Tensor rows = left.tensor.view(
      shape, {{test.rows * (test.depth + apart), test.depth + apart, 1}});
  if (test.isTransposed)
    rows = left.tensor.view(shape, {{test.rows * test.depth, 1, test.rows}});
  Factors panels = packed(Factors(ElementType::F32, {test.depth, test.columns}),
                          test.isPairs);
  VariantCase variant{test.isPairs ? Kernel::MatMulPairs : Kernel::MatMulQuads,
                      {rows, panels.tensor}};
  variant.type = test.output;
  variant.shape = {test.batches, test.rows, test.columns};
  variant.terms = test.depth;
  Factors bias(ElementType::F32, {test.columns});
  Factors residual(ElementType::F32, variant.shape);
  if (!test.hasProgram) {
    EXPECT_VARIANTS(variant, describe(test));
    return;
  }
  variant.inputs.push_back(bias.tensor.view(variant.shape, {{0, 0, 1}}));
  variant.inputs.push_back(residual.tensor);
  expectVariantsWithPrograms(variant, describe(test));
}

TEST(NarrowVariants, ProductsOfAwkwardSizes) {
  for (bool isPairs : {true, false}) {
    for (int64_t rows : {0, 1, 3, 5, 8, 9, 17, 33, 65})
      for (int64_t depth : {0, 1, 2, 7, 31, 33, 64, 131})
        for (int64_t columns : {1, 16, 17, 33, 65})
          compareNarrow({.isPairs = isPairs,
                         .rows = rows,
                         .depth = depth,
                         .columns = columns});
    // Several blocks of rows, panels and k.
    compareNarrow(
        {.isPairs = isPairs, .rows = 300, .depth = 2203, .columns = 130});
    compareNarrow({.isPairs = isPairs,
                   .rows = 300,
                   .depth = 1400,
                   .columns = 600,
                   .hasProgram = true});
    compareNarrow(
        {.isPairs = isPairs, .rows = 1, .depth = 4000, .columns = 3000});
  }
}

TEST(NarrowVariants, ProductsOfTypesAndViews) {
  for (bool isPairs : {true, false})
    for (ElementType left : kTypes)
      for (ElementType output : kTypes)
        for (int64_t depth : {44, 45})
          for (int form : {0, 1, 2})
            compareNarrow({.isPairs = isPairs,
                           .rows = 19,
                           .depth = depth,
                           .columns = 70,
                           .left = left,
                           .output = output,
                           .batches = 3,
                           .isTransposed = form == 1,
                           .isApart = form == 2,
                           .hasProgram = form != 1});
}

// What was packed by a fast kernel is what the portable one makes.
TEST(NarrowVariants, Packing) {
  for (ElementType type : kTypes)
    for (int64_t depth : {0, 1, 7, 65, 130})
      for (int64_t columns : {1, 31, 33, 65})
        for (bool isTransposed : {false, true}) {
          Factors matrices(type, {2, 3, depth, columns});
          std::vector<int64_t> shape = {2, 3, depth, columns};
          int64_t size = depth * columns;
          Tensor view =
              isTransposed
                  ? matrices.tensor.view(shape, {{3 * size, size, 1, depth}})
                  : matrices.tensor;
          std::string name = testing::PrintToString(shape);
          VariantCase pairs{Kernel::PackPairs, {view}};
          pairs.type = ElementType::BF16;
          pairs.shape = {2, panelCount(columns), 3 * pairCount(depth),
                         kPairRow};
          EXPECT_VARIANTS(pairs, "pairs " + name);
          VariantCase quads{Kernel::PackQuads,
                            {view.view({{depth, columns}},
                                       {{view.steps[2], view.steps[3]}})}};
          quads.type = ElementType::UI8;
          quads.shape = {panelCount(columns), 1 + quadCount(depth), kQuadRow};
          quads.magnitude = 0;
          EXPECT_VARIANTS(quads, "quads " + name);
        }
}

/// Rows of which one has a large number, one only zeros, and one no number.
TEST(NarrowVariants, RowsOfOddNumbers) {
  Factors left(ElementType::F32, {5, 40});
  auto *numbers = left.tensor.as<float>();
  numbers[3] = 1e30f;
  std::fill(numbers + 40, numbers + 80, 0.0f);
  numbers[2 * 40 + 7] = NAN;
  numbers[3 * 40 + 9] = INFINITY;
  for (int64_t i = 4 * 40; i != 5 * 40; ++i)
    numbers[i] *= 1e-38f;
  Factors panels = packed(Factors(ElementType::F32, {40, 33}), false);
  std::vector<Tensor> inputs = {left.tensor, panels.tensor};
  for (Isa isa : knownIsas()) {
    if (isa > detectedIsa())
      break;
    Factors result(ElementType::F32, {5, 33});
    Invocation invocation{inputs, {&result.tensor, 1}, {}};
    ASSERT_EQ(runWith(isa, Kernel::MatMulQuads, invocation), "");
    for (int64_t column = 0; column != 33; ++column) {
      EXPECT_TRUE(std::isfinite(result.number(column)));
      EXPECT_EQ(result.number(33 + column), 0);
      EXPECT_TRUE(std::isnan(result.number(2 * 33 + column)));
      EXPECT_TRUE(std::isnan(result.number(3 * 33 + column)));
      EXPECT_EQ(result.number(4 * 33 + column), 0);
    }
  }
}

TEST(NarrowVariants, CloseToWhatIsNotRounded) {
  Factors left(ElementType::F32, {9, 500});
  Factors right(ElementType::F32, {500, 40});
  Factors exact(ElementType::F32, {9, 40});
  ASSERT_EQ(run(Kernel::MatMul, {left.tensor, right.tensor}, exact.tensor), "");
  for (bool isPairs : {true, false}) {
    Factors panels = packed(right, isPairs);
    Factors result(ElementType::F32, {9, 40});
    ASSERT_EQ(run(isPairs ? Kernel::MatMulPairs : Kernel::MatMulQuads,
                  {left.tensor, panels.tensor}, result.tensor),
              "");
    double difference = result.difference(exact);
    EXPECT_GT(difference, 1e-4);
    EXPECT_LT(difference, isPairs ? 0.12 : 0.4);
  }
}

TEST(NarrowVariants, WhatDoesNotFit) {
  Factors left(ElementType::F32, {4, 10});
  Factors pairs(ElementType::BF16, {1, 5, kPairRow});
  Factors quads(ElementType::UI8, {1, 3, kQuadRow});
  Factors result(ElementType::F32, {4, 8});
  EXPECT_MENTIONS(
      run(Kernel::MatMulQuads, {left.tensor, quads.tensor}, result.tensor),
      "do not make");
  EXPECT_MENTIONS(
      run(Kernel::MatMulPairs, {pairs.tensor, left.tensor}, result.tensor),
      "do not make");
  Factors whole(ElementType::SI32, {4, 10});
  EXPECT_MENTIONS(
      run(Kernel::MatMulPairs, {whole.tensor, pairs.tensor}, result.tensor),
      "si32");
  EXPECT_MENTIONS(run(Kernel::PackPairs, {left.tensor}, pairs.tensor),
                  "does not make");
  EXPECT_MENTIONS(run(Kernel::PackQuads, {left.tensor}, pairs.tensor),
                  "does not make");
}

} // namespace
