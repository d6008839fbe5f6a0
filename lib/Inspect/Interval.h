// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which numbers a value can hold, as far as the ops before it show.

#ifndef CORTEN_LIB_INSPECT_INTERVAL_H
#define CORTEN_LIB_INSPECT_INTERVAL_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"

#include <limits>

namespace corten {

/// All numbers from `low` to `high`; everything, if nothing is known.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  static Interval nonNegative() { return {0, Interval().high}; }

  /// The largest distance from zero.
  double magnitude() const;
  Interval hull(const Interval &other) const;
};

/// Bounds of the values of a program. Each is computed once. What is not
/// followed, such as loops and calls, has no bounds; nor has what lies further
/// back than anybody would look for a clamp.
class IntervalAnalysis {
public:
  Interval of(mlir::Value value) { return of(value, /*depth=*/0); }

private:
  Interval of(mlir::Value value, unsigned depth);
  Interval compute(mlir::Operation *op, unsigned depth);

  llvm::DenseMap<mlir::Value, Interval> known;
};

/// `value` less the largest of its own elements.
bool isLessItsMaximum(mlir::Operation *op);

/// A product of a value with itself, or its second power; null if neither.
mlir::Value squaredValue(mlir::Operation *op);

/// The value before ops that only move elements.
mlir::Value beforeMovement(mlir::Value value);

} // namespace corten

#endif // CORTEN_LIB_INSPECT_INTERVAL_H
