// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tensor of a program lies in memory: as a strided view of what a kernel
// computes, of an argument or of a constant. What only moves elements changes
// this description and costs nothing.

#ifndef CORTEN_LIB_COMPILER_FORM_H
#define CORTEN_LIB_COMPILER_FORM_H

#include "Sizes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace corten {

using SizeList = llvm::SmallVector<Size, 6>;

struct Form {
  /// No view itself.
  mlir::Value base;
  mlir::Type element;
  SizeList extents;
  SizeList strides;
  Size offset;

  unsigned rank() const { return extents.size(); }
};

/// Row-major strides.
SizeList rowMajor(Sizes &sizes, llvm::ArrayRef<Size> extents);
/// Strides of memory without gaps whose axes lie in this order, the outermost
/// first.
SizeList denseStrides(Sizes &sizes, llvm::ArrayRef<Size> extents,
                      llvm::ArrayRef<int64_t> order);

/// Whether elements surely lie in row-major order without gaps.
bool isRowMajor(Sizes &sizes, const Form &form);
/// The order of the axes if the form has no gaps and repeats nothing: the
/// outermost first. Axes of extent 1 keep their places as far as possible.
std::optional<llvm::SmallVector<int64_t>> denseOrder(Sizes &sizes,
                                                     const Form &form);

/// One order for all that lie in memory the same way: axes of extent 1 come
/// first, or where they are if nothing else is out of order.
llvm::SmallVector<int64_t> canonicalOrder(llvm::ArrayRef<Size> extents,
                                          llvm::ArrayRef<int64_t> order);

Form transposed(const Form &form, llvm::ArrayRef<int64_t> permutation);
/// With axes of extent 1 at these places of the result, which are sorted.
Form withUnitAxes(Sizes &sizes, const Form &form, llvm::ArrayRef<int64_t> axes);
Form withoutAxes(const Form &form, llvm::ArrayRef<int64_t> axes);
/// Repeated to a shape, whose last axes are those of the form.
Form broadcast(Sizes &sizes, const Form &form, llvm::ArrayRef<Size> extents);
/// From an index on along an axis, this many, `step` apart.
Form sliced(Sizes &sizes, const Form &form, unsigned axis, Size start,
            Size count, Size step);
/// With other axes; none if that takes a copy. As many elements as before.
std::optional<Form> reshaped(Sizes &sizes, const Form &form,
                             llvm::ArrayRef<Size> extents);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_FORM_H
