// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_SOURCELINE_H
#define CORTEN_DIALECT_DEBUGINFO_IR_SOURCELINE_H

#include "mlir/IR/Location.h"

namespace corten::debuginfo {

/// The user's line, if the location has one.
mlir::FileLineColRange sourceLine(mlir::Location location);

} // namespace corten::debuginfo

#endif // CORTEN_DIALECT_DEBUGINFO_IR_SOURCELINE_H
