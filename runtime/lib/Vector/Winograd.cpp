// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transforms of Winograd's convolutions, for channels side by side.

#include "Finishing.h"
#include "Vectors.h"

#include "corten/Runtime/Winograd.h"

namespace corten::runtime::CORTEN_LEVEL {

using namespace products;

namespace {

constexpr int kPanelColumns = 32;

template <int M> constexpr int kExtent = M + kWinogradKernel - 1;

/// B^T along one axis: elements of `from` and `to` are `step` apart.
template <int M> inline void transformInput(const F *from, F *to, int step) {
  F x0 = from[0], x1 = from[step], x2 = from[2 * step], x3 = from[3 * step];
  if constexpr (M == 2) {
    to[0] = x0 - x2;
    to[step] = x1 + x2;
    to[2 * step] = x2 - x1;
    to[3 * step] = x1 - x3;
  } else {
    F x4 = from[4 * step], x5 = from[5 * step];
    F even = fma(x2, splat(-4.0f), x4), odd = fma(x1, splat(-4.0f), x3);
    F outer = x4 - x2, inner = (x3 - x1) * 2.0f;
    to[0] = fma(x2, splat(-5.0f), fma(x0, splat(4.0f), x4));
    to[step] = even + odd;
    to[2 * step] = even - odd;
    to[3 * step] = outer + inner;
    to[4 * step] = outer - inner;
    to[5 * step] = fma(x3, splat(-5.0f), fma(x1, splat(4.0f), x5));
  }
}

/// A^T along one axis.
template <int M>
inline void transformOutput(const F *from, int step, F *to, int toStep) {
  F x0 = from[0], x1 = from[step], x2 = from[2 * step], x3 = from[3 * step];
  if constexpr (M == 2) {
    to[0] = x0 + x1 + x2;
    to[toStep] = x1 - x2 - x3;
  } else {
    F x4 = from[4 * step], x5 = from[5 * step];
    F sum = x1 + x2, difference = x1 - x2;
    F farSum = x3 + x4, farDifference = x3 - x4;
    to[0] = x0 + sum + farSum;
    to[toStep] = fma(farDifference, splat(2.0f), difference);
    to[2 * toStep] = fma(farSum, splat(4.0f), sum);
    to[3 * toStep] = fma(farDifference, splat(8.0f), difference) + x5;
  }
}

template <int M> void input(const WinogradInput &call) {
  constexpr int kSide = kExtent<M>;
  for (int64_t channel = 0; channel < call.channels; channel += kWidth) {
    F patch[kSide * kSide], half[kSide * kSide], line[kSide];
    int64_t left = call.channels - channel;
    auto take = [&](auto load) __attribute__((always_inline)) {
      CORTEN_UNROLL
      for (int i = 0; i < kSide * kSide; ++i)
        patch[i] = load(call.rows[i] + channel);
    };
    if (left >= kWidth)
      take([](const float *p) { return load(p); });
    else
      take([&](const float *p) { return loadSome(p, left); });
    CORTEN_UNROLL
    for (int j = 0; j < kSide; ++j)
      transformInput<M>(patch + j, half + j, kSide);
    CORTEN_UNROLL
    for (int i = 0; i < kSide; ++i) {
      transformInput<M>(half + i * kSide, line, 1);
      CORTEN_UNROLL
      for (int j = 0; j < kSide; ++j)
        storeSome(call.target + (i * kSide + j) * call.pointStep + channel,
                  line[j], left);
    }
  }
}

/// With or without something to do before results are stored.
template <int M, bool isFinished>
inline void storeSquare(const WinogradOutput &call,
                        const Finishing &finishing) {
  constexpr int kSide = kExtent<M>;
  for (int64_t column = 0; column < call.columns; column += kWidth) {
    F sums[kSide * kSide], half[M * kSide], line[M];
    int64_t left = call.columns - column;
    CORTEN_UNROLL
    for (int i = 0; i < kSide * kSide; ++i)
      sums[i] = load(call.sums + i * call.pointStep + column);
    CORTEN_UNROLL
    for (int j = 0; j < kSide; ++j)
      transformOutput<M>(sums + j, kSide, half + j, kSide);
    F bias = isFinished ? finishing.biasOf(column, left) : F{};
    CORTEN_UNROLL
    for (int i = 0; i < M; ++i) {
      transformOutput<M>(half + i * kSide, 1, line, 1);
      CORTEN_UNROLL
      for (int j = 0; j < M; ++j) {
        int64_t row = call.rows[i * M + j];
        if (row < 0)
          continue;
        F result = line[j];
        if (isFinished)
          result = finishing(result, bias, row, column, left);
        storeSome(call.target + row * call.targetStep + column, result, left);
      }
    }
  }
}

template <int M> void output(const WinogradOutput &call) {
  if (call.finish)
    storeSquare<M, true>(call, Finishing(*call.finish));
  else
    storeSquare<M, false>(call, Finishing({}));
  for (int i = 0; i != M * M; ++i)
    if (call.rows[i] >= 0)
      activate(call.finish, call.target + call.rows[i] * call.targetStep, 0, 1,
               call.columns);
}

/// G g G^T, in doubles.
template <int M> void weights(const WinogradWeights &call) {
  constexpr int kSide = kExtent<M>;
  constexpr int kTaps = kWinogradKernel;
  constexpr int kDoubles = kWidth / 2;
  typedef float Floats __attribute__((vector_size(kDoubles * sizeof(float))));
  for (int column = 0; column < kPanelColumns; column += kDoubles) {
    D taps[kTaps * kTaps], half[kSide * kTaps];
    for (int i = 0; i < kTaps * kTaps; ++i)
      taps[i] = __builtin_convertvector(
          loadAs<Floats>(call.taps + i * kPanelColumns + column), D);
    for (int i = 0; i < kSide; ++i)
      for (int j = 0; j < kTaps; ++j) {
        D sum = {};
        for (int k = 0; k < kTaps; ++k)
          sum += Winograd<M>::kWeights[i][k] * taps[k * kTaps + j];
        half[i * kTaps + j] = sum;
      }
    for (int i = 0; i < kSide; ++i)
      for (int j = 0; j < kSide; ++j) {
        D sum = {};
        for (int k = 0; k < kTaps; ++k)
          sum += half[i * kTaps + k] * Winograd<M>::kWeights[j][k];
        store(call.target + (i * kSide + j) * call.pointStep + column,
              __builtin_convertvector(sum, Floats));
      }
  }
}

} // namespace

const WinogradKernels kWinograd[2] = {
    {&input<2>, &output<2>, &weights<2>},
    {&input<4>, &output<4>, &weights<4>},
};

} // namespace corten::runtime::CORTEN_LEVEL
