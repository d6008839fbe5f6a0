// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `aicode` dialect: a program as it lies in an asset.

#ifndef CORTEN_DIALECT_AICODE_IR_AICODEDIALECT_H
#define CORTEN_DIALECT_AICODE_IR_AICODEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "corten/Dialect/AICode/IR/AICodeDialect.h.inc"

namespace corten::aicode {
/// A weight that the program names by a key.
using ResourceHandle = mlir::DialectResourceBlobHandle<AICodeDialect>;

/// The manager of the weights that handles in `context` stand for.
using ResourceManager =
    mlir::ResourceBlobManagerDialectInterfaceBase<ResourceHandle>;
} // namespace corten::aicode

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/AICode/IR/AICodeTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/AICode/IR/AICodeAttributes.h.inc"

#define GET_OP_CLASSES
#include "corten/Dialect/AICode/IR/AICodeOps.h.inc"

#endif // CORTEN_DIALECT_AICODE_IR_AICODEDIALECT_H
