// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equations of einsum.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_EQUATION_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_EQUATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace corten {

/// The axes of a tensor by their labels. A label is a letter, or a number from
/// 256 on for the axes that "..." stands for, counted from the last.
using AxisLabels = llvm::SmallVector<int>;

struct Equation {
  llvm::SmallVector<AxisLabels> operands;
  AxisLabels result;
};

/// Reads "ij,jk->ik" for operands of the given ranks. Each operand gets a label
/// for each axis, and the result labels of operands, none of them twice.
llvm::Expected<Equation> parseEquation(llvm::StringRef text,
                                       llvm::ArrayRef<size_t> ranks);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_SHAPERULES_EQUATION_H
