// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between a program, in the `coreai` dialect, and its form in an asset, in the
// `aicode` dialect.

#ifndef CORTEN_ASSET_TRANSLATION_H
#define CORTEN_ASSET_TRANSLATION_H

#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace corten {

/// The program that an asset holds, verified. Weights are not copied: `owner`
/// is kept until the last of them is gone. What cannot be read is reported as a
/// diagnostic of the asset's context, and the result is null.
mlir::OwningOpRef<mlir::ModuleOp> importProgram(aicode::AssetOp asset,
                                                std::shared_ptr<void> owner);

} // namespace corten

#endif // CORTEN_ASSET_TRANSLATION_H
