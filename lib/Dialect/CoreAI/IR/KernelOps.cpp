// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/KernelOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

LogicalResult Metal4KernelOp::verify() {
  if (getResultShapes().size() != getOutputs().size())
    return emitOpError("needs one shape per result, got ")
           << getResultShapes().size() << " for " << getOutputs().size();
  return success();
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/KernelOps.cpp.inc"
