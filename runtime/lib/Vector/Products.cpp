// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loops of products.

#include "Vectors.h"

#include "Simd.h"

#ifdef __clang__
#define CORTEN_UNROLL _Pragma("unroll")
#else
#define CORTEN_UNROLL _Pragma("GCC unroll 16")
#endif

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

namespace {

constexpr int kPanelColumns = 32;
/// With two vectors of columns: best on Zen 4, and rows need no more than the
/// registers for addresses that there are; all registers of AVX2 but one.
constexpr int kTileRows = CORTEN_BY_LEVEL(8, 6);
constexpr int kAccumulators = 2 * kTileRows;
constexpr int kDepthwisePlaces = 4;

/// The first of a vector, without touching what comes after them.
inline F loadSome(const float *from, int64_t count) {
  if (count >= kWidth)
    return load(from);
#ifdef __AVX512F__
  return F(_mm512_maskz_loadu_ps(count > 0 ? (1u << count) - 1 : 0, from));
#else
  I lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  return F(_mm256_maskload_ps(from, (__m256i)(lanes < int32_t(count))));
#endif
}
inline void storeSome(float *to, F x, int64_t count) {
  if (count >= kWidth)
    return store(to, x);
#ifdef __AVX512F__
  _mm512_mask_storeu_ps(to, count > 0 ? (1u << count) - 1 : 0, x);
#else
  I lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  _mm256_maskstore_ps(to, (__m256i)(lanes < int32_t(count)), x);
#endif
}

template <Factor> struct Panel;
template <> struct Panel<Factor::F32> {
  using Element = float;
  static F load(const float *from) { return loadAs<F>(from); }
};
template <> struct Panel<Factor::F16> {
  using Element = uint16_t;
  static F load(const uint16_t *from) { return fromF16(loadAs<UI16s>(from)); }
};
template <> struct Panel<Factor::BF16> {
  using Element = uint16_t;
  static F load(const uint16_t *from) { return fromBF16(loadAs<UI16s>(from)); }
};

/// One vector of results, of which `columns` are there.
inline F finished(const Finish &finish, F sum, int64_t row, int64_t column,
                  int64_t columns) {
  if (finish.bias)
    sum += loadSome(finish.bias + column, columns);
  if (finish.residual)
    sum +=
        loadSome(finish.residual + row * finish.residualStep + column, columns);
  // The second operand wins where one is NaN.
  sum = larger(splat(finish.low), sum);
  return smaller(splat(finish.high), sum);
}

/// With few rows, sums of several k at once: one would wait for the other.
template <int Rows, int Vectors>
constexpr int kStrands = Rows * Vectors * 4 <= kAccumulators   ? 4
                         : Rows * Vectors * 2 <= kAccumulators ? 2
                                                               : 1;

template <int Rows, int Vectors, Factor factor>
void tile(const TileCall &call) {
  using Element = typename Panel<factor>::Element;
  constexpr int kParts = kStrands<Rows, Vectors>;
  F sums[kParts][Rows][Vectors];
  CORTEN_UNROLL
  for (int part = 0; part < kParts; ++part) {
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < Vectors; ++j)
        sums[part][i][j] = F{};
    }
  }
  const char *ahead = call.ahead;
  int64_t aheadStep = call.aheadStep;
  const float *const *table = call.rows;
  const Element *panel = static_cast<const Element *>(call.panel);
  auto step = [&](const float *const *rows, int64_t k, const Element *b,
                  F(&target)[Rows][Vectors]) __attribute__((always_inline)) {
    F columns[Vectors];
    CORTEN_UNROLL
    for (int j = 0; j < Vectors; ++j)
      columns[j] = Panel<factor>::load(b + j * kWidth);
    __builtin_prefetch(ahead);
    if (Vectors * kWidth * sizeof(Element) > 64)
      __builtin_prefetch(ahead + 64);
    ahead += aheadStep;
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      F a = splat(rows[i][k]);
      CORTEN_UNROLL
      for (int j = 0; j < Vectors; ++j)
        target[i][j] = fma(a, columns[j], target[i][j]);
    }
  };
  for (int64_t segment = 0; segment < call.segments; ++segment) {
    const float *rows[Rows];
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i)
      rows[i] = table[segment * kMaxTileRows + i] + call.first;
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
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      F sum = sums[0][i][j];
      CORTEN_UNROLL
      for (int part = 1; part < kParts; ++part)
        sum += sums[part][i][j];
      int64_t first = j * kWidth;
      int64_t columns = call.columns - first;
      if (columns <= 0)
        continue;
      if (call.partial) {
        const float *partial = call.partial + i * call.partialStep + first;
        sum += loadSome(partial, columns);
      }
      if (call.finish)
        sum = finished(*call.finish, sum, i, first, columns);
      storeSome(call.target + i * call.targetStep + first, sum, columns);
    }
  }
}

template <int Places> void depthwise(const DepthwiseCall &call) {
  constexpr int kVectors = 2;
  for (int64_t first = 0; first < call.channels; first += kVectors * kWidth) {
    F sums[Places][kVectors];
    CORTEN_UNROLL
    for (int i = 0; i < Places; ++i)
      sums[i][0] = sums[i][1] = F{};
    int64_t left = call.channels - first;
    auto add = [&](auto load) __attribute__((always_inline)) {
      const float *weights = call.weights + first;
      const float *const *rows = call.rows;
      for (int64_t tap = 0; tap < call.taps; ++tap) {
        F w0 = load(weights, left);
        F w1 = load(weights + kWidth, left - kWidth);
        CORTEN_UNROLL
        for (int i = 0; i < Places; ++i) {
          const float *x = rows[i] + first;
          sums[i][0] = fma(w0, load(x, left), sums[i][0]);
          sums[i][1] = fma(w1, load(x + kWidth, left - kWidth), sums[i][1]);
        }
        weights += call.weightStep;
        rows += kMaxTileRows;
      }
    };
    if (left >= kVectors * kWidth)
      add([](const float *p, int64_t) { return load(p); });
    else
      add([](const float *p, int64_t count) { return loadSome(p, count); });
    CORTEN_UNROLL
    for (int i = 0; i < Places; ++i) {
      CORTEN_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        int64_t column = first + j * kWidth;
        int64_t count = call.channels - column;
        if (count <= 0)
          continue;
        F sum = sums[i][j];
        if (call.finish)
          sum = finished(*call.finish, sum, i, column, count);
        storeSome(call.target + i * call.targetStep + column, sum, count);
      }
    }
  }
}

template <Factor factor>
void widen(const void *from, float *to, int64_t count) {
  using Element = typename Panel<factor>::Element;
  const Element *elements = static_cast<const Element *>(from);
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth)
    storeSome(to + i, Panel<factor>::load(elements + i), kWidth);
  if (i == count)
    return;
  Element rest[kWidth] = {};
  for (int64_t j = i; j < count; ++j)
    rest[j - i] = elements[j];
  storeSome(to + i, Panel<factor>::load(rest), count - i);
}

/// 8 rows of 8 elements; both instruction sets have the same shuffles.
void transpose8(const float *from, int64_t fromStep, float *to,
                int64_t toStep) {
  __m256 r[8], t[8];
  CORTEN_UNROLL
  for (int i = 0; i < 8; ++i)
    r[i] = _mm256_loadu_ps(from + i * fromStep);
  CORTEN_UNROLL
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  CORTEN_UNROLL
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  CORTEN_UNROLL
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * toStep,
                     _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * toStep,
                     _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

void transpose(const float *from, int64_t fromStep, int64_t rows,
               int64_t columns, float *to, int64_t toStep) {
  int64_t i = 0;
  for (; i + 8 <= rows; i += 8) {
    int64_t j = 0;
    for (; j + 8 <= columns; j += 8)
      transpose8(from + i * fromStep + j, fromStep, to + j * toStep + i,
                 toStep);
    for (; j < columns; ++j)
      for (int64_t r = i; r < i + 8; ++r)
        to[j * toStep + r] = from[r * fromStep + j];
  }
  for (; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      to[j * toStep + i] = from[i * fromStep + j];
}

/// Rows of tables: those that a tile does not have are null.
#define CORTEN_TILE(ROWS, VECTORS, FACTOR)                                     \
  (ROWS <= kTileRows ? &tile<(ROWS <= kTileRows ? ROWS : 1), VECTORS, FACTOR>  \
                     : nullptr)
#define CORTEN_TILES(VECTORS, FACTOR)                                          \
  {CORTEN_TILE(1, VECTORS, FACTOR), CORTEN_TILE(2, VECTORS, FACTOR),           \
   CORTEN_TILE(3, VECTORS, FACTOR), CORTEN_TILE(4, VECTORS, FACTOR),           \
   CORTEN_TILE(5, VECTORS, FACTOR), CORTEN_TILE(6, VECTORS, FACTOR),           \
   CORTEN_TILE(7, VECTORS, FACTOR), CORTEN_TILE(8, VECTORS, FACTOR)}

} // namespace

const MicroKernels kProducts = {
    kTileRows,
    2 * kWidth,
    {CORTEN_TILES(2, Factor::F32), CORTEN_TILES(2, Factor::F16),
     CORTEN_TILES(2, Factor::BF16)},
    {CORTEN_TILES(1, Factor::F32), CORTEN_TILES(1, Factor::F16),
     CORTEN_TILES(1, Factor::BF16)},
    kDepthwisePlaces,
    {&depthwise<1>, &depthwise<2>, &depthwise<3>, &depthwise<4>},
    {&widen<Factor::F32>, &widen<Factor::F16>, &widen<Factor::BF16>},
    &transpose,
};

} // namespace corten::runtime::CORTEN_LEVEL
