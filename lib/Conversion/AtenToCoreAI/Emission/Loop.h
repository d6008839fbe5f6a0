// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that a lowering needs for itself: sums until they converge, recurrences
// whose length is data.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_LOOP_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_LOOP_H

#include "Emission/Emitter.h"

namespace corten {

/// Repeats `body` while `condition` holds. Both see the state, which begins as
/// `initial`; `condition` gives a rank-0 i1, `body` the next state, whose types
/// are those of the initial one. Returns the last state.
Results loop(Emitter &emit, mlir::ValueRange initial,
             llvm::function_ref<mlir::Value(mlir::ValueRange)> condition,
             llvm::function_ref<Results(mlir::ValueRange)> body);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_EMISSION_LOOP_H
