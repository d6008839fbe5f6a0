// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++ classes of the `coreai` types: handles, tokens, images, and the types
// that are registered only so that every program can be read.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAITYPES_H
#define CORTEN_DIALECT_COREAI_IR_COREAITYPES_H

#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h.inc"

#endif // CORTEN_DIALECT_COREAI_IR_COREAITYPES_H
