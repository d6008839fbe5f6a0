// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values between the elements of a tensor: on a grid, or where coordinates say.
// What lies outside is taken from the edge.

#include "Between.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::portable;

Between portable::locate(float coordinate, int64_t extent, bool isNearest) {
  // A coordinate that is no number is nowhere: the first element.
  float inside = coordinate > 0 ? std::min(coordinate, float(extent - 1)) : 0;
  if (isNearest) {
    auto place =
        std::clamp<int64_t>(int64_t(std::nearbyint(inside)), 0, extent - 1);
    return {place, place, 0};
  }
  auto low = int64_t(inside);
  return {low, std::min(low + 1, extent - 1), inside - float(low)};
}

/// The value that lies there on every axis.
template <typename T>
static T sample(const Tensor &input, std::span<const Between> places) {
  // Axes on which a value lies on an element have one corner.
  std::array<int, kMaxRank> split = {};
  int numSplit = 0;
  int64_t base = 0;
  for (int axis = 0; axis != input.rank; ++axis) {
    base += places[axis].low * input.steps[axis];
    if (places[axis].share != 0)
      split[numSplit++] = axis;
  }
  if (numSplit == 0)
    return input.as<T>()[base];
  double sum = 0;
  for (unsigned corner = 0; corner != 1u << numSplit; ++corner) {
    int64_t offset = base;
    double share = 1;
    for (int i = 0; i != numSplit; ++i) {
      const Between &place = places[split[i]];
      if (corner >> i & 1) {
        offset += (place.high - place.low) * input.steps[split[i]];
        share *= place.share;
      } else {
        share *= 1 - double(place.share);
      }
    }
    sum += share * double(ComputeType<T>(input.as<T>()[offset]));
  }
  return T(ComputeType<T>(sum));
}

static Error checkField(std::string_view name, const Tensor &input,
                        const Tensor &output) {
  if (input.type != output.type)
    return unknownType(name, output);
  if (input.size() == 0 && output.size() != 0)
    return Error(std::string(name) + ": there is nothing to take from in " +
                 input.describe());
  return Error::success();
}

Error portable::checkInterpolate(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &output = call.output();
  if (Error error = checkField("Interpolate", input, output))
    return error;
  for (size_t i : {1, 2}) {
    const Tensor &numbers = call.input(i);
    if (numbers.type != ElementType::F32 || numbers.rank != 1 ||
        numbers.extents[0] != input.rank || output.rank != input.rank)
      return Error("Interpolate: " + numbers.describe() + " does not fit " +
                   input.describe());
  }
  return Error::success();
}

Between portable::locateOnGrid(const Invocation &call, int axis,
                               int64_t number) {
  const Tensor &scale = call.input(1);
  const Tensor &offset = call.input(2);
  float factor = scale.as<float>()[axis * scale.steps[0]];
  float shift = offset.as<float>()[axis * offset.steps[0]];
  return locate((float(number) + 0.5f - shift) / factor - 0.5f,
                call.input(0).extents[axis], call.number(0) != 0);
}

Error portable::runInterpolate(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &output = call.output();
  if (Error error = checkInterpolate(call))
    return error;
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      std::array<int64_t, kMaxRank> place = {};
      std::array<Between, kMaxRank> places;
      int64_t count = output.size();
      for (int axis = 0; count != 0 && axis != output.rank; ++axis)
        places[axis] = locateOnGrid(call, axis, 0);
      for (int64_t done = 0; done != count; ++done) {
        int64_t to = 0;
        for (int axis = 0; axis != output.rank; ++axis)
          to += place[axis] * output.steps[axis];
        output.as<T>()[to] = sample<T>(input, places);
        // Only where the place along an axis is another one is it looked up.
        for (int axis = output.rank - 1; axis >= 0; --axis) {
          bool isEnd = ++place[axis] == output.extents[axis];
          if (isEnd)
            place[axis] = 0;
          places[axis] = locateOnGrid(call, axis, place[axis]);
          if (!isEnd)
            break;
        }
      }
      return Error::success();
    } else {
      return unknownType("Interpolate", input);
    }
  });
}

Error portable::runInterpolateCoordinates(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &coordinates = call.input(1);
  const Tensor &output = call.output();
  bool isNearest = call.number(0) != 0;
  if (Error error = checkField("InterpolateCoordinates", input, output))
    return error;
  if (coordinates.type != ElementType::F32 || coordinates.rank != 2 ||
      coordinates.extents[1] != input.rank || output.rank != 1 ||
      output.extents[0] != coordinates.extents[0])
    return Error("InterpolateCoordinates: " + coordinates.describe() +
                 " does not point into " + input.describe());
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T>) {
      std::array<Between, kMaxRank> places;
      for (int64_t i = 0; i != output.extents[0]; ++i) {
        for (int axis = 0; axis != input.rank; ++axis)
          places[axis] =
              locate(coordinates.as<float>()[i * coordinates.steps[0] +
                                             axis * coordinates.steps[1]],
                     input.extents[axis], isNearest);
        output.as<T>()[i * output.steps[0]] = sample<T>(input, places);
      }
      return Error::success();
    } else {
      return unknownType("InterpolateCoordinates", input);
    }
  });
}
