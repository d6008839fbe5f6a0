// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of exported programs (lib/Program) to one module in the `coreai`
// dialect. Called by the Python bindings and by the command line. It never
// copies a weight, never aborts on a user's program, and gives the same module
// for the same input, byte for byte.

#ifndef CORTEN_CONVERSION_ATENTOCOREAI_CONVERSION_H
#define CORTEN_CONVERSION_ATENTOCOREAI_CONVERSION_H

#include "corten/Program/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace corten {

/// One public graph of the module to be made.
struct EntryPoint {
  const Program *program = nullptr;
  std::string name = "main";
  /// Empty lists keep the default names (those of the exported graph).
  std::vector<std::string> inputNames;
  std::vector<std::string> outputNames;
  std::vector<std::string> stateNames;
};

struct ConversionOptions {
  /// Give every operation the user's source line as its location.
  bool debugLocations = true;
};

/// A constant too large to stand in the module's text. The module refers to
/// `key`; the data stays where it is.
struct Resource {
  std::string key;
  /// The weight's own name, for whoever attaches the data.
  std::string name;
  TensorView data;
};

struct ConvertedModule {
  /// Declared first: the module must go before its context does.
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// In the order in which the module mentions them.
  std::vector<Resource> resources;
};

/// One place where an unsupported operator is used.
struct UnsupportedUse {
  const Node *node = nullptr;
};

/// An operator of the program that cannot be converted, because no lowering
/// exists for it or because it works in place, with all its uses.
struct UnsupportedOperator {
  const Operator *op = nullptr;
  std::vector<UnsupportedUse> uses;
};

/// All operators of `program`, subgraphs included, that cannot be lowered, in
/// the order of their printed names.
std::vector<UnsupportedOperator> findUnsupported(const Program &program);

/// True if the table has a lowering for an operator of this name
/// ("add.Tensor", "floordiv", "cond").
bool hasLowering(llvm::StringRef nameSpace, llvm::StringRef name);

/// A row of the table, for the generated documentation.
struct SupportedOperator {
  llvm::StringRef name;
  llvm::StringRef family;
};
std::vector<SupportedOperator> supportedOperators();

/// Converts all entry points into one verified module. On failure returns null
/// and sets `error` to a message for the user: what is wrong, at which node,
/// on which line of their code.
std::unique_ptr<ConvertedModule> convert(llvm::ArrayRef<EntryPoint> entryPoints,
                                         const ConversionOptions &options,
                                         std::string &error);

} // namespace corten

#endif // CORTEN_CONVERSION_ATENTOCOREAI_CONVERSION_H
