// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Variants.h"

#include "corten/Runtime/Codes.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

struct CompressedCase {
  CodeKind kind;
  int bits;
  int64_t rows, depth, columns;
  int64_t blocks = 1;
  ElementType left = ElementType::F32;
  ElementType scales = ElementType::F32;
  bool hasScales = true;
  bool hasZeros = false;
  bool hasOffsets = false;
  /// Groups of tables along k and n.
  int64_t depthTables = 1;
  int64_t columnTables = 1;
  bool hasProgram = false;
  int64_t rowBits = 0;

  std::string name() const {
    std::string text = "kind " + std::to_string(int64_t(kind));
    for (int64_t number :
         {int64_t(bits), rows, depth, columns, blocks, depthTables,
          columnTables, int64_t(hasZeros), rowBits})
      text += " " + std::to_string(number);
    return text + " " + std::string(spelling(left));
  }
};

/// Any codes; of floats of 8 bits none that is no number.
AnyTensor randomCodes(const CompressedCase &test) {
  static std::mt19937 random(7);
  AnyTensor codes(ElementType::UI8,
                  std::vector<int64_t>{test.depth, test.columns});
  for (int64_t i = 0; i != codes.tensor.size(); ++i) {
    auto code = uint8_t(random());
    if (test.kind == CodeKind::F8E4M3FN && (code & 0x7f) == 0x7f)
      code = 0;
    if (test.kind == CodeKind::F8E5M2 && (code & 0x7c) == 0x7c)
      code = 0;
    codes.tensor.as<uint8_t>()[i] = code;
  }
  return codes;
}

/// How large values of codes get.
double magnitudeOf(CodeKind kind) {
  return kind == CodeKind::F8E5M2     ? 57344
         : kind == CodeKind::F8E4M3FN ? 448
         : kind == CodeKind::Table    ? 1
                                      : 256;
}

void compare(const CompressedCase &test) {
  int64_t panels = panelCount(test.columns);
  AnyTensor matrix = randomCodes(test);
  int64_t bytes = codeBytes(test.depth / test.blocks, test.bits);
  AnyTensor codes(ElementType::UI8,
                  std::vector<int64_t>{panels, test.blocks, bytes});
  ASSERT_EQ(run(Kernel::PackCodes, {matrix.tensor}, codes.tensor, {test.bits}),
            "");
  VariantCase packing{Kernel::PackCodes, {matrix.tensor}};
  packing.type = ElementType::UI8;
  packing.shape = {panels, test.blocks, bytes};
  packing.numbers = {test.bits};
  packing.magnitude = 0;
  EXPECT_VARIANTS(packing, "packing " + test.name());

  std::vector<int64_t> shape{panels, test.blocks, kPanelWidth};
  int64_t batches = test.rows == 1 ? 1 : 2;
  Factors left(test.left, {batches, test.rows, test.depth});
  Factors scales(test.scales, shape);
  Factors zeros(ElementType::F16, shape);
  Factors offsets(ElementType::BF16, shape);
  Factors table(ElementType::F32,
                {test.depthTables, test.columnTables, int64_t(1) << test.bits});
  VariantCase variant{Kernel::MatMulCompressed,
                      {left.tensor, codes.tensor,
                       test.hasScales ? scales.tensor : Tensor(),
                       test.hasZeros ? zeros.tensor : Tensor(),
                       test.hasOffsets ? offsets.tensor : Tensor(),
                       test.kind == CodeKind::Table ? table.tensor : Tensor()}};
  variant.numbers = {int64_t(test.kind), test.bits, test.rowBits};
  variant.shape = {batches, test.rows, test.columns};
  variant.terms = test.depth;
  variant.magnitude = magnitudeOf(test.kind) + 1;
  Factors bias(ElementType::F32, {test.columns});
  Factors residual(ElementType::F32, variant.shape);
  TileProgram program = biasReluResidual();
  if (test.hasProgram) {
    variant.inputs.push_back(bias.tensor.view(variant.shape, {{0, 0, 1}}));
    variant.inputs.push_back(residual.tensor);
    variant.program = &program;
  }
  EXPECT_VARIANTS(variant, test.name());
}

constexpr std::pair<CodeKind, int> kForms[] = {
    {CodeKind::Table, 1},    {CodeKind::Table, 2},    {CodeKind::Table, 3},
    {CodeKind::Table, 4},    {CodeKind::Table, 6},    {CodeKind::Table, 8},
    {CodeKind::Signed, 8},   {CodeKind::Unsigned, 8}, {CodeKind::Signed, 4},
    {CodeKind::Unsigned, 4}, {CodeKind::Signed, 2},   {CodeKind::Unsigned, 6},
    {CodeKind::F8E4M3FN, 8}, {CodeKind::F8E5M2, 8}};

TEST(CompressedProduct, AwkwardSizes) {
  for (auto [kind, bits] : kForms)
    for (int64_t rows : {0, 1, 2, 3, 8, 9})
      for (int64_t depth : {0, 1, 7, 33, 70})
        for (int64_t columns : {1, 31, 33, 65})
          compare({.kind = kind,
                   .bits = bits,
                   .rows = rows,
                   .depth = depth,
                   .columns = columns});
}

TEST(CompressedProduct, Blocks) {
  for (auto [kind, bits] : kForms)
    for (int64_t rows : {1, 2, 17})
      for (bool hasZeros : {false, true})
        for (int64_t blocks : {2, 3, 9})
          compare({.kind = kind,
                   .bits = bits,
                   .rows = rows,
                   .depth = 144,
                   .columns = 70,
                   .blocks = blocks,
                   .hasZeros = hasZeros,
                   .hasOffsets = blocks == 3,
                   .hasProgram = blocks == 9});
}

TEST(CompressedProduct, Types) {
  for (auto [kind, bits] : kForms)
    for (ElementType left :
         {ElementType::F32, ElementType::F16, ElementType::BF16})
      for (ElementType scales :
           {ElementType::F32, ElementType::F16, ElementType::BF16})
        for (int64_t rows : {1, 6})
          compare({.kind = kind,
                   .bits = bits,
                   .rows = rows,
                   .depth = 64,
                   .columns = 40,
                   .blocks = 2,
                   .left = left,
                   .scales = scales,
                   .hasScales = rows == 1 || scales != ElementType::F32});
}

// A table for some columns, less than a panel or several, and for some k.
TEST(CompressedProduct, Tables) {
  for (int bits : {1, 2, 3, 4, 6, 8})
    for (int64_t rows : {1, 3, 9})
      for (int64_t columnTables : {1, 3, 6, 24})
        for (int64_t depthTables : {1, 2, 4})
          compare({.kind = CodeKind::Table,
                   .bits = bits,
                   .rows = rows,
                   .depth = 96,
                   .columns = 192,
                   .blocks = 4,
                   .hasScales = columnTables == 3,
                   .depthTables = depthTables,
                   .columnTables = columnTables});
}

TEST(CompressedProduct, Large) {
  for (auto [kind, bits] : {std::pair{CodeKind::Table, 4},
                            {CodeKind::Signed, 8},
                            {CodeKind::Signed, 4},
                            {CodeKind::Unsigned, 8}})
    for (int64_t rows : {1, 2, 20})
      compare({.kind = kind,
               .bits = bits,
               .rows = rows,
               .depth = 1088,
               .columns = 170,
               .blocks = rows == 2 ? 1 : 34,
               .hasZeros = true,
               .hasProgram = true});
}

constexpr std::pair<CodeKind, int> kByteForms[] = {{CodeKind::Signed, 8},
                                                   {CodeKind::Unsigned, 8},
                                                   {CodeKind::Signed, 4},
                                                   {CodeKind::Unsigned, 4}};

// All numbers of rows that are multiplied with codes where they are, and more;
// groups that are cut short.
TEST(CompressedProduct, SeveralRows) {
  for (auto [kind, bits] : kForms)
    for (int64_t rows = 3; rows != 18; ++rows)
      for (auto [depth, blocks] :
           {std::pair<int64_t, int64_t>{64, 2}, {96, 1}, {144, 2}, {272, 2}})
        compare({.kind = kind,
                 .bits = bits,
                 .rows = rows,
                 .depth = depth,
                 .columns = 70,
                 .blocks = blocks,
                 .scales = ElementType::F16,
                 .hasZeros = rows % 3 == 0,
                 .hasOffsets = rows % 4 == 0});
}

// Rows in 8 bits: groups of a block, of several, and more rows than are
// multiplied at a time.
TEST(CompressedProduct, RoundedRows) {
  for (auto [kind, bits] : kByteForms)
    for (int64_t rows : {0, 1, 2, 7, 8, 9, 70})
      for (auto [depth, blocks] :
           {std::pair<int64_t, int64_t>{8, 1}, {96, 3}, {136, 1}, {528, 2}})
        for (int64_t columns : {1, 33, 64})
          compare({.kind = kind,
                   .bits = bits,
                   .rows = rows,
                   .depth = depth,
                   .columns = columns,
                   .blocks = blocks,
                   .left = rows == 9 ? ElementType::F16 : ElementType::F32,
                   .scales = rows == 7 ? ElementType::BF16 : ElementType::F32,
                   .hasZeros = columns == 33,
                   .hasOffsets = columns == 33 && rows != 2,
                   .hasProgram = rows == 70,
                   .rowBits = 8});
}

// A row with what is no number is not rounded, and others are as without it;
// very small ones are zeros.
TEST(CompressedProduct, RoundedRowsOfAnySize) {
  constexpr int64_t kRows = 5, kDepth = 64, kColumns = 40;
  CompressedCase test{.kind = CodeKind::Signed,
                      .bits = 4,
                      .rows = kRows,
                      .depth = kDepth,
                      .columns = kColumns};
  AnyTensor matrix = randomCodes(test);
  Owned<uint8_t> codes({2, 2, codeBytes(32, 4)});
  ASSERT_EQ(run(Kernel::PackCodes, {matrix.tensor}, codes.tensor, {4}), "");
  Factors left(ElementType::F32, {kRows, kDepth});
  left.tensor.as<float>()[1 * kDepth + 3] = float(HUGE_VAL);
  left.tensor.as<float>()[3 * kDepth + 40] = float(kNan);
  for (int64_t k = 0; k != kDepth; ++k)
    left.tensor.as<float>()[4 * kDepth + k] *= 1e-39f;
  std::vector<Tensor> inputs{left.tensor, codes.tensor, Tensor(),
                             Tensor(),    Tensor(),     Tensor()};
  std::vector<int64_t> numbers{int64_t(CodeKind::Signed), 4, 8};
  Owned<float> wanted({kRows, kColumns});
  ASSERT_EQ(run(Kernel::MatMulCompressed, inputs, wanted.tensor, numbers), "");
  EXPECT_EQ(wanted.elements[4 * kColumns], 0);
  for (const KernelVariant *variant : kernelVariants()) {
    if (variant->kernel != Kernel::MatMulCompressed ||
        variant->isa > detectedIsa())
      continue;
    Owned<float> output({kRows, kColumns});
    Invocation call{inputs, {&output.tensor, 1}, numbers};
    std::vector<char> scratch(variant->scratch(call) + 64);
    call.scratch = scratch.data();
    ASSERT_FALSE(bool(variant->function(call)));
    for (int64_t i = 0; i != kRows * kColumns; ++i) {
      double a = output.elements[i], b = wanted.elements[i];
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)) ||
                  std::fabs(a - b) <= 8 * kDepth * 0x1p-23)
          << variant->name << " " << i << ": " << a << " is not " << b;
    }
  }
}

// What it is to be: each group by its largest.
TEST(CompressedProduct, HowRowsAreRounded) {
  Owned<uint8_t> matrix({8, 1}, {1, 1, 1, 1, 0, 0, 0, 0});
  Owned<uint8_t> codes({1, 1, codeBytes(8, 4)});
  ASSERT_EQ(run(Kernel::PackCodes, {matrix.tensor}, codes.tensor, {4}), "");
  // Of 127 steps: 12.7, 25.4 and -38.1.
  Owned<float> row({1, 8}, {0.1, 0.2, -0.3, 0, 1, 0, 0, 0});
  Owned<float> output({1, 1});
  ASSERT_EQ(
      run(Kernel::MatMulCompressed,
          {row.tensor, codes.tensor, Tensor(), Tensor(), Tensor(), Tensor()},
          output.tensor, {int64_t(CodeKind::Signed), 4, 8}),
      "");
  EXPECT_NEAR(output.elements[0], (13 + 25 - 38) / 127.0, 1e-7);
}

// Rows of numbers of any size: sums of whole numbers are as exact as those of
// floats. One that is none makes the row none.
TEST(CompressedProduct, RowsOfAnySize) {
  constexpr int64_t kDepth = 64, kColumns = 40;
  CompressedCase test{.kind = CodeKind::Signed,
                      .bits = 8,
                      .rows = 1,
                      .depth = kDepth,
                      .columns = kColumns};
  AnyTensor matrix = randomCodes(test);
  Owned<uint8_t> codes({2, 2, codeBytes(32, 8)});
  ASSERT_EQ(run(Kernel::PackCodes, {matrix.tensor}, codes.tensor, {8}), "");
  for (double size : {0.0, 1e-40, 1e-30, 1.0, 1e30, HUGE_VAL, kNan}) {
    Owned<float> row({1, kDepth});
    double largest = 0;
    for (int64_t k = 0; k != kDepth; ++k) {
      row.elements[k] = float(k % 3 == 0 ? size : (k % 7 - 3) * 1e-3);
      largest = std::max(largest, std::fabs(double(row.elements[k])));
    }
    std::vector<Tensor> inputs{row.tensor, codes.tensor, Tensor(),
                               Tensor(),   Tensor(),     Tensor()};
    std::vector<int64_t> numbers{int64_t(CodeKind::Signed), 8, 0};
    Owned<float> wanted({1, kColumns});
    ASSERT_EQ(run(Kernel::MatMulCompressed, inputs, wanted.tensor, numbers),
              "");
    for (const KernelVariant *variant : kernelVariants()) {
      if (variant->kernel != Kernel::MatMulCompressed ||
          variant->isa > detectedIsa())
        continue;
      Owned<float> output({1, kColumns});
      Invocation call{inputs, {&output.tensor, 1}, numbers};
      std::vector<char> scratch(variant->scratch(call) + 64);
      call.scratch = scratch.data();
      ASSERT_FALSE(bool(variant->function(call)));
      for (int64_t i = 0; i != kColumns; ++i) {
        double a = output.elements[i], b = wanted.elements[i];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)) ||
                    std::fabs(a - b) <= largest * 128 * kDepth * 0x1p-23)
            << variant->name << " " << size << ": " << a << " is not " << b;
      }
    }
  }
}

// What is no number stays none.
TEST(CompressedProduct, NoNumbers) {
  for (CodeKind kind : {CodeKind::F8E4M3FN, CodeKind::F8E5M2}) {
    Owned<uint8_t> matrix({1, 3}, {0x7f, 0x38, 0xff});
    Owned<uint8_t> codes({1, 1, 32});
    ASSERT_EQ(run(Kernel::PackCodes, {matrix.tensor}, codes.tensor, {8}), "");
    Owned<float> one({1, 1}, {1});
    VariantCase test{
        Kernel::MatMulCompressed,
        {one.tensor, codes.tensor, Tensor(), Tensor(), Tensor(), Tensor()}};
    std::vector<int64_t> numbers{int64_t(kind), 8, 0};
    for (const KernelVariant *variant : kernelVariants()) {
      if (variant->kernel != Kernel::MatMulCompressed ||
          variant->isa > detectedIsa())
        continue;
      Owned<float> output({1, 3});
      Invocation call{test.inputs, {&output.tensor, 1}, numbers};
      std::vector<char> scratch(variant->scratch(call) + 64);
      call.scratch = scratch.data();
      ASSERT_FALSE(bool(variant->function(call)));
      EXPECT_NUMBERS(output.numbers(), kNan,
                     kind == CodeKind::F8E4M3FN ? 1 : 0.5, kNan);
    }
  }
}

TEST(CompressedProduct, Faults) {
  Owned<float> left({2, 64});
  Owned<uint8_t> codes({1, 2, 512});
  Owned<float> scales({1, 2, 32});
  Owned<float> table({1, 1, 16});
  Owned<float> output({2, 20});
  auto message = [&](std::vector<Tensor> inputs, std::vector<int64_t> numbers) {
    return run(Kernel::MatMulCompressed, std::move(inputs), output.tensor,
               std::move(numbers));
  };
  Tensor none;
  EXPECT_EQ(message({left.tensor, codes.tensor, scales.tensor, none, none,
                     table.tensor},
                    {0, 4, 0}),
            "");
  EXPECT_MENTIONS(message({left.tensor, codes.tensor}, {0, 4, 0}),
                  "needs two matrices");
  EXPECT_MENTIONS(
      message({left.tensor, codes.tensor, scales.tensor, none, none, none},
              {0, 4, 0}),
      "tables are of another size");
  EXPECT_MENTIONS(message({left.tensor, codes.tensor, table.tensor, none, none,
                           table.tensor},
                          {0, 4, 0}),
                  "parameters are of another size");
  EXPECT_MENTIONS(
      message({left.tensor, codes.tensor, none, none, none, table.tensor},
              {0, 2, 0}),
      "codes are of another size");
  EXPECT_MENTIONS(
      message({left.tensor, codes.tensor, none, none, none, table.tensor},
              {3, 4, 0}),
      "there are no such codes");
  EXPECT_MENTIONS(
      message({left.tensor, codes.tensor, none, none, none, table.tensor},
              {0, 4, 8}),
      "rows cannot be rounded so");
  EXPECT_MENTIONS(run(Kernel::PackCodes, {codes.tensor}, codes.tensor, {4}),
                  "does not make");
}

} // namespace
