// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace corten::param;

#include "corten/Dialect/Param/IR/ParamDialect.cpp.inc"

void ParamDialect::initialize() {
  registerTypes();
  registerAttributes();
}
