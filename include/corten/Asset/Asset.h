// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An asset: the folder `NAME.aimodel` with the program as bytecode
// (`main.mlirb`), its hash (`main.hash`) and what is said about it
// (`metadata.json`). This library reads and writes such folders; it runs
// nothing. Weights are never copied: those of an asset that was read lie in the
// mapped file, and writing takes them from wherever the program has them.
//
// Failures are values. Files may be hostile: whatever they hold, reading ends
// in a program or in an error that says what is wrong, and allocates no more
// than a small multiple of the file.

#ifndef CORTEN_ASSET_ASSET_H
#define CORTEN_ASSET_ASSET_H

#include "corten/Asset/Metadata.h"
#include "corten/Asset/SaveOptions.h"
#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace corten {

/// The dialects of programs and of assets.
void registerAssetDialects(mlir::DialectRegistry &registry);

/// An opened asset. Copies share the mapped file, which stays mapped as long as
/// a program that was read from it lives. Reading is thread-safe.
class Asset {
public:
  /// Opens the folder at `path`: maps the program and reads the metadata. The
  /// program itself is read by `code` or `program`.
  static llvm::Expected<Asset> open(llvm::StringRef path);

  llvm::StringRef path() const { return folder; }
  /// Empty, without an asset version, if the folder has none.
  const AssetMetadata &metadata() const { return *properties; }
  /// The bytes of `main.mlirb`.
  llvm::StringRef bytecode() const;

  enum class HashState { Right, Wrong, Missing };
  /// Whether `main.hash` is that of the program. Reads the whole file.
  HashState checkHash() const;

  /// The program as it lies in the file. Read into a context of its own, it is
  /// written again byte for byte.
  llvm::Expected<mlir::OwningOpRef<aicode::AssetOp>>
  code(mlir::MLIRContext &context) const;
  /// The program in the `coreai` dialect, verified.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  program(mlir::MLIRContext &context) const;

private:
  struct File;
  std::string folder;
  std::shared_ptr<const AssetMetadata> properties;
  std::shared_ptr<File> file;
};

/// The program in `bytecode`, which `owner` keeps where it is for as long as
/// the result or anything made from it needs it.
llvm::Expected<mlir::OwningOpRef<aicode::AssetOp>>
readCode(llvm::StringRef bytecode, std::shared_ptr<void> owner,
         mlir::MLIRContext &context);

/// Writes `code` as the bytecode of an asset. Weights go to the stream from
/// where they lie.
llvm::Error writeCode(aicode::AssetOp code, llvm::raw_ostream &stream);

/// Writes the asset `path`, which has to end in `.aimodel`. It is made beside
/// the target and takes its place in one step when all of it is on the disk, so
/// that a failure or a crash leaves whatever was there before. What is there
/// has to be an asset, with nothing else in its folder, unless it is replaced
/// by force. What writers that were killed have left beside the target is
/// removed.
llvm::Error writeAsset(aicode::AssetOp code, const AssetMetadata &metadata,
                       llvm::StringRef path, SaveOptions options = {});

/// The same for a program in the `coreai` dialect, which has to be valid. What
/// assets cannot hold is an error, and nothing is written.
llvm::Error writeProgram(mlir::ModuleOp program, const AssetMetadata &metadata,
                         llvm::StringRef path, SaveOptions options = {});

/// The same for bytes that `write` gives to a stream.
llvm::Error
writeAsset(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write,
           const AssetMetadata &metadata, llvm::StringRef path,
           SaveOptions options = {});

/// Whether an asset can be written to `path` later: that it is the name of one,
/// and what is there may be replaced.
llvm::Error checkTarget(llvm::StringRef path, bool force);

/// From now on signals that end the process (hang-up, interrupt, termination)
/// first remove what is being written. For programs that handle none of them
/// themselves.
void removeUnfinishedAssetsOnSignals();

} // namespace corten

#endif // CORTEN_ASSET_ASSET_H
