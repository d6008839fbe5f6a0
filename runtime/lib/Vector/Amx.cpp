// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products in tiles of 16 rows of 64 bytes: two of them of the left side, two
// of the panel, and the four sums of their products.

#include "TileParts.h"

#include "corten/Runtime/Panels.h"

namespace corten::runtime::amx {

namespace {

constexpr int kRows = 16;
/// Places of k in a row of a tile.
constexpr int kPlaces = 16;
constexpr int kTileBytes = 64;
constexpr int kPanelBytes = kPanelColumns * 4;

/// Sums 0 to 3, left sides 4 and 5, panels 6 and 7. The shape that all machines
/// with tiles have, whatever they say of it.
struct alignas(64) Configuration {
  uint8_t palette = 1;
  uint8_t startRow = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void begin() {
  Configuration configuration;
  _tile_loadconfig(&configuration);
}
void end() { _tile_release(); }

/// Some rows of the left side, along a segment of k.
struct Left {
  const float *const *rows;
  int64_t count;
  const char *base;
  int64_t step;
  /// Whether they can be loaded as they are.
  bool isEven;

  Left(const float *const *rows, int64_t count, int64_t first)
      : rows(rows), count(count),
        base(reinterpret_cast<const char *>(rows[0] + first)),
        step(count > 1 ? reinterpret_cast<const char *>(rows[1]) -
                             reinterpret_cast<const char *>(rows[0])
                       : 0),
        isEven(count == kRows) {
    for (int64_t i = 1; isEven && i < count; ++i)
      isEven = reinterpret_cast<const char *>(rows[i]) ==
               reinterpret_cast<const char *>(rows[0]) + i * step;
  }

  /// Copies what there is of a tile, with zeros for all else.
  void copy(int64_t first, int64_t k, int64_t places, char *to) const {
    __mmask16 mask = __mmask16((1u << places) - 1);
    for (int i = 0; i < kRows; ++i) {
      __m512i row = _mm512_setzero_si512();
      if (i < count)
        row = _mm512_maskz_loadu_epi32(mask, rows[i] + first + k);
      _mm512_store_si512(to + i * kTileBytes, row);
    }
  }
};

#define CORTEN_LOAD_LEFT(TILE, LEFT)                                           \
  if ((LEFT).isEven && places == kPlaces) {                                    \
    _tile_loadd(TILE, (LEFT).base + k * 4, size_t((LEFT).step));               \
  } else {                                                                     \
    (LEFT).copy(call.first, k, places, copied);                                \
    _tile_loadd(TILE, copied, kTileBytes);                                     \
  }
#define CORTEN_MULTIPLY(SUM, LEFT, PANEL)                                      \
  if constexpr (isBytes)                                                       \
    _tile_dpbsud(SUM, LEFT, PANEL);                                            \
  else                                                                         \
    _tile_dpbf16ps(SUM, LEFT, PANEL);

/// Up to 32 rows with one or two tiles of columns; sums of 32 rows are stored,
/// 32 apart.
template <bool isBytes, bool isWide, bool isTall>
void multiply(const TileCall &call, float *sums) {
  alignas(64) char copied[kRows * kTileBytes];
  alignas(64) char rest[kRows * kPanelBytes];
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  const char *ahead = call.ahead;
  const char *panel = static_cast<const char *>(call.panel);
  for (int64_t segment = 0; segment < call.segments; ++segment) {
    const float *const *table = call.rows + segment * call.tableStep;
    Left top(table, isTall ? kRows : call.numRows, call.first);
    Left bottom(isTall ? table + kRows : table,
                isTall ? call.numRows - kRows : call.numRows, call.first);
    const char *b = panel + (call.panelRows ? call.panelRows[segment]
                                            : segment * call.depth) *
                                kPanelBytes;
    for (int64_t k = 0; k < call.depth; k += kPlaces) {
      int64_t places = call.depth - k < kPlaces ? call.depth - k : kPlaces;
      const char *from = b + k * kPanelBytes;
      if (places != kPlaces) {
        // What comes after belongs to others, and may be no number.
        __builtin_memset(rest, 0, sizeof rest);
        for (int64_t i = 0; i < places; ++i)
          for (int64_t j = 0; j < (isWide ? 2 : 1); ++j)
            store(rest + i * kPanelBytes + j * kTileBytes,
                  loadAs<I>(from + i * kPanelBytes + j * kTileBytes));
        from = rest;
      }
      _tile_loadd(6, from, kPanelBytes);
      if constexpr (isWide)
        _tile_loadd(7, from + kTileBytes, kPanelBytes);
      CORTEN_LOAD_LEFT(4, top)
      CORTEN_MULTIPLY(0, 4, 6)
      if constexpr (isWide) {
        CORTEN_MULTIPLY(1, 4, 7)
      }
      if constexpr (isTall) {
        CORTEN_LOAD_LEFT(5, bottom)
        CORTEN_MULTIPLY(2, 5, 6)
        if constexpr (isWide) {
          CORTEN_MULTIPLY(3, 5, 7)
        }
      }
      for (int i = 0; i < kPlaces; ++i, ahead += call.aheadStep) {
        __builtin_prefetch(ahead);
        if (call.aheadStep > 64)
          __builtin_prefetch(ahead + 64);
      }
    }
  }
  _tile_stored(0, sums, kPanelBytes);
  if constexpr (isWide)
    _tile_stored(1, sums + kPlaces, kPanelBytes);
  if constexpr (isTall) {
    _tile_stored(2, sums + kRows * kPanelColumns, kPanelBytes);
    if constexpr (isWide)
      _tile_stored(3, sums + kRows * kPanelColumns + kPlaces, kPanelBytes);
  }
}

/// One vector of sums, of a row.
template <bool isBytes>
F total(const TileCall &call, F sum, int64_t row, int64_t first,
        int64_t columns) {
  F partial = {};
  if (call.partial)
    partial = loadSome(call.partial + row * call.partialStep + first, columns);
  if (!isBytes)
    return sum + partial;
  I whole = I(sum) + I(partial);
  if (!call.scales)
    return F(whole);
  const Scales &scales = *call.scales;
  whole -= scales.sums[row] * kQuadZero;
  return toFloat(whole) * splat(scales.rows[row]) *
         loadSome(scales.columns + first, columns);
}

template <bool isBytes, bool isWide> void tile(const TileCall &call) {
  alignas(64) float sums[2 * kRows * kPanelColumns];
  if (call.numRows > kRows)
    multiply<isBytes, isWide, true>(call, sums);
  else
    multiply<isBytes, isWide, false>(call, sums);
  Finishing finishing(call.finish ? *call.finish : Finish{});
  for (int64_t first = 0; first < call.columns; first += kWidth) {
    int64_t columns = call.columns - first;
    F bias = finishing.biasOf(first, columns);
    for (int64_t row = 0; row < call.numRows; ++row) {
      F sum = total<isBytes>(call, load(sums + row * kPanelColumns + first),
                             row, first, columns);
      if (call.finish)
        sum = finishing(sum, bias, row, first, columns);
      storeSome(call.target + row * call.targetStep + first, sum, columns);
    }
  }
  activate(call.finish, call.target, call.targetStep, call.numRows,
           call.columns);
}

} // namespace

const AmxKernels kTiles = {
    &tile<false, true>,
    &tile<false, false>,
    &tile<true, true>,
    &tile<true, false>,
    2 * kRows,
    &begin,
    &end,
};

} // namespace corten::runtime::amx
