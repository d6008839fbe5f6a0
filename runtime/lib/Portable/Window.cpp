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

/// How far from the first to the last of `count` at this distance; more than
/// `kMostPlaces` if that is no number.
static int64_t reachOf(int64_t count, int64_t distance) {
  int64_t reach = 0;
  return __builtin_mul_overflow(std::max<int64_t>(count - 1, 0), distance,
                                &reach)
             ? kMostPlaces + 1
             : reach;
}

bool portable::isCountable(int64_t places, int64_t kernel, int64_t stride,
                           int64_t dilation, int64_t before) {
  return reachOf(places, stride) <= kMostPlaces &&
         reachOf(kernel, dilation) <= kMostPlaces && kernel <= kMostPlaces &&
         before >= -kMostPlaces && before <= kMostPlaces;
}

bool portable::hasCountableWindows(const Invocation &pool) {
  size_t rank = pool.numbers.size() / 4;
  for (size_t i = 0; i != rank; ++i) {
    int64_t kernel = pool.number(i), stride = pool.number(rank + i),
            dilation = pool.number(2 * rank + i);
    if (kernel < 1 || stride < 1 || dilation < 1 ||
        !isCountable(pool.output().extents[i + 2], kernel, stride, dilation,
                     pool.number(3 * rank + i)))
      return false;
  }
  return true;
}

/// Whether all that a window sees can be copied to one place, which is then a
/// question of memory.
static bool hasCountableRows(const Invocation &call, const Window &window) {
  const Tensor &input = call.input(0);
  Place places = spaceOf(call.output());
  int64_t count = 0;
  bool overflows =
      __builtin_mul_overflow(input.extents[0], input.extents[1] + 1, &count) ||
      count > kMostPlaces;
  for (int axis = 0; axis != window.rank; ++axis)
    overflows |=
        __builtin_mul_overflow(
            count,
            reachOf(places[axis], window.strides[axis]) +
                reachOf(window.kernel[axis], window.dilations[axis]) + 1,
            &count) ||
        count > kMostPlaces << 16;
  return !overflows;
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
  if (!hasKernel) {
    if (call.input(1).rank != input.rank)
      return false;
    window.kernel = spaceOf(call.input(1));
  }
  size_t first = hasKernel ? rank : 0;
  for (size_t i = 0; i != rank; ++i) {
    if (hasKernel)
      window.kernel[i] = call.number(i);
    window.strides[i] = call.number(first + i);
    window.dilations[i] = call.number(first + rank + i);
    window.before[i] = call.number(first + 2 * rank + i);
    if (window.kernel[i] < 0 || window.strides[i] < 1 ||
        window.dilations[i] < 1 ||
        !isCountable(std::max(input.extents[i + 2], output.extents[i + 2]),
                     window.kernel[i], window.strides[i], window.dilations[i],
                     window.before[i]))
      return false;
  }
  if (hasGroups)
    window.groups = call.numbers.back();
  return window.groups > 0 && hasCountableRows(call, window);
}

Expected<Window> portable::readWindow(std::string_view name,
                                      const Invocation &call) {
  Window window;
  if (!readNumbers(call, /*hasKernel=*/false, /*hasGroups=*/true, window))
    return doNotMake(name, call);
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

Expected<Window> portable::readTransposedPackedWindow(const Invocation &call) {
  return readPacked("ConvolutionTransposedPacked", call, kPanelWidth,
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
