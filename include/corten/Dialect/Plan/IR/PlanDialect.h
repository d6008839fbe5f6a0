// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `plan` dialect: what the engine will do, before it is written to a file.

#ifndef CORTEN_DIALECT_PLAN_IR_PLANDIALECT_H
#define CORTEN_DIALECT_PLAN_IR_PLANDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "corten/Dialect/Plan/IR/PlanDialect.h.inc"

#define GET_OP_CLASSES
#include "corten/Dialect/Plan/IR/PlanOps.h.inc"

#endif // CORTEN_DIALECT_PLAN_IR_PLANDIALECT_H
