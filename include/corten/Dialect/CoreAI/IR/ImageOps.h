// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `coreai` ops on images, and resampling.

#ifndef CORTEN_DIALECT_COREAI_IR_IMAGEOPS_H
#define CORTEN_DIALECT_COREAI_IR_IMAGEOPS_H

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "corten/Dialect/CoreAI/IR/TensorKinds.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ImageOps.h.inc"

#endif // CORTEN_DIALECT_COREAI_IR_IMAGEOPS_H
