// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `coreai` ops of quantization and compressed weights.

#ifndef CORTEN_DIALECT_COREAI_IR_QUANTIZATIONOPS_H
#define CORTEN_DIALECT_COREAI_IR_QUANTIZATIONOPS_H

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAI/IR/TensorKinds.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/QuantizationOps.h.inc"

#endif // CORTEN_DIALECT_COREAI_IR_QUANTIZATIONOPS_H
