// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace corten;

#include "corten/Dialect/AICode/IR/AICodeDialect.cpp.inc"

#define GET_OP_CLASSES
#include "corten/Dialect/AICode/IR/AICodeOps.cpp.inc"

void aicode::AICodeDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerInterfaces();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/AICode/IR/AICodeOps.cpp.inc"
      >();
}
