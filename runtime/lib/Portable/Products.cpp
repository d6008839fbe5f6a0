// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products: matrices and convolutions. Floats are summed up in double,
// integers wrap around.

#include "Portable.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::portable;

template <typename T>
using Sum = std::conditional_t<
    FloatElement<T>, double,
    std::conditional_t<ComplexElement<T>, std::complex<double>, uint64_t>>;

template <typename T> static Sum<T> widen(T x) {
  return Sum<T>(ComputeType<T>(x));
}
template <typename T> static T narrow(Sum<T> sum) {
  if constexpr (ComplexElement<T>)
    return T(sum);
  else
    return T(ComputeType<T>(sum));
}
Error portable::runMatMul(const Invocation &call) {
  const Tensor &x = call.input(0);
  const Tensor &y = call.input(1);
  const Tensor &output = call.output();
  int rank = output.rank;
  bool fits = rank >= 2 && x.rank == rank && y.rank == rank;
  for (int axis = 0; fits && axis < rank - 2; ++axis)
    fits = x.extents[axis] == output.extents[axis] &&
           y.extents[axis] == output.extents[axis];
  if (!fits || x.extents[rank - 2] != output.extents[rank - 2] ||
      y.extents[rank - 1] != output.extents[rank - 1] ||
      x.extents[rank - 1] != y.extents[rank - 2])
    return Error("MatMul: " + x.describe() + " and " + y.describe() +
                 " do not make " + output.describe());
  if (x.type != y.type || x.type != output.type)
    return unknownType("MatMul", y);
  int64_t depth = x.extents[rank - 1];
  int64_t xStep = x.steps[rank - 1];
  int64_t yStep = y.steps[rank - 2];
  // Along rows of x all columns of y are at the same place, and the other way
  // round.
  Tensor rows = x;
  rows.steps[rank - 1] = 0;
  Tensor columns = y;
  columns.steps[rank - 2] = 0;
  return withType(x.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || IntegerElement<T> || ComplexElement<T>) {
      stridedLoop<3>(
          output.shape(),
          {rows.steps.data(), columns.steps.data(), output.steps.data()},
          [&](const auto &offsets, int64_t count, const auto &steps) {
            const T *row = x.as<T>() + offsets[0];
            for (int64_t i = 0; i != count; ++i) {
              const T *column = y.as<T>() + offsets[1] + i * steps[1];
              Sum<T> sum = {};
              for (int64_t k = 0; k != depth; ++k)
                sum += widen(row[k * xStep]) * widen(column[k * yStep]);
              output.as<T>()[offsets[2] + i * steps[2]] = narrow<T>(sum);
            }
          });
      return Error::success();
    } else {
      return unknownType("MatMul", x);
    }
  });
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
constexpr int kMaxSpatial = 3;

/// What a convolution was asked for. Axes of tensors are N, C and then those in
/// space.
struct Window {
  int rank = 0;
  std::array<int64_t, kMaxSpatial> kernel = {1, 1, 1};
  std::array<int64_t, kMaxSpatial> strides = {1, 1, 1};
  std::array<int64_t, kMaxSpatial> dilations = {1, 1, 1};
  std::array<int64_t, kMaxSpatial> before = {};
  int64_t groups = 1;
};
} // namespace

using Place = std::array<int64_t, kMaxSpatial>;

static Expected<Window> readWindow(std::string_view name,
                                   const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &weight = call.input(1);
  const Tensor &output = call.output();
  Window window;
  window.rank = input.rank - 2;
  bool fits = window.rank >= 1 && window.rank <= kMaxSpatial &&
              weight.rank == input.rank && output.rank == input.rank &&
              call.numbers.size() == 3 * size_t(window.rank) + 1 &&
              input.extents[0] == output.extents[0];
  if (fits) {
    for (int i = 0; i != window.rank; ++i) {
      window.kernel[i] = weight.extents[i + 2];
      window.strides[i] = call.number(i);
      window.dilations[i] = call.number(window.rank + i);
      window.before[i] = call.number(2 * window.rank + i);
      fits &= window.strides[i] > 0 && window.dilations[i] > 0;
    }
    window.groups = call.numbers.back();
    fits &= window.groups > 0;
  }
  if (!fits)
    return Error(std::string(name) + ": " + input.describe() + " and " +
                 weight.describe() + " do not make " + output.describe());
  return window;
}

/// Calls `function(place)` for every place of a box, the last axis fastest.
template <typename Function>
static void forEachPlace(const Place &extents, Function &&function) {
  Place place = {};
  for (place[0] = 0; place[0] < extents[0]; ++place[0])
    for (place[1] = 0; place[1] < extents[1]; ++place[1])
      for (place[2] = 0; place[2] < extents[2]; ++place[2])
        function(place);
}

static Place spaceOf(const Tensor &tensor) {
  Place extents = {1, 1, 1};
  std::copy(tensor.extents.begin() + 2, tensor.extents.begin() + tensor.rank,
            extents.begin());
  return extents;
}

static Place spaceStepsOf(const Tensor &tensor) {
  Place steps = {};
  std::copy(tensor.steps.begin() + 2, tensor.steps.begin() + tensor.rank,
            steps.begin());
  return steps;
}

static int64_t at(const Place &place, const Place &steps) {
  return place[0] * steps[0] + place[1] * steps[1] + place[2] * steps[2];
}

/// The sum for one output channel at one place. `source` says where an element
/// of the window lies in the input, if anywhere; the weight's channel axis is
/// told apart, since it is the second one of a convolution and the first of its
/// transpose.
template <typename T, typename Source>
static T sumWindow(const Window &window, const T *input, int64_t channels,
                   int64_t inputStep, const T *weight, int64_t weightStep,
                   const Place &weightSteps, Source &&source) {
  Sum<T> sum = {};
  forEachPlace(window.kernel, [&](const Place &tap) {
    std::optional<int64_t> from = source(tap);
    if (!from)
      return;
    const T *x = input + *from;
    const T *w = weight + at(tap, weightSteps);
    for (int64_t c = 0; c != channels; ++c)
      sum += widen(x[c * inputStep]) * widen(w[c * weightStep]);
  });
  return narrow<T>(sum);
}
Error portable::runConvolution(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &weight = call.input(1);
  const Tensor &output = call.output();
  Expected<Window> window = readWindow("Convolution", call);
  if (!window)
    return window.takeError();
  int64_t channels = weight.extents[1];
  if (input.extents[1] != channels * window->groups ||
      output.extents[1] != weight.extents[0] ||
      output.extents[1] % window->groups != 0)
    return Error("Convolution: the channels of " + input.describe() + " and " +
                 weight.describe() + " do not fit");
  if (input.type != weight.type || input.type != output.type)
    return unknownType("Convolution", weight);
  int64_t perGroup = output.extents[1] / window->groups;
  Place space = spaceOf(input);
  Place steps = spaceStepsOf(input);
  Place outputSteps = spaceStepsOf(output);
  Place weightSteps = spaceStepsOf(weight);
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || ComplexElement<T>) {
      for (int64_t n = 0; n != output.extents[0]; ++n)
        for (int64_t o = 0; o != output.extents[1]; ++o)
          forEachPlace(spaceOf(output), [&](const Place &place) {
            auto source = [&](const Place &tap) -> std::optional<int64_t> {
              Place from = {};
              for (int i = 0; i != window->rank; ++i) {
                from[i] = place[i] * window->strides[i] - window->before[i] +
                          tap[i] * window->dilations[i];
                if (from[i] < 0 || from[i] >= space[i])
                  return std::nullopt;
              }
              return at(from, steps);
            };
            int64_t first = o / perGroup * channels;
            output.as<T>()[n * output.steps[0] + o * output.steps[1] +
                           at(place, outputSteps)] =
                sumWindow<T>(*window,
                             input.as<T>() + n * input.steps[0] +
                                 first * input.steps[1],
                             channels, input.steps[1],
                             weight.as<T>() + o * weight.steps[0],
                             weight.steps[1], weightSteps, source);
          });
      return Error::success();
    } else {
      return unknownType("Convolution", input);
    }
  });
}

Error portable::runConvolutionTransposed(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &weight = call.input(1);
  const Tensor &output = call.output();
  Expected<Window> window = readWindow("ConvolutionTransposed", call);
  if (!window)
    return window.takeError();
  int64_t perGroup = weight.extents[1];
  if (input.extents[1] != weight.extents[0] ||
      input.extents[1] % window->groups != 0 ||
      output.extents[1] != perGroup * window->groups)
    return Error("ConvolutionTransposed: the channels of " + input.describe() +
                 " and " + weight.describe() + " do not fit");
  if (input.type != weight.type || input.type != output.type)
    return unknownType("ConvolutionTransposed", weight);
  int64_t channels = input.extents[1] / window->groups;
  Place space = spaceOf(input);
  Place steps = spaceStepsOf(input);
  Place outputSteps = spaceStepsOf(output);
  Place weightSteps = spaceStepsOf(weight);
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || ComplexElement<T>) {
      for (int64_t n = 0; n != output.extents[0]; ++n)
        for (int64_t o = 0; o != output.extents[1]; ++o)
          forEachPlace(spaceOf(output), [&](const Place &place) {
            // An element of the input adds to those that are its place times
            // the stride, and on by the window: look back from here.
            auto source = [&](const Place &tap) -> std::optional<int64_t> {
              Place from = {};
              for (int i = 0; i != window->rank; ++i) {
                int64_t back = place[i] + window->before[i] -
                               tap[i] * window->dilations[i];
                if (back < 0 || back % window->strides[i] != 0)
                  return std::nullopt;
                from[i] = back / window->strides[i];
                if (from[i] >= space[i])
                  return std::nullopt;
              }
              return at(from, steps);
            };
            int64_t first = o / perGroup * channels;
            output.as<T>()[n * output.steps[0] + o * output.steps[1] +
                           at(place, outputSteps)] =
                sumWindow<T>(*window,
                             input.as<T>() + n * input.steps[0] +
                                 first * input.steps[1],
                             channels, input.steps[1],
                             weight.as<T>() + first * weight.steps[0] +
                                 o % perGroup * weight.steps[1],
                             weight.steps[0], weightSteps, source);
          });
      return Error::success();
    } else {
      return unknownType("ConvolutionTransposed", input);
    }
  });
}
