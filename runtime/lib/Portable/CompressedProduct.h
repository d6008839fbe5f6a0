// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a product with compressed weights, as portable and fast
// kernels see them.

#ifndef CORTEN_RUNTIME_LIB_PORTABLE_COMPRESSEDPRODUCT_H
#define CORTEN_RUNTIME_LIB_PORTABLE_COMPRESSEDPRODUCT_H

#include "corten/Runtime/Codes.h"
#include "corten/Runtime/Kernel.h"

namespace corten::runtime::portable {

/// How many inputs it has before those of a program.
inline constexpr size_t kCompressedOperands = 6;

/// The right side: a matrix [depth, columns].
struct CompressedRight {
  CodeKind kind;
  int bits;
  int64_t depth;
  int64_t columns;
  /// Along k, and how many k one has.
  int64_t blocks;
  int64_t blockDepth;
  /// All but the codes are optional.
  const Tensor &codes;
  const Tensor &scales;
  const Tensor &zeros;
  const Tensor &offsets;
  const Tensor &table;
  bool hasRoundedRows;

  int64_t panelBytes() const { return blocks * codes.extents[2]; }
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

/// Checks the operands of MatMulCompressed, and not its program.
Expected<CompressedRight> readCompressedProduct(const Invocation &call);
/// Checks the operands of PackCodes.
Error checkPackCodes(const Invocation &call);

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

/// Puts a code into a block of zeros.
void putCode(uint8_t *block, int bits, int64_t k, int64_t column, uint8_t code);

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_PORTABLE_COMPRESSEDPRODUCT_H
