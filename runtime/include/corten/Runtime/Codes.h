// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How weights of few bits are packed for products: in panels of columns as
// other weights are (Panels.h), and these in blocks along k that have one set
// of parameters for each column. A weight is
//
//   (value of its code - zero) * scale + offset
//
// Codes of a block come in units. Of 8 bits, a unit is one row of a panel, a
// byte for each column. Of fewer, it is 32-bit words, one for each column, and
// in each of them codes of one k after the other, the first in the lowest bits.
// Of 3 and 6 bits, words of the lower 2 and 4 bits come first, and then those
// of the rest. The last unit of a block is filled up with zeros.
//
// Sparse weights are kept as places and values. Places are words of 32 bits,
// for each panel one for each k, whose bits say which columns have a value, the
// first column in the lowest one; two words before them say how many values
// come before the panel. Values follow each other, row of a panel after row,
// as floats, or as codes without gaps between their bits.

#ifndef CORTEN_RUNTIME_CODES_H
#define CORTEN_RUNTIME_CODES_H

#include "corten/Runtime/Panels.h"

namespace corten::runtime {

/// What codes stand for: entries of a table, whole numbers, or floats.
enum class CodeKind : int64_t {
  Table,
  Signed,
  Unsigned,
  F8E4M3FN,
  F8E5M2,
  /// Of sparse weights only: they are no codes, but floats of some type.
  Float
};

/// Whether there are codes of so many bits.
inline constexpr bool isCodeWidth(int64_t bits) {
  return bits == 1 || bits == 2 || bits == 3 || bits == 4 || bits == 6 ||
         bits == 8;
}

/// The number that a code stands for, if its highest bit is a sign.
inline constexpr int signedNumber(unsigned code, int bits) {
  return int(code) - (code >> (bits - 1) & 1 ? 1 << bits : 0);
}

/// The bits that are together in the first words of a unit.
inline constexpr int lowerBits(int bits) {
  return bits == 3 ? 2 : bits == 6 ? 4 : bits;
}

/// How many k a unit has.
inline constexpr int64_t unitDepth(int bits) {
  return bits == 8 ? 1 : 32 / (bits == lowerBits(bits) ? bits : bits / 3);
}

inline constexpr int64_t unitBytes(int bits) {
  return unitDepth(bits) * kPanelWidth * bits / 8;
}

/// Elements of a row that have the same unit where rows are whole numbers: sums
/// of so many products fit into 32 bits. Groups begin anew in each block.
inline constexpr int64_t kRowGroup = 128;

/// Whether products with such codes can be sums of whole numbers of 8 bits.
inline constexpr bool hasByteProducts(CodeKind kind, int bits,
                                      int64_t blockDepth) {
  return (kind == CodeKind::Signed || kind == CodeKind::Unsigned) &&
         ((bits == 4 && blockDepth % 8 == 0) ||
          (bits == 8 && blockDepth % 4 == 0));
}

/// Of a block of `depth` k.
inline constexpr int64_t codeBytes(int64_t depth, int bits) {
  return (depth + unitDepth(bits) - 1) / unitDepth(bits) * unitBytes(bits);
}

//===----------------------------------------------------------------------===//
// Sparse weights
//===----------------------------------------------------------------------===//

/// Words before the places of a panel.
inline constexpr int64_t kPlacesHeader = 2;
/// Panels begin at a multiple of so many values: with codes of any width that
/// is a whole byte.
inline constexpr int64_t kValueGroup = 8;
/// Elements after the last value, which whoever takes several at a time reads.
inline constexpr int64_t kValuePadding = 128;

/// Elements of a tensor with room for so many values: floats, or bytes of codes
/// of up to 8 bits.
inline constexpr int64_t valueElements(int64_t capacity, int bits) {
  return (bits > 8 ? capacity : (capacity * bits + 7) / 8) + kValuePadding;
}
/// For how many values such a tensor has room; negative if it is too small.
inline constexpr int64_t valueCapacity(int64_t elements, int bits) {
  return bits > 8 || elements < kValuePadding
             ? elements - kValuePadding
             : (elements - kValuePadding) / bits * 8;
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_CODES_H
