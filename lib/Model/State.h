// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_LIB_MODEL_STATE_H
#define CORTEN_LIB_MODEL_STATE_H

#include "corten/Asset/Asset.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Model/Model.h"
#include "corten/Support/DiagnosticError.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/MapVector.h"

#include <optional>

namespace corten {

struct Model::State {
  explicit State(llvm::StringRef path,
                 std::unique_ptr<mlir::MLIRContext> given = nullptr);

  /// Takes the program over from its form in an asset, which `owner` keeps.
  llvm::Error import(mlir::OwningOpRef<aicode::AssetOp> read,
                     std::shared_ptr<void> owner);
  /// The form of a program that was changed, where it has one.
  llvm::Error updateCode();
  void nameConstants(const mlir::OpPrintingFlags &flags);

  std::string path;
  /// Declared before what lives in it. Programs that this one was merged into
  /// share the memory of its weights, and with that the context.
  std::shared_ptr<mlir::MLIRContext> owned;
  mlir::MLIRContext &context;
  /// Where the program comes from; none if it is not in an asset.
  std::optional<Asset> asset;
  /// What an asset that is written says about itself.
  AssetMetadata metadata;
  /// The program as it lies in the asset.
  mlir::OwningOpRef<aicode::AssetOp> code;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// What is printed in the place of constants that are too long.
  llvm::MapVector<mlir::Operation *, mlir::Attribute> constantNames;
};

/// Gives a graph another name, also where it is called and in debug locations.
void renameSymbol(coreai::GraphOp graph, llvm::StringRef name);

/// A name like `name` that nothing in `table` has.
std::string distinctSymbol(mlir::Operation *table, llvm::StringRef name);

/// What was emitted against the program at `path`.
llvm::Error inProgram(llvm::StringRef path, DiagnosticError &error);

} // namespace corten

#endif // CORTEN_LIB_MODEL_STATE_H
