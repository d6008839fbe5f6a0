// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sources of this folder give to the rest: a table for each level.

#ifndef CORTEN_RUNTIME_LIB_VECTORS_H
#define CORTEN_RUNTIME_LIB_VECTORS_H

#include "../Products/CodeKernels.h"
#include "../Products/MicroKernels.h"
#include "../Tile/TileCode.h"

#include "corten/Runtime/Modes.h"

namespace corten::runtime {

/// How rows are normalized: weight and bias, if they have memory, are one row.
struct Normalization {
  tile::Rows weight;
  tile::Rows bias;
  double epsilon;
  bool isCentered;
};

/// How many queries the fast attention takes at a time, in whole groups; of a
/// few each is taken for itself.
inline constexpr int64_t kAttentionQueries = 64;
inline constexpr int64_t kAttentionGroup = 16;
inline constexpr int64_t kAttentionFewQueries = 3;

/// Some queries of one batch, with all its keys and values. A mask, if it has
/// memory, has a row for each query, and sinks are one row with an element for
/// each: one more score, without a value.
struct Attention {
  tile::Rows queries;
  tile::Rows keys;
  tile::Rows values;
  tile::Rows mask;
  tile::Rows sinks;
  tile::Rows output;
  int64_t numQueries;
  int64_t firstQuery;
  int64_t numKeys;
  int64_t depth;
  int64_t width;
  double scale;
  bool isCausal;
  bool unseeingGivesZeros;
  /// Whether there are few of them, here and elsewhere.
  bool isFew;
  /// As many floats as `attentionFloats` says, aligned to 64 bytes.
  float *memory;
};

/// The longest keys that fast linear attention takes, and how many columns of
/// the state of one head it takes at a time: with such keys they stay in the
/// nearest cache.
inline constexpr int64_t kGatedDeltaDepth = 256;
inline constexpr int64_t kGatedDeltaColumns = 64;

/// Steps of one head, and some columns of its values, results and state.
/// Logarithms of what remains and strengths have a row for each step.
struct GatedDelta {
  tile::Rows queries;
  tile::Rows keys;
  tile::Rows values;
  tile::Rows decays;
  tile::Rows strengths;
  tile::Rows before;
  tile::Rows output;
  tile::Rows after;
  int64_t length;
  int64_t depth;
  int64_t columns;
  /// Whether queries and keys are divided by their length.
  bool isNormalized;
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

struct Images;

struct Vectors {
  tile::Form runTiles;
  const products::MicroKernels &products;
  const products::CodeKernels &codes;
  /// Of squares of 2 x 2 and 4 x 4 results.
  const products::WinogradKernels *winograd;
  const Images &images;
  Reductions reductions;
  void (*softmaxRow)(const tile::Rows &from, const tile::Rows &to,
                     int64_t count);
  /// Of up to kTileSize columns.
  void (*softmaxColumns)(const tile::Rows &from, const tile::Rows &to,
                         int64_t numRows, int64_t count);
  void (*normalizeRow)(const Normalization &norm, const tile::Rows &from,
                       const tile::Rows &to, int64_t count);
  void (*attend)(const Attention &job);
  /// For queries and keys of `depth` elements and values of `width`.
  int64_t (*attentionFloats)(int64_t depth, int64_t width, bool isFew);
  void (*recur)(const GatedDelta &job);
  /// Writes entries (Tile/SortKeys.h) of those of `count` elements of a row
  /// from `first` on whose keys are below a bound, and says how many there are.
  int64_t (*collectBelow)(const tile::Rows &row, int64_t first, int64_t count,
                          bool isDescending, uint32_t bound, uint64_t *found);
};

#define CORTEN_LEVEL_FUNCTIONS                                                 \
  extern const Vectors kVectors;                                               \
  extern const products::MicroKernels kProducts;                               \
  extern const products::CodeKernels kCodes;                                   \
  extern const products::CodeDots kCodeDots;                                   \
  extern const products::DotFunction kDotGroups[products::kDotRows];           \
  extern const products::SparseCodes kSparseCodes;                             \
  extern const products::WinogradKernels kWinograd[2];                         \
  extern const products::DotKernels kDots;                                     \
  extern const Images kImages;                                                 \
  extern const products::ActivationFunction                                    \
      kActivations[products::kActivations];                                    \
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
  void attend(const Attention &job);                                           \
  int64_t attentionFloats(int64_t depth, int64_t width, bool isFew);           \
  void recur(const GatedDelta &job);                                           \
  int64_t collectBelow(const tile::Rows &row, int64_t first, int64_t count,    \
                       bool isDescending, uint32_t bound, uint64_t *found);

namespace avx2 {
CORTEN_LEVEL_FUNCTIONS
} // namespace avx2
namespace avx512 {
CORTEN_LEVEL_FUNCTIONS
} // namespace avx512
namespace neon {
CORTEN_LEVEL_FUNCTIONS
} // namespace neon
#undef CORTEN_LEVEL_FUNCTIONS
/// These differ from avx512 only in products that take several elements of k.
namespace avx512_bf16 {
extern const Vectors kVectors;
extern const products::DotKernels kDots;
} // namespace avx512_bf16
namespace amx {
/// In tiles of any number of rows up to `rows`.
struct AmxKernels {
  products::TileFunctionOf pairs;
  products::TileFunctionOf narrowPairs;
  products::TileFunctionOf quads;
  products::TileFunctionOf narrowQuads;
  int rows;
  void (*begin)();
  void (*end)();
};
extern const AmxKernels kTiles;
extern const Vectors kVectors;
} // namespace amx

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_LIB_VECTORS_H
