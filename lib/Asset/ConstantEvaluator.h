// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// coreai-core computes ops of constants when it saves a program. So do we, to
// write the same file.

#ifndef CORTEN_LIB_ASSET_CONSTANTEVALUATOR_H
#define CORTEN_LIB_ASSET_CONSTANTEVALUATOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace corten {

/// What an op with constant operands gives, bit for bit the number that
/// coreai-core writes in place of it. Null if it keeps the op, because of the
/// type of the elements for example, and if the result is too large: from 256
/// elements on it would get a name that is another one in each process. Also
/// null for sums over elements and what is made of them, whose order of
/// additions is not known, and where coreai-core writes another number than it
/// computes when it runs the op.
mlir::DenseElementsAttr evaluate(mlir::Operation &op);

} // namespace corten

#endif // CORTEN_LIB_ASSET_CONSTANTEVALUATOR_H
