// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the encoding of a tensor says about it. The operand constraints of the
// `coreai` ops are written in these terms.

#ifndef CORTEN_DIALECT_COREAI_IR_TENSORKINDS_H
#define CORTEN_DIALECT_COREAI_IR_TENSORKINDS_H

namespace mlir {
class RankedTensorType;
} // namespace mlir

namespace corten::coreai {

/// Whether the tensor holds all its elements. Encodings that only say where a
/// tensor lives do not matter here.
bool isDense(mlir::RankedTensorType type);

/// Whether the tensor holds the elements that a bitmask selects.
bool isSparse(mlir::RankedTensorType type);

/// Whether the tensor is constrained to live in an `MTLBuffer`.
bool isMetalBuffer(mlir::RankedTensorType type);

} // namespace corten::coreai

#endif // CORTEN_DIALECT_COREAI_IR_TENSORKINDS_H
