// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with the matrix that an index says.

#include "Variants.h"

#include "corten/Runtime/Codes.h"
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

struct CompressedCase {
  CodeKind kind;
  int bits;
  std::vector<int64_t> places;
  int64_t rows, depth, columns, matrices;
  int64_t blocks = 1;
  ElementType left = ElementType::F32;
  bool hasZeros = false;
  /// Of all columns of all matrices.
  int64_t columnTables = 1;
  bool hasProgram = false;

  std::string name() const {
    std::string text = "kind " + std::to_string(int64_t(kind));
    for (int64_t number : {int64_t(bits), int64_t(places.size()), rows, depth,
                           columns, matrices, blocks, columnTables})
      text += " " + std::to_string(number);
    return text + " " + std::string(spelling(left));
  }
};

/// Codes of all matrices side by side, as MatMulCompressed takes those of one.
void compare(const CompressedCase &test) {
  static std::mt19937 random(5);
  int64_t columns = test.columns * test.matrices;
  int64_t panels = panelCount(columns);
  Owned<uint8_t> matrix({test.depth, columns});
  for (int64_t i = 0; i != matrix.tensor.size(); ++i)
    matrix.elements[size_t(i)] = uint8_t(random() % 0x78);
  int64_t bytes = codeBytes(test.depth / test.blocks, test.bits);
  Owned<uint8_t> codes({panels, test.blocks, bytes});
  ASSERT_EQ(run(Kernel::PackCodes, {matrix.tensor}, codes.tensor, {test.bits}),
            "");
  std::vector<int64_t> parameters{panels, test.blocks, kPanelWidth};
  Factors scales(ElementType::F16, parameters),
      zeros(ElementType::F16, parameters);
  Factors table(ElementType::F32,
                {1, test.columnTables, int64_t(1) << test.bits});
  std::vector<int64_t> shape = test.places;
  Owned<int32_t> indices(shape);
  fillIndices(indices, test.matrices);
  shape.insert(shape.end(), {test.rows, test.depth});
  Factors left(test.left, shape);
  shape.back() = test.columns;
  VariantCase variant{Kernel::MatMulRoutedCompressed,
                      {left.tensor, codes.tensor, scales.tensor,
                       test.hasZeros ? zeros.tensor : Tensor(), Tensor(),
                       test.kind == CodeKind::Table ? table.tensor : Tensor(),
                       indices.tensor}};
  variant.numbers = {int64_t(test.kind), test.bits};
  variant.shape = shape;
  variant.terms = test.depth;
  variant.magnitude = test.kind == CodeKind::Table ? 2 : 449;
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

constexpr std::pair<CodeKind, int> kForms[] = {
    {CodeKind::Signed, 4}, {CodeKind::Unsigned, 8}, {CodeKind::Table, 4},
    {CodeKind::Table, 6},  {CodeKind::Signed, 2},   {CodeKind::F8E4M3FN, 8}};

// A few rows of each matrix, and many.
TEST(RoutedProduct, Compressed) {
  for (auto [kind, bits] : kForms)
    for (const std::vector<int64_t> &places :
         {std::vector<int64_t>{}, {1}, {3, 2}, {0}, {70, 2}})
      for (int64_t rows : {0, 1, 3})
        for (int64_t matrices : {1, 5})
          compare({.kind = kind,
                   .bits = bits,
                   .places = places,
                   .rows = rows,
                   .depth = 72,
                   .columns = rows == 3 ? 32 : 96,
                   .matrices = matrices,
                   .blocks = rows == 1 ? 3 : 1,
                   .left = rows == 3 ? ElementType::F16 : ElementType::F32,
                   .hasZeros = matrices == 5,
                   .hasProgram = rows == 1});
}

// Each matrix has a table, and each half of a panel.
TEST(RoutedProduct, CompressedWithTables) {
  for (int64_t columnTables : {5, 10, 20})
    for (int64_t rows : {1, 20})
      compare({.kind = CodeKind::Table,
               .bits = 4,
               .places = {7},
               .rows = rows,
               .depth = 40,
               .columns = 64,
               .matrices = 5,
               .columnTables = columnTables});
}

TEST(RoutedProduct, CompressedFaults) {
  Owned<float> left({2, 1, 64});
  Owned<uint8_t> codes({6, 2, 512});
  Owned<float> output({2, 1, 64});
  Tensor none;
  auto message = [&](const Tensor &indices, Tensor &to) {
    return run(Kernel::MatMulRoutedCompressed,
               {left.tensor, codes.tensor, none, none, none, none, indices}, to,
               {int64_t(CodeKind::Signed), 4});
  };
  Owned<int32_t> indices({2}, {0, -3});
  EXPECT_EQ(message(indices.tensor, output.tensor), "");
  Owned<int32_t> wrong({2}, {0, 3});
  EXPECT_MENTIONS(message(wrong.tensor, output.tensor), "out of range");
  Owned<int32_t> more({3}, {0, 1, 2});
  EXPECT_MENTIONS(message(more.tensor, output.tensor), "indices differ");
  Owned<float> floats({2});
  EXPECT_NE(message(floats.tensor, output.tensor), "");
  Owned<float> narrow({2, 1, 40});
  EXPECT_MENTIONS(message(indices.tensor, narrow.tensor),
                  "no whole number of panels");
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
