// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What convolutions have in common. Axes of tensors are N, C and then those in
// space.

#ifndef CORTEN_RUNTIME_LIB_PORTABLE_WINDOW_H
#define CORTEN_RUNTIME_LIB_PORTABLE_WINDOW_H

#include "Portable.h"

#include <algorithm>

namespace corten::runtime::portable {

inline constexpr int kMaxSpatial = 3;
/// A place in space, or what there is for each of its axes.
using Place = std::array<int64_t, kMaxSpatial>;

/// What a convolution was asked for.
struct Window {
  int rank = 0;
  Place kernel = {1, 1, 1};
  Place strides = {1, 1, 1};
  Place dilations = {1, 1, 1};
  Place before = {};
  int64_t groups = 1;

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// No tensor has an axis of as many elements.
inline constexpr int64_t kMostPlaces = int64_t{1} << 40;

/// Whether a window of these numbers sees only places that can be counted: as
/// many as `places`, each `stride` from the last.
bool isCountable(int64_t places, int64_t kernel, int64_t stride,
                 int64_t dilation, int64_t before);

/// Whether the numbers of a pool are those of such windows: extents, strides,
/// dilations, and what lies before, each for all axes in space.
bool hasCountableWindows(const Invocation &pool);

/// Of a convolution whose weights have axes in space: strides, dilations,
/// padding before each axis, groups.
Expected<Window> readWindow(std::string_view name, const Invocation &call);
/// Of one with packed weights, whose numbers begin with the extents of the
/// kernel. Checks the weights.
Expected<Window> readPackedWindow(const Invocation &call);
/// The same of a transposed one.
Expected<Window> readTransposedPackedWindow(const Invocation &call);
/// The same with weights in pairs.
Expected<Window> readPairWindow(const Invocation &call);
/// Of one with weights for each channel, and no groups. Checks the weights.
Expected<Window> readDepthwiseWindow(const Invocation &call);

/// That the numbers of channels are not those of the weights.
Error otherChannels(std::string_view name, const Invocation &call);

inline Place spaceOf(const Tensor &tensor) {
  Place extents = {1, 1, 1};
  for (int axis = 2; axis < tensor.rank; ++axis)
    extents[axis - 2] = tensor.extents[axis];
  return extents;
}

inline Place spaceStepsOf(const Tensor &tensor) {
  Place steps = {};
  for (int axis = 2; axis < tensor.rank; ++axis)
    steps[axis - 2] = tensor.steps[axis];
  return steps;
}

inline int64_t at(const Place &place, const Place &steps) {
  return place[0] * steps[0] + place[1] * steps[1] + place[2] * steps[2];
}

/// Calls `function(place)` for every place of a box, the last axis fastest.
template <typename Function>
void forEachPlace(const Place &extents, Function &&function) {
  Place place = {};
  for (place[0] = 0; place[0] < extents[0]; ++place[0])
    for (place[1] = 0; place[1] < extents[1]; ++place[1])
      for (place[2] = 0; place[2] < extents[2]; ++place[2])
        function(place);
}

/// Calls `function(offset, tap)` for the taps that lie inside of the input for
/// an output place.
template <typename Function>
void forEachTap(const Window &window, const Tensor &input, const Place &place,
                Function &&function) {
  Place space = spaceOf(input);
  Place steps = spaceStepsOf(input);
  int64_t number = 0;
  forEachPlace(window.kernel, [&](const Place &tap) {
    int64_t offset = 0;
    bool isInside = true;
    for (int axis = 0; axis != window.rank; ++axis) {
      int64_t from = place[axis] * window.strides[axis] - window.before[axis] +
                     tap[axis] * window.dilations[axis];
      isInside &= from >= 0 && from < space[axis];
      offset += from * steps[axis];
    }
    if (isInside)
      function(offset, number);
    ++number;
  });
}

/// The same for a transposed convolution: an element of the input adds to those
/// that are its place times the stride, and on by the window, so look back.
template <typename Function>
void forEachTransposedTap(const Window &window, const Tensor &input,
                          const Place &place, Function &&function) {
  Place space = spaceOf(input);
  Place steps = spaceStepsOf(input);
  int64_t number = 0;
  forEachPlace(window.kernel, [&](const Place &tap) {
    int64_t offset = 0;
    bool isInside = true;
    for (int axis = 0; axis != window.rank; ++axis) {
      int64_t back = place[axis] + window.before[axis] -
                     tap[axis] * window.dilations[axis];
      int64_t from = back / window.strides[axis];
      isInside &=
          back % window.strides[axis] == 0 && from >= 0 && from < space[axis];
      offset += from * steps[axis];
    }
    if (isInside)
      function(offset, number);
    ++number;
  });
}

/// The place in space of an element of the output, `i` after an index.
inline Place placeAt(const std::array<int64_t, kMaxRank> &index, int rank,
                     int64_t i) {
  Place place = {};
  std::copy_n(index.begin() + 2, rank - 2, place.begin());
  place[rank - 3] += i;
  return place;
}

} // namespace corten::runtime::portable

#endif // CORTEN_RUNTIME_LIB_PORTABLE_WINDOW_H
