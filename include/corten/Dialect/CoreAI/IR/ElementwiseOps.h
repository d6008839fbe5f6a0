// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `coreai` ops element by element: arithmetic, comparisons, logic, selection,
// casts, and the broadcasting forms.

#ifndef CORTEN_DIALECT_COREAI_IR_ELEMENTWISEOPS_H
#define CORTEN_DIALECT_COREAI_IR_ELEMENTWISEOPS_H

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAI/IR/TensorKinds.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ElementwiseOps.h.inc"

#endif // CORTEN_DIALECT_COREAI_IR_ELEMENTWISEOPS_H
