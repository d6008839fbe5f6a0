// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What products need of each instruction set: a table of plain functions. All
// that divides work and walks over tensors is compiled once, for any CPU.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_MICROKERNELS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_MICROKERNELS_H

#include <cstdint>

namespace corten::runtime::products {

/// What panels are made of.
enum class Factor : uint8_t { F32, F16, BF16 };
inline constexpr int kFactors = 3;

/// The most rows that a tile has on any machine.
inline constexpr int kMaxTileRows = 8;

/// What is done with sums as they are stored: bias and residual are added if
/// they are there, and the result is kept between bounds. NaN stays NaN.
struct Finish {
  /// For each column.
  const float *bias;
  const float *residual;
  int64_t residualStep;
  float low;
  float high;
};

/// Sums of products for some rows and the columns of a panel.
struct TileCall {
  /// For each segment of k, where it begins in each row: kMaxTileRows of them.
  const float *const *rows;
  /// In the panel: `segments` times `depth` rows, one after the other, or from
  /// the rows on that `panelRows` says.
  const void *panel;
  const int64_t *panelRows;
  int64_t segments;
  int64_t depth;
  /// How many elements of each row were done before.
  int64_t first;
  /// What they came to; null: nothing.
  const float *partial;
  int64_t partialStep;
  float *target;
  int64_t targetStep;
  /// How many columns there are of those that the tile has.
  int64_t columns;
  /// Null: stored as they are.
  const Finish *finish;
  /// What will be needed next: as many bytes are fetched for each row of the
  /// panel.
  const char *ahead;
  int64_t aheadStep;
};

/// A window over each channel by itself, at some places.
struct DepthwiseCall {
  /// For each tap, where its channels begin for each place: kMaxTileRows.
  const float *const *rows;
  int64_t taps;
  const float *weights;
  int64_t weightStep;
  int64_t channels;
  float *target;
  int64_t targetStep;
  const Finish *finish;
};

using TileFunctionOf = void (*)(const TileCall &);

struct MicroKernels {
  /// How many rows and columns a tile has. Columns divide those of a panel.
  int tileRows;
  int tileColumns;
  /// By type of the panel and by rows less one.
  TileFunctionOf tile[kFactors][kMaxTileRows];
  /// Of half the columns.
  TileFunctionOf narrowTile[kFactors][kMaxTileRows];
  /// By places less one, up to depthwisePlaces.
  int depthwisePlaces;
  void (*depthwise[kMaxTileRows])(const DepthwiseCall &);
  /// Elements one after the other, to float.
  void (*widen[kFactors])(const void *from, float *to, int64_t count);
  /// Of 4-byte elements: to[j * toStep + i] = from[i * fromStep + j].
  void (*transpose)(const float *from, int64_t fromStep, int64_t rows,
                    int64_t columns, float *to, int64_t toStep);
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_MICROKERNELS_H
