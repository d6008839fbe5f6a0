// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `coreai` ops that hold or call regions: graphs, branches, loops, delegates.

#ifndef CORTEN_DIALECT_COREAI_IR_CONTROLFLOWOPS_H
#define CORTEN_DIALECT_COREAI_IR_CONTROLFLOWOPS_H

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAI/IR/TensorKinds.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ControlFlowOps.h.inc"

#endif // CORTEN_DIALECT_COREAI_IR_CONTROLFLOWOPS_H
