// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `debuginfo` dialect: locations that say where in a PyTorch program an
// operation comes from. The converter attaches them, reports read them; nothing
// here changes what a program computes.
//
// All attributes are uniqued, so a location costs one hash look-up once its
// parts exist: build scopes and call stacks once and reuse them.

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFODIALECT_H
#define CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFODIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h.inc"

#include "corten/Dialect/DebugInfo/IR/DebugInfoEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/DebugInfo/IR/DebugInfoTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/DebugInfo/IR/DebugInfoAttributes.h.inc"

#define GET_OP_CLASSES
#include "corten/Dialect/DebugInfo/IR/DebugInfoOps.h.inc"

#endif // CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFODIALECT_H
