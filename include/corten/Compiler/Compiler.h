// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program of the `coreai` dialect to a plan that the runtime executes.

#ifndef CORTEN_COMPILER_COMPILER_H
#define CORTEN_COMPILER_COMPILER_H

#include "corten/Compiler/Explanation.h"
#include "corten/Compiler/Precision.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace corten {

struct CompileOptions {
  Precision precision;
  /// The file that lies behind the program's weights, mapped: those that lie in
  /// it are not copied into the plan.
  llvm::ArrayRef<char> weightFile;
  /// Where that is.
  std::string weightPath;
};

/// What the compiler adds to the dialects of a program.
void registerCompilerDialects(mlir::DialectRegistry &registry);

void loadCompilerDialects(mlir::MLIRContext &context);

/// Makes `coreai-to-plan` known to command lines, for tests.
void registerCompilerPasses();

/// The functions of a program in the `plan` dialect. The program stays as it
/// is. A message has been emitted where that fails. `times` gets what stages
/// took.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
planProgram(mlir::ModuleOp program, Precision precision = {},
            StageTimes *times = nullptr);

/// The bytes of a plan file, of functions of planProgram(). Fails if a kernel
/// that the program brings cannot be run here.
llvm::Expected<std::string> writePlanFile(mlir::ModuleOp plans,
                                          const CompileOptions &options = {},
                                          StageTimes *times = nullptr);

/// Both, one after the other.
llvm::Expected<std::string> compileProgram(mlir::ModuleOp program,
                                           const CompileOptions &options = {});

} // namespace corten

#endif // CORTEN_COMPILER_COMPILER_H
