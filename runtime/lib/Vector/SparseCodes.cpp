// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sparse weights in products. Some rows of a panel at a time, its values become
// floats as they follow each other, whatever they are kept as; then these go to
// their places, into a tile that stays in the nearest cache. What is not there
// is multiplied as any other weight: rows may have infinities.

#include "Vectors.h"

#include "CodeParameters.h"
#include "CodeValues.h"

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

namespace {

/// Rows of a panel that are taken at a time, and how many values they may have.
constexpr int64_t kTileRows = 32;
constexpr int64_t kTileValues = kTileRows * kPanelColumns;

/// How many values some words have.
inline int64_t countValues(const uint32_t *places, int64_t rows) {
  int64_t count = 0, row = 0;
  for (; row + 2 <= rows; row += 2)
    count += __builtin_popcountll(loadAs<uint64_t>(places + row));
  return row == rows ? count : count + __builtin_popcount(places[row]);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Values that follow each other, with room for what vectors of codes have
/// before and after them.
struct Values {
  alignas(64) float numbers[kTileValues + kWidth];
  alignas(64) uint8_t bytes[kTileValues + 8 * kWidth];
};

/// Makes a byte of each of eight codes that `bits` bytes have. In each step,
/// halves move apart.
inline UL bytesOf(UL codes, uint64_t bits) {
  auto halve = [&](UL x, uint64_t width, uint64_t shift, uint64_t ones) {
    UL mask = UL{} + ((uint64_t(1) << width) - 1) * ones;
    return (x & mask) | ((x >> width) & mask) << shift;
  };
  codes = halve(codes, 4 * bits, 32, 1);
  codes = halve(codes, 2 * bits, 16, 0x0000000100000001);
  return halve(codes, bits, 8, 0x0001000100010001);
}

/// Codes of fewer than 8 bits as bytes. Eight of them begin at a whole byte;
/// where the wanted ones begin is what comes back.
const uint8_t *unpack(const uint8_t *codes, int bits, int64_t first,
                      int64_t count, uint8_t *to) {
  constexpr int64_t kGroups = kWidth / 2;
  int64_t before = first % 8;
  const uint8_t *from = codes + first / 8 * bits;
  for (int64_t i = 0; i < before + count; i += 8 * kGroups) {
    UL words = {};
    CORTEN_UNROLL
    for (int group = 0; group < kGroups; ++group)
      words[group] = loadAs<uint64_t>(from + group * bits);
    from += kGroups * bits;
    store(to + i, bytesOf(words, uint64_t(bits)));
  }
  return to + before;
}

/// Values from `first` on, as floats; of columns that have tables of their own,
/// codes.
const float *valuesAt(const CodePanel &panel, const float *table, int64_t first,
                      int64_t count, Values &to) {
  auto convert = [&](auto &&at) {
    for (int64_t i = 0; i < count; i += kWidth)
      store(to.numbers + i, at(i));
    return to.numbers;
  };
  if (panel.kind == CodeKind::Float) {
    if (panel.factor == Factor::F32)
      return reinterpret_cast<const float *>(panel.codes) + first;
    const uint16_t *from =
        reinterpret_cast<const uint16_t *>(panel.codes) + first;
    if (panel.factor == Factor::F16)
      return convert(
          [&](int64_t i) { return fromF16(loadAs<UI16s>(from + i)); });
    return convert(
        [&](int64_t i) { return fromBF16(loadAs<UI16s>(from + i)); });
  }
  const uint8_t *codes =
      panel.bits == 8 ? panel.codes + first
                      : unpack(panel.codes, panel.bits, first, count, to.bytes);
  auto indexAt = [&](int64_t i) {
    return __builtin_convertvector(loadAs<UI8s>(codes + i), I);
  };
  if (panel.columnTables)
    return convert([&](int64_t i) { return toFloat(indexAt(i)); });
  if (panel.bits <= 4) {
    Table16 entries(table, 1 << panel.bits);
    return convert([&](int64_t i) { return entries.at(indexAt(i)); });
  }
  auto bytes = [&]<CodeKind kind>() {
    return convert([&](int64_t i) { return Byte<kind>::load(codes + i); });
  };
  if (panel.bits == 8) {
    switch (panel.kind) {
    case CodeKind::Signed:
      return bytes.template operator()<CodeKind::Signed>();
    case CodeKind::Unsigned:
      return bytes.template operator()<CodeKind::Unsigned>();
    case CodeKind::F8E4M3FN:
      return bytes.template operator()<CodeKind::F8E4M3FN>();
    case CodeKind::F8E5M2:
      return bytes.template operator()<CodeKind::F8E5M2>();
    default:
      break;
    }
  }
  return convert([&](int64_t i) { return lookUp(table, indexAt(i)); });
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Calls `function(row, vector, numbers)` for rows of a panel, each vector of
/// which has values from `from` on, and the same number elsewhere.
template <typename Function>
inline void forEachVector(const uint32_t *places, int64_t rows,
                          const float *from, F elsewhere, Function &&function) {
  constexpr uint32_t kLanes = uint32_t((uint64_t(1) << kWidth) - 1);
  for (int64_t row = 0; row < rows; ++row) {
    uint32_t word = places[row];
    CORTEN_UNROLL
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      uint32_t mask = word & kLanes;
      function(row, vector, spread(mask, from, elsewhere));
      from += __builtin_popcount(mask);
      word = kWidth == 32 ? 0 : word >> kWidth;
    }
  }
}

/// Values of some rows of a panel, and what is where there are none.
struct Part {
  const uint32_t *places;
  const float *from;
  const float *table;
  F elsewhere;
};

/// Walks through a panel.
class Walker {
public:
  explicit Walker(const CodePanel &panel)
      : panel(panel), places(panel.places), next(panel.firstValue) {}

  /// The next rows, which are of one block. False if values are missing.
  bool take(int64_t block, int64_t rows, Part &part) {
    int64_t some = countValues(places, rows);
    if (some > panel.capacity - next)
      return false;
    if (panel.table)
      part.table = panel.table + block / panel.blocksOfTable * panel.tableStep;
    prefetch(some);
    bool isCode = panel.kind == CodeKind::Table && !panel.isAbsentZero;
    // No code is negative.
    part.elsewhere = splat(panel.columnTables ? (isCode ? 0.0f : -1.0f)
                           : isCode           ? part.table[0]
                                              : 0.0f);
    part.places = places;
    part.from = valuesAt(panel, part.table, next, some, values);
    places += rows;
    next += some;
    return true;
  }

  /// Makes floats of them, without parameters.
  bool expand(int64_t block, int64_t rows, float *to) {
    Part part = {};
    if (!take(block, rows, part))
      return false;
    if (panel.columnTables) {
      forEachVector(part.places, rows, part.from, part.elsewhere,
                    [&](int64_t row, int vector, F value) {
                      I code = truncate(value);
                      I base = loadAs<I>(panel.columnTables + vector * kWidth);
                      F entry =
                          lookUp(part.table, base + (code < 0 ? I{} : code));
                      store(to + row * kPanelColumns + vector * kWidth,
                            F(code < 0 ? F{} : entry));
                    });
      return true;
    }
    forEachVector(part.places, rows, part.from, part.elsewhere,
                  [&](int64_t row, int vector, F value) {
                    store(to + row * kPanelColumns + vector * kWidth, value);
                  });
    return true;
  }

private:
  /// Of what is as far ahead as in other products.
  void prefetch(int64_t some) const {
    const uint8_t *ahead = panel.codes + next * panel.bits / 8 + kAhead;
    for (int64_t byte = 0; byte < some * panel.bits / 8; byte += 64)
      __builtin_prefetch(ahead + byte, 0, 2);
  }

  const CodePanel &panel;
  const uint32_t *places;
  int64_t next;
  Values values;
};

/// Calls `function(rows)` for the tiles of a block until it is false.
template <typename Function>
inline bool forEachTile(int64_t blockDepth, Function &&function) {
  for (int64_t first = 0; first < blockDepth; first += kTileRows)
    if (!function(blockDepth - first < kTileRows ? blockDepth - first
                                                 : kTileRows))
      return false;
  return true;
}

bool expand(const CodePanel &panel, float *to) {
  Walker walker(panel);
  bool isScaled = panel.scales.data || panel.zeros.data || panel.offsets.data;
  for (int64_t block = 0; block < panel.blocks; ++block) {
    bool isWhole = forEachTile(panel.blockDepth, [&](int64_t rows) {
      if (!walker.expand(block, rows, to))
        return false;
      for (int vector = 0; isScaled && vector < kPanelVectors; ++vector) {
        BlockParameters parameters(panel,
                                   block * kPanelColumns + vector * kWidth);
        float *at = to + vector * kWidth;
        for (int64_t row = 0; row < rows; ++row, at += kPanelColumns)
          store(at, parameters.apply(load(at)));
      }
      to += rows * kPanelColumns;
      return true;
    });
    if (!isWhole)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// A few rows
//===----------------------------------------------------------------------===//

template <int Rows> struct PanelSums {
  F sums[Rows][kPanelVectors] = {};
};

/// Whether there are registers for the sums of a panel: then values are
/// multiplied as they come.
template <int Rows>
constexpr bool areInRegisters =
    Rows * kPanelVectors <= CORTEN_BY_LEVEL(8, 8, 16);

template <int Rows>
inline void addDirectly(const Part &part, int64_t count,
                        const float *const (&rows)[Rows],
                        PanelSums<Rows> &sums) {
  PanelSums<Rows> own = sums;
  forEachVector(part.places, count, part.from, part.elsewhere,
                [&](int64_t row, int vector, F value)
                    __attribute__((always_inline)) {
                      CORTEN_UNROLL
                      for (int i = 0; i < Rows; ++i)
                        own.sums[i][vector] = fma(splat(rows[i][row]), value,
                                                  own.sums[i][vector]);
                    });
  sums = own;
}

/// The same of a tile, some of its columns at a time.
template <int Rows>
inline void addTile(const float *tile, int64_t count,
                    const float *const (&rows)[Rows], PanelSums<Rows> &sums) {
  constexpr int kAtOnce = kPanelVectors < 4 ? kPanelVectors : 2;
  for (int first = 0; first < kPanelVectors; first += kAtOnce) {
    F own[Rows][kAtOnce];
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < kAtOnce; ++j)
        own[i][j] = sums.sums[i][first + j];
    }
    for (int64_t k = 0; k < count; ++k) {
      CORTEN_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        F value = load(tile + k * kPanelColumns + (first + j) * kWidth);
        CORTEN_UNROLL
        for (int i = 0; i < Rows; ++i)
          own[i][j] = fma(splat(rows[i][k]), value, own[i][j]);
      }
    }
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < kAtOnce; ++j)
        sums.sums[i][first + j] = own[i][j];
    }
  }
}

template <int Rows> bool skinny(const SkinnyCall &call) {
  const CodePanel &panel = *call.panel;
  Walker walker(panel);
  const float *rows[Rows];
  PanelSums<Rows> totals;
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i)
    rows[i] = call.rows[i];
  for (int64_t block = 0; block < panel.blocks; ++block) {
    PanelSums<Rows> sums;
    BlockParameters::prefetch(panel, block);
    bool isWhole = forEachTile(panel.blockDepth, [&](int64_t count) {
      Part part = {};
      alignas(64) float tile[kTileRows * kPanelColumns];
      if (areInRegisters<Rows> && !panel.columnTables) {
        if (!walker.take(block, count, part))
          return false;
        addDirectly<Rows>(part, count, rows, sums);
      } else {
        if (!walker.expand(block, count, tile))
          return false;
        addTile<Rows>(tile, count, rows, sums);
      }
      for (int i = 0; i < Rows; ++i)
        rows[i] += count;
      return true;
    });
    if (!isWhole)
      return false;
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      BlockParameters parameters(panel,
                                 block * kPanelColumns + vector * kWidth);
      for (int i = 0; i < Rows; ++i)
        totals.sums[i][vector] = parameters.add(
            sums.sums[i][vector], call.rowSums ? call.rowSums[i][block] : 0.0f,
            totals.sums[i][vector]);
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int vector = 0; vector < kPanelVectors; ++vector)
      store(call.target + i * call.targetStep + vector * kWidth,
            totals.sums[i][vector]);
  return true;
}

} // namespace

const SparseCodes kSparseCodes = {
    &expand, {&skinny<1>, &skinny<2>, &skinny<3>, &skinny<4>}};

} // namespace corten::runtime::CORTEN_LEVEL
