// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What torch's view operators and in-place operators do to memory.

#ifndef CORTEN_LIB_PROGRAM_VIEWS_H
#define CORTEN_LIB_PROGRAM_VIEWS_H

#include "corten/Program/Program.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace corten {

/// How a view operator picks from its operand, as far as a write through it is
/// concerned.
enum class ViewKind {
  None,
  /// All elements in the same shape.
  Whole,
  /// All elements in the same order.
  Reshape,
  Permute,
  Slice,
  Narrow,
  Select,
  Diagonal,
  /// Several results: consecutive parts of one axis.
  Split,
  /// Several results: the slices along an axis.
  Unbind,
  RealPairs,
  ComplexPairs,
  /// Nothing can be written through it.
  ReadOnly,
};

/// Operators whose results share memory with their operand always, or when
/// torch found that they can.
ViewKind viewKindOf(const Operator &op);

/// Whether a call returns a view only where it can, and a copy elsewhere.
bool isSometimesView(const Operator &op);

/// Whether decomposed programs have calls of such an operator too.
bool isLeftByDecomposition(const Operator &op);

/// In-place operators that change what a tensor is rather than what it holds,
/// or that write to a second tensor.
bool isIrregular(llvm::StringRef name);

/// Which axis of a tensor of this rank each axis of a permuting view is;
/// nothing for a call that permutes no such tensor.
std::optional<llvm::SmallVector<int64_t>> permutationOf(const Node &node,
                                                        int64_t rank);

} // namespace corten

#endif // CORTEN_LIB_PROGRAM_VIEWS_H
