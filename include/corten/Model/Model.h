// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that was opened to be looked at, changed and written again. The
// command line, the C API and the Python module are thin layers over it. It
// runs nothing. Failures are values; nothing that a file holds ends the
// process.

#ifndef CORTEN_MODEL_MODEL_H
#define CORTEN_MODEL_MODEL_H

#include "corten/Asset/Metadata.h"
#include "corten/Asset/SaveOptions.h"
#include "corten/Compiler/Precision.h"
#include "corten/Conversion/AtenToCoreAI/ValueNames.h"
#include "corten/Inspect/Doctor.h"
#include "corten/Inspect/Info.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corten {

/// What a value is to the callers of an entry point.
enum class ValueRole : uint8_t { Input, Output, State };

/// How a program is written as text.
struct PrintOptions {
  /// The graph to print; empty for the whole program.
  std::string graph;
  /// With debug locations.
  bool locations = false;
  /// In the form that every MLIR reads.
  bool generic = false;
};

/// Shapes of inputs and states.
using NamedShapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

/// One opened program with the memory it lies in. Not thread-safe; two models
/// share nothing.
class Model {
public:
  /// Opens an asset (a folder `NAME.aimodel`, whose weights are mapped), the
  /// program of one (a file `main.mlirb`), or a program of the `coreai` dialect
  /// as text.
  static llvm::Expected<std::unique_ptr<Model>> open(llvm::StringRef path);

  /// Takes over a program that is in no file. `path` says where it comes from,
  /// in messages.
  static std::unique_ptr<Model>
  adopt(std::unique_ptr<mlir::MLIRContext> context,
        mlir::OwningOpRef<mlir::ModuleOp> program, llvm::StringRef path);

  ~Model();
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  /// Where it was opened.
  const std::string &path() const;

  ProgramInfo info();
  /// Weights are named, not printed. Fails if there is no such graph.
  llvm::Expected<std::string> text(const PrintOptions &options = {});
  /// Writes a page that shows the program and needs nothing else. `overlay` is
  /// empty, or JSON with numbers to colour ops by; see readOverlay(). Fails if
  /// it is something else, before anything is written.
  llvm::Error writePage(llvm::raw_ostream &os, llvm::StringRef overlay = {});
  /// All findings, the worst first. Reads every byte once.
  std::vector<Finding> examine();
  /// Removes source lines, module paths and what else debuggers want. Numbers
  /// of ops stay, so that recordings can still be matched with the original.
  void stripDebugInfo();

  /// Brings the program into its simplest form: constants computed, what is
  /// the same computed once, transposes, reshapes and casts merged. What it
  /// computes, its interface, its composites and its weights stay as they are.
  /// After a failure the model is of no use.
  llvm::Error optimize();

  /// What an asset that is written says about itself. completeMetadata() fills
  /// in what is left open.
  AssetMetadata &metadata();

  /// Gives values of an entry point other names; all of them in order, or
  /// some. Fails, and changes nothing, on values that are not there and on
  /// names that do not differ.
  llvm::Error renameValues(llvm::StringRef entryPoint, ValueRole role,
                           const ValueNames &names);
  llvm::Error renameEntryPoint(llvm::StringRef from, llvm::StringRef to);
  /// Removes the other entry points, and what only they need.
  llvm::Error keepEntryPoints(llvm::ArrayRef<std::string> names);
  /// One model with the entry points of all, which have to have different
  /// names. It has the metadata of the first. Weights of equal content become
  /// one; they stay where they are, and the models may go.
  static llvm::Expected<std::unique_ptr<Model>>
  merge(llvm::ArrayRef<Model *> models);

  /// Writes an asset. The folder appears when all of it is on the disk, and
  /// replaces an asset that was there; after a failure everything is as it
  /// was. See writeAsset().
  llvm::Error save(llvm::StringRef path, SaveOptions options = {});

  /// The bytes of a plan for the engine. Weights that lie in the asset stay
  /// there: the plan says where, and is of use only together with it, unless
  /// `isSelfContained`.
  llvm::Expected<std::string> compile(bool isSelfContained = false,
                                      Precision precision = {});
  /// The plan as text, in the `plan` dialect.
  llvm::Expected<std::string> planText(Precision precision = {});
  /// What the compiler did: kernels, fusion, memory, time. For people. `shapes`
  /// are those of inputs and states, by name, that memory depends on.
  llvm::Error explainPlan(llvm::raw_ostream &out, Precision precision = {},
                          const NamedShapes &shapes = {});

  /// The program, which belongs to the model.
  mlir::ModuleOp module();

private:
  struct State;
  explicit Model(std::unique_ptr<State> state);
  static llvm::Expected<std::unique_ptr<Model>> openAsset(llvm::StringRef path);
  static llvm::Expected<std::unique_ptr<Model>> openFile(llvm::StringRef path);
  llvm::Error checkNames();
  std::unique_ptr<State> state;
};

/// What `corten doctor` says of a path: also of an asset that loaders refuse,
/// which cannot be opened. Fails only where nothing can be said.
llvm::Expected<std::vector<Finding>> examinePath(llvm::StringRef path);

} // namespace corten

#endif // CORTEN_MODEL_MODEL_H
