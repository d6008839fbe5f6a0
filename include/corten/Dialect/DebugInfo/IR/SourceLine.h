// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_SOURCELINE_H
#define CORTEN_DIALECT_DEBUGINFO_IR_SOURCELINE_H

#include "mlir/IR/Location.h"

#include <string>

namespace corten::debuginfo {

/// The user's line, if the location has one.
mlir::FileLineColRange sourceLine(mlir::Location location);

/// What a location says about a program besides lines.
struct Origin {
  /// The path of the first module, "layers.0.attention"; the names of the
  /// classes on the way where there is none.
  std::string module;
  /// The numbers of all operations that it was fused from.
  llvm::SmallVector<uint64_t> operations;
};

Origin originOf(mlir::Location location);

} // namespace corten::debuginfo

#endif // CORTEN_DIALECT_DEBUGINFO_IR_SOURCELINE_H
