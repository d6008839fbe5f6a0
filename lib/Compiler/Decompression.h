// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was planned as decompression of a constant, looked at again by what
// would rather have it compressed.

#ifndef CORTEN_LIB_COMPILER_DECOMPRESSION_H
#define CORTEN_LIB_COMPILER_DECOMPRESSION_H

#include "Planner.h"

namespace corten {

/// What a kernel has that expands compressed weights for a product or a
/// convolution: why it could not have them as they are.
inline constexpr llvm::StringLiteral kExpandedAttr = "plan.expanded";

/// What a kernel has that makes zeros of what is looked up where a sparse
/// tensor has no index. Its inputs are the mask, what was looked up, and a
/// zero.
inline constexpr llvm::StringLiteral kMaskedAttr = "plan.masked";

/// The kernel that computes all of what a form is a view of when the plan is
/// loaded, in row-major order; null if there is none.
plan::KernelOp preparedKernel(const Form &form);

/// An operand of such a kernel as a form; nothing if its sizes are not known.
std::optional<Form> operandForm(Planner &planner, mlir::Value operand);

/// What a prepared kernel only casts from a type of floats to another; null if
/// it does anything else.
mlir::Value castOperand(plan::KernelOp kernel);

/// What is looked up, where a kernel makes zeros of some of it; null if it does
/// not.
mlir::Value maskedOperand(plan::KernelOp kernel);

/// The bytes of a file that elements which share them are taken from; nothing
/// if a form is not all that these have.
std::optional<Form> packedBytes(Planner &planner, const Form &form);

/// Whether all elements of a constant are zeros, of any type.
bool isZero(const Form &form);

/// A product that reads a compressed matrix.
struct CompressedProduct {
  /// Nothing if it cannot.
  std::optional<Form> form;
  /// Why it cannot; empty if the matrix is none that is compressed.
  llvm::StringRef why;
};
/// A product whose right side, `matrix` [k, n], is a constant that is
/// decompressed when the plan is loaded: it reads the compressed one. With an
/// `order` it is a convolution: rows and columns are the axes of the result in
/// that order, and rows are never rounded.
CompressedProduct compressedProduct(Planner &planner, const Form &left,
                                    const Form &matrix,
                                    llvm::ArrayRef<Size> extents,
                                    llvm::ArrayRef<int64_t> order = {});

/// Whether a form is of a constant that is decompressed when the plan is
/// loaded, apart from casts and from numbers that it is multiplied with.
bool comesCompressed(const Form &form);

/// A product with those of compressed matrices, `table` [matrices, k, n], that
/// indices say: it reads only these, compressed. Its extents and element type
/// are not set. Nothing if it cannot.
std::optional<KernelCall> routedCompressedProduct(Planner &planner,
                                                  const Form &left,
                                                  const Form &table,
                                                  const Form &indices);

/// Rows of a constant that is decompressed when the plan is loaded, by indices
/// [..., 1]: only those are. Nothing if it is none, or rows cannot be told
/// apart in it.
std::optional<Form> decompressedRows(Planner &planner, const Form &table,
                                     const Form &indices);

/// A matrix `[..., k, n]` in panels, when the plan is loaded.
Form packedMatrix(Planner &planner, const Form &matrix);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_DECOMPRESSION_H
