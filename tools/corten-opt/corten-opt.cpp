// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a program, runs passes on it and prints it again. For tests.

#include "corten/Compiler/Compiler.h"
#include "corten/Dialect/Registration.h"
#include "corten/Transforms/Simplification.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  corten::registerAllDialects(registry);
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  corten::registerTransforms();
  corten::registerCompilerDialects(registry);
  corten::registerCompilerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Optimizer driver for Core AI programs\n", registry));
}
