// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a product with compressed weights, as portable and fast
// kernels see them.

#ifndef CORTEN_RUNTIME_LIB_PORTABLE_COMPRESSEDPRODUCT_H
#define CORTEN_RUNTIME_LIB_PORTABLE_COMPRESSEDPRODUCT_H

#include "corten/Runtime/Codes.h"
#include "corten/Runtime/Kernel.h"

#include <algorithm>
#include <bit>

namespace corten::runtime::portable {

/// How many inputs they have before those of a program.
inline constexpr size_t kCompressedOperands = 6;
inline constexpr size_t kSparseOperands = 7;
inline constexpr size_t kRoutedCompressedOperands = 7;

/// The right side: a matrix [depth, columns].
struct CompressedRight {
  CodeKind kind;
  int bits;
  int64_t depth;
  int64_t columns;
  /// Along k, and how many k one has.
  int64_t blocks;
  int64_t blockDepth;
  /// Codes, or values of a sparse matrix. All but these are optional.
  const Tensor &codes;
  const Tensor &scales;
  const Tensor &zeros;
  const Tensor &offsets;
  const Tensor &table;
  bool hasRoundedRows;
  /// Of a sparse matrix, or null.
  const Tensor *places;
  /// Whether absent values are zeros rather than what code 0 stands for.
  bool isAbsentZero;
  /// Of several matrices, whose columns are here side by side: which one rows
  /// are multiplied with, and how many columns one has.
  const Tensor *which = nullptr;
  int64_t columnsOfMatrix = 0;

  int64_t matrices() const { return columns / columnsOfMatrix; }
  size_t operands() const {
    return places  ? kSparseOperands
           : which ? kRoutedCompressedOperands
                   : kCompressedOperands;
  }
  /// About as many, if it is sparse.
  int64_t panelBytes() const {
    if (!places)
      return blocks * codes.extents[2];
    int64_t panels = std::max<int64_t>(places->extents[0], 1);
    return codes.extents[0] * int64_t(byteSize(codes.type)) / panels +
           depth * 4;
  }
  /// For how many values there is room.
  int64_t capacity() const { return valueCapacity(codes.extents[0], bits); }
  bool hasTables() const { return kind == CodeKind::Table; }
  /// How many entries a table has.
  int64_t entries() const { return int64_t(1) << bits; }
  /// How many blocks and columns have the same one.
  int64_t blocksOfTable() const { return blocks / table.extents[0]; }
  int64_t columnsOfTable() const { return columns / table.extents[1]; }
};

/// Whether there is an input that is optional; it may have no memory yet.
inline bool isThere(const Tensor &tensor) {
  return tensor.data || tensor.rank != 0;
}

/// Check the operands of MatMulCompressed, MatMulRoutedCompressed and
/// MatMulSparse, and not their programs. Where values of a sparse matrix are,
/// and which matrices there are to be, is not looked at.
Expected<CompressedRight> readCompressedProduct(const Invocation &call);
Expected<CompressedRight> readRoutedCompressedProduct(const Invocation &call);
Expected<CompressedRight> readSparseProduct(const Invocation &call);
/// Check the operands of what packs, and not where values are.
Error checkPackCodes(const Invocation &call);
Error checkPackPlaces(const Invocation &call);
Error checkPackValues(const Invocation &call);

/// The words of a panel of places.
struct PanelPlaces {
  /// One for each k.
  uint32_t *words;

  PanelPlaces(const Tensor &places, int64_t panel)
      : words(places.as<uint32_t>() + panel * places.extents[1] +
              kPlacesHeader) {}

  /// How many values come before it. May be anything, if nobody has checked.
  int64_t first() const {
    return int64_t(uint64_t(words[-2]) | uint64_t(words[-1]) << 32);
  }
  void setFirst(int64_t first) const {
    words[-2] = uint32_t(first);
    words[-1] = uint32_t(uint64_t(first) >> 32);
  }
  int64_t count(int64_t depth) const {
    int64_t count = 0;
    for (int64_t k = 0; k != depth; ++k)
      count += std::popcount(words[k]);
    return count;
  }
};

/// Whether `count` values from `first` on are among those there is room for,
/// and begin at a whole byte.
inline bool areValues(int64_t first, int64_t count, int64_t capacity) {
  return first >= 0 && first % kValueGroup == 0 && count <= capacity &&
         first <= capacity - count;
}
Error placesDoNotFit(std::string_view kernel, const Tensor &values);

/// Parts of PackPlaces and PackValues.
void writePlaces(const Invocation &call, int64_t panel);
/// Says for each panel how many values come before it; of these, panels have
/// places of their own already.
void linkPlaces(const Tensor &places);
Error checkPlaces(const Invocation &call);
void writeValues(const Invocation &call, int64_t panel);

/// The largest magnitude of a group of elements, and whether all are numbers.
struct GroupRange {
  float largest;
  bool isFinite;

  static GroupRange of(const float *from, int64_t count);
};

/// How a group is rounded to whole numbers from -127 to 127. What is smaller
/// than any weight could make up for counts as nothing. Always inline: code for
/// some machines only uses it, and must not become that of all.
struct GroupScale {
  float factor;
  float unit;

  __attribute__((always_inline)) explicit GroupScale(float largest)
      : factor(largest < 1e-35f ? 0 : 127 / largest),
        unit(largest < 1e-35f ? 0 : largest / 127) {}
};

/// Rounds a row, unless an element is no number: the sums of such a row are
/// none, whatever else it has.
void roundRow(const CompressedRight &right, const float *from, float *to);

/// One of the codes of a sparse matrix.
uint8_t codeAmongValues(const uint8_t *values, int bits, int64_t index);

/// Puts a code into a block of zeros.
void putCode(uint8_t *block, int bits, int64_t k, int64_t column, uint8_t code);

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_PORTABLE_COMPRESSEDPRODUCT_H
