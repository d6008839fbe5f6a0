// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sources of this folder give to the rest: a table for each level.

#ifndef CORTEN_RUNTIME_LIB_VECTORS_H
#define CORTEN_RUNTIME_LIB_VECTORS_H

#include "../Products/MicroKernels.h"
#include "../Tile/TileCode.h"

#include "corten/Runtime/KernelLimits.h"
#include "corten/Runtime/Modes.h"

namespace corten::runtime {

/// How rows are normalized: weight and bias, if they have memory, are one row.
struct Normalization {
  tile::Rows weight;
  tile::Rows bias;
  double epsilon;
  bool isCentered;
};

/// How many queries the fast attention takes at a time.
inline constexpr int64_t kAttentionQueries = 66;

/// Some queries of one batch, with all its keys and values. A mask, if it has
/// memory, has a row for each query.
struct Attention {
  tile::Rows queries;
  tile::Rows keys;
  tile::Rows values;
  tile::Rows mask;
  tile::Rows output;
  int64_t numQueries;
  int64_t firstQuery;
  int64_t numKeys;
  int64_t depth;
  int64_t width;
  double scale;
  bool isCausal;
  bool unseeingGivesZeros;
};

/// What reductions are made of.
struct Reductions {
  tile::Form runTiles;
  /// Takes rows of lanes, each into its total: a double if they are floats,
  /// else an si64.
  void (*takeRows)(ReduceMode mode, TileLane lane, const int32_t *lanes,
                   int64_t numRows, int64_t rowStep, int64_t count,
                   void *totals);
  /// Takes each row into the same totals, one for each of its lanes.
  void (*takeColumns)(ReduceMode mode, TileLane lane, const int32_t *lanes,
                      int64_t numRows, int64_t rowStep, int64_t count,
                      void *totals);
};

struct Vectors {
  Isa isa;
  tile::Form runTiles;
  const products::MicroKernels &products;
  Reductions reductions;
  void (*softmaxRow)(const tile::Rows &from, const tile::Rows &to,
                     int64_t count);
  /// Of up to kTileSize columns.
  void (*softmaxColumns)(const tile::Rows &from, const tile::Rows &to,
                         int64_t numRows, int64_t count);
  void (*normalizeRow)(const Normalization &norm, const tile::Rows &from,
                       const tile::Rows &to, int64_t count);
  void (*attend)(const Attention &job);
};

#define CORTEN_LEVEL_FUNCTIONS                                                 \
  extern const Vectors kVectors;                                               \
  extern const products::MicroKernels kProducts;                               \
  void runTiles(const tile::Job &job);                                         \
  void reduceRows(ReduceMode mode, TileLane lane, const int32_t *lanes,        \
                  int64_t numRows, int64_t rowStep, int64_t count,             \
                  void *totals);                                               \
  void reduceColumns(ReduceMode mode, TileLane lane, const int32_t *lanes,     \
                     int64_t numRows, int64_t rowStep, int64_t count,          \
                     void *totals);                                            \
  void softmaxRow(const tile::Rows &from, const tile::Rows &to,                \
                  int64_t count);                                              \
  void softmaxColumns(const tile::Rows &from, const tile::Rows &to,            \
                      int64_t numRows, int64_t count);                         \
  void normalizeRow(const Normalization &norm, const tile::Rows &from,         \
                    const tile::Rows &to, int64_t count);                      \
  void attend(const Attention &job);

namespace avx2 {
CORTEN_LEVEL_FUNCTIONS
} // namespace avx2
namespace avx512 {
CORTEN_LEVEL_FUNCTIONS
} // namespace avx512
#undef CORTEN_LEVEL_FUNCTIONS

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_LIB_VECTORS_H
