// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of products in tests.

#ifndef CORTEN_RUNTIME_UNITTESTS_FACTORS_H
#define CORTEN_RUNTIME_UNITTESTS_FACTORS_H

#include "Tiles.h"

#include "corten/Runtime/Panels.h"

namespace corten::runtime {

/// A tensor of random numbers around 0.
struct Factors : AnyTensor {
  Factors(ElementType type, std::vector<int64_t> shape)
      : AnyTensor(type, shape) {
    static std::mt19937 random(1);
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (int64_t i = 0; i != tensor.size(); ++i)
      withType(type, [&]<typename T>() {
        if constexpr (FloatElement<T>)
          tensor.as<T>()[i] = T(ComputeType<T>(numbers(random)));
      });
  }

  /// The largest difference from another of the same shape; infinite if one is
  /// not a number.
  double difference(const AnyTensor &other) const {
    double largest = 0;
    for (int64_t i = 0; i != tensor.size(); ++i) {
      double difference = std::fabs(number(i) - other.number(i));
      if (!(difference <= largest))
        largest = std::isnan(difference) ? INFINITY : difference;
    }
    return largest;
  }
};

/// Weights of a convolution [outputs, channels, space...] in panels.
inline Factors packWeights(const Factors &weights, int64_t groups,
                           ElementType type, bool isTransposed = false) {
  const Tensor &tensor = weights.tensor;
  // Those of a transposed convolution are [channels, outputs, taps...].
  int64_t outputs =
      isTransposed ? tensor.extents[1] : tensor.extents[0] / groups;
  int64_t channels =
      isTransposed ? tensor.extents[0] / groups : tensor.extents[1];
  int64_t taps =
      tensor.size() / std::max<int64_t>(groups * outputs * channels, 1);
  int64_t channelStep = isTransposed ? outputs * taps : taps;
  int64_t outputStep = isTransposed ? taps : channels * taps;
  // One that has taps before channels, as rows of a matrix.
  Factors rows(tensor.type, {groups, taps * channels, outputs});
  Tensor target = rows.tensor.view(
      {{groups, taps, channels, outputs}},
      {{taps * channels * outputs, channels * outputs, outputs, 1}});
  Tensor source =
      tensor.view({{groups, taps, channels, outputs}},
                  {{outputs * channels * taps, 1, channelStep, outputStep}});
  EXPECT_EQ(run(PortableKernel::Copy, {source}, target), "");
  Factors packed(type,
                 {groups, panelCount(outputs), taps * channels, kPanelWidth});
  EXPECT_EQ(run(PortableKernel::PackMatrix, {rows.tensor}, packed.tensor), "");
  return packed;
}

/// relu(product + first) + second.
inline TileProgram biasReluResidual() {
  TileProgram program;
  program.numInputs = 3;
  program.numRegisters = 4;
  program.instructions = {{TileOpcode::Add, 3, 0, 1},
                          {TileOpcode::Relu, 3, 3},
                          {TileOpcode::Add, 3, 3, 2}};
  program.results = {3};
  return program;
}

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_UNITTESTS_FACTORS_H
