// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compressed weights as kernels take them: a panel at a time.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_CODEPANELS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_CODEPANELS_H

#include "../Portable/CompressedProduct.h"
#include "CodeKernels.h"
#include "Common.h"

namespace corten::runtime::products {

class CodePanels {
public:
  explicit CodePanels(const portable::CompressedRight &right) : right(right) {}

  /// Whether columns of a panel have several tables.
  bool hasColumnTables() const {
    return right.hasTables() && right.table.extents[1] > 1 &&
           right.columnsOfTable() % kPanelWidth != 0;
  }

  /// What these tables need.
  void take(Scratch &scratch) {
    columnTables = scratch.take<int32_t>(
        hasColumnTables() ? panelCount(right.columns) * kPanelWidth : 0);
  }
  void findTables() const;

  CodePanel at(int64_t panel) const;

private:
  void setSparse(int64_t panel, CodePanel &result) const;
  void setTable(int64_t panel, CodePanel &result) const;

  const portable::CompressedRight &right;
  int32_t *columnTables = nullptr;
};

/// What elements of a row come to in each block.
void sumBlocks(const portable::CompressedRight &right, const float *row,
               float *sums);

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_CODEPANELS_H
