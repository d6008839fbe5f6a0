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

static Error doNotFit(const Invocation &call, std::string_view why) {
  return Error("MatMulCompressed: " + call.input(0).describe() + " and codes " +
               call.input(1).describe() + " do not make " +
               call.output().describe() + ": " + std::string(why));
}

/// That parameters have one number for each column of each block.
static bool areParameters(const Tensor &tensor, const Tensor &codes) {
  return !isThere(tensor) ||
         (tensor.rank == 3 && tensor.extents[0] == codes.extents[0] &&
          tensor.extents[1] == codes.extents[1] &&
          tensor.extents[2] == kPanelWidth && tensor.isContiguous() &&
          isFactor(tensor.type));
}

Expected<CompressedRight>
portable::readCompressedProduct(const Invocation &call) {
  if (call.inputs.size() < kCompressedOperands)
    return Error("MatMulCompressed needs two matrices, three sets of "
                 "parameters and a table");
  const Tensor &a = call.input(0);
  const Tensor &output = call.output();
  int rank = output.rank;
  if (rank < 2 || a.rank != rank ||
      !std::equal(a.extents.begin(), a.extents.begin() + rank - 1,
                  output.extents.begin()))
    return doNotFit(call, "rows differ");
  if (!isFactor(a.type))
    return unknownType("MatMulCompressed", a);
  int64_t kind = call.number(0);
  int64_t bits = call.number(1);
  if (kind < 0 || kind > int64_t(CodeKind::F8E5M2) || !isCodeWidth(bits) ||
      (kind >= int64_t(CodeKind::F8E4M3FN) && bits != 8))
    return doNotFit(call, "there are no such codes");
  const Tensor &codes = call.input(1);
  CompressedRight right = {CodeKind(kind),
                           int(bits),
                           a.extents[rank - 1],
                           output.extents[rank - 1],
                           codes.rank == 3 ? codes.extents[1] : 0,
                           0,
                           codes,
                           call.input(2),
                           call.input(3),
                           call.input(4),
                           call.input(5),
                           false};
  if (right.blocks == 0 || right.depth % right.blocks != 0)
    return doNotFit(call, "k is no whole number of blocks");
  right.blockDepth = right.depth / right.blocks;
  if (codes.type != ElementType::UI8 || !codes.isContiguous() ||
      codes.extents[0] != panelCount(right.columns) ||
      codes.extents[2] != codeBytes(right.blockDepth, right.bits))
    return doNotFit(call, "codes are of another size");
  right.hasRoundedRows = call.number(2) == 8;
  if ((call.number(2) != 0 && !right.hasRoundedRows) ||
      (right.hasRoundedRows &&
       !hasByteProducts(right.kind, right.bits, right.blockDepth)))
    return doNotFit(call, "rows cannot be rounded so");
  if (!areParameters(right.scales, codes) ||
      !areParameters(right.zeros, codes) ||
      !areParameters(right.offsets, codes))
    return doNotFit(call, "parameters are of another size or type");
  const Tensor &table = right.table;
  if (right.hasTables() &&
      (table.rank != 3 || table.type != ElementType::F32 ||
       !table.isContiguous() || table.extents[2] != right.entries() ||
       table.extents[0] == 0 || table.extents[1] == 0 ||
       right.blocks % table.extents[0] != 0 ||
       right.columns % table.extents[1] != 0))
    return doNotFit(call, "tables are of another size");
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

namespace {
/// Weights of one column, as numbers.
class Column {
public:
  Column(const CompressedRight &right, int64_t column)
      : right(right), column(column), panel(column / kPanelWidth),
        place(column % kPanelWidth) {}

  double at(int64_t k) const {
    int64_t block = k / right.blockDepth;
    const uint8_t *codes = right.codes.as<uint8_t>() +
                           panel * right.codes.steps[0] +
                           block * right.codes.steps[1];
    double value =
        valueOf(codeAt(codes, right.bits, k % right.blockDepth, place), block);
    return (value - parameter(right.zeros, block, 0)) *
               parameter(right.scales, block, 1) +
           parameter(right.offsets, block, 0);
  }

private:
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
};
} // namespace

size_t portable::scratchOfMatMulCompressed(const Invocation &call) {
  Expected<CompressedRight> right = readCompressedProduct(call);
  return right ? size_t(right->depth) * sizeof(float) : 0;
}

Error portable::runMatMulCompressed(const Invocation &call) {
  Expected<CompressedRight> right = readCompressedProduct(call);
  if (!right)
    return right.takeError();
  Epilogue epilogue(call, kCompressedOperands);
  if (Error error = epilogue.check("MatMulCompressed"))
    return error;
  const Tensor &a = call.input(0);
  int last = call.output().rank - 1;
  Scratch<float> scratch(call, right->depth);
  std::span<float> row = scratch.numbers();
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
          for (int64_t i = 0; i != count; ++i) {
            Column column(*right, index[last] + i);
            double sum = 0;
            for (int64_t k = 0; k != right->depth; ++k)
              sum += double(row[size_t(k)]) * column.at(k);
            products[i] = float(sum);
          }
        });
  });
  return Error::success();
}
