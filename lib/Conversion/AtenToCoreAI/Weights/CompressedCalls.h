// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls of operators of compressed weights say about their operands.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_COMPRESSEDCALLS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_COMPRESSEDCALLS_H

#include "corten/Program/Program.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace corten {

/// A call that gives numbers from quantized ones with parameters for blocks of
/// them, in the terms of coreai.blockwise_shift_scale.
struct BlockwiseCall {
  /// Names of the parameters; empty for those that the operator lacks.
  llvm::StringRef data, scale, zeroPoint, minval;
  /// The shape of scales and offsets: it divides that of the data.
  llvm::SmallVector<int64_t> blocks;
  /// The type of the quantized data as the call states it.
  std::optional<ScalarType> declared;
};

/// The call in these terms, if it is one.
std::optional<BlockwiseCall> asBlockwiseCall(const Node &node);

/// The type of the indices into a table, from its number of entries; none if
/// that is no power of two from 2 to 256. There are no indices of 5 and 7 bits:
/// they are kept in 6 and 8.
std::optional<ScalarType> paletteIndexType(const Node &lookup);

/// A call of an operator of compressed weights, in either namespace.
bool isCompressionCall(const Node &node, llvm::StringRef name);

/// Extents of a tensor whose extents are all known.
llvm::SmallVector<int64_t> staticShape(const ValueInfo &info);

/// The shape of the parameters of coreai::quantize and coreai::dequantize: a
/// scalar, or a vector along the axis.
llvm::SmallVector<int64_t> parameterShape(const Node &call);

/// An integer type that torch can only keep in a byte.
bool isSubByte(ScalarType type);

/// The info of an operand; null for one that is absent or no value.
const ValueInfo *infoOf(const Node &call, llvm::StringRef parameter);

/// Whether an operand is the result of a call.
bool isResultOf(const Node &user, llvm::StringRef parameter, const Node &call);

/// A type that a call is given; nothing for anything else. What else there may
/// be in its place, the lowering reports.
std::optional<ScalarType> dtypeOf(const Node &call, llvm::StringRef parameter);

/// The narrowest type of the sign of `storage` that holds all of a range; that
/// itself for a range that needs it.
ScalarType narrowest(ScalarType storage, int64_t low, int64_t high);

/// The type of so many bits of the sign of `storage`; none if there is none.
std::optional<ScalarType> withBits(ScalarType storage, int64_t bits);

/// A call of torchao's dequantize_affine.
bool isAffine(const Node &node);

/// The extents of the blocks of such a call, axis by axis; none if it has no
/// list there.
llvm::ArrayRef<Argument> blockSizes(const Node &call);

/// How long the blocks along an axis are; -1 stands for the whole of it.
int64_t blockAlong(int64_t extent, const Argument &size);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_COMPRESSEDCALLS_H
