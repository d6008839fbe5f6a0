// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an op comes from that stands for several.

#ifndef CORTEN_LIB_TRANSFORMS_DEBUGLOCATIONS_H
#define CORTEN_LIB_TRANSFORMS_DEBUGLOCATIONS_H

#include "mlir/IR/Location.h"

namespace corten {

/// `location` with `others` beside it, each once. Of debug locations a debug
/// location, which an asset holds as it is.
mlir::Location fuse(mlir::Location location,
                    llvm::ArrayRef<mlir::Location> others);

} // namespace corten

#endif // CORTEN_LIB_TRANSFORMS_DEBUGLOCATIONS_H
