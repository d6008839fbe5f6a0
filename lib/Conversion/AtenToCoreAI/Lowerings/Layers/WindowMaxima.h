// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the maxima of windows stand.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_WINDOWMAXIMA_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_WINDOWMAXIMA_H

#include "Lowerings/Layers/PoolWindows.h"

namespace corten {

/// Index along `axis` of the element that a maximum over that axis takes, with
/// the axis kept as 1: the first of equal ones, but of NaNs the last.
mlir::Value winner(Emitter &emit, mlir::Value x, int64_t axis);

/// Finds where maxima over boxes stand by taking one axis after the other,
/// from the last to the first: along an axis the winner is found among the
/// winners of the axes behind it, whose positions are then looked up. That
/// keeps torch's order, in which a box is searched row by row.
class ArgmaxSearch {
public:
  ArgmaxSearch(Emitter &emit, mlir::Value x) : emit(emit), values(x) {}

  mlir::Value current() const { return values; }

  /// Takes the maxima along `axis` and, if they are asked for, the positions
  /// at which they stand.
  void advance(int64_t axis, mlir::Value maxima, mlir::Value positions) {
    values = maxima;
    if (!positions)
      return;
    for (Coordinate &inner : found)
      if (!inner.isOwnIndex)
        inner.positions = emit.gather(inner.positions, positions, axis);
    found.push_back({axis, positions, /*isOwnIndex=*/false});
  }

  /// Passes over an axis with one element per box.
  void skip(int64_t axis) {
    mlir::Value own = column(emit, countUp(emit, DimExpr(emit, values, axis)),
                             emit.type(values).getRank() - 1 - axis);
    found.push_back({axis, own, /*isOwnIndex=*/true});
  }

  /// Positions in the flattened spatial axes of `x`.
  mlir::Value flat(mlir::Value x) const {
    mlir::Value result;
    for (const Coordinate &coordinate : llvm::reverse(found)) {
      if (result)
        result = emit.mul(result, DimExpr(emit, x, coordinate.axis).scalar());
      result = result ? emit.add(result, coordinate.positions)
                      : coordinate.positions;
    }
    return result;
  }

private:
  struct Coordinate {
    int64_t axis;
    mlir::Value positions;
    /// The same in every box: no winner to look up.
    bool isOwnIndex;
  };

  Emitter &emit;
  mlir::Value values;
  llvm::SmallVector<Coordinate> found;
};

/// The lowest value of an element type.
mlir::Value lowest(Emitter &emit, mlir::Type element);

/// Flat positions of the maxima of regular windows. Along each axis the
/// kernel's elements, one strided slice each, are put side by side.
mlir::Value windowPositions(Emitter &emit, mlir::Value x,
                            llvm::ArrayRef<Window> windows);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_LOWERINGS_LAYERS_WINDOWMAXIMA_H
