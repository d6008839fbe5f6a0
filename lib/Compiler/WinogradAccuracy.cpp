// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WinogradAccuracy.h"

#include "corten/Runtime/Winograd.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace corten;
using namespace corten::runtime;

static constexpr int kTaps = kWinogradKernel * kWinogradKernel;
/// What is looked at: enough for the mean to be known to a few percent.
static constexpr int64_t kSampledOutputs = 8;
static constexpr int kSampledSquares = 4;
/// Kernels add up so many products before they add that to the rest.
static constexpr int64_t kDirectDepth = 1152;
static constexpr int64_t kWinogradDepth = 256;

namespace {
/// A sum in f32 that is made of pieces.
class PiecewiseSum {
public:
  explicit PiecewiseSum(int64_t depth) : depth(depth) {}

  void add(float a, float b) {
    if (count++ == depth) {
      total += piece;
      piece = 0;
      count = 1;
    }
    piece = std::fma(a, b, piece);
  }
  float value() const { return total + piece; }

private:
  int64_t depth;
  int64_t count = 0;
  float total = 0;
  float piece = 0;
};

/// What one square of results is computed from, for all channels.
template <int M> struct Square {
  static constexpr int kSide = M + kWinogradKernel - 1;
  static constexpr int kPoints = kSide * kSide;
  using Patch = std::array<float, kPoints>;

  llvm::SmallVector<Patch, 0> patches;
  llvm::SmallVector<Patch, 0> points;

  /// Signed numbers, or none below zero, as after a rectifier.
  Square(int64_t channels, bool isSigned, std::mt19937 &random)
      : patches(size_t(channels)), points(size_t(channels)) {
    for (size_t channel = 0; channel != patches.size(); ++channel) {
      // No distribution of the library: those differ from one to the other.
      for (float &element : patches[channel]) {
        float number = float(random() >> 8) * 0x1p-23f - 1;
        element = isSigned ? number : std::max(number, 0.0f);
      }
      winogradTransform(Winograd<M>::kInput, patches[channel].data(),
                        points[channel].data());
    }
  }
};
} // namespace

/// Adds the squares of the errors of a square's results.
template <int M>
static void addErrors(const Square<M> &square, llvm::ArrayRef<float> weights,
                      WinogradErrors &errors) {
  constexpr int kSide = Square<M>::kSide;
  constexpr int kPoints = Square<M>::kPoints;
  llvm::SmallVector<PiecewiseSum, kMaxWinogradPoints> sums(
      kPoints, PiecewiseSum(kWinogradDepth));
  for (size_t channel = 0; channel != square.patches.size(); ++channel) {
    double taps[kTaps], points[kPoints];
    std::copy_n(weights.begin() + channel * kTaps, kTaps, taps);
    winogradTransform(Winograd<M>::kWeights, taps, points);
    for (int i = 0; i != kPoints; ++i)
      sums[i].add(square.points[channel][i], float(points[i]));
  }
  float inPoints[kPoints], results[M * M];
  for (int i = 0; i != kPoints; ++i)
    inPoints[i] = sums[i].value();
  winogradTransform(Winograd<M>::kOutput, inPoints, results);
  for (int i = 0; i != M * M; ++i) {
    PiecewiseSum direct(kDirectDepth);
    double exact = 0;
    for (int tap = 0; tap != kTaps; ++tap)
      for (size_t channel = 0; channel != square.patches.size(); ++channel) {
        int place = (i / M + tap / kWinogradKernel) * kSide + i % M +
                    tap % kWinogradKernel;
        float x = square.patches[channel][place];
        float weight = weights[channel * kTaps + tap];
        direct.add(x, weight);
        exact += double(x) * weight;
      }
    errors.direct += std::pow(direct.value() - exact, 2);
    errors.winograd += std::pow(results[i] - exact, 2);
  }
}

template <int M>
static WinogradErrors errorsOf(llvm::ArrayRef<float> weights, int64_t outputs,
                               int64_t channels) {
  std::mt19937 random(1);
  WinogradErrors errors = {};
  int64_t sampled = std::min(outputs, kSampledOutputs);
  for (int i = 0; i != kSampledSquares; ++i) {
    Square<M> square(channels, i % 2 == 0, random);
    for (int64_t j = 0; j != sampled; ++j)
      addErrors(square,
                weights.slice(size_t(outputs * j / sampled * channels * kTaps),
                              size_t(channels * kTaps)),
                errors);
  }
  double count = double(kSampledSquares * sampled * M * M);
  return {std::sqrt(errors.direct / count), std::sqrt(errors.winograd / count)};
}

WinogradErrors corten::winogradErrors(llvm::ArrayRef<float> weights,
                                      int64_t outputs, int64_t channels,
                                      int64_t square) {
  if (outputs <= 0 || channels <= 0)
    return {};
  return square == 2 ? errorsOf<2>(weights, outputs, channels)
                     : errorsOf<4>(weights, outputs, channels);
}
