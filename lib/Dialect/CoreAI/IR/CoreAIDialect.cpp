// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"

using namespace mlir;
using namespace corten::coreai;

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.cpp.inc"

void CoreAIDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerOperations();
}

void CoreAIDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/ControlFlowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/ConvolutionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/ElementwiseOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/ImageOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/IndexingOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/KernelOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/LinearAlgebraOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/QuantizationOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/ReductionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/ShapeOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAI/IR/StateOps.cpp.inc"
      >();
}

Operation *CoreAIDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  auto typed = dyn_cast<TypedAttr>(value);
  if (!typed || typed.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, typed);
}
