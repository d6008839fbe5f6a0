// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions with transformed weights.

#include "Winograd.h"
#include "Epilogue.h"
#include "Window.h"

#include "corten/Runtime/Panels.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::portable;

Error portable::checkPackWinograd(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  bool fits = input.rank == 4 && input.extents[2] == kWinogradKernel &&
              input.extents[3] == kWinogradKernel && output.rank == 4 &&
              winogradSquare(output.extents[0]) != 0 &&
              output.extents[1] == panelCount(input.extents[0]) &&
              output.extents[2] == input.extents[1] &&
              output.extents[3] == kPanelWidth;
  if (!fits)
    return Error("PackWinograd: " + input.describe() + " does not make " +
                 output.describe());
  for (const Tensor *tensor : {&input, &output})
    if (tensor->type != ElementType::F32)
      return unknownType("PackWinograd", *tensor);
  return Error::success();
}

template <int M>
static void transformWeights(const Tensor &input, const Tensor &output) {
  constexpr int kPoints = int(winogradPoints(M));
  constexpr int kTaps = kWinogradKernel * kWinogradKernel;
  for (int64_t column = 0; column != output.extents[1] * kPanelWidth; ++column)
    for (int64_t channel = 0; channel != input.extents[1]; ++channel) {
      double taps[kTaps] = {};
      for (int i = 0; i != kTaps && column < input.extents[0]; ++i)
        taps[i] = input.as<float>()[column * input.steps[0] +
                                    channel * input.steps[1] +
                                    i / kWinogradKernel * input.steps[2] +
                                    i % kWinogradKernel * input.steps[3]];
      double points[kPoints];
      winogradTransform(Winograd<M>::kWeights, taps, points);
      for (int i = 0; i != kPoints; ++i)
        output.as<float>()[i * output.steps[0] +
                           column / kPanelWidth * output.steps[1] +
                           channel * output.steps[2] +
                           column % kPanelWidth * output.steps[3]] =
            float(points[i]);
    }
}

Error portable::runPackWinograd(const Invocation &call) {
  if (Error error = checkPackWinograd(call))
    return error;
  if (winogradSquare(call.output().extents[0]) == 2)
    transformWeights<2>(call.input(), call.output());
  else
    transformWeights<4>(call.input(), call.output());
  return Error::success();
}

Error portable::checkWinograd(const Invocation &call) {
  constexpr std::string_view kName = "ConvolutionWinograd";
  if (call.inputs.size() < 2)
    return Error(std::string(kName) + " needs an input and weights");
  const Tensor &x = call.input(0);
  const Tensor &packed = call.input(1);
  const Tensor &output = call.output();
  bool fits = x.rank == 4 && packed.rank == 4 && output.rank == 4 &&
              x.extents[0] == output.extents[0] &&
              winogradSquare(packed.extents[0]) != 0 &&
              packed.extents[1] == panelCount(output.extents[1]) &&
              packed.extents[2] == x.extents[1] &&
              packed.extents[3] == kPanelWidth && call.numbers.size() == 2;
  for (size_t i = 0; fits && i != 2; ++i)
    fits = isCountable(output.extents[i + 2], kWinogradKernel, 1, 1,
                       call.number(i));
  if (!fits)
    return Error(std::string(kName) + ": " + x.describe() + " and " +
                 packed.describe() + " do not make " + output.describe());
  for (size_t i : {0, 1})
    if (call.input(i).type != ElementType::F32)
      return unknownType(kName, call.input(i));
  return Epilogue(call, 2).check(kName);
}

template <int M> static void convolve(const Invocation &call) {
  constexpr int kExtent = M + kWinogradKernel - 1;
  constexpr int kPoints = int(winogradPoints(M));
  const Tensor &x = call.input(0);
  const Tensor &packed = call.input(1);
  Epilogue epilogue(call, 2);
  storeProducts(epilogue, [&](const auto &index, int64_t count,
                              float *products) {
    for (int64_t i = 0; i != count; ++i) {
      // The square that the element is in.
      int64_t row = index[2];
      int64_t column = index[3] + i;
      double sums[kPoints] = {};
      for (int64_t channel = 0; channel != x.extents[1]; ++channel) {
        double patch[kPoints], points[kPoints];
        for (int j = 0; j != kPoints; ++j) {
          int64_t y = row / M * M + j / kExtent - call.number(0);
          int64_t z = column / M * M + j % kExtent - call.number(1);
          bool isInside =
              y >= 0 && z >= 0 && y < x.extents[2] && z < x.extents[3];
          patch[j] =
              isInside
                  ? x.as<float>()[index[0] * x.steps[0] + channel * x.steps[1] +
                                  y * x.steps[2] + z * x.steps[3]]
                  : 0;
        }
        winogradTransform(Winograd<M>::kInput, patch, points);
        for (int j = 0; j != kPoints; ++j)
          sums[j] +=
              points[j] *
              packed.as<float>()[j * packed.steps[0] +
                                 index[1] / kPanelWidth * packed.steps[1] +
                                 channel * packed.steps[2] +
                                 index[1] % kPanelWidth * packed.steps[3]];
      }
      double square[M * M];
      winogradTransform(Winograd<M>::kOutput, sums, square);
      products[i] = float(square[row % M * M + column % M]);
    }
  });
}

Error portable::runConvolutionWinograd(const Invocation &call) {
  if (Error error = checkWinograd(call))
    return error;
  if (winogradSquare(call.input(1).extents[0]) == 2)
    convolve<2>(call);
  else
    convolve<4>(call);
  return Error::success();
}
