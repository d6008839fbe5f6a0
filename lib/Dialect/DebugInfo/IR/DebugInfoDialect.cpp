// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace corten::debuginfo;

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.cpp.inc"

#define GET_OP_CLASSES
#include "corten/Dialect/DebugInfo/IR/DebugInfoOps.cpp.inc"

void DebugInfoDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/DebugInfo/IR/DebugInfoOps.cpp.inc"
      >();
}
