// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Window.h"

#include "corten/Runtime/Panels.h"

using namespace corten::runtime;
using namespace corten::runtime::portable;

static Error doNotMake(std::string_view name, const Invocation &call) {
  return Error(std::string(name) + ": " + call.input(0).describe() + " and " +
               call.input(1).describe() + " do not make " +
               call.output().describe());
}

static Error needsWeights(std::string_view name) {
  return Error(std::string(name) + " needs an input and weights");
}

Error portable::otherChannels(std::string_view name, const Invocation &call) {
  return Error(std::string(name) + ": the channels of " +
               call.input(0).describe() + " and " + call.input(1).describe() +
               " do not fit");
}

/// Reads the numbers; false if they or the axes are not those of a convolution.
static bool readNumbers(const Invocation &call, bool hasKernel, bool hasGroups,
                        Window &window) {
  const Tensor &input = call.input(0);
  const Tensor &output = call.output();
  size_t rank = size_t(input.rank) - 2;
  size_t lists = hasKernel ? 4 : 3;
  if (input.rank < 3 || rank > kMaxSpatial || output.rank != input.rank ||
      call.numbers.size() != lists * rank + (hasGroups ? 1 : 0) ||
      input.extents[0] != output.extents[0])
    return false;
  window.rank = int(rank);
  size_t first = hasKernel ? rank : 0;
  for (size_t i = 0; i != rank; ++i) {
    if (hasKernel)
      window.kernel[i] = call.number(i);
    window.strides[i] = call.number(first + i);
    window.dilations[i] = call.number(first + rank + i);
    window.before[i] = call.number(first + 2 * rank + i);
    if (window.kernel[i] < 0 || window.strides[i] < 1 ||
        window.dilations[i] < 1)
      return false;
  }
  if (hasGroups)
    window.groups = call.numbers.back();
  return window.groups > 0;
}

Expected<Window> portable::readWindow(std::string_view name,
                                      const Invocation &call) {
  Window window;
  const Tensor &weight = call.input(1);
  if (!readNumbers(call, /*hasKernel=*/false, /*hasGroups=*/true, window) ||
      weight.rank != call.input(0).rank)
    return doNotMake(name, call);
  window.kernel = spaceOf(weight);
  return window;
}

/// Of one whose weights have `depth(channels)` rows of `width` for each tap.
static Expected<Window> readPacked(std::string_view name,
                                   const Invocation &call, int64_t width,
                                   int64_t (*depth)(int64_t channels)) {
  if (call.inputs.size() < 2)
    return needsWeights(name);
  Window window;
  if (!readNumbers(call, /*hasKernel=*/true, /*hasGroups=*/true, window))
    return doNotMake(name, call);
  const Tensor &packed = call.input(1);
  int64_t channels = call.input(0).extents[1];
  int64_t outputs = call.output().extents[1];
  if (channels % window.groups != 0 || outputs % window.groups != 0 ||
      packed.rank != 4 || packed.extents[0] != window.groups ||
      packed.extents[1] != panelCount(outputs / window.groups) ||
      packed.extents[2] != window.taps() * depth(channels / window.groups) ||
      packed.extents[3] != width)
    return otherChannels(name, call);
  return window;
}

Expected<Window> portable::readPackedWindow(const Invocation &call) {
  return readPacked("ConvolutionPacked", call, kPanelWidth,
                    [](int64_t channels) { return channels; });
}

Expected<Window> portable::readPairWindow(const Invocation &call) {
  constexpr std::string_view kName = "ConvolutionPairs";
  Expected<Window> window = readPacked(kName, call, kPairRow, pairCount);
  if (window && (call.input(1).type != ElementType::BF16 ||
                 !call.input(1).isContiguous()))
    return unknownType(kName, call.input(1));
  return window;
}

Expected<Window> portable::readDepthwiseWindow(const Invocation &call) {
  constexpr std::string_view kName = "ConvolutionDepthwise";
  if (call.inputs.size() < 2)
    return needsWeights(kName);
  Window window;
  if (!readNumbers(call, /*hasKernel=*/true, /*hasGroups=*/false, window))
    return doNotMake(kName, call);
  const Tensor &weights = call.input(1);
  int64_t channels = call.input(0).extents[1];
  if (weights.rank != 2 || weights.extents[0] != window.taps() ||
      weights.extents[1] != channels || call.output().extents[1] != channels)
    return otherChannels(kName, call);
  window.groups = channels;
  return window;
}
