// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of several rows with codes that are whole numbers, in whole numbers
// (CodeDots.cpp). The codes of a group are taken apart once and stay in
// registers while all rows are multiplied with them. Digits of a row are added
// up one after the other in one sum, which moves up by 8 bits in between: what
// there is to do beside the products themselves is little.

#include "Vectors.h"

#include "CodeParameters.h"
#include "CodeValues.h"
#include "DotBytes.h"

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

#ifdef CORTEN_HAS_DOTS
namespace {

/// A quad is four k of each column.
constexpr int kQuads = kDotGroup / 4;
/// Vectors of columns at a time, whose codes are not far.
constexpr int kVectors = CORTEN_BY_LEVEL(2, 1);

using Quads = B[kQuads][kVectors];

/// What rows come to in a group.
template <int Rows> using Parts = F[Rows][kVectors];

/// A row in a group.
struct Elements {
  const int8_t *digits;
  const int32_t *starts;
  float unit;

  Elements() = default;
  Elements(const DotRow &row, int64_t group)
      : digits(row.digits + group * kDotDigits * kDotGroup),
        starts(row.starts + group * kDotDigits), unit(row.units[group]) {}

  B four(int digit, int quad) const {
    return foursAt(digits + digit * kDotGroup + quad * 4);
  }
};

inline void prefetchAhead(const uint8_t *codes) {
  CORTEN_UNROLL
  for (size_t byte = 0; byte < kVectors * sizeof(B); byte += 64)
    __builtin_prefetch(codes + byte + kAhead, 0, 2);
}

#ifdef __AVX512VNNI__
//===----------------------------------------------------------------------===//
// Sums of digits
//===----------------------------------------------------------------------===//

/// One for each row and vector. Of few rows there are several, which do not
/// wait for each other.
template <int Rows> class Sums {
public:
  /// Adds a digit; what was there before counts 256 times as much.
  __attribute__((always_inline)) void
  add(const Quads &quads, const Elements (&rows)[Rows], int digit) {
    forEach([](B &sum) { sum = B(I(sum) << 8); });
    for (int quad = 0; quad < kQuads; quad += kStrands) {
      CORTEN_UNROLL
      for (int strand = 0; strand < kStrands; ++strand) {
        CORTEN_UNROLL
        for (int i = 0; i < Rows; ++i) {
          B four = rows[i].four(digit, quad + strand);
          CORTEN_UNROLL
          for (int j = 0; j < kVectors; ++j)
            sums[strand][i][j] =
                addProducts(sums[strand][i][j], quads[quad + strand][j], four);
        }
      }
      // Compilers would rather finish one sum after the other, each of which
      // waits for itself, and load elements long before.
      forEach([](B &sum) { asm volatile("" : "+v"(sum)::"memory"); });
    }
  }

  /// `start`: which of the numbers that sums begin with it is.
  F total(const Elements (&rows)[Rows], int i, int j, int start) const {
    I total = I(sums[0][i][j]) + splat(rows[i].starts[start]);
    CORTEN_UNROLL
    for (int strand = 1; strand < kStrands; ++strand)
      total += I(sums[strand][i][j]);
    return toFloat(total);
  }

private:
  static constexpr int kStrands = Rows <= 4 ? 2 : 1;

  template <typename Function>
  __attribute__((always_inline)) void forEach(Function &&function) {
    CORTEN_UNROLL
    for (auto &strand : sums) {
      CORTEN_UNROLL
      for (auto &row : strand) {
        CORTEN_UNROLL
        for (B &sum : row)
          function(sum);
      }
    }
  }

  B sums[kStrands][Rows][kVectors] = {};
};
#endif

//===----------------------------------------------------------------------===//
// Codes of a group
//===----------------------------------------------------------------------===//

/// Codes of 4 bits, in words of eight k. All digits fit into one sum.
struct Nibbles {
  static constexpr int64_t kGroupBytes = kDotGroup * kPanelColumns / 2;
  /// What is not there counts as nothing.
  template <bool isWhole>
  static __attribute__((always_inline)) void
  load(const uint8_t *codes, bool isSigned, int64_t depth, Quads &quads) {
    B flip = everywhere(isSigned ? 0x88 : 0);
    CORTEN_UNROLL
    for (int unit = 0; unit < kQuads / 2; ++unit) {
      prefetchAhead(codes + unit * 128);
      CORTEN_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        B all = {};
        if (isWhole || unit * 8 < depth)
          all = bytesAt(codes + unit * 128 + j * sizeof(B)) ^ flip;
        quads[2 * unit][j] = all & everywhere(15);
        quads[2 * unit + 1][j] = upperNibbles(all);
      }
    }
  }

#ifdef __AVX512VNNI__
  template <int Rows>
  static
      __attribute__((always_inline)) void multiply(const Quads &quads,
                                                   const Elements (&rows)[Rows],
                                                   Parts<Rows> &parts) {
    Sums<Rows> sums;
    CORTEN_UNROLL
    for (int digit = 0; digit < kDotDigits; ++digit)
      sums.add(quads, rows, digit);
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < kVectors; ++j)
        parts[i][j] = sums.total(rows, i, j, 2);
    }
  }
#else
  /// Sums of a digit fit into 16 bits: 16 products of 15 and 128.
  template <int Rows>
  static __attribute__((always_inline)) void
  multiply(const Quads &quads, const Elements (&rows)[Rows],
           Parts<Rows> &parts) {
    static_assert(kVectors == 1 && kQuads * 2 * 15 * 128 < 1 << 15);
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      I sum = {};
      CORTEN_UNROLL
      for (int digit = 0; digit < kDotDigits; ++digit) {
        B pairs = _mm256_maddubs_epi16(quads[0][0], rows[i].four(digit, 0));
        CORTEN_UNROLL
        for (int quad = 1; quad < kQuads; ++quad)
          pairs = _mm256_add_epi16(
              pairs,
              _mm256_maddubs_epi16(quads[quad][0], rows[i].four(digit, quad)));
        sum = (sum << 8) + I(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
      }
      parts[i][0] = toFloat(sum + splat(rows[i].starts[kDotDigits - 1]));
    }
  }
#endif

  static void order(F (&)[kPanelVectors]) {}
};

#ifdef __AVX512VNNI__
/// Codes of 8 bits, in rows of a panel. The first digit has a sum of its own.
struct Bytes {
  static constexpr int64_t kGroupBytes = kDotGroup * kPanelColumns;

  template <bool isWhole>
  static __attribute__((always_inline)) void
  load(const uint8_t *codes, bool isSigned, int64_t depth, Quads &quads) {
    B flip = everywhere(isSigned ? 0x80 : 0);
    CORTEN_UNROLL
    for (int quad = 0; quad < kQuads; ++quad) {
      const uint8_t *from = codes + quad * 128;
      prefetchAhead(from);
      B a = {}, b = {};
      if (isWhole || quad * 4 < depth) {
        a = bytesAt(from) ^ flip;
        b = bytesAt(from + 64) ^ flip;
      }
      takeColumns(a, b, quads[quad]);
    }
  }

  template <int Rows>
  static __attribute__((always_inline)) void
  multiply(const Quads &quads, const Elements (&rows)[Rows],
           Parts<Rows> &parts) {
    Sums<Rows> upper, lower;
    upper.add(quads, rows, 0);
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < kVectors; ++j)
        parts[i][j] = upper.total(rows, i, j, 0);
    }
    lower.add(quads, rows, 1);
    lower.add(quads, rows, 2);
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < kVectors; ++j)
        parts[i][j] =
            fma(parts[i][j], splat(65536.0f), lower.total(rows, i, j, 2));
    }
  }

  /// Columns have changed places; this is its own inverse.
  static void order(F (&x)[kPanelVectors]) { orderColumns(x); }
};
#endif

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Parameters of all columns of a block, in the order that codes have.
template <typename Codes> struct PanelParameters {
  F scales[kPanelVectors];
  /// What elements count besides: offset - zero * scale.
  F others[kPanelVectors];
  bool hasOthers;

  PanelParameters(const CodePanel &panel, int64_t block)
      : hasOthers(panel.zeros.data || panel.offsets.data) {
    CORTEN_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) {
      int64_t place = block * kPanelColumns + j * kWidth;
      scales[j] = parametersAt(panel.scales, place, 1);
      if (hasOthers)
        others[j] = fma(-parametersAt(panel.zeros, place, 0), scales[j],
                        parametersAt(panel.offsets, place, 0));
    }
    Codes::order(scales);
    if (hasOthers)
      Codes::order(others);
  }
};

/// Some vectors of a panel, in one group; `left`: how much of it there is.
template <int Rows, typename Codes>
inline __attribute__((always_inline)) void
addGroup(const CodePanel &panel, const uint8_t *codes, int64_t left,
         const Elements (&rows)[Rows], const F *scales,
         F (&results)[Rows][kPanelVectors], int first) {
  Quads quads;
  bool isSigned = panel.kind == CodeKind::Signed;
  if (left >= kDotGroup)
    Codes::template load<true>(codes, isSigned, left, quads);
  else
    Codes::template load<false>(codes, isSigned, left, quads);
  Parts<Rows> parts;
  Codes::template multiply<Rows>(quads, rows, parts);
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int j = 0; j < kVectors; ++j)
      results[i][first + j] = fma(scales[j], parts[i][j] * splat(rows[i].unit),
                                  results[i][first + j]);
  }
}

template <int Rows, typename Codes> void multiplyPanel(const DotCall &call) {
  const CodePanel &panel = *call.panel;
  F results[Rows][kPanelVectors] = {};
  int64_t group = 0;
  for (int64_t block = 0; block < panel.blocks; ++block) {
    BlockParameters::prefetch(panel, block);
    PanelParameters<Codes> parameters(panel, block);
    const uint8_t *codes = panel.codes + block * panel.blockBytes;
    for (int64_t k = 0; k < panel.blockDepth; k += kDotGroup, ++group) {
      Elements rows[Rows];
      CORTEN_UNROLL
      for (int i = 0; i < Rows; ++i)
        rows[i] = Elements(call.rows[i], group);
      CORTEN_UNROLL
      for (int first = 0; first < kPanelVectors; first += kVectors)
        addGroup<Rows, Codes>(panel, codes + first * int64_t(sizeof(B)),
                              panel.blockDepth - k, rows,
                              parameters.scales + first, results, first);
      codes += Codes::kGroupBytes;
    }
    for (int i = 0; parameters.hasOthers && i < Rows; ++i)
      for (int j = 0; j < kPanelVectors; ++j)
        results[i][j] = fma(parameters.others[j], splat(call.rowSums[i][block]),
                            results[i][j]);
  }
  for (int i = 0; i < Rows; ++i) {
    Codes::order(results[i]);
    for (int j = 0; j < kPanelVectors; ++j)
      store(call.target + i * call.targetStep + j * kWidth, results[i][j]);
  }
}

template <int Rows> void dotGroups(const DotCall &call) {
#ifdef __AVX512VNNI__
  if (call.panel->bits == 8)
    return multiplyPanel<Rows, Bytes>(call);
#endif
  multiplyPanel<Rows, Nibbles>(call);
}

} // namespace

const DotFunction kDotGroups[kDotRows] = {
    nullptr,       nullptr,       &dotGroups<3>, &dotGroups<4>,
    &dotGroups<5>, &dotGroups<6>, &dotGroups<7>, &dotGroups<8>};
#else
const DotFunction kDotGroups[kDotRows] = {};
#endif

} // namespace corten::runtime::CORTEN_LEVEL
