// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `coreai` dialect object. Whoever builds, reads or writes programs loads
// it; operations, types and attributes have headers of their own. Including
// this header brings in no operation class.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAIDIALECT_H
#define CORTEN_DIALECT_COREAI_IR_COREAIDIALECT_H

#include "mlir/IR/Dialect.h"

#include "corten/Dialect/CoreAI/IR/CoreAIDialect.h.inc"

#endif // CORTEN_DIALECT_COREAI_IR_COREAIDIALECT_H
