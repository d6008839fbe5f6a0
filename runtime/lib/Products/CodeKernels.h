// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What products with weights of few bits (Codes.h) need of each instruction
// set.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_CODEKERNELS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_CODEKERNELS_H

#include "MicroKernels.h"

#include "corten/Runtime/Codes.h"

namespace corten::runtime::products {

/// A number for each column of each block, of one type.
struct CodeParameters {
  /// Null: none.
  const void *data;
  Factor factor;
};

/// One panel of codes, or of a sparse matrix.
struct CodePanel {
  CodeKind kind;
  int bits;
  int64_t blocks;
  int64_t blockDepth;
  int64_t blockBytes;
  const uint8_t *codes;
  CodeParameters scales;
  CodeParameters zeros;
  CodeParameters offsets;
  /// The table of the first block, also of whole numbers of fewer than 8 bits;
  /// further ones are `tableStep` apart, one for each `blocksOfTable`.
  const float *table;
  int64_t tableStep;
  int64_t blocksOfTable;
  /// Where the table of each column begins, if columns have several.
  const int32_t *columnTables;
  /// Of a sparse matrix: a word for each k, where `codes` are values, which is
  /// the first one, and for how many there is room. Null if all codes are
  /// there.
  const uint32_t *places;
  int64_t firstValue;
  int64_t capacity;
  /// Of floats, their type.
  Factor factor;
  bool isAbsentZero;
};

/// Sums of products of a few rows with a panel, which is read once.
struct SkinnyCall {
  const CodePanel *panel;
  /// Rows of floats.
  const float *const *rows;
  /// For each row, what its elements of each block come to; of use if there are
  /// zeros or offsets.
  const float *const *rowSums;
  /// kPanelWidth for each row.
  float *target;
  int64_t targetStep;
};

/// The most rows of a SkinnyCall, of all codes and of a sparse matrix.
inline constexpr int kSkinnyRows = 8;
inline constexpr int kSparseRows = 4;

//===----------------------------------------------------------------------===//
// In whole numbers
//===----------------------------------------------------------------------===//

/// Digits of 8 bits with a sign that elements have which are not rounded; the
/// first counts most. Rounded ones have one.
inline constexpr int kDotDigits = 3;

/// Elements of a group where they are not rounded: so few that all that three
/// digits and codes of 4 bits come to fits into 32 bits.
inline constexpr int64_t kDotGroup = 32;

inline constexpr int64_t dotGroup(bool isRounded) {
  return isRounded ? kRowGroup : kDotGroup;
}
/// Bytes from one group to the next.
inline constexpr int64_t dotGroupBytes(bool isRounded, int64_t blockDepth) {
  return isRounded ? (blockDepth < kRowGroup ? blockDepth : kRowGroup)
                   : kDotDigits * kDotGroup;
}
/// What may be read after the last one, if not all of a group is there.
inline constexpr int64_t kDotSlack = kDotGroup;

/// A row of floats as whole numbers, in groups. These begin anew in each block.
struct DotRow {
  /// Of each group all first ones, then all second ones, and so on.
  int8_t *digits;
  /// What the digits of each group come to, one after the other, and what sums
  /// of products with codes begin with.
  int32_t *sums;
  int32_t *starts;
  /// What one is worth in each group.
  float *units;
};

struct DotCall {
  const CodePanel *panel;
  const DotRow *rows;
  /// As in SkinnyCall.
  const float *const *rowSums;
  float *target;
  int64_t targetStep;
};

/// The most rows of a DotCall; of so few there are sums of each digit.
inline constexpr int kDotRows = 8;
inline constexpr int kFewDotRows = 2;

using DotFunction = void (*)(const DotCall &);

/// Of codes that hasByteProducts() takes. Null if there are no instructions for
/// it.
struct CodeDots {
  /// Up to so many rows it is faster than products of floats: with codes of 4
  /// and of 8 bits, of rows as they are and of rounded ones.
  int64_t mostRows[2][2];
  /// False if an element is no number.
  bool (*writeRow)(const CodePanel &panel, const float *from,
                   const DotRow &row);
  bool (*writeRoundedRow)(const CodePanel &panel, const float *from,
                          const DotRow &row);
  /// By rows less one.
  DotFunction dotFew[kFewDotRows];
  const DotFunction *dotGroups;
  DotFunction dotRounded[kDotRows];

  DotFunction dot(int64_t rows) const {
    return rows <= kFewDotRows ? dotFew[rows - 1] : dotGroups[rows - 1];
  }
};

/// Of panels with places. False if these want values that are not there.
struct SparseCodes {
  /// Weights as floats, row after row.
  bool (*expand)(const CodePanel &panel, float *to);
  /// By rows less one.
  bool (*skinny[kSparseRows])(const SkinnyCall &);
};

struct CodeKernels {
  /// Weights as floats, row after row.
  void (*expand)(const CodePanel &panel, float *to);
  /// Up to how many rows `skinny`, which may read codes again and again, is
  /// faster than having weights as floats in memory, if all columns have the
  /// same table; 0 if it does not take such codes.
  int64_t (*mostSkinnyRows)(const CodePanel &panel);
  /// By rows less one.
  void (*skinny[kSkinnyRows])(const SkinnyCall &);
  const CodeDots &dots;
  const SparseCodes &sparse;
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_CODEKERNELS_H
