// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with weights that stay in few bits (Codes.h). Sums are kept in
// double, as in products with other packed weights.

#include "CompressedProduct.h"

#include "Epilogue.h"
#include "Portable.h"
#include "Scratch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace corten::runtime;
using namespace corten::runtime::portable;

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

namespace {
/// Some bits of a code: in which word of its block, and from which bit on.
struct Part {
  int64_t word;
  int shift;
  int bits;
};
} // namespace

/// The lower bits of a code of fewer than 8, and those above them, if any.
static std::array<Part, 2> partsOf(int bits, int64_t k, int64_t column) {
  int lower = lowerBits(bits);
  int64_t first = k / unitDepth(bits) * (unitBytes(bits) / 4);
  int64_t inUnit = k % unitDepth(bits);
  int64_t perWord = 32 / lower;
  int64_t words = unitDepth(bits) / perWord;
  int upper = bits - lower;
  return {{{first + inUnit / perWord * kPanelWidth + column,
            int(inUnit % perWord) * lower, lower},
           {first + words * kPanelWidth + column, int(inUnit) * upper, upper}}};
}

void portable::putCode(uint8_t *block, int bits, int64_t k, int64_t column,
                       uint8_t code) {
  if (bits == 8) {
    block[k * kPanelWidth + column] = code;
    return;
  }
  for (const Part &part : partsOf(bits, k, column)) {
    if (part.bits == 0)
      continue;
    uint32_t word;
    std::memcpy(&word, block + part.word * 4, 4);
    word |= (code & ((1u << part.bits) - 1)) << part.shift;
    std::memcpy(block + part.word * 4, &word, 4);
    code = uint8_t(code >> part.bits);
  }
}

static uint8_t codeAt(const uint8_t *block, int bits, int64_t k,
                      int64_t column) {
  if (bits == 8)
    return block[k * kPanelWidth + column];
  uint32_t code = 0;
  int done = 0;
  for (const Part &part : partsOf(bits, k, column)) {
    if (part.bits == 0)
      continue;
    uint32_t word;
    std::memcpy(&word, block + part.word * 4, 4);
    code |= (word >> part.shift & ((1u << part.bits) - 1)) << done;
    done += part.bits;
  }
  return uint8_t(code);
}

Error portable::checkPackCodes(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int64_t bits = call.number(0);
  if (!isCodeWidth(bits))
    return Error("PackCodes: there are no codes of " + std::to_string(bits) +
                 " bits");
  bool fits = input.rank == 2 && output.rank == 3 &&
              output.extents[0] == panelCount(input.extents[1]) &&
              output.extents[1] > 0 &&
              input.extents[0] % output.extents[1] == 0 &&
              output.extents[2] ==
                  codeBytes(input.extents[0] / output.extents[1], int(bits));
  if (!fits)
    return Error("PackCodes: " + input.describe() + " does not make " +
                 output.describe());
  if (byteSize(input.type) != 1)
    return unknownType("PackCodes", input);
  if (output.type != ElementType::UI8 || !output.isContiguous())
    return unknownType("PackCodes", output);
  return Error::success();
}

Error portable::runPackCodes(const Invocation &call) {
  if (Error error = checkPackCodes(call))
    return error;
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int bits = int(call.number(0));
  if (output.size() == 0)
    return Error::success();
  std::memset(output.data, 0, size_t(output.size()));
  int64_t depth = input.extents[0] / output.extents[1];
  for (int64_t k = 0; k != input.extents[0]; ++k)
    for (int64_t column = 0; column != input.extents[1]; ++column)
      putCode(
          output.as<uint8_t>() + column / kPanelWidth * output.steps[0] +
              k / depth * output.steps[1],
          bits, k % depth, column % kPanelWidth,
          input.as<uint8_t>()[k * input.steps[0] + column * input.steps[1]]);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Error doNotFit(const Invocation &call, std::string_view kernel,
                      std::string_view why) {
  return Error(std::string(kernel) + ": " + call.input(0).describe() + " and " +
               (kernel == "MatMulSparse" ? "places " : "codes ") +
               call.input(1).describe() + " do not make " +
               call.output().describe() + ": " + std::string(why));
}

/// That parameters have one number for each column of each block.
static bool areParameters(const Tensor &tensor, const CompressedRight &right) {
  return !isThere(tensor) ||
         (tensor.rank == 3 && tensor.extents[0] == panelCount(right.columns) &&
          tensor.extents[1] == right.blocks &&
          tensor.extents[2] == kPanelWidth && tensor.isContiguous() &&
          isFactor(tensor.type));
}

/// What is wrong with the rows of a product, if anything is.
static Error checkRows(const Invocation &call, std::string_view kernel,
                       size_t operands) {
  if (call.inputs.size() < operands)
    return Error(std::string(kernel) + " needs two matrices, three sets of "
                                       "parameters and a table");
  const Tensor &a = call.input(0);
  const Tensor &output = call.output();
  int rank = output.rank;
  if (rank < 2 || a.rank != rank ||
      !std::equal(a.extents.begin(), a.extents.begin() + rank - 1,
                  output.extents.begin()))
    return doNotFit(call, kernel, "rows differ");
  return isFactor(a.type) ? Error::success() : unknownType(kernel, a);
}

/// The same of scales, zeros, offsets and tables.
static Error checkMeaning(const Invocation &call, std::string_view kernel,
                          const CompressedRight &right) {
  if (!areParameters(right.scales, right) ||
      !areParameters(right.zeros, right) ||
      !areParameters(right.offsets, right))
    return doNotFit(call, kernel, "parameters are of another size or type");
  const Tensor &table = right.table;
  if (right.hasTables() &&
      (table.rank != 3 || table.type != ElementType::F32 ||
       !table.isContiguous() || table.extents[2] != right.entries() ||
       table.extents[0] == 0 || table.extents[1] == 0 ||
       right.blocks % table.extents[0] != 0 ||
       right.columns % table.extents[1] != 0))
    return doNotFit(call, kernel, "tables are of another size");
  return Error::success();
}

/// A matrix of so many columns, whose codes are all there.
static Expected<CompressedRight>
readCodes(const Invocation &call, std::string_view kernel, int64_t columns) {
  auto doNotFit = [&](std::string_view why) {
    return ::doNotFit(call, kernel, why);
  };
  int64_t kind = call.number(0);
  int64_t bits = call.number(1);
  if (kind < 0 || kind > int64_t(CodeKind::F8E5M2) || !isCodeWidth(bits) ||
      (kind >= int64_t(CodeKind::F8E4M3FN) && bits != 8))
    return doNotFit("there are no such codes");
  const Tensor &codes = call.input(1);
  CompressedRight right = {CodeKind(kind),
                           int(bits),
                           call.input(0).extents[call.output().rank - 1],
                           columns,
                           codes.rank == 3 ? codes.extents[1] : 0,
                           0,
                           codes,
                           call.input(2),
                           call.input(3),
                           call.input(4),
                           call.input(5),
                           false,
                           nullptr,
                           false};
  if (right.blocks == 0 || right.depth % right.blocks != 0)
    return doNotFit("k is no whole number of blocks");
  right.blockDepth = right.depth / right.blocks;
  if (codes.type != ElementType::UI8 || !codes.isContiguous() ||
      codes.extents[0] != panelCount(right.columns) ||
      codes.extents[2] != codeBytes(right.blockDepth, right.bits))
    return doNotFit("codes are of another size");
  if (Error error = checkMeaning(call, kernel, right))
    return error;
  return right;
}

Expected<CompressedRight>
portable::readCompressedProduct(const Invocation &call) {
  constexpr std::string_view kName = "MatMulCompressed";
  if (Error error = checkRows(call, kName, kCompressedOperands))
    return error;
  const Tensor &output = call.output();
  auto right = readCodes(call, kName, output.extents[output.rank - 1]);
  if (!right)
    return right;
  right->hasRoundedRows = call.number(2) == 8;
  if ((call.number(2) != 0 && !right->hasRoundedRows) ||
      (right->hasRoundedRows &&
       !hasByteProducts(right->kind, right->bits, right->blockDepth)))
    return doNotFit(call, kName, "rows cannot be rounded so");
  return right;
}

Expected<CompressedRight>
portable::readRoutedCompressedProduct(const Invocation &call) {
  constexpr std::string_view kName = "MatMulRoutedCompressed";
  if (Error error = checkRows(call, kName, kRoutedCompressedOperands))
    return error;
  const Tensor &output = call.output();
  const Tensor &codes = call.input(1);
  const Tensor &which = call.input(6);
  int64_t columns = output.extents[output.rank - 1];
  int64_t panels = panelCount(columns);
  if (which.rank != output.rank - 2 ||
      !std::equal(which.extents.begin(), which.extents.begin() + which.rank,
                  output.extents.begin()))
    return doNotFit(call, kName, "indices differ");
  if (!indexReader(which.type))
    return unknownType(kName, which);
  if (columns == 0 || columns % kPanelWidth != 0 || codes.rank != 3 ||
      codes.extents[0] % panels != 0)
    return doNotFit(call, kName, "matrices are no whole number of panels");
  auto right = readCodes(call, kName, codes.extents[0] / panels * columns);
  if (!right)
    return right;
  right->which = &which;
  right->columnsOfMatrix = columns;
  return right;
}

Expected<CompressedRight> portable::readSparseProduct(const Invocation &call) {
  constexpr std::string_view kName = "MatMulSparse";
  if (Error error = checkRows(call, kName, kSparseOperands))
    return error;
  const Tensor &a = call.input(0);
  const Tensor &output = call.output();
  const Tensor &places = call.input(1);
  const Tensor &values = call.input(2);
  auto doNotFit = [&](std::string_view why) {
    return ::doNotFit(call, kName, why);
  };
  int64_t kind = call.number(0);
  int64_t bits = call.number(1);
  bool isFloat = kind == int64_t(CodeKind::Float);
  bool areThere =
      kind >= 0 && kind <= int64_t(CodeKind::Float) &&
      (isFloat
           ? isFactor(values.type) && bits == 8 * int64_t(byteSize(values.type))
           : values.type == ElementType::UI8 && isCodeWidth(bits)) &&
      (kind < int64_t(CodeKind::F8E4M3FN) || isFloat || bits == 8);
  if (!areThere)
    return doNotFit("there are no such values");
  int rank = output.rank;
  CompressedRight right = {CodeKind(kind),
                           int(bits),
                           a.extents[rank - 1],
                           output.extents[rank - 1],
                           call.number(2),
                           0,
                           values,
                           call.input(3),
                           call.input(4),
                           call.input(5),
                           call.input(6),
                           false,
                           &places,
                           call.number(3) != 0};
  // Of no k, there are blocks of none.
  if (right.blocks <= 0 || right.blocks > std::max<int64_t>(right.depth, 1) ||
      right.depth % right.blocks != 0)
    return doNotFit("k is no whole number of blocks");
  right.blockDepth = right.depth / right.blocks;
  if (places.type != ElementType::UI32 || places.rank != 2 ||
      !places.isContiguous() ||
      places.extents[0] != panelCount(right.columns) ||
      places.extents[1] != kPlacesHeader + right.depth)
    return doNotFit("places are of another size");
  if (values.rank != 1 || !values.isContiguous() || right.capacity() < 0)
    return doNotFit("there are too few values");
  if (Error error = checkMeaning(call, kName, right))
    return error;
  return right;
}

GroupRange GroupRange::of(const float *from, int64_t count) {
  GroupRange result{0, true};
  for (int64_t i = 0; i != count; ++i) {
    float magnitude = std::fabs(from[i]);
    result.isFinite &= magnitude <= std::numeric_limits<float>::max();
    result.largest = std::max(result.largest, magnitude);
  }
  return result;
}

void portable::roundRow(const CompressedRight &right, const float *from,
                        float *to) {
  if (!GroupRange::of(from, right.depth).isFinite) {
    std::copy_n(from, right.depth, to);
    return;
  }
  for (int64_t block = 0; block != right.depth; block += right.blockDepth)
    for (int64_t k = 0; k < right.blockDepth; k += kRowGroup) {
      int64_t first = block + k;
      int64_t count = std::min(kRowGroup, right.blockDepth - k);
      GroupScale scale(GroupRange::of(from + first, count).largest);
      for (int64_t i = first; i != first + count; ++i)
        to[i] = std::nearbyint(from[i] * scale.factor) * scale.unit;
    }
}

uint8_t portable::codeAmongValues(const uint8_t *values, int bits,
                                  int64_t index) {
  uint32_t code = 0;
  for (int bit = 0; bit != bits; ++bit) {
    int64_t from = index * bits + bit;
    code |= uint32_t(values[from / 8] >> (from % 8) & 1) << bit;
  }
  return uint8_t(code);
}

namespace {
/// Weights of one column, as numbers.
class Column {
public:
  Column(const CompressedRight &right, int64_t column)
      : right(right), column(column), panel(column / kPanelWidth),
        place(column % kPanelWidth),
        next(right.places ? PanelPlaces(*right.places, panel).first() : 0) {}

  /// To be called for one k after the other.
  double at(int64_t k) {
    int64_t block = k / right.blockDepth;
    double value = right.places ? sparseValue(k, block) : denseValue(k, block);
    return (value - parameter(right.zeros, block, 0)) *
               parameter(right.scales, block, 1) +
           parameter(right.offsets, block, 0);
  }

private:
  double denseValue(int64_t k, int64_t block) const {
    const uint8_t *codes = right.codes.as<uint8_t>() +
                           panel * right.codes.steps[0] +
                           block * right.codes.steps[1];
    return valueOf(codeAt(codes, right.bits, k % right.blockDepth, place),
                   block);
  }

  double sparseValue(int64_t k, int64_t block) {
    uint32_t word = PanelPlaces(*right.places, panel).words[k];
    int64_t index = next + std::popcount(word & ((1u << place) - 1));
    next += std::popcount(word);
    if (!(word >> place & 1))
      return right.kind == CodeKind::Float || right.isAbsentZero
                 ? 0
                 : valueOf(0, block);
    double value = 0;
    if (right.kind == CodeKind::Float)
      withFactor(right.codes.type, [&]<typename T>() {
        value = double(float(right.codes.as<T>()[index]));
      });
    else
      value = valueOf(
          codeAmongValues(right.codes.as<uint8_t>(), right.bits, index), block);
    return value;
  }

  double valueOf(uint8_t code, int64_t block) const {
    switch (right.kind) {
    case CodeKind::Signed:
      return signedNumber(code, right.bits);
    case CodeKind::Unsigned:
      return code;
    case CodeKind::F8E4M3FN:
      return float(Float8E4M3FN::fromBits(code));
    case CodeKind::F8E5M2:
      return float(Float8E5M2::fromBits(code));
    case CodeKind::Table:
    case CodeKind::Float:
      break;
    }
    return right.table.as<
        float>()[block / right.blocksOfTable() * right.table.steps[0] +
                 column / right.columnsOfTable() * right.table.steps[1] + code];
  }

  double parameter(const Tensor &tensor, int64_t block, double absent) const {
    if (!isThere(tensor))
      return absent;
    double result = 0;
    withFactor(tensor.type, [&]<typename T>() {
      result = double(float(
          tensor
              .as<T>()[(panel * right.blocks + block) * kPanelWidth + place]));
    });
    return result;
  }

  const CompressedRight &right;
  int64_t column;
  int64_t panel;
  int64_t place;
  /// The first value of the next row of the panel.
  int64_t next;
};
} // namespace

static size_t rowBytes(const Expected<CompressedRight> &right) {
  return right ? size_t(right->depth) * sizeof(float) : 0;
}
size_t portable::scratchOfMatMulCompressed(const Invocation &call) {
  return rowBytes(readCompressedProduct(call));
}
size_t portable::scratchOfMatMulRoutedCompressed(const Invocation &call) {
  return rowBytes(readRoutedCompressedProduct(call));
}
size_t portable::scratchOfMatMulSparse(const Invocation &call) {
  return rowBytes(readSparseProduct(call));
}

/// The first column of the matrix that an index says.
static Expected<int64_t> firstColumn(const CompressedRight &right,
                                     std::string_view kernel,
                                     std::span<const int64_t> index) {
  if (!right.which)
    return 0;
  int64_t place = 0;
  for (int axis = 0; axis != right.which->rank; ++axis)
    place += index[size_t(axis)] * right.which->steps[axis];
  int64_t which = indexReader(right.which->type)(*right.which, place);
  auto matrix = wrapIndex(which, right.matrices());
  if (!matrix)
    return outOfRange(kernel, which, right.matrices());
  return *matrix * right.columnsOfMatrix;
}

static Error multiply(const Invocation &call, std::string_view kernel,
                      Expected<CompressedRight> right) {
  if (!right)
    return right.takeError();
  Epilogue epilogue(call, right->operands());
  if (Error error = epilogue.check(kernel))
    return error;
  const Tensor &a = call.input(0);
  int last = call.output().rank - 1;
  Scratch<float> scratch(call, right->depth);
  std::span<float> row = scratch.numbers();
  // The first that is none; its products are not used.
  Error wrong = Error::success();
  withFactor(a.type, [&]<typename A>() {
    storeProducts(
        epilogue, [&](const auto &index, int64_t count, float *products) {
          int64_t offset = 0;
          for (int axis = 0; axis != last; ++axis)
            offset += index[axis] * a.steps[axis];
          for (int64_t k = 0; k != right->depth; ++k)
            row[size_t(k)] = float(a.as<A>()[offset + k * a.steps[last]]);
          if (right->hasRoundedRows)
            roundRow(*right, row.data(), row.data());
          Expected<int64_t> first = firstColumn(*right, kernel, index);
          if (!first) {
            if (!wrong)
              wrong = first.takeError();
            std::fill_n(products, count, 0.0f);
            return;
          }
          for (int64_t i = 0; i != count; ++i) {
            Column column(*right, *first + index[last] + i);
            double sum = 0;
            for (int64_t k = 0; k != right->depth; ++k)
              sum += double(row[size_t(k)]) * column.at(k);
            products[i] = float(sum);
          }
        });
  });
  return wrong;
}

Error portable::runMatMulCompressed(const Invocation &call) {
  return multiply(call, "MatMulCompressed", readCompressedProduct(call));
}

Error portable::runMatMulRoutedCompressed(const Invocation &call) {
  return multiply(call, "MatMulRoutedCompressed",
                  readRoutedCompressedProduct(call));
}

Error portable::runMatMulSparse(const Invocation &call) {
  Expected<CompressedRight> right = readSparseProduct(call);
  for (int64_t panel = 0; right && panel != right->places->extents[0];
       ++panel) {
    PanelPlaces places(*right->places, panel);
    if (!areValues(places.first(), places.count(right->depth),
                   right->capacity()))
      return placesDoNotFit("MatMulSparse", right->codes);
  }
  return multiply(call, "MatMulSparse", std::move(right));
}
