// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with sparse weights, and rows of these, against the same dense.

#include "Variants.h"

#include "corten/Runtime/Codes.h"

using namespace corten::runtime;
using Kernel = PortableKernel;

namespace {

struct SparseCase {
  CodeKind kind = CodeKind::Float;
  int bits = 32;
  int64_t rows, depth, columns;
  /// How many of a hundred are there.
  int present = 50;
  int64_t blocks = 1;
  /// Of values that are floats.
  ElementType type = ElementType::F32;
  ElementType left = ElementType::F32;
  bool hasScales = false;
  bool hasZeros = false;
  bool hasOffsets = false;
  /// Groups of tables along k and n.
  int64_t depthTables = 1;
  int64_t columnTables = 1;
  bool isAbsentZero = true;
  bool hasProgram = false;

  std::string name() const {
    std::string text = "kind " + std::to_string(int64_t(kind));
    for (int64_t number :
         {int64_t(bits), rows, depth, columns, int64_t(present), blocks,
          depthTables, columnTables, int64_t(isAbsentZero), int64_t(hasZeros)})
      text += " " + std::to_string(number);
    return text + " " + std::string(spelling(type)) + " " +
           std::string(spelling(left));
  }
};

AnyTensor anyTensor(ElementType type, std::vector<int64_t> shape) {
  return AnyTensor(type, shape);
}

/// A matrix with zeros where its mask has some, and what is packed of both.
struct Sparse {
  AnyTensor mask;
  AnyTensor matrix;
  AnyTensor places;
  AnyTensor values;

  explicit Sparse(const SparseCase &test)
      : mask(anyTensor(ElementType::Bool, {test.depth, test.columns})),
        matrix(test.kind == CodeKind::Float
                   ? AnyTensor(Factors(test.type, {test.depth, test.columns}))
                   : anyTensor(ElementType::UI8, {test.depth, test.columns})),
        places(anyTensor(ElementType::UI32, {panelCount(test.columns),
                                             kPlacesHeader + test.depth})),
        values(anyTensor(
            test.kind == CodeKind::Float ? test.type : ElementType::UI8, {0})) {
    static std::mt19937 random(11);
    int64_t count = 0;
    for (int64_t i = 0; i != mask.tensor.size(); ++i) {
      bool isThere = int(random() % 100) < test.present;
      // All of some rows and of some panels are absent, or there.
      int64_t k = i / test.columns, panel = i % test.columns / kPanelWidth;
      if (test.present > 0 && test.present < 100 && (k % 7 == 3 || panel == 1))
        isThere = k % 2 == 0;
      mask.tensor.as<bool>()[i] = isThere;
      count += isThere;
      if (matrix.tensor.type == ElementType::UI8)
        matrix.tensor.as<uint8_t>()[i] = codeOf(test, unsigned(random()));
    }
    int64_t panels = places.tensor.extents[0];
    values = anyTensor(
        values.tensor.type,
        {valueElements(count + (kValueGroup - 1) * panels, test.bits)});
    pack(Kernel::PackPlaces, {mask.tensor}, places, {}, test.name());
    pack(Kernel::PackValues, {matrix.tensor, places.tensor}, values,
         {test.bits}, test.name());
  }

  /// Floats of 8 bits are none that is no number.
  static uint8_t codeOf(const SparseCase &test, unsigned any) {
    auto code = uint8_t(any & ((1u << test.bits) - 1));
    if (test.kind == CodeKind::F8E4M3FN && (code & 0x7f) == 0x7f)
      code = 1;
    if (test.kind == CodeKind::F8E5M2 && (code & 0x7c) == 0x7c)
      code = 1;
    return code;
  }

  static void pack(Kernel kernel, const std::vector<Tensor> &inputs,
                   AnyTensor &output, const std::vector<int64_t> &numbers,
                   const std::string &name) {
    ASSERT_EQ(run(kernel, inputs, output.tensor, numbers), "") << name;
    VariantCase packing{kernel, inputs};
    packing.type = output.tensor.type;
    packing.shape.assign(output.tensor.shape().begin(),
                         output.tensor.shape().end());
    packing.numbers = numbers;
    packing.magnitude = 0;
    EXPECT_VARIANTS(packing, "packing " + name);
  }
};

double magnitudeOf(CodeKind kind) {
  return kind == CodeKind::F8E5M2                             ? 57344
         : kind == CodeKind::F8E4M3FN                         ? 448
         : kind == CodeKind::Table || kind == CodeKind::Float ? 1
                                                              : 256;
}

/// The inputs of a product, and where they lie.
struct Operands {
  Sparse sparse;
  Factors left, scales, zeros, offsets, table;
  VariantCase variant;

  explicit Operands(const SparseCase &test)
      : sparse(test),
        left(test.left, {test.rows == 1 ? 1 : 2, test.rows, test.depth}),
        scales(ElementType::F32, parameters(test)),
        zeros(ElementType::F16, parameters(test)),
        offsets(ElementType::BF16, parameters(test)),
        table(ElementType::F32,
              {test.depthTables, test.columnTables,
               test.kind == CodeKind::Table ? int64_t(1) << test.bits : 1}) {
    variant = {Kernel::MatMulSparse,
               {left.tensor, sparse.places.tensor, sparse.values.tensor,
                test.hasScales ? scales.tensor : Tensor(),
                test.hasZeros ? zeros.tensor : Tensor(),
                test.hasOffsets ? offsets.tensor : Tensor(),
                test.kind == CodeKind::Table ? table.tensor : Tensor()}};
    variant.numbers = {int64_t(test.kind), test.bits, test.blocks,
                       test.isAbsentZero};
    variant.shape = {left.tensor.extents[0], test.rows, test.columns};
    variant.terms = test.depth;
    variant.magnitude = magnitudeOf(test.kind) + 1;
  }

  static std::vector<int64_t> parameters(const SparseCase &test) {
    return {panelCount(test.columns), test.blocks, kPanelWidth};
  }
};

double numberOf(const SparseCase &test, const Operands &operands, int64_t k,
                int64_t column) {
  int64_t place = k * test.columns + column;
  int64_t block = k / (test.depth / test.blocks);
  bool isThere = operands.sparse.mask.tensor.as<bool>()[place];
  if (test.kind == CodeKind::Float)
    return isThere ? operands.sparse.matrix.number(place) : 0;
  unsigned code =
      isThere ? operands.sparse.matrix.tensor.as<uint8_t>()[place] : 0;
  switch (test.kind) {
  case CodeKind::Signed:
    return signedNumber(code, test.bits);
  case CodeKind::Unsigned:
    return code;
  case CodeKind::F8E4M3FN:
    return float(Float8E4M3FN::fromBits(uint8_t(code)));
  case CodeKind::F8E5M2:
    return float(Float8E5M2::fromBits(uint8_t(code)));
  default:
    break;
  }
  if (!isThere && test.isAbsentZero)
    return 0;
  int64_t group = block / (test.blocks / test.depthTables);
  int64_t other = column / (test.columns / test.columnTables);
  return operands.table.number(
      ((group * test.columnTables + other) << test.bits) + int64_t(code));
}

/// What an element of the product is, from the dense matrix.
double sumOf(const SparseCase &test, const Operands &operands, int64_t row,
             int64_t column) {
  double sum = 0;
  for (int64_t k = 0; k != test.depth; ++k) {
    int64_t block = k / (test.depth / test.blocks);
    int64_t place = (column / kPanelWidth * test.blocks + block) * kPanelWidth +
                    column % kPanelWidth;
    double weight = numberOf(test, operands, k, column);
    if (test.hasZeros)
      weight -= operands.zeros.number(place);
    if (test.hasScales)
      weight *= operands.scales.number(place);
    if (test.hasOffsets)
      weight += operands.offsets.number(place);
    sum += operands.left.number(row * test.depth + k) * weight;
  }
  return sum;
}

void compare(const SparseCase &test) {
  Operands operands(test);
  VariantCase &variant = operands.variant;
  OutputMemory output(variant);
  ASSERT_EQ(
      run(Kernel::MatMulSparse, variant.inputs, output.tensor, variant.numbers),
      "")
      << test.name();
  for (int64_t i = 0; i != output.tensor.size(); ++i)
    ASSERT_NEAR(output.number(i),
                sumOf(test, operands, i / test.columns, i % test.columns),
                toleranceOf(variant, output.number(i)))
        << test.name() << " " << i;
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
    {CodeKind::Float, 32},   {CodeKind::Table, 1},    {CodeKind::Table, 2},
    {CodeKind::Table, 3},    {CodeKind::Table, 4},    {CodeKind::Table, 6},
    {CodeKind::Table, 8},    {CodeKind::Signed, 8},   {CodeKind::Unsigned, 8},
    {CodeKind::Signed, 4},   {CodeKind::Unsigned, 3}, {CodeKind::Signed, 2},
    {CodeKind::Unsigned, 6}, {CodeKind::F8E4M3FN, 8}, {CodeKind::F8E5M2, 8}};

TEST(SparseProduct, AwkwardSizes) {
  for (auto [kind, bits] : kForms)
    for (int64_t rows : {0, 1, 3, 4, 9})
      for (int64_t depth : {0, 1, 33, 70})
        for (int64_t columns : {1, 31, 97})
          compare({.kind = kind,
                   .bits = bits,
                   .rows = rows,
                   .depth = depth,
                   .columns = columns,
                   .isAbsentZero = rows != 3});
}

TEST(SparseProduct, HowManyAreThere) {
  for (auto [kind, bits] : kForms)
    for (int present : {0, 1, 10, 90, 100})
      for (int64_t rows : {1, 2, 6})
        compare({.kind = kind,
                 .bits = bits,
                 .rows = rows,
                 .depth = 100,
                 .columns = 130,
                 .present = present});
}

TEST(SparseProduct, Blocks) {
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
                   .hasScales = true,
                   .hasZeros = hasZeros,
                   .hasOffsets = blocks == 3,
                   .hasProgram = blocks == 9});
}

TEST(SparseProduct, Types) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16})
    for (ElementType left :
         {ElementType::F32, ElementType::F16, ElementType::BF16})
      for (int64_t rows : {1, 4, 6})
        compare({.bits = type == ElementType::F32 ? 32 : 16,
                 .rows = rows,
                 .depth = 65,
                 .columns = 40,
                 .type = type,
                 .left = left,
                 .hasScales = rows == 4});
}

// A table for some columns, less than a panel or several, and for some k.
TEST(SparseProduct, Tables) {
  for (int bits : {1, 2, 3, 4, 6, 8})
    for (int64_t rows : {1, 3, 9})
      for (int64_t columnTables : {1, 3, 24})
        for (int64_t depthTables : {1, 4})
          for (bool isAbsentZero : {false, true})
            compare({.kind = CodeKind::Table,
                     .bits = bits,
                     .rows = rows,
                     .depth = 96,
                     .columns = 192,
                     .blocks = 4,
                     .hasScales = columnTables == 3,
                     .depthTables = depthTables,
                     .columnTables = columnTables,
                     .isAbsentZero = isAbsentZero});
}

TEST(SparseProduct, Large) {
  for (auto [kind, bits] : {std::pair{CodeKind::Float, 32},
                            {CodeKind::Signed, 8},
                            {CodeKind::Unsigned, 3}})
    for (int64_t rows : {1, 2, 20})
      compare({.kind = kind,
               .bits = bits,
               .rows = rows,
               .depth = 1088,
               .columns = 170,
               .blocks = rows == 2 ? 1 : 34,
               .hasScales = true,
               .hasZeros = true,
               .hasProgram = true});
}

// Zero times infinity is no number, also where the zero is in no memory.
TEST(SparseProduct, InfiniteRows) {
  for (int64_t rows : {1, 6}) {
    Operands operands({.rows = rows, .depth = 40, .columns = 33});
    operands.left.tensor.as<float>()[5] = float(HUGE_VAL);
    operands.left.tensor.as<float>()[40 * (rows - 1) + 39] = float(kNan);
    const auto *mask = operands.sparse.mask.tensor.as<bool>();
    for (const KernelVariant *variant : kernelVariants()) {
      if (variant->kernel != Kernel::MatMulSparse ||
          variant->isa > detectedIsa())
        continue;
      OutputMemory output(operands.variant);
      Invocation call{operands.variant.inputs,
                      {&output.tensor, 1},
                      operands.variant.numbers};
      std::vector<char> scratch(variant->scratch(call) + 64);
      call.scratch = scratch.data();
      ASSERT_FALSE(bool(variant->function(call)));
      for (int64_t column = 0; column != 33; ++column) {
        bool isNan = rows == 1 || !mask[size_t(int64_t{5} * 33 + column)];
        EXPECT_EQ(std::isnan(output.number(column)), isNan)
            << variant->name << " " << column;
        EXPECT_TRUE(
            std::isnan(output.number(int64_t{33} * (rows - 1) + column)));
      }
    }
  }
}

/// What all ways to run a call say of it.
std::vector<std::string> messagesOf(const VariantCase &test) {
  OutputMemory output(test);
  std::vector<std::string> result{
      run(test.kernel, test.inputs, output.tensor, test.numbers)};
  for (const KernelVariant *variant : kernelVariants()) {
    Invocation call{test.inputs, {&output.tensor, 1}, test.numbers};
    if (variant->kernel != test.kernel || variant->isa > detectedIsa() ||
        !variant->accepts(call))
      continue;
    std::vector<char> scratch(variant->scratch ? variant->scratch(call) + 64
                                               : 64);
    call.scratch = scratch.data();
    Error error = variant->function(call);
    result.push_back(error ? error.message() : "");
  }
  return result;
}

// Nothing that places say is taken on trust.
TEST(SparseProduct, PlacesOfOtherValues) {
  for (int64_t rows : {1, 6}) {
    Operands operands({.rows = rows, .depth = 40, .columns = 70});
    auto *words = operands.sparse.places.tensor.as<uint32_t>();
    VariantCase packing{
        Kernel::PackValues,
        {operands.sparse.matrix.tensor, operands.sparse.places.tensor}};
    packing.shape = {operands.sparse.values.tensor.extents[0]};
    packing.numbers = {32};
    auto expectRefused = [&](size_t word, uint32_t value) {
      uint32_t before = std::exchange(words[word], value);
      for (const VariantCase &test : {operands.variant, packing})
        for (const std::string &message : messagesOf(test))
          EXPECT_MENTIONS(message, "the places want other values");
      words[word] = before;
    };
    constexpr size_t kPanel = 2 + 40;
    expectRefused(2 * kPanel, 1 << 20);
    // Negative, and no multiple of eight.
    expectRefused(kPanel + 1, 1u << 31);
    expectRefused(kPanel, words[kPanel] + 1);
    // More than there are.
    expectRefused(2 * kPanel, words[2 * kPanel] + 2048);
    for (const std::string &message : messagesOf(operands.variant))
      EXPECT_EQ(message, "");
  }
}

TEST(SparseProduct, Faults) {
  Operands good({.kind = CodeKind::Table,
                 .bits = 4,
                 .rows = 2,
                 .depth = 64,
                 .columns = 20,
                 .blocks = 2,
                 .hasScales = true});
  auto message = [&](size_t place, const Tensor &other,
                     std::vector<int64_t> numbers = {0, 4, 2, 1}) {
    VariantCase test = good.variant;
    if (place < test.inputs.size())
      test.inputs[place] = other;
    test.numbers = std::move(numbers);
    std::vector<std::string> all = messagesOf(test);
    // What is refused, no variant takes.
    EXPECT_TRUE(all.size() == 1 || all.front().empty());
    return all.front();
  };
  const Tensor none;
  Owned<uint8_t> few({100});
  EXPECT_EQ(message(9, none), "");
  EXPECT_MENTIONS(message(9, none, {7, 4, 2, 1}), "there are no such values");
  EXPECT_MENTIONS(message(9, none, {0, 5, 2, 1}), "there are no such values");
  EXPECT_MENTIONS(message(9, none, {5, 32, 2, 1}), "there are no such values");
  EXPECT_MENTIONS(message(9, none, {3, 4, 2, 1}), "there are no such values");
  EXPECT_MENTIONS(message(9, none, {0, 4, 3, 1}), "no whole number of blocks");
  EXPECT_MENTIONS(message(9, none, {0, 4, 0, 1}), "no whole number of blocks");
  EXPECT_MENTIONS(message(1, good.scales.tensor), "places are of another size");
  EXPECT_MENTIONS(message(2, few.tensor), "there are too few values");
  EXPECT_MENTIONS(message(3, good.table.tensor), "parameters are of another");
  EXPECT_MENTIONS(message(6, none), "tables are of another size");
  EXPECT_MENTIONS(message(9, none, {0, 2, 2, 1}), "tables are of another size");
  EXPECT_MENTIONS(run(Kernel::PackPlaces, {good.sparse.mask.tensor},
                      good.sparse.values.tensor),
                  "does not make");
  EXPECT_MENTIONS(run(Kernel::PackValues,
                      {good.sparse.matrix.tensor, good.sparse.mask.tensor},
                      good.sparse.values.tensor, {4}),
                  "do not make");
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// A mask as packed bits.
Owned<uint8_t> packedMask(const std::vector<bool> &mask) {
  Owned<uint8_t> result({int64_t(mask.size() + 7) / 8});
  for (size_t i = 0; i != mask.size(); ++i)
    result.elements[i / 8] |= uint8_t(mask[i] << (i % 8));
  return result;
}

// Rows begin anywhere in a byte.
TEST(SparseRows, AnyWidth) {
  std::mt19937 random(3);
  for (int64_t width : {1, 5, 8, 13, 40}) {
    constexpr int64_t kRows = 9;
    std::vector<bool> mask(size_t(kRows * width));
    std::vector<float> dense(mask.size());
    Owned<float> values({kRows * width});
    int64_t count = 0;
    for (size_t i = 0; i != mask.size(); ++i) {
      mask[i] = random() % 3 != 0 && i / size_t(width) != 4;
      if (mask[i])
        dense[i] = values.elements[size_t(count++)] = float(i + 1);
    }
    values.tensor.extents[0] = count;
    Owned<uint8_t> bits = packedMask(mask);
    Owned<int64_t> starts({kRows});
    ASSERT_EQ(run(Kernel::CountPlaces, {bits.tensor}, starts.tensor, {width}),
              "");
    Owned<int32_t> indices({2, 3, 1}, {0, 8, 4, -1, -9, 5});
    Owned<float> rows({2, 3, width});
    ASSERT_EQ(run(Kernel::GatherSparse,
                  {values.tensor, bits.tensor, starts.tensor, indices.tensor},
                  rows.tensor),
              "");
    for (int64_t i = 0; i != 6 * width; ++i) {
      int64_t row = (indices.elements[size_t(i / width)] + kRows) % kRows;
      EXPECT_EQ(rows.elements[size_t(i)],
                dense[size_t(row * width + i % width)])
          << width << " " << i;
    }
    // Without values, ones.
    Owned<uint8_t> ones({2, 3, width});
    ASSERT_EQ(run(Kernel::GatherSparse,
                  {Tensor(), bits.tensor, starts.tensor, indices.tensor},
                  ones.tensor),
              "");
    for (int64_t i = 0; i != 6 * width; ++i)
      EXPECT_EQ(ones.elements[size_t(i)] != 0, rows.elements[size_t(i)] != 0);
  }
}

// Values that share bytes are taken out of these.
TEST(SparseRows, PackedValues) {
  Owned<uint8_t> bits = packedMask({true, false, true, true, false, true});
  // -8, 7, 1 and -1, each in four bits.
  Owned<uint8_t> values({2}, {0x78, 0xf1});
  Owned<int64_t> starts({2}, {0, 2});
  Owned<int32_t> indices({2, 1}, {1, 0});
  AnyTensor rows(ElementType::SI4, std::vector<int64_t>{2, 3});
  ASSERT_EQ(run(Kernel::GatherSparse,
                {values.tensor, bits.tensor, starts.tensor, indices.tensor},
                rows.tensor),
            "");
  double wanted[] = {1, 0, -1, -8, 0, 7};
  for (int64_t i = 0; i != 6; ++i)
    EXPECT_EQ(rows.number(i), wanted[i]) << i;
}

TEST(SparseRows, Faults) {
  Owned<uint8_t> bits = packedMask({true, false, true, true, false, true});
  Owned<float> values({4}, {1, 2, 3, 4});
  Owned<int64_t> starts({2}, {0, 2});
  Owned<int32_t> indices({1, 1}, {1});
  Owned<float> row({1, 3});
  auto message = [&] {
    return run(Kernel::GatherSparse,
               {values.tensor, bits.tensor, starts.tensor, indices.tensor},
               row.tensor);
  };
  EXPECT_EQ(message(), "");
  for (int64_t start : {int64_t(3), int64_t(-1), INT64_MAX}) {
    starts.elements[1] = start;
    EXPECT_MENTIONS(message(), "the places want other values");
  }
  starts.elements[1] = 2;
  indices.elements[0] = 2;
  EXPECT_MENTIONS(message(), "index 2 is out of range for an axis of 2");
  Owned<int64_t> more({3});
  EXPECT_MENTIONS(run(Kernel::CountPlaces, {bits.tensor}, more.tensor, {3}),
                  "has no rows");
  EXPECT_MENTIONS(
      run(Kernel::CountPlaces, {bits.tensor}, more.tensor, {INT64_MAX}),
      "has no rows");
  Owned<double> wide({1, 3});
  EXPECT_MENTIONS(
      run(Kernel::GatherSparse,
          {values.tensor, bits.tensor, starts.tensor, indices.tensor},
          wide.tensor),
      "no form");
}

} // namespace
