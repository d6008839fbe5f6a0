// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CodePanels.h"

using namespace corten::runtime;
using namespace corten::runtime::products;
using portable::CompressedRight;

namespace {
/// What whole numbers of fewer than 8 bits stand for.
struct NumberTables {
  std::array<float, 64> isSigned[8] = {};
  std::array<float, 64> isUnsigned[8] = {};

  constexpr NumberTables() {
    for (int bits = 1; bits != 7; ++bits)
      for (unsigned code = 0; code != 1u << bits; ++code) {
        isSigned[bits][code] = float(signedNumber(code, bits));
        isUnsigned[bits][code] = float(code);
      }
  }
};
} // namespace
static constexpr NumberTables kNumbers;

static CodeParameters parametersOf(const Tensor &tensor, int64_t place) {
  if (!tensor.data)
    return {};
  return {static_cast<const char *>(tensor.data) +
              place * int64_t(byteSize(tensor.type)),
          factorOf(tensor.type)};
}

void CodePanels::findTables() const {
  if (!hasColumnTables())
    return;
  int64_t columns = panelCount(right.columns) * kPanelWidth;
  for (int64_t column = 0; column != columns; ++column) {
    // Columns that fill up a panel have one that is there.
    int64_t own = std::min(column, right.columns - 1);
    columnTables[column] =
        int32_t(own / right.columnsOfTable() * right.table.steps[1]);
  }
}

CodePanel CodePanels::at(int64_t panel) const {
  int64_t place = panel * right.blocks * kPanelWidth;
  CodePanel result = {};
  result.kind = right.kind;
  result.bits = right.bits;
  result.blocks = right.blocks;
  result.blockDepth = right.blockDepth;
  if (right.places) {
    setSparse(panel, result);
  } else {
    result.blockBytes = right.codes.extents[2];
    result.codes = right.codes.as<uint8_t>() + panel * right.panelBytes();
  }
  result.scales = parametersOf(right.scales, place);
  result.zeros = parametersOf(right.zeros, place);
  result.offsets = parametersOf(right.offsets, place);
  setTable(panel, result);
  return result;
}

void CodePanels::setSparse(int64_t panel, CodePanel &result) const {
  portable::PanelPlaces places(*right.places, panel);
  result.codes = right.codes.as<uint8_t>();
  result.places = places.words;
  result.capacity = right.capacity();
  // A plan may say anything.
  result.firstValue = portable::areValues(places.first(), 0, result.capacity)
                          ? places.first()
                          : result.capacity + 1;
  result.isAbsentZero = right.isAbsentZero;
  if (right.kind == CodeKind::Float)
    result.factor = factorOf(right.codes.type);
}

void CodePanels::setTable(int64_t panel, CodePanel &result) const {
  if (!right.hasTables()) {
    if (right.bits < 8)
      result.table =
          (right.kind == CodeKind::Signed ? kNumbers.isSigned
                                          : kNumbers.isUnsigned)[right.bits]
              .data();
    result.blocksOfTable = right.blocks;
    return;
  }
  result.table = right.table.as<float>();
  result.tableStep = right.table.steps[0];
  result.blocksOfTable = right.blocksOfTable();
  if (hasColumnTables())
    result.columnTables = columnTables + panel * kPanelWidth;
  else
    result.table +=
        panel * kPanelWidth / right.columnsOfTable() * right.table.steps[1];
}

void products::sumBlocks(const CompressedRight &right, const float *row,
                         float *sums) {
  for (int64_t block = 0; block != right.blocks; ++block) {
    double sum = 0;
    const float *from = row + block * right.blockDepth;
    for (int64_t k = 0; k != right.blockDepth; ++k)
      sum += double(from[k]);
    sums[block] = float(sum);
  }
}
