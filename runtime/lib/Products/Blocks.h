// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a product is divided: into blocks of rows and panels, which threads take,
// and these into pieces of k, panels, and tiles of rows. Nothing here depends
// on the number of threads.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_BLOCKS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_BLOCKS_H

#include "Sink.h"

#include <algorithm>

namespace corten::runtime::products {

/// The extents of a product of rows with a packed matrix. Along k, rows are
/// `segments` times `depth` elements, the segments of a row anywhere.
struct Extents {
  int64_t rows;
  int64_t columns;
  int64_t segments;
  int64_t depth;
  Factor factor;
};

/// Some rows and some panels.
struct Block {
  int64_t row;
  int64_t lastRow;
  int64_t panel;
  int64_t lastPanel;

  int64_t rows() const { return lastRow - row; }
  int64_t panels() const { return lastPanel - panel; }
};

/// What rows of quads were quantized with.
struct RowScales {
  const float *scales;
  const int32_t *sums;
};

class Blocks {
public:
  /// `isWide` asks for blocks of many columns: with a program that is not done
  /// as sums are stored, rows should not be cut into short pieces. There are
  /// enough of them for `threads`, as far as they stay worth it; what an
  /// element is the sum of does not depend on that.
  Blocks(const Vectors &vectors, const Extents &extents, bool isWide,
         int threads = 1);

  int64_t count() const { return rowBlocks * panelGroups; }
  Block at(int64_t index) const;
  /// Whether each panel is in one block only.
  bool areRowsTogether() const { return rowBlocks == 1; }
  int64_t panelsOfBlock() const { return groupPanels; }

  /// What a thread needs to multiply one of them.
  struct Memory {
    float *sums;
    const float **table;
  };
  Memory take(Scratch &scratch) const;

  /// Multiplies a block. `fill(row, count, table)` writes where the segments of
  /// some rows are, `panels` is the first panel of the block, and rows and
  /// columns of the sink count from `firstRow` and `firstColumn`. `panelRows`
  /// says for each segment where it is in a panel of `panelDepth` rows, if they
  /// are not one after the other. Of quads, `scales` says what rows of the
  /// product are worth; what columns are is in the row before each panel.
  /// `sinkRows` says which rows of the sink those of the block are, if they are
  /// not one after the other.
  template <typename Fill>
  void multiply(const Block &block, const Memory &memory, Fill &&fill,
                const void *panels, const Sink &sink, int64_t firstRow = 0,
                int64_t firstColumn = 0, const int64_t *panelRows = nullptr,
                int64_t panelDepth = -1, const RowScales *scales = nullptr,
                const int64_t *sinkRows = nullptr) const {
    int64_t tiles = tilesOf(block);
    EvenParts parts(block.rows(), std::max<int64_t>(tiles, 1));
    for (int64_t tile = 0; tile != tiles; ++tile) {
      auto [row, count] = parts.next();
      fill(block.row + row, count,
           memory.table + tile * extents.segments * vectors.products.tableStep);
    }
    multiplyTiles(block, memory, panels,
                  panelDepth < 0 ? extents.segments * extents.depth
                                 : panelDepth,
                  {sink, firstRow, firstColumn, panelRows, scales, sinkRows});
  }

private:
  int64_t tilesOf(const Block &block) const {
    return ceilDivide(block.rows(), vectors.products.tileRows);
  }
  /// Where sums go, and what else is not of the block itself; see multiply().
  struct Target {
    const Sink &sink;
    int64_t firstRow;
    int64_t firstColumn;
    const int64_t *panelRows;
    const RowScales *scales;
    const int64_t *sinkRows;
  };
  class Walk;
  void multiplyTiles(const Block &block, const Memory &memory,
                     const void *panels, int64_t panelDepth,
                     const Target &target) const;

  const Vectors &vectors;
  Extents extents;
  int64_t tiles;
  int64_t rowBlocks;
  int64_t panelGroups;
  int64_t groupPanels;
  /// How k is cut: segments of a piece, or elements of one.
  int64_t pieces;
  int64_t pieceSegments;
  int64_t pieceDepth;
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_BLOCKS_H
