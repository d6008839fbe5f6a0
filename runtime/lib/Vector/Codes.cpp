// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of few bits: as floats, and in products with a few rows, where codes
// become floats in registers. Codes of up to 4 bits are looked up in a table
// that is in registers; lookups see only the lowest bits of an index, so codes
// need only be moved there.

#include "Vectors.h"

#include "CodeParameters.h"
#include "CodeValues.h"

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

namespace {

//===----------------------------------------------------------------------===//
// As floats
//===----------------------------------------------------------------------===//

/// Calls `function(k, code)` for codes of fewer than 8 bits, of the columns of
/// one vector.
template <int bits, typename Function>
inline void forEachCode(const uint8_t *codes, int64_t depth, int vector,
                        Function &&function) {
  constexpr int kLower = lowerBits(bits);
  constexpr int kUpper = bits - kLower;
  constexpr int64_t kUnit = unitDepth(bits);
  constexpr int64_t kPerWord = 32 / kLower;
  codes += vector * kWidth * 4;
  for (int64_t first = 0; first < depth; first += kUnit) {
    I upper = {};
    if constexpr (kUpper != 0)
      upper = loadAs<I>(codes + kUnit / kPerWord * kPanelColumns * 4);
    int64_t count = depth - first < kUnit ? depth - first : kUnit;
    for (int64_t k = 0; k < count; k += kPerWord) {
      U words = loadAs<U>(codes + k / kPerWord * kPanelColumns * 4);
      for (int64_t i = 0; i < kPerWord && k + i < count; ++i) {
        I code = I(words) & ((1 << kLower) - 1);
        if constexpr (kUpper != 0) {
          code |= (upper & ((1 << kUpper) - 1)) << kLower;
          upper = I(U(upper) >> kUpper);
        }
        words >>= kLower;
        function(first + k + i, code);
      }
    }
    codes += unitBytes(bits);
  }
}

/// Calls `function(k, value)` for the columns of one vector of a block.
template <typename Function>
inline void forEachValue(const CodePanel &panel, int64_t block, int vector,
                         Function &&function) {
  const uint8_t *codes = panel.codes + block * panel.blockBytes;
  int64_t depth = panel.blockDepth;
  auto bytes = [&]<CodeKind kind>() {
    for (int64_t k = 0; k < depth; ++k)
      function(k,
               Byte<kind>::load(codes + k * kPanelColumns + vector * kWidth));
  };
  if (panel.kind == CodeKind::Signed && panel.bits == 8)
    return bytes.template operator()<CodeKind::Signed>();
  if (panel.kind == CodeKind::Unsigned && panel.bits == 8)
    return bytes.template operator()<CodeKind::Unsigned>();
  if (panel.kind == CodeKind::F8E4M3FN)
    return bytes.template operator()<CodeKind::F8E4M3FN>();
  if (panel.kind == CodeKind::F8E5M2)
    return bytes.template operator()<CodeKind::F8E5M2>();
  const float *table =
      panel.table + block / panel.blocksOfTable * panel.tableStep;
  I base = {};
  if (panel.columnTables)
    base = loadAs<I>(panel.columnTables + vector * kWidth);
  auto far = [&](int64_t k, I code) {
    function(k, lookUp(table, base + code));
  };
  auto words = [&]<int bits>() {
    auto near = [&](const auto &entries) {
      forEachCode<bits>(codes, depth, vector, [&](int64_t k, I code) {
        function(k, entries.at(code));
      });
    };
    if (panel.columnTables)
      return forEachCode<bits>(codes, depth, vector, far);
    if constexpr (bits > 4)
      return near(LargeTable<1 << bits>(table));
    else
      return near(Table16(table, 1 << bits));
  };
  auto bytesBy = [&](auto &&lookUpCode) {
    for (int64_t k = 0; k < depth; ++k)
      lookUpCode(
          k, __builtin_convertvector(
                 loadAs<UI8s>(codes + k * kPanelColumns + vector * kWidth), I));
  };
  switch (panel.bits) {
  case 1:
    return words.template operator()<1>();
  case 2:
    return words.template operator()<2>();
  case 3:
    return words.template operator()<3>();
  case 4:
    return words.template operator()<4>();
  case 6:
    return words.template operator()<6>();
  default:
    if (panel.columnTables)
      return bytesBy(far);
    LargeTable<256> entries(table);
    bytesBy([&](int64_t k, I code) { function(k, entries.at(code)); });
  }
}

void expand(const CodePanel &panel, float *to) {
  for (int64_t block = 0; block < panel.blocks; ++block) {
    for (int vector = 0; vector < kPanelVectors; ++vector) {
      BlockParameters parameters(panel,
                                 block * kPanelColumns + vector * kWidth);
      float *target = to + vector * kWidth;
      forEachValue(panel, block, vector, [&](int64_t k, F value) {
        store(target + k * kPanelColumns, parameters.apply(value));
      });
    }
    to += panel.blockDepth * kPanelColumns;
  }
}

//===----------------------------------------------------------------------===//
// A few rows
//===----------------------------------------------------------------------===//

/// Vectors of columns at a time, as many as there are registers for sums of.
template <int Rows>
constexpr int kVectors = CORTEN_BY_LEVEL(2, (Rows > 2 ? 1 : 2), 2);

/// With few sums, those of several k at once: one would wait for the other.
template <int Rows>
constexpr int kStrands = Rows * kVectors<Rows> <= 2   ? 4
                         : Rows * kVectors<Rows> <= 4 ? 2
                                                      : 1;

/// Sums of a block, before parameters.
template <int Rows> struct BlockSums {
  F sums[kStrands<Rows>][Rows][kVectors<Rows>];

  BlockSums() {
    CORTEN_UNROLL
    for (int part = 0; part < kStrands<Rows>; ++part) {
      CORTEN_UNROLL
      for (int i = 0; i < Rows; ++i) {
        CORTEN_UNROLL
        for (int j = 0; j < kVectors<Rows>; ++j)
          sums[part][i][j] = F{};
      }
    }
  }

  /// The k of values decides which sums they go to, and nothing else does. An
  /// element of a row is loaded once for all columns.
  template <int part>
  __attribute__((always_inline)) void add(const float *const (&rows)[Rows],
                                          int64_t k,
                                          const F (&values)[kVectors<Rows>]) {
    auto &own = sums[part % kStrands<Rows>];
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      F element = splat(rows[i][k]);
      CORTEN_UNROLL
      for (int j = 0; j < kVectors<Rows>; ++j)
        own[i][j] = fma(element, values[j], own[i][j]);
    }
  }

  F total(int i, int j) const {
    F sum = sums[0][i][j];
    CORTEN_UNROLL
    for (int part = 1; part < kStrands<Rows>; ++part)
      sum += sums[part][i][j];
    return sum;
  }
};

/// Calls `function<i>()` for i from 0 on.
template <int count, int first = 0, typename Function>
inline __attribute__((always_inline)) void unrolled(Function &&function) {
  if constexpr (first < count) {
    function.template operator()<first>();
    unrolled<count, first + 1>(function);
  }
}

/// Codes that share words: of 1, 2 or 4 bits.
template <int Bits> struct WordCodes {
  static constexpr int64_t kUnit = unitDepth(Bits);
  Table16 table;

  WordCodes(const CodePanel &panel, int64_t block)
      : table(panel.table + block / panel.blocksOfTable * panel.tableStep,
              1 << Bits) {}

  template <int Rows>
  __attribute__((always_inline)) void
  addUnit(const uint8_t *codes, const float *const (&rows)[Rows], int64_t k,
          BlockSums<Rows> &sums) const {
    constexpr int kCount = kVectors<Rows>;
    U words[kCount];
    CORTEN_UNROLL
    for (int j = 0; j < kCount; ++j) {
      words[j] = loadAs<U>(codes + j * kWidth * 4);
      __builtin_prefetch(codes + j * kWidth * 4 + kAhead, 0, 2);
    }
    unrolled<int(kUnit)>([&]<int i>() __attribute__((always_inline)) {
      F values[kCount];
      CORTEN_UNROLL
      for (int j = 0; j < kCount; ++j)
        values[j] = table.at(I(words[j] >> (Bits * i)));
      sums.template add<i>(rows, k + i, values);
    });
  }

  template <int Rows>
  void addRest(const uint8_t *codes, const float *const (&rows)[Rows],
               int64_t k, int64_t count, BlockSums<Rows> &sums) const {
    constexpr int kCount = kVectors<Rows>;
    for (int64_t i = 0; i < count; ++i) {
      F values[kCount];
      for (int j = 0; j < kCount; ++j)
        values[j] = table.at(
            I(loadAs<U>(codes + j * kWidth * 4) >> uint32_t(Bits * i)));
      sums.template add<0>(rows, k + i, values);
    }
  }
};

/// Codes of a byte: a unit is four of them here.
template <CodeKind kind> struct ByteCodes {
  static constexpr int64_t kUnit = 4;

  ByteCodes(const CodePanel &, int64_t) {}

  template <int Rows>
  __attribute__((always_inline)) void
  addUnit(const uint8_t *codes, const float *const (&rows)[Rows], int64_t k,
          BlockSums<Rows> &sums) const {
    unrolled<4>([&]<int i>() __attribute__((always_inline)) {
      if constexpr (i % 2 == 0)
        __builtin_prefetch(codes + i * kPanelColumns + kAhead, 0, 2);
      addOne<i>(codes + i * kPanelColumns, rows, k + i, sums);
    });
  }

  template <int Rows>
  void addRest(const uint8_t *codes, const float *const (&rows)[Rows],
               int64_t k, int64_t count, BlockSums<Rows> &sums) const {
    for (int64_t i = 0; i < count; ++i)
      addOne<0>(codes + i * kPanelColumns, rows, k + i, sums);
  }

private:
  template <int part, int Rows>
  static __attribute__((always_inline)) void
  addOne(const uint8_t *codes, const float *const (&rows)[Rows], int64_t k,
         BlockSums<Rows> &sums) {
    F values[kVectors<Rows>];
    CORTEN_UNROLL
    for (int j = 0; j < kVectors<Rows>; ++j)
      values[j] = Byte<kind>::load(codes + j * kWidth);
    sums.template add<part>(rows, k, values);
  }
};

template <int Rows, typename Codes>
void multiplyColumns(const SkinnyCall &call, int firstVector) {
  const CodePanel &panel = *call.panel;
  int64_t unit = panel.bits == 8 ? 4 * kPanelColumns : unitBytes(panel.bits);
  int64_t skipped = int64_t(firstVector) * kWidth * (panel.bits == 8 ? 1 : 4);
  const float *rows[Rows];
  F totals[Rows][kVectors<Rows>];
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    rows[i] = call.rows[i];
    CORTEN_UNROLL
    for (int j = 0; j < kVectors<Rows>; ++j)
      totals[i][j] = F{};
  }
  int64_t done = 0;
  for (int64_t block = 0; block < panel.blocks; ++block) {
    const uint8_t *codes = panel.codes + block * panel.blockBytes + skipped;
    BlockParameters::prefetch(panel, block);
    Codes decoder(panel, block);
    BlockSums<Rows> sums;
    int64_t k = 0;
    for (; k + Codes::kUnit <= panel.blockDepth; k += Codes::kUnit) {
      decoder.addUnit(codes, rows, done + k, sums);
      codes += unit;
    }
    if (k != panel.blockDepth)
      decoder.addRest(codes, rows, done + k, panel.blockDepth - k, sums);
    done += panel.blockDepth;
    CORTEN_UNROLL
    for (int j = 0; j < kVectors<Rows>; ++j) {
      BlockParameters parameters(panel, block * kPanelColumns +
                                            (firstVector + j) * kWidth);
      CORTEN_UNROLL
      for (int i = 0; i < Rows; ++i)
        totals[i][j] = parameters.add(
            sums.total(i, j), call.rowSums ? call.rowSums[i][block] : 0.0f,
            totals[i][j]);
    }
  }
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int j = 0; j < kVectors<Rows>; ++j)
      store(call.target + i * call.targetStep + (firstVector + j) * kWidth,
            totals[i][j]);
  }
}

int64_t mostSkinnyRows(const CodePanel &panel) {
  bool isNumber =
      panel.kind == CodeKind::Signed || panel.kind == CodeKind::Unsigned;
  if (panel.bits == 8)
    return panel.kind == CodeKind::Table ? 0
           : isNumber                    ? 16
                                         : CORTEN_BY_LEVEL(16, 8, 8);
  bool isWord = panel.bits == 1 || panel.bits == 2 || panel.bits == 4;
  return isWord ? CORTEN_BY_LEVEL(16, 8, 8) : 0;
}

template <int Rows, typename Codes> void multiplyPanel(const SkinnyCall &call) {
  for (int vector = 0; vector < kPanelVectors; vector += kVectors<Rows>)
    multiplyColumns<Rows, Codes>(call, vector);
}

template <int Rows> void skinny(const SkinnyCall &call) {
  switch (call.panel->bits) {
  case 1:
    return multiplyPanel<Rows, WordCodes<1>>(call);
  case 2:
    return multiplyPanel<Rows, WordCodes<2>>(call);
  case 4:
    return multiplyPanel<Rows, WordCodes<4>>(call);
  default:
    break;
  }
  switch (call.panel->kind) {
  case CodeKind::Signed:
    return multiplyPanel<Rows, ByteCodes<CodeKind::Signed>>(call);
  case CodeKind::Unsigned:
    return multiplyPanel<Rows, ByteCodes<CodeKind::Unsigned>>(call);
  case CodeKind::F8E4M3FN:
    return multiplyPanel<Rows, ByteCodes<CodeKind::F8E4M3FN>>(call);
  case CodeKind::F8E5M2:
    return multiplyPanel<Rows, ByteCodes<CodeKind::F8E5M2>>(call);
  case CodeKind::Table:
  case CodeKind::Float:
    return;
  }
}

} // namespace

const CodeKernels kCodes = {&expand,
                            &mostSkinnyRows,
                            {&skinny<1>, &skinny<2>, &skinny<3>, &skinny<4>,
                             &skinny<5>, &skinny<6>, &skinny<7>, &skinny<8>},
                            kCodeDots,
                            kSparseCodes};

} // namespace corten::runtime::CORTEN_LEVEL
