// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "State.h"
#include "corten/Transforms/Simplification.h"

using namespace corten;
using namespace mlir;

llvm::Error Model::optimize() {
  SimplificationOptions options;
  // Devices know composites, and other programs call what is externalized.
  options.keepMarked = true;
  PassManager passes(&state->context, ModuleOp::getOperationName());
  buildSimplificationPipeline(passes, options);
  DiagnosticError error(&state->context, DiagnosticError::Place::Shown);
  if (failed(passes.run(*state->module)))
    return llvm::createStringError(
        state->path + ": " +
        llvm::toString(error.take("the program cannot be optimized")));
  return state->updateCode();
}
