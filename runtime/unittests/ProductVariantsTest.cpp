// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Variants.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F16,
                                  ElementType::BF16};

std::string sizes(std::initializer_list<int64_t> extents) {
  std::string text;
  for (int64_t extent : extents)
    text += std::to_string(extent) + " ";
  return text;
}

TEST(ProductVariants, PackMatrices) {
  for (ElementType type : kTypes)
    for (int64_t rows : {0, 1, 7, 65})
      for (int64_t columns : {1, 31, 32, 33, 65})
        for (int layout : {0, 1, 2}) {
          Factors matrix(type, {2, rows * 2, columns * 2});
          Tensor view = matrix.tensor.view({{2, rows, columns}},
                                           {{rows * columns * 4, columns, 1}});
          if (layout == 1)
            view = matrix.tensor.view({{2, rows, columns}},
                                      {{rows * columns * 4, 1, rows}});
          if (layout == 2)
            view =
                matrix.tensor.view({{2, rows, columns}}, {{1, columns * 4, 2}});
          for (ElementType target : {type, ElementType::F32}) {
            VariantCase test{Kernel::PackMatrix, {view}};
            test.type = target;
            test.shape = {2, panelCount(columns), rows, kPanelWidth};
            test.magnitude = 0;
            EXPECT_VARIANTS(test, sizes({rows, columns, layout}));
          }
        }
}

struct PackedCase {
  int64_t rows, depth, columns;
  ElementType left = ElementType::F32;
  ElementType right = ElementType::F32;
  ElementType output = ElementType::F32;
  /// Batches; with one matrix for all of them, or one for each.
  int64_t batches = 1;
  bool isShared = true;
  /// Whether the left side lies the other way round.
  bool isTransposed = false;
  bool hasProgram = false;
};

void comparePacked(const PackedCase &test) {
  std::string name =
      sizes({test.batches, test.rows, test.depth, test.columns}) +
      std::string(spelling(test.left)) + " " +
      std::string(spelling(test.right)) + " " +
      std::string(spelling(test.output)) + (test.isShared ? " shared" : "") +
      (test.isTransposed ? " transposed" : "") +
      (test.hasProgram ? " program" : "");
  Factors left(test.left, {test.batches, test.rows, test.depth});
  Tensor rows = left.tensor;
  if (test.isTransposed)
    rows = left.tensor.view({{test.batches, test.rows, test.depth}},
                            {{test.rows * test.depth, 1, test.rows}});
  int64_t matrices = test.isShared ? 1 : test.batches;
  Factors matrix(test.right, {matrices, test.depth, test.columns});
  Factors packed(test.right,
                 {matrices, panelCount(test.columns), test.depth, kPanelWidth});
  ASSERT_EQ(run(Kernel::PackMatrix, {matrix.tensor}, packed.tensor), "");
  Tensor panels = packed.tensor;
  if (test.isShared)
    panels = Tensor(test.right, packed.tensor.data,
                    packed.tensor.shape().subspan(1));
  VariantCase variant{Kernel::MatMulPacked, {rows, panels}};
  variant.type = test.output;
  variant.shape = {test.batches, test.rows, test.columns};
  variant.terms = test.depth;
  Factors bias(ElementType::F32, {test.columns});
  Factors residual(ElementType::F32, variant.shape);
  if (!test.hasProgram) {
    EXPECT_VARIANTS(variant, name);
    return;
  }
  variant.inputs.push_back(bias.tensor.view(variant.shape, {{0, 0, 1}}));
  variant.inputs.push_back(residual.tensor);
  expectVariantsWithPrograms(variant, name);
}

TEST(ProductVariants, MatMulPackedOfAwkwardSizes) {
  for (int64_t rows : {0, 1, 2, 3, 5, 7, 8, 9, 31, 33, 65})
    for (int64_t depth : {0, 1, 7, 33, 65})
      for (int64_t columns : {1, 7, 16, 31, 33, 65})
        comparePacked({.rows = rows, .depth = depth, .columns = columns});
  // Several blocks of rows, panels and k.
  comparePacked({.rows = 300, .depth = 1100, .columns = 130});
  comparePacked(
      {.rows = 300, .depth = 700, .columns = 600, .hasProgram = true});
  comparePacked({.rows = 1, .depth = 2000, .columns = 3000});
}

TEST(ProductVariants, MatMulPackedOfTypes) {
  for (ElementType left : kTypes)
    for (ElementType right : kTypes)
      for (ElementType output : kTypes)
        for (int64_t rows : {1, 17})
          for (bool hasProgram : {false, true})
            comparePacked({.rows = rows,
                           .depth = 45,
                           .columns = 70,
                           .left = left,
                           .right = right,
                           .output = output,
                           .hasProgram = hasProgram});
}

TEST(ProductVariants, MatMulPackedInBatches) {
  for (bool isShared : {false, true})
    for (bool isTransposed : {false, true})
      for (bool hasProgram : {false, true})
        comparePacked({.rows = 13,
                       .depth = 40,
                       .columns = 50,
                       .batches = 3,
                       .isShared = isShared,
                       .isTransposed = isTransposed,
                       .hasProgram = hasProgram});
}

// Views whose rows cannot be counted along one axis, an output in another
// order, a number for every element, and results that are no floats.
TEST(ProductVariants, MatMulPackedOfOddViews) {
  Factors left(ElementType::F32, {2, 2, 9, 20});
  Factors matrix(ElementType::F32, {20, 40});
  Factors packed(ElementType::F32, {2, 20, kPanelWidth});
  ASSERT_EQ(run(Kernel::PackMatrix, {matrix.tensor}, packed.tensor), "");
  VariantCase test{
      Kernel::MatMulPacked,
      {left.tensor.view({{2, 9, 2, 20}}, {{360, 20, 180, 1}}), packed.tensor}};
  test.shape = {2, 9, 2, 40};
  test.terms = 20;
  for (std::vector<int> order : {std::vector<int>{0, 1, 2, 3},
                                 {3, 0, 1, 2},
                                 {0, 2, 1, 3},
                                 {0, 3, 2, 1}}) {
    test.order = order;
    EXPECT_VARIANTS(test, "order");
  }
  TileProgram program;
  program.numInputs = 2;
  program.numRegisters = 2;
  program.instructions = {{TileOpcode::Greater, 0, 0, 1}};
  program.results = {0};
  Factors bound(ElementType::F16, {1});
  test.inputs.push_back(bound.tensor.view(test.shape, {{0, 0, 0, 0}}));
  test.program = &program;
  test.type = ElementType::Bool;
  EXPECT_VARIANTS(test, "truth values");
}

// The residual may lie where the output does.
TEST(ProductVariants, MatMulPackedInPlace) {
  Factors left(ElementType::F32, {40, 1300});
  Factors matrix(ElementType::F32, {1300, 70});
  Factors packed(ElementType::F32, {3, 1300, kPanelWidth});
  ASSERT_EQ(run(Kernel::PackMatrix, {matrix.tensor}, packed.tensor), "");
  TileProgram program;
  program.numInputs = 2;
  program.numRegisters = 2;
  program.instructions = {{TileOpcode::Add, 0, 0, 1}};
  program.results = {0};
  Factors residual(ElementType::F32, {40, 70});
  Factors wanted(ElementType::F32, {40, 70});
  std::vector<Tensor> inputs = {left.tensor, packed.tensor, residual.tensor};
  Error error =
      call(Kernel::MatMulPacked, {inputs, {&wanted.tensor, 1}, {}, &program});
  ASSERT_FALSE(bool(error));
  for (const KernelVariant *variant : kernelVariants()) {
    if (variant->kernel != Kernel::MatMulPacked || variant->isa > detectedIsa())
      continue;
    Factors output = residual;
    output.tensor.data = output.bytes.data();
    inputs[2] = output.tensor;
    Invocation invocation{inputs, {&output.tensor, 1}, {}, &program};
    std::vector<char> scratch(variant->scratch(invocation) + 64);
    invocation.scratch = scratch.data();
    error = variant->function(invocation);
    ASSERT_FALSE(bool(error));
    EXPECT_LT(output.difference(wanted), 1e-3);
  }
}

TEST(ProductVariants, MatMulOfAwkwardSizes) {
  for (ElementType type : kTypes)
    for (int64_t rows : {1, 7, 33})
      for (int64_t depth : {0, 1, 31, 65})
        for (int64_t columns : {1, 7, 33, 65})
          for (int layout : {0, 1, 2}) {
            Factors x(type, {3, rows, depth});
            Factors y(type, {3, depth, columns});
            Tensor right = y.tensor;
            // Transposed, or the same for all.
            if (layout == 1)
              right = y.tensor.view({{3, depth, columns}},
                                    {{depth * columns, 1, depth}});
            if (layout == 2)
              right = y.tensor.view({{3, depth, columns}}, {{0, columns, 1}});
            VariantCase test{Kernel::MatMul, {x.tensor, right}};
            test.type = type;
            test.shape = {3, rows, columns};
            test.terms = depth;
            EXPECT_VARIANTS(test, sizes({rows, depth, columns, layout}));
          }
}

TEST(ProductVariants, MatMulOfManyRows) {
  Factors x(ElementType::F32, {2, 300, 70});
  Factors y(ElementType::F32, {2, 70, 90});
  VariantCase test{Kernel::MatMul, {x.tensor, y.tensor}};
  test.shape = {2, 300, 90};
  test.terms = 70;
  EXPECT_VARIANTS(test, "many rows");
  // Columns of y one after the other, as keys of attention are.
  test.inputs[1] = y.tensor.view({{2, 70, 90}}, {{6300, 1, 70}});
  EXPECT_VARIANTS(test, "transposed");
}

} // namespace
