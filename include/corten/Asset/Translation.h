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
/// is kept until the last of them is gone. What cannot be read is a diagnostic
/// of the asset's context.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importProgram(aicode::AssetOp asset, std::shared_ptr<void> owner);

/// What becomes of ops that are not needed.
enum class Simplification {
  /// What is known is computed, and what nothing uses is left out, as
  /// coreai-core does when it saves a program.
  Official,
  /// Each op is written. A program that was read from an asset becomes that
  /// asset again.
  None,
};

/// The form of a program in an asset, as coreai-core writes it, with the date
/// of the newest form that it uses as its version. The program has to be valid
/// and stays as it is; weights are shared with it, in its context. What assets
/// cannot hold is a diagnostic.
mlir::FailureOr<mlir::OwningOpRef<aicode::AssetOp>>
exportProgram(mlir::ModuleOp module,
              Simplification simplification = Simplification::Official);

} // namespace corten

#endif // CORTEN_ASSET_TRANSLATION_H
