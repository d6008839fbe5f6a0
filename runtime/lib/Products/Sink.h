// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where sums go: through the program of a call to rows of the output. Simple
// programs are done as sums are stored.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_SINK_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_SINK_H

#include "../Portable/Epilogue.h"
#include "../Portable/Window.h"
#include "../Tile/TileCode.h"
#include "Common.h"

namespace corten::runtime::products {

using Steps = std::array<int64_t, kMaxRank>;

/// Rows that are counted along some axes of tensors, the last one fastest.
struct RowSpace {
  int rank = 0;
  std::array<int64_t, kMaxRank> extents = {};

  int64_t count() const;
  int64_t offset(int64_t row, const Steps &steps) const;
};

/// The places of a tensor that lie `first` after a multiple of `apart`.
struct PartOfSpace {
  portable::Place first = {};
  portable::Place apart = {1, 1, 1};

  Tensor of(Tensor whole) const;
};

/// A tensor as rows and columns.
struct Grid {
  char *data = nullptr;
  ElementType type = ElementType::F32;
  Steps rowSteps = {};
  int64_t columnStep = 0;

  /// With one axis for columns, and all others for rows.
  Grid(const Tensor &tensor, int columnAxis);
  Grid() = default;

  bool isRepeated(int rank) const;
};

/// Takes together axes of rows that are one in all of the grids.
void mergeAxes(RowSpace &space, std::span<Grid *const> grids);

/// A program that adds a bias and a residual, keeps the result in bounds, and
/// applies a function to it.
struct SimpleProgram {
  /// Inputs after the first, or -1.
  int bias = -1;
  int residual = -1;
  float low;
  float high;
  std::optional<Activation> activation;
};

class Sink {
public:
  /// `columnAxis` of the output has the columns; rows go along the others.
  /// `left` is merged with them, if there is one. The kernel has `operands`
  /// inputs of its own. The output may be a part of that of the call, as what
  /// its program takes is then.
  Sink(const Invocation &call, const Tensor &output, int columnAxis,
       const Vectors &vectors, Grid *left = nullptr, size_t operands = 2,
       const PartOfSpace &part = {});

  const RowSpace &rows() const { return space; }
  int64_t columns() const { return numColumns; }

  /// Whether tiles store right into the output.
  bool isDirect() const { return direct; }
  float *target(int64_t row, int64_t column) const;
  int64_t targetStep() const { return output.rowSteps[0]; }
  /// What is done on the way; false if nothing.
  bool finish(int64_t row, int64_t column, Finish &result) const;

  /// Otherwise: sums of a block.
  void store(int64_t row, int64_t rows, int64_t column, int64_t columns,
             const float *sums, int64_t sumStep) const;

private:
  /// Rows of a block that are evenly apart.
  void storeRows(int64_t row, int64_t rows, int64_t column, int64_t columns,
                 const float *sums, int64_t sumStep) const;

  RowSpace space;
  int64_t numColumns;
  const Vectors &vectors;
  tile::Code code;
  TileLane lane = TileLane::F;
  Grid output;
  size_t numInputs = 0;
  std::array<Grid, kMaxTileRegisters> inputs;
  std::optional<SimpleProgram> simple;
  bool direct = false;
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_SINK_H
