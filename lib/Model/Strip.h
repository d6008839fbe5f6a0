// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Removal of debug info.

#ifndef CORTEN_LIB_MODEL_STRIP_H
#define CORTEN_LIB_MODEL_STRIP_H

#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace corten {

/// Of a program as it lies in an asset; everything else stays byte for byte.
/// Ops keep the number that recordings know them by.
void stripDebugInfo(aicode::AssetOp code);

/// Of a program that is not in an asset.
void stripDebugInfo(mlir::ModuleOp module);

} // namespace corten

#endif // CORTEN_LIB_MODEL_STRIP_H
