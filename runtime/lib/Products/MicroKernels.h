// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What products need of each instruction set: a table of plain functions. All
// that divides work and walks over tensors is compiled once, for any CPU.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_MICROKERNELS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_MICROKERNELS_H

#include <cstdint>
#include <limits>

namespace corten::runtime::products {

/// What panels are made of. Rows of the left side are floats, but for the last
/// two: these take several elements of k at once, which fill the place of a
/// float on both sides, and all that counts along k counts such places.
enum class Factor : uint8_t {
  F32,
  F16,
  BF16,
  /// Two of bf16.
  Pairs,
  /// Four bytes: unsigned on the right, signed on the left.
  Quads,
};
inline constexpr int kFactors = 3;

/// The most rows that a tile has on any machine.
inline constexpr int kMaxTileRows = 8;

/// Functions that are applied to results where they were stored.
enum class Activation : uint8_t {
  Gelu,
  GeluSigmoid,
  GeluTanh,
  Sigmoid,
  Silu,
  Tanh,
};
inline constexpr int kActivations = 6;
using ActivationFunction = void (*)(float *target, int64_t targetStep,
                                    int64_t rows, int64_t columns);

/// What is done with sums as they are stored: bias and residual are added if
/// they are there, and the result is kept between bounds. NaN stays NaN.
struct Finish {
  /// For each column.
  const float *bias;
  const float *residual;
  int64_t residualStep;
  float low;
  float high;
  /// Then, while they are in the nearest cache; null: nothing.
  ActivationFunction activate;
};
inline constexpr Finish kUnchanged = {nullptr,
                                      nullptr,
                                      0,
                                      -std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::infinity(),
                                      nullptr};

/// What sums of quads stand for: less 128 times the sum of what they were
/// multiplied with, times what a step is worth in the row and in the column.
struct Scales {
  const float *rows;
  const int32_t *sums;
  const float *columns;
};

/// Sums of products for some rows and the columns of a panel.
struct TileCall {
  /// For each segment of k, where it begins in each row: as many as the table
  /// has for a tile.
  const float *const *rows;
  int64_t tableStep;
  int64_t numRows;
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
  /// Of quads, once all of k is done: what was partial is whole numbers.
  const Scales *scales;
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

/// The same for neighbours along the last axis.
struct DepthwiseLineCall {
  /// For each line of the window, where that of the input begins, and how far
  /// its columns are apart: nothing for a line of zeros.
  const float *const *lines;
  const int64_t *steps;
  int64_t numLines;
  /// How many columns a line has, and the one that the first tap is at for the
  /// first place. What is not there counts as zeros.
  int64_t space;
  int64_t firstColumn;
  const float *weights;
  int64_t weightStep;
  int64_t channels;
  int64_t places;
  float *target;
  int64_t targetStep;
  const Finish *finish;
};
/// Places that are summed side by side.
inline constexpr int kLinePlaces = 4;
/// Windows are at most as wide, and move by at most so many places.
inline constexpr int kMaxLineWidth = 7;
inline constexpr int kMaxLineStride = 2;

/// A square of Winograd's convolutions, for all channels of an input.
struct WinogradInput {
  /// Where the channels of each place of the square begin.
  const float *const *rows;
  int64_t channels;
  /// Of the first point.
  float *target;
  int64_t pointStep;
};

/// The sums of a square, for columns of a panel.
struct WinogradOutput {
  const float *sums;
  int64_t pointStep;
  int64_t columns;
  /// Of the first row, as in `finish`.
  float *target;
  int64_t targetStep;
  const Finish *finish;
  /// The row of each place of the square; less than 0: it is outside.
  const int64_t *rows;
};

/// The taps of one channel, for the columns of a panel.
struct WinogradWeights {
  const float *taps;
  float *target;
  int64_t pointStep;
};

struct WinogradKernels {
  void (*input)(const WinogradInput &);
  void (*output)(const WinogradOutput &);
  void (*weights)(const WinogradWeights &);
};

using TileFunctionOf = void (*)(const TileCall &);

/// Products that take several elements of k at once.
struct DotKernels {
  TileFunctionOf pairs[kMaxTileRows];
  TileFunctionOf narrowPairs[kMaxTileRows];
  TileFunctionOf quads[kMaxTileRows];
  TileFunctionOf narrowQuads[kMaxTileRows];
  /// Rounds, and fills up with zeros to `places` pairs.
  void (*toPairs)(const float *from, int64_t count, int64_t places, void *to);
  /// Quantizes a row; gives what a step is worth and the sum of all.
  void (*toQuads)(const float *from, int64_t count, int64_t places, void *to,
                  float &scale, int32_t &sum);
  /// From rows of a panel of floats.
  void (*pairPanel)(const float *from, int64_t rows, void *to);
  /// The same; what a step is worth comes before the rows.
  void (*quadPanel)(const float *from, int64_t rows, void *to);
};

struct MicroKernels {
  /// How many rows and columns a tile has. Columns divide those of a panel.
  int tileRows;
  int tileColumns;
  /// How far the rows of two segments are apart in a table.
  int tableStep;
  /// By type of the panel and by rows less one.
  TileFunctionOf tile[kFactors][kMaxTileRows];
  /// Of half the columns.
  TileFunctionOf narrowTile[kFactors][kMaxTileRows];
  /// By places less one, up to depthwisePlaces.
  int depthwisePlaces;
  void (*depthwise[kMaxTileRows])(const DepthwiseCall &);
  /// By the width of the window and its stride, each less one; null: there is
  /// none.
  void (*depthwiseLine[kMaxLineWidth][kMaxLineStride])(
      const DepthwiseLineCall &);
  /// Elements one after the other, to float.
  void (*widen[kFactors])(const void *from, float *to, int64_t count);
  /// Of 4-byte elements: to[j * toStep + i] = from[i * fromStep + j].
  void (*transpose)(const float *from, int64_t fromStep, int64_t rows,
                    int64_t columns, float *to, int64_t toStep);
  /// By Activation.
  const ActivationFunction *activations;
  const DotKernels *dots;
  /// How much faster than floats pairs and quads are, in places of k.
  double speed = 1;
  /// Around tiles of a block, if it needs that.
  void (*begin)() = nullptr;
  void (*end)() = nullptr;

  /// By rows less one, those beyond the last as the last.
  const TileFunctionOf *tilesOf(Factor factor, bool isNarrow) const {
    switch (factor) {
    case Factor::Pairs:
      return isNarrow ? dots->narrowPairs : dots->pairs;
    case Factor::Quads:
      return isNarrow ? dots->narrowQuads : dots->quads;
    default:
      return isNarrow ? narrowTile[int(factor)] : tile[int(factor)];
    }
  }
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_MICROKERNELS_H
