// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of a program, by subject. Each appends what it finds, in the order
// of the program.

#ifndef CORTEN_LIB_INSPECT_PROGRAMCHECKS_H
#define CORTEN_LIB_INSPECT_PROGRAMCHECKS_H

#include "corten/Inspect/Doctor.h"
#include "mlir/IR/BuiltinOps.h"

namespace corten {

/// Entry points and the names of their values.
void checkInterface(mlir::ModuleOp module, std::vector<Finding> &findings);
/// Forms that loaders and runtimes stumble over.
void checkStructure(mlir::ModuleOp module, std::vector<Finding> &findings);
/// Writes that do not happen.
void checkState(mlir::ModuleOp module, std::vector<Finding> &findings);
/// What overflows, narrows or is no number.
void checkNumbers(mlir::ModuleOp module, std::vector<Finding> &findings);
/// Weights that are missing, unused or stored twice; graphs that nobody calls.
void checkWeights(mlir::ModuleOp module, std::vector<Finding> &findings);
/// Absolute paths in locations.
void checkPaths(mlir::ModuleOp module, std::vector<Finding> &findings);

/// "main: coreai.exp at model.py:12", without the line if it is not known.
std::string placeOf(mlir::Operation *op);

} // namespace corten

#endif // CORTEN_LIB_INSPECT_PROGRAMCHECKS_H
