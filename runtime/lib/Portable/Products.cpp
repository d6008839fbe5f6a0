// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products: matrices and convolutions. Floats are summed up in double,
// integers wrap around.

#include "Window.h"

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
/// A convolution or its transpose.
struct Convolution {
  const Window &window;
  /// How many channels of the input an output channel sums up, and how many
  /// output channels there are in a group.
  int64_t channels;
  int64_t perGroup;
  /// Where the weights of an output channel of a group begin, and how far those
  /// of its input channels are apart: the axes of the transpose are exchanged.
  int64_t groupStep;
  int64_t outputStep;
  int64_t channelStep;
};
} // namespace

/// `source` says on which place of one axis of the input a tap lies that an
/// output place looks at: negative if on none.
template <typename Source>
static Error convolve(std::string_view name, const Invocation &call,
                      const Convolution &form, Source &&source) {
  const Tensor &input = call.input(0);
  const Tensor &weight = call.input(1);
  const Tensor &output = call.output();
  if (input.type != weight.type || input.type != output.type)
    return unknownType(name, weight);
  Place space = spaceOf(input);
  Place steps = spaceStepsOf(input);
  Place outputSteps = spaceStepsOf(output);
  Place weightSteps = spaceStepsOf(weight);
  auto offsetOf = [&](const Place &place,
                      const Place &tap) -> std::optional<int64_t> {
    int64_t offset = 0;
    for (int axis = 0; axis != form.window.rank; ++axis) {
      int64_t from = source(axis, place[axis], tap[axis]);
      if (from < 0 || from >= space[axis])
        return std::nullopt;
      offset += from * steps[axis];
    }
    return offset;
  };
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T> || ComplexElement<T>) {
      for (int64_t n = 0; n != output.extents[0]; ++n)
        for (int64_t o = 0; o != output.extents[1]; ++o) {
          int64_t group = o / form.perGroup;
          const T *from = input.as<T>() + n * input.steps[0] +
                          group * form.channels * input.steps[1];
          const T *weights = weight.as<T>() + group * form.groupStep +
                             o % form.perGroup * form.outputStep;
          T *to = output.as<T>() + n * output.steps[0] + o * output.steps[1];
          forEachPlace(spaceOf(output), [&](const Place &place) {
            Sum<T> sum = {};
            forEachPlace(form.window.kernel, [&](const Place &tap) {
              std::optional<int64_t> offset = offsetOf(place, tap);
              const T *w = weights + at(tap, weightSteps);
              for (int64_t c = 0; offset && c != form.channels; ++c)
                sum += widen(from[*offset + c * input.steps[1]]) *
                       widen(w[c * form.channelStep]);
            });
            to[at(place, outputSteps)] = narrow<T>(sum);
          });
        }
      return Error::success();
    } else {
      return unknownType(name, input);
    }
  });
}

Error portable::runConvolution(const Invocation &call) {
  constexpr std::string_view kName = "Convolution";
  Expected<Window> window = readWindow(kName, call);
  if (!window)
    return window.takeError();
  const Tensor &weight = call.input(1);
  int64_t outputs = call.output().extents[1];
  int64_t channels = weight.extents[1];
  if (call.input(0).extents[1] != channels * window->groups ||
      outputs != weight.extents[0] || outputs % window->groups != 0)
    return otherChannels(kName, call);
  int64_t perGroup = outputs / window->groups;
  return convolve(kName, call,
                  {.window = *window,
                   .channels = channels,
                   .perGroup = perGroup,
                   .groupStep = perGroup * weight.steps[0],
                   .outputStep = weight.steps[0],
                   .channelStep = weight.steps[1]},
                  [&](int axis, int64_t place, int64_t tap) {
                    return place * window->strides[axis] -
                           window->before[axis] + tap * window->dilations[axis];
                  });
}

// An element of the input adds to those that are its place times the stride,
// and on by the window: look back from there.
Error portable::runConvolutionTransposed(const Invocation &call) {
  constexpr std::string_view kName = "ConvolutionTransposed";
  Expected<Window> window = readWindow(kName, call);
  if (!window)
    return window.takeError();
  const Tensor &weight = call.input(1);
  int64_t inputs = call.input(0).extents[1];
  int64_t perGroup = weight.extents[1];
  if (inputs != weight.extents[0] || inputs % window->groups != 0 ||
      call.output().extents[1] != perGroup * window->groups)
    return otherChannels(kName, call);
  int64_t channels = inputs / window->groups;
  return convolve(kName, call,
                  {.window = *window,
                   .channels = channels,
                   .perGroup = perGroup,
                   .groupStep = channels * weight.steps[0],
                   .outputStep = weight.steps[1],
                   .channelStep = weight.steps[0]},
                  [&](int axis, int64_t place, int64_t tap) -> int64_t {
                    int64_t back = place + window->before[axis] -
                                   tap * window->dilations[axis];
                    return back % window->strides[axis] == 0
                               ? back / window->strides[axis]
                               : -1;
                  });
}
