// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on the `plan` dialect that make fewer kernels of many.

#ifndef CORTEN_LIB_COMPILER_FUSION_H
#define CORTEN_LIB_COMPILER_FUSION_H

#include "corten/Dialect/Plan/IR/PlanDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>

namespace corten {

/// Whether the elements of the first results of two kernels lie in the same
/// order.
bool isSameLayout(plan::KernelOp a, plan::KernelOp b);

/// Joins tile programs that follow each other, and makes numbers of inputs that
/// are the same everywhere.
void fuseTiles(mlir::ModuleOp plans);

/// Lets reductions compute what they reduce.
void fuseReductions(mlir::ModuleOp plans);

/// Lets products and convolutions do what is done with each element of their
/// results.
void fuseEpilogues(mlir::ModuleOp plans);

/// Whether a kernel can store results of any type of floats, since a program
/// makes them.
bool storesAnyType(plan::KernelOp op);

/// Lets what is only multiplied in bf16 be stored so.
void storeNarrow(mlir::ModuleOp plans);

/// Of a tile program or a reduction in a finished plan: what computes its
/// inputs and might have been fused with it, and why that was not done.
llvm::SmallVector<std::pair<plan::KernelOp, std::string>>
whatStayedApart(plan::KernelOp consumer);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_FUSION_H
