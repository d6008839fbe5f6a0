// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes functions of the `plan` dialect as a plan. Tensors get buffers here,
// of which several may be in one place; where those lie is decided when sizes
// are known, by the runtime.

#ifndef CORTEN_LIB_COMPILER_WRITER_H
#define CORTEN_LIB_COMPILER_WRITER_H

#include "corten/Runtime/Plan_generated.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

namespace corten {

/// The file that weights may be taken from.
struct WeightFile {
  /// The mapped bytes; weights that lie elsewhere are copied into the plan.
  llvm::ArrayRef<char> bytes;
};

/// The plan of all functions in a module.
runtime::plan::PlanT writePlan(mlir::ModuleOp module, const WeightFile &file);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_WRITER_H
