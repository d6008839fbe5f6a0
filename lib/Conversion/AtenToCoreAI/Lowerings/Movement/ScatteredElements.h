// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values with some elements replaced or added to: along an axis, or at places.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_MOVEMENT_SCATTEREDELEMENTS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_MOVEMENT_SCATTEREDELEMENTS_H

#include "Lowerings/Movement/AdvancedIndex.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

namespace corten {

/// `self` and the updates have one shape off the axis.
mlir::Value scatterAlong(mlir::Value self, mlir::Value index,
                         mlir::Value updates, int64_t axis,
                         coreai::ScatterMode mode, Emitter &emit);

/// scatter_nd that writes the updates. The interpreter ends the process if the
/// updates have a higher rank than the base, so they are then put into a row.
mlir::Value scatterNd(mlir::Value base, mlir::Value positions,
                      mlir::Value updates, Emitter &emit);

/// Writes the updates; of several to one place the last wins.
mlir::Value writeAt(mlir::Value base, const AdvancedIndex &index,
                    mlir::Value updates, Emitter &emit);

/// Adds the updates, all of those to one place.
mlir::Value addAt(mlir::Value base, const AdvancedIndex &index,
                  mlir::Value updates, Emitter &emit);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_MOVEMENT_SCATTEREDELEMENTS_H
