// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of integers as bytes of a program: packed to the width of their type.
// Element i of width n takes bits i*n to i*n+n-1, the least significant first.
// All of this reads weights from front to back, through a window.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_PACKEDWEIGHTS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_PACKEDWEIGHTS_H

#include "corten/Program/Program.h"
#include "corten/Support/ReadWindow.h"

#include <optional>
#include <utility>

namespace corten {

/// The least and greatest element; none for weights without elements, and for
/// those that are not integers or booleans of a byte or more.
std::optional<std::pair<int64_t, int64_t>> valueRange(const TensorView &view,
                                                      ReadWindow &window);

/// The first `count` integers of a weight that valueRange() knows the range of.
llvm::SmallVector<int64_t> firstElements(const TensorView &view, int64_t count,
                                         ReadWindow &window);

/// How many elements are one; none if some are neither zero nor one, or are
/// not integers.
std::optional<int64_t> countOnes(const TensorView &view, ReadWindow &window);

/// Bytes that `count` integers of `bits` bits take: whole groups of the fewest
/// elements that fill whole bytes.
size_t packedBytes(int64_t count, unsigned bits);

/// A copy of integers in `type`, of eight bits or fewer; less than a byte each
/// where that is less. None if an element is not of the type.
std::optional<TensorView> packed(const TensorView &view, ScalarType type,
                                 ReadWindow &window);

/// The least and greatest value of an integer type of eight bits or fewer.
std::pair<int64_t, int64_t> limitsOf(ScalarType type);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_PACKEDWEIGHTS_H
