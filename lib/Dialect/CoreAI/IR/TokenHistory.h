// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about where a token comes from. Verifiers of the state ops and
// of graphs ask.

#ifndef CORTEN_LIB_DIALECT_COREAI_IR_TOKENHISTORY_H
#define CORTEN_LIB_DIALECT_COREAI_IR_TOKENHISTORY_H

#include "mlir/IR/Value.h"

namespace corten::coreai {

/// The handle that the op which produced the token reads or writes, or null.
/// Joined tokens and block arguments have no known history.
mlir::Value getAccessedHandle(mlir::Value token);

} // namespace corten::coreai

#endif // CORTEN_LIB_DIALECT_COREAI_IR_TOKENHISTORY_H
