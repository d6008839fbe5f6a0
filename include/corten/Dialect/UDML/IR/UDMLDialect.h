// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `udml` dialect: host code around graphs. Corten reads and checks it and
// writes it back unchanged; it never produces any.

#ifndef CORTEN_DIALECT_UDML_IR_UDMLDIALECT_H
#define CORTEN_DIALECT_UDML_IR_UDMLDIALECT_H

#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "corten/Dialect/UDML/IR/UDMLDialect.h.inc"

#include "corten/Dialect/UDML/IR/UDMLEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/UDML/IR/UDMLTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/UDML/IR/UDMLAttributes.h.inc"

namespace corten::udml {

/// Returns whether `type` is a `!udml.array` whose elements are of type
/// `index`.
bool isIndexArray(mlir::Type type);

} // namespace corten::udml

#define GET_OP_CLASSES
#include "corten/Dialect/UDML/IR/UDMLOps.h.inc"

#endif // CORTEN_DIALECT_UDML_IR_UDMLDIALECT_H
