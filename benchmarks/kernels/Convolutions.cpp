// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Case.h"

#include "corten/Runtime/Panels.h"
#include "corten/Runtime/Winograd.h"

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

static Case convolution(int64_t extent, int64_t channels, int64_t outputs,
                        int64_t kernel, int64_t stride, bool isLast = true,
                        int64_t groups = 1) {
  int64_t after = (extent - 1) / stride + 1;
  int64_t depth = kernel * kernel * channels / groups;
  Case test{
      "conv " + std::to_string(kernel) + "x" + std::to_string(kernel) + "/" +
          std::to_string(stride) + " " + std::to_string(extent) + " " +
          std::to_string(channels) + "->" + std::to_string(outputs) +
          (groups > 1 ? " groups" : "") + (isLast ? "" : " rows"),
      PortableKernel::ConvolutionPacked,
      {{1, channels, extent, extent},
       {groups, panelCount(outputs / groups), depth, kPanelWidth}},
      isLast,
      {1, outputs, after, after},
      {kernel, kernel, stride, stride, 1, 1, kernel / 2, kernel / 2, groups}};
  test.multiplications = double(after * after * outputs * depth);
  return test;
}

static Case depthwise(int64_t extent, int64_t channels, int64_t kernel,
                      int64_t stride) {
  Case test = convolution(extent, channels, channels, kernel, stride);
  test.name = "depthwise " + test.name;
  test.kernel = PortableKernel::ConvolutionDepthwise;
  test.shapes[1] = {kernel * kernel, channels};
  test.numbers.pop_back();
  test.multiplications /= double(channels);
  return test;
}

/// Of one axis in space, or of three.
static Case depthwiseOfRank(std::vector<int64_t> space, int64_t channels,
                            int64_t kernel) {
  size_t rank = space.size();
  Case test{"depthwise conv " + std::to_string(rank) + "d of " +
                std::to_string(kernel) + ", " + std::to_string(space[0]) + " " +
                std::to_string(channels),
            PortableKernel::ConvolutionDepthwise,
            {{1, channels}, {1, channels}},
            true};
  test.multiplications = double(channels);
  for (int64_t extent : space) {
    test.shapes[0].push_back(extent);
    test.shapes[1][0] *= kernel;
    test.multiplications *= double(extent * kernel);
  }
  test.output = test.shapes[0];
  // Extents, strides, dilations, and what lies before.
  for (int64_t number : {kernel, int64_t(1), int64_t(1), kernel / 2})
    test.numbers.insert(test.numbers.end(), rank, number);
  return test;
}

/// With taps that are two places apart.
static Case dilated(Case test) {
  test.name = "dilated " + test.name;
  test.numbers[4] = test.numbers[5] = 2;
  test.numbers[6] = test.numbers[7] = 2 * (test.numbers[0] / 2);
  return test;
}

/// Each place of the input makes `stride` times `stride` of the output.
static Case transposed(int64_t extent, int64_t channels, int64_t outputs,
                       int64_t kernel, int64_t stride) {
  int64_t before = (kernel - stride) / 2;
  int64_t after = extent * stride;
  Case test{"transposed conv " + std::to_string(kernel) + "x" +
                std::to_string(kernel) + "/" + std::to_string(stride) + " " +
                std::to_string(extent) + " " + std::to_string(channels) + "->" +
                std::to_string(outputs),
            PortableKernel::ConvolutionTransposedPacked,
            {{1, channels, extent, extent},
             {1, panelCount(outputs), kernel * kernel * channels, kPanelWidth}},
            true,
            {1, outputs, after, after},
            {kernel, kernel, stride, stride, 1, 1, before, before, 1}};
  test.multiplications =
      double(extent * extent * kernel * kernel * channels * outputs);
  return test;
}

/// With 3x3, by squares of results.
static Case winograd(int64_t extent, int64_t channels, int64_t square) {
  Case test = convolution(extent, channels, channels, 3, 1);
  test.name = "F(" + std::to_string(square) + "x" + std::to_string(square) +
              ") " + test.name;
  test.kernel = PortableKernel::ConvolutionWinograd;
  test.shapes[1] = {winogradPoints(square), panelCount(channels), channels,
                    kPanelWidth};
  test.numbers = {1, 1};
  return test;
}

/// Of channels in pairs, which are even in number.
static Case inPairs(Case test) {
  test.name = "bf16 " + test.name;
  test.kernel = PortableKernel::ConvolutionPairs;
  test.shapes[1][2] /= 2;
  test.shapes[1][3] = kPairRow;
  test.weights = ElementType::BF16;
  return test;
}

std::vector<Case> benchmarks::convolutions() {
  return {
      winograd(56, 64, 2),
      winograd(28, 128, 2),
      winograd(14, 256, 2),
      winograd(7, 512, 2),
      winograd(56, 64, 4),
      winograd(28, 128, 4),
      winograd(14, 256, 4),
      winograd(7, 512, 4),
      inPairs(convolution(56, 64, 64, 3, 1)),
      inPairs(convolution(14, 256, 256, 3, 1)),
      inPairs(convolution(56, 64, 256, 1, 1)),
      inPairs(convolution(14, 1024, 256, 1, 1)),
      convolution(56, 64, 64, 3, 1),
      convolution(28, 128, 128, 3, 1),
      convolution(14, 256, 256, 3, 1),
      convolution(7, 512, 512, 3, 1),
      convolution(56, 128, 128, 3, 2),
      convolution(56, 64, 256, 1, 1),
      convolution(28, 512, 128, 1, 1),
      convolution(14, 1024, 256, 1, 1),
      convolution(7, 512, 2048, 1, 1),
      convolution(112, 16, 96, 1, 1),
      convolution(56, 24, 144, 1, 1),
      convolution(56, 144, 24, 1, 1),
      convolution(112, 32, 16, 1, 1),
      convolution(224, 3, 64, 7, 2, false),
      convolution(224, 3, 32, 3, 2, false),
      convolution(56, 64, 64, 3, 1, false),
      convolution(28, 256, 256, 3, 1, true, 32),
      depthwise(112, 32, 3, 1),
      depthwise(112, 96, 3, 2),
      depthwise(56, 144, 3, 1),
      depthwise(14, 384, 3, 1),
      depthwise(7, 960, 3, 1),
      depthwise(56, 96, 7, 1),
      depthwiseOfRank({1500}, 384, 3),
      depthwiseOfRank({2048}, 1024, 4),
      depthwiseOfRank({16, 28, 28}, 96, 3),
      dilated(convolution(56, 64, 64, 3, 1)),
      dilated(convolution(28, 256, 256, 3, 1)),
      transposed(28, 256, 128, 2, 2),
      transposed(56, 128, 64, 4, 2),
      transposed(112, 64, 32, 2, 2),
  };
}
