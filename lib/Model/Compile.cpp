// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "State.h"
#include "corten/Compiler/Compiler.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace mlir;

/// Where the program of an asset is, from wherever the plan is used.
static std::string programPath(StringRef folder) {
  SmallString<256> path(folder);
  llvm::sys::path::append(path, "main.mlirb");
  llvm::sys::fs::make_absolute(path);
  return std::string(path);
}

llvm::Expected<std::string> Model::compile(bool isSelfContained) {
  CompileOptions options;
  if (state->asset && !isSelfContained) {
    StringRef bytes = state->asset->bytecode();
    options.weightFile = ArrayRef(bytes.data(), bytes.size());
    options.weightPath = programPath(state->asset->path());
  }
  llvm::Expected<std::string> plan = compileProgram(*state->module, options);
  if (!plan)
    return llvm::createStringError(path() + ": " +
                                   llvm::toString(plan.takeError()));
  return plan;
}

llvm::Expected<std::string> Model::planText() {
  loadCompilerDialects(state->context);
  DiagnosticError error(&state->context, DiagnosticError::Place::Shown);
  FailureOr<OwningOpRef<ModuleOp>> plans = planProgram(*state->module);
  if (failed(plans))
    return inProgram(path(), error);
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(16);
  (*plans)->print(os, flags);
  return text;
}
