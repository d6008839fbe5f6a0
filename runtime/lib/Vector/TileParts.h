// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the inner loops of products have in common.

#ifndef CORTEN_RUNTIME_LIB_TILEPARTS_H
#define CORTEN_RUNTIME_LIB_TILEPARTS_H

#include "Vectors.h"

#include "Finishing.h"

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

namespace {

constexpr int kPanelColumns = 32;
/// With two vectors of columns: best on Zen 4, and rows need no more than the
/// registers for addresses that there are; all registers of AVX2 but one.
constexpr int kTileRows = CORTEN_BY_LEVEL(8, 6, 8);
constexpr int kAccumulators = 2 * kTileRows;

/// With few rows, sums of several k at once: one would wait for the other.
template <int Rows, int Vectors>
constexpr int kStrands = Rows * Vectors * 4 <= kAccumulators   ? 4
                         : Rows * Vectors * 2 <= kAccumulators ? 2
                                                               : 1;

/// Sums of products for the rows and columns of a tile. `Kind` says what a
/// panel is made of and how its elements are multiplied.
template <int Rows, int Vectors, typename Kind>
__attribute__((always_inline)) inline void
multiplyTile(const TileCall &call, typename Kind::Sum (&total)[Rows][Vectors]) {
  using Sum = typename Kind::Sum;
  using Element = typename Kind::Element;
  constexpr int kParts = kStrands<Rows, Vectors>;
  Sum sums[kParts][Rows][Vectors];
  CORTEN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < Vectors; ++j)
        sums[part][i][j] = Sum{};
    }
  }
  const char *ahead = call.ahead;
  int64_t aheadStep = call.aheadStep;
  const float *const *table = call.rows;
  int64_t tableStep = call.tableStep;
  int64_t first = call.first;
  const Element *panel = static_cast<const Element *>(call.panel);
  auto step = [&](const float *const *rows, int64_t k, const Element *b,
                  Sum(&target)[Rows][Vectors]) __attribute__((always_inline)) {
    typename Kind::Columns columns[Vectors];
    CORTEN_UNROLL
    for (int j = 0; j < Vectors; ++j)
      columns[j] = Kind::load(b + j * kWidth);
    __builtin_prefetch(ahead);
    if (Vectors * kWidth * sizeof(Element) > 64)
      __builtin_prefetch(ahead + 64);
    ahead += aheadStep;
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      typename Kind::Columns a = Kind::repeat(rows[i] + k);
      CORTEN_UNROLL
      for (int j = 0; j < Vectors; ++j)
        target[i][j] = Kind::add(target[i][j], a, columns[j]);
    }
  };
  for (int64_t segment = 0; segment < call.segments; ++segment) {
    const float *rows[Rows];
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i)
      rows[i] = table[segment * tableStep + i] + first;
    const Element *b = panel + (call.panelRows ? call.panelRows[segment]
                                               : segment * call.depth) *
                                   kPanelColumns;
    int64_t k = 0;
    int64_t depth = call.depth;
    for (; k + kParts <= depth; k += kParts) {
      CORTEN_UNROLL
      for (int part = 0; part < kParts; ++part)
        step(rows, k + part, b + part * kPanelColumns, sums[part]);
      b += kParts * kPanelColumns;
    }
    for (; k < depth; ++k, b += kPanelColumns)
      step(rows, k, b, sums[0]);
  }
  CORTEN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < Vectors; ++j)
        total[i][j] = part ? total[i][j] + sums[part][i][j] : sums[part][i][j];
    }
  }
}

/// Rows of tables: those that a tile does not have are null.
#define CORTEN_TILE(FUNCTION, ROWS, VECTORS, KIND)                             \
  ((ROWS) <= kTileRows                                                         \
       ? &FUNCTION<((ROWS) <= kTileRows ? (ROWS) : 1), VECTORS, KIND>          \
       : nullptr)
#define CORTEN_TILES(FUNCTION, VECTORS, KIND)                                  \
  {CORTEN_TILE(FUNCTION, 1, VECTORS, KIND),                                    \
   CORTEN_TILE(FUNCTION, 2, VECTORS, KIND),                                    \
   CORTEN_TILE(FUNCTION, 3, VECTORS, KIND),                                    \
   CORTEN_TILE(FUNCTION, 4, VECTORS, KIND),                                    \
   CORTEN_TILE(FUNCTION, 5, VECTORS, KIND),                                    \
   CORTEN_TILE(FUNCTION, 6, VECTORS, KIND),                                    \
   CORTEN_TILE(FUNCTION, 7, VECTORS, KIND),                                    \
   CORTEN_TILE(FUNCTION, 8, VECTORS, KIND)}

} // namespace
} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_TILEPARTS_H
