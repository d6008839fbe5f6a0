// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `coreaix` dialect: memory layouts of tensors and images, and the copies
// between them. The converter uses it around Metal kernels and for layouts that
// a user asks for at the boundary of a graph.

#ifndef CORTEN_DIALECT_COREAIX_IR_COREAIXDIALECT_H
#define CORTEN_DIALECT_COREAIX_IR_COREAIXDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <cstdint>
#include <optional>

#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h.inc"

#include "corten/Dialect/CoreAIX/IR/CoreAIXEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/CoreAIX/IR/CoreAIXAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/CoreAIX/IR/CoreAIXTypes.h.inc"

namespace corten::coreaix {

/// Returns the layout in the encoding of `type`, or null.
HWConstraintsAttr getLayout(mlir::RankedTensorType type);

} // namespace corten::coreaix

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAIX/IR/CoreAIXOps.h.inc"

#endif // CORTEN_DIALECT_COREAIX_IR_COREAIXDIALECT_H
