// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loops of products.

#include "TileParts.h"

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

namespace {

constexpr int kDepthwisePlaces = 4;

/// Of floats, whatever a panel has them as.
struct Floats {
  using Sum = F;
  using Columns = F;
  static F repeat(const float *row) { return splat(*row); }
  static F add(F sum, F a, F b) { return fma(a, b, sum); }
};
template <Factor> struct Panel;
template <> struct Panel<Factor::F32> : Floats {
  using Element = float;
  static F load(const float *from) { return loadAs<F>(from); }
};
template <> struct Panel<Factor::F16> : Floats {
  using Element = uint16_t;
  static F load(const uint16_t *from) { return fromF16(loadAs<UI16s>(from)); }
};
template <> struct Panel<Factor::BF16> : Floats {
  using Element = uint16_t;
  static F load(const uint16_t *from) { return fromBF16(loadAs<UI16s>(from)); }
};

/// Adds what was there before, and stores what becomes of it.
template <int Rows, int Vectors, bool isFinished>
__attribute__((always_inline)) inline void storeTile(const TileCall &call,
                                                     const Finishing &finishing,
                                                     F (&sums)[Rows][Vectors]) {
  float *target = call.target;
  int64_t targetStep = call.targetStep;
  const float *partial = call.partial;
  int64_t partialStep = call.partialStep;
  int64_t columns = call.columns;
  if (!partial && columns >= Vectors * kWidth) {
    CORTEN_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      F bias = isFinished ? finishing.biasOf(j * kWidth, kWidth) : F{};
      CORTEN_UNROLL
      for (int i = 0; i < Rows; ++i) {
        F sum = sums[i][j];
        if (isFinished)
          sum = finishing(sum, bias, i, j * kWidth, kWidth);
        storeSome(target + i * targetStep + j * kWidth, sum, kWidth);
      }
    }
    return;
  }
  CORTEN_UNROLL
  for (int j = 0; j < Vectors; ++j) {
    int64_t first = j * kWidth;
    int64_t here = columns - first;
    if (here <= 0)
      continue;
    F bias = isFinished ? finishing.biasOf(first, here) : F{};
    CORTEN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      F sum = sums[i][j];
      if (partial)
        sum += loadSome(partial + i * partialStep + first, here);
      if (isFinished)
        sum = finishing(sum, bias, i, first, here);
      storeSome(target + i * targetStep + first, sum, here);
    }
  }
}

/// Fetches what results are added to, and makes the place where they will be
/// this thread's: another one may have written there before, and to take it
/// from its cache takes as long as many products.
template <int Rows, int Vectors>
__attribute__((always_inline)) inline void fetchResults(const TileCall &call) {
  const float *residual = call.finish ? call.finish->residual : nullptr;
  CORTEN_UNROLL
  for (int i = 0; i < Rows; ++i) {
    CORTEN_UNROLL
    for (int j = 0; j < Vectors * kWidth * 4; j += 64) {
      if (residual)
        __builtin_prefetch(residual + i * call.finish->residualStep + j / 4);
      __builtin_prefetch(call.target + i * call.targetStep + j / 4, 1);
    }
  }
}

template <int Rows, int Vectors, Factor factor>
void tile(const TileCall &call) {
  fetchResults<Rows, Vectors>(call);
  F sums[Rows][Vectors];
  multiplyTile<Rows, Vectors, Panel<factor>>(call, sums);
  if (call.finish)
    storeTile<Rows, Vectors, true>(call, Finishing(*call.finish), sums);
  else
    storeTile<Rows, Vectors, false>(call, Finishing({}), sums);
  activate(call.finish, call.target, call.targetStep, Rows, call.columns);
}

template <int Places, bool isFinished>
inline void depthwisePlaces(const DepthwiseCall &call,
                            const Finishing &finishing) {
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
        if (isFinished)
          sum =
              finishing(sum, finishing.biasOf(column, count), i, column, count);
        storeSome(call.target + i * call.targetStep + column, sum, count);
      }
    }
  }
}

template <int Places> void depthwise(const DepthwiseCall &call) {
  if (call.finish)
    depthwisePlaces<Places, true>(call, Finishing(*call.finish));
  else
    depthwisePlaces<Places, false>(call, Finishing({}));
  activate(call.finish, call.target, call.targetStep, Places, call.channels);
}

/// Vectors of channels that are summed side by side where there are registers
/// for them: sums of one would wait for each other.
constexpr int kLineVectors = CORTEN_BY_LEVEL(2, 1, 2);

/// Neighbours from `place` on, for the channels from `first` on. What they
/// share is loaded once. At an edge some of what they see, or some of them, are
/// not there; elsewhere, all channels of the vectors are.
template <int Width, int Stride, int Vectors, bool isEdge>
__attribute__((always_inline)) inline void
depthwiseGroup(const DepthwiseLineCall &call, const Finishing &finishing,
               int64_t place, int64_t first) {
  constexpr int kColumns = Stride * (kLinePlaces - 1) + Width;
  int64_t left = call.channels - first;
  auto load = [&](const float *from, int64_t column) {
    return isEdge ? loadSome(from + column, left - column)
                  : CORTEN_LEVEL::load(from + column);
  };
  int64_t start = call.firstColumn + place * Stride;
  int64_t end = call.space - start;
  F sums[kLinePlaces][Vectors] = {};
  const float *weights = call.weights + first;
  for (int64_t line = 0; line < call.numLines; ++line) {
    int64_t step = call.steps[line];
    const float *x = call.lines[line] + first;
    F taps[Width][Vectors];
    CORTEN_UNROLL
    for (int i = 0; i < Width; ++i, weights += call.weightStep) {
      CORTEN_UNROLL
      for (int j = 0; j < Vectors; ++j)
        taps[i][j] = load(weights, j * kWidth);
    }
    CORTEN_UNROLL
    for (int column = 0; column < kColumns; ++column) {
      if (isEdge && (start + column < 0 || column >= end))
        continue;
      CORTEN_UNROLL
      for (int j = 0; j < Vectors; ++j) {
        F value = load(x + (start + column) * step, j * kWidth);
        CORTEN_UNROLL
        for (int i = 0; i < kLinePlaces; ++i) {
          int tap = column - i * Stride;
          if (tap >= 0 && tap < Width)
            sums[i][j] = fma(taps[tap][j], value, sums[i][j]);
        }
      }
    }
  }
  int64_t count = isEdge ? call.places - place : kLinePlaces;
  float *target = call.target + place * call.targetStep + first;
  CORTEN_UNROLL
  for (int j = 0; j < Vectors; ++j) {
    int64_t column = j * kWidth;
    int64_t here = isEdge ? left - column : kWidth;
    F bias = finishing.biasOf(first + column, here);
    CORTEN_UNROLL
    for (int i = 0; i < kLinePlaces; ++i)
      if (i < count)
        storeSome(target + i * call.targetStep + column,
                  finishing(sums[i][j], bias, place + i, first + column, here),
                  here);
  }
}

template <int Width, int Stride>
void depthwiseLine(const DepthwiseLineCall &call) {
  constexpr int kColumns = Stride * (kLinePlaces - 1) + Width;
  constexpr int64_t kChannels = kLineVectors * kWidth;
  Finishing finishing(call.finish ? *call.finish : kUnchanged);
  for (int64_t place = 0; place < call.places; place += kLinePlaces) {
    int64_t start = call.firstColumn + place * Stride;
    bool isInside = start >= 0 && start + kColumns <= call.space &&
                    place + kLinePlaces <= call.places;
    int64_t first = 0;
    if (isInside)
      for (; call.channels - first >= kChannels; first += kChannels)
        depthwiseGroup<Width, Stride, kLineVectors, false>(call, finishing,
                                                           place, first);
    else if (kLineVectors > 1)
      for (; call.channels - first >= kChannels; first += kChannels)
        depthwiseGroup<Width, Stride, kLineVectors, true>(call, finishing,
                                                          place, first);
    for (; first < call.channels; first += kWidth)
      depthwiseGroup<Width, Stride, 1, true>(call, finishing, place, first);
    activate(
        call.finish, call.target + place * call.targetStep, call.targetStep,
        std::min<int64_t>(kLinePlaces, call.places - place), call.channels);
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

} // namespace

const MicroKernels kProducts = {
    kTileRows,
    2 * kWidth,
    kMaxTileRows,
    {CORTEN_TILES(tile, 2, Factor::F32), CORTEN_TILES(tile, 2, Factor::F16),
     CORTEN_TILES(tile, 2, Factor::BF16)},
    {CORTEN_TILES(tile, 1, Factor::F32), CORTEN_TILES(tile, 1, Factor::F16),
     CORTEN_TILES(tile, 1, Factor::BF16)},
    kDepthwisePlaces,
    {&depthwise<1>, &depthwise<2>, &depthwise<3>, &depthwise<4>},
    {{},
     {},
     {&depthwiseLine<3, 1>, &depthwiseLine<3, 2>},
     {&depthwiseLine<4, 1>, &depthwiseLine<4, 2>},
     {&depthwiseLine<5, 1>, &depthwiseLine<5, 2>},
     {},
     {&depthwiseLine<7, 1>, &depthwiseLine<7, 2>}},
    {&widen<Factor::F32>, &widen<Factor::F16>, &widen<Factor::BF16>},
    &transpose,
    kActivations,
    &kDots,
};

} // namespace corten::runtime::CORTEN_LEVEL
