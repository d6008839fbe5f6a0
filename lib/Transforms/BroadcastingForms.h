// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise ops of several operands have a plain form, whose operands have
// one shape, and one that spreads them over each other.

#ifndef CORTEN_LIB_TRANSFORMS_BROADCASTINGFORMS_H
#define CORTEN_LIB_TRANSFORMS_BROADCASTINGFORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace corten {

/// The plain form of an op that spreads its operands; none if `op` is no such
/// op, or has elements that the plain form does not take.
std::optional<mlir::OperationName> plainForm(mlir::Operation &op);

/// The form of an op that spreads its operands, which may be that of `op`
/// itself; none if there is none, or none for its elements.
std::optional<mlir::OperationName> broadcastingForm(mlir::Operation &op);

/// `op` in another form, of these operands, with the same type of result.
mlir::Value createForm(mlir::OperationName form, mlir::Operation &op,
                       mlir::ValueRange operands, mlir::OpBuilder &builder);

} // namespace corten

#endif // CORTEN_LIB_TRANSFORMS_BROADCASTINGFORMS_H
