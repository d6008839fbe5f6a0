// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of the custom assembly of the control-flow ops that their declarative
// formats refer to. For the file that holds the generated definitions.

#ifndef CORTEN_LIB_DIALECT_COREAI_IR_ASSEMBLYCONTROLFLOW_H
#define CORTEN_LIB_DIALECT_COREAI_IR_ASSEMBLYCONTROLFLOW_H

#include "mlir/IR/OpImplementation.h"

namespace corten::coreai {

/// Types separated by commas, without brackets, possibly none. `type($x)` in a
/// declarative format prints the same but wants at least one when it parses.
mlir::ParseResult parseTypeList(mlir::OpAsmParser &parser,
                                llvm::SmallVectorImpl<mlir::Type> &types);
void printTypeList(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::TypeRange types);

} // namespace corten::coreai

#endif // CORTEN_LIB_DIALECT_COREAI_IR_ASSEMBLYCONTROLFLOW_H
