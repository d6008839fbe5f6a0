// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers made to have a mean of 0 and a variance of 1, and then scaled and
// moved. All in double, rounded once.

#include "Portable.h"

#include <algorithm>
#include <bit>

using namespace corten::runtime;
using namespace corten::runtime::portable;

/// Whether an optional input fits: there is none, or it has the type and the
/// shape.
static bool fitsOptional(const Tensor &tensor, const Tensor &input,
                         std::span<const int64_t> shape) {
  return !tensor.data || (tensor.type == input.type &&
                          std::ranges::equal(tensor.shape(), shape));
}

/// `y = (x - mean) / sqrt(variance + epsilon)` for all of `from`; `finish`
/// makes the element of it and of its place.
template <typename T, typename Finish>
static void normalize(const Tensor &from, const Tensor &to, double epsilon,
                      bool isCentered, Finish &&finish) {
  auto forEach = [&](auto &&function) {
    std::array<int64_t, kMaxRank> place = {};
    int64_t count = from.size();
    for (int64_t done = 0; done != count; ++done) {
      int64_t source = 0;
      int64_t target = 0;
      for (int axis = 0; axis != from.rank; ++axis) {
        source += place[axis] * from.steps[axis];
        target += place[axis] * to.steps[axis];
      }
      function(source, target, place);
      for (int axis = from.rank - 1; axis >= 0; --axis) {
        if (++place[axis] != from.extents[axis])
          break;
        place[axis] = 0;
      }
    }
  };
  double mean = 0;
  if (isCentered) {
    forEach([&](int64_t source, int64_t, const auto &) {
      mean += numberAt<T>(from, source);
    });
    mean /= double(from.size());
  }
  double variance = 0;
  forEach([&](int64_t source, int64_t, const auto &) {
    double distance = numberAt<T>(from, source) - mean;
    variance += distance * distance;
  });
  double factor = 1 / std::sqrt(variance / double(from.size()) + epsilon);
  forEach([&](int64_t source, int64_t target, const auto &place) {
    double y = (numberAt<T>(from, source) - mean) * factor;
    to.as<T>()[target] = T(ComputeType<T>(finish(y, place)));
  });
}

static Error normalizeLast(std::string_view name, const Invocation &call,
                           bool isCentered) {
  const Tensor &input = call.input(0);
  const Tensor &weight = call.input(1);
  const Tensor &bias = call.input(2);
  const Tensor &output = call.output();
  int64_t axes = call.number(0);
  if (Error error = checkSame(name, input, output))
    return error;
  if (axes < 1 || axes > input.rank)
    return Error(std::string(name) + ": " + input.describe() + " has no " +
                 std::to_string(axes) + " last axes");
  int outer = input.rank - int(axes);
  std::span<const int64_t> shape = input.shape().subspan(outer);
  if (!fitsOptional(weight, input, shape) || !fitsOptional(bias, input, shape))
    return Error(std::string(name) + ": weight " + weight.describe() +
                 " or bias " + bias.describe() + " does not fit " +
                 input.describe());
  auto epsilon = std::bit_cast<double>(call.number(1));
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      stridedLoop<2>(
          input.shape().first(outer), {input.steps.data(), output.steps.data()},
          [&](const auto &offsets, int64_t count, const auto &steps) {
            for (int64_t i = 0; i != count; ++i)
              normalize<T>(input.view(shape, input.strides().subspan(outer),
                                      offsets[0] + i * steps[0]),
                           output.view(shape, output.strides().subspan(outer),
                                       offsets[1] + i * steps[1]),
                           epsilon, isCentered,
                           [&](double y, const auto &place) {
                             auto at = [&](const Tensor &tensor) {
                               int64_t offset = 0;
                               for (int axis = 0; axis != tensor.rank; ++axis)
                                 offset += place[axis] * tensor.steps[axis];
                               return numberAt<T>(tensor, offset);
                             };
                             y = weight.data ? y * at(weight) : y;
                             return bias.data ? y + at(bias) : y;
                           });
          });
      return Error::success();
    } else {
      return unknownType(name, input);
    }
  });
}

Error portable::runLayerNorm(const Invocation &call) {
  return normalizeLast("LayerNorm", call, true);
}

Error portable::runRmsNorm(const Invocation &call) {
  return normalizeLast("RmsNorm", call, false);
}

Error portable::runGroupNorm(const Invocation &call) {
  const Tensor &input = call.input(0);
  const Tensor &weight = call.input(1);
  const Tensor &bias = call.input(2);
  const Tensor &output = call.output();
  int64_t groups = call.number(0);
  if (Error error = checkSame("GroupNorm", input, output))
    return error;
  bool fits = input.rank >= 2 && groups > 0 && input.extents[1] % groups == 0 &&
              fitsOptional(weight, input, input.shape().subspan(1, 1)) &&
              fitsOptional(bias, input, input.shape().subspan(1, 1));
  if (!fits)
    return Error("GroupNorm: " + std::to_string(groups) + " groups, weight " +
                 weight.describe() + " or bias " + bias.describe() +
                 " does not fit " + input.describe());
  auto epsilon = std::bit_cast<double>(call.number(1));
  int64_t channels = input.extents[1] / groups;
  // One group of one sample: its channels, and then the other axes.
  Tensor part = input;
  part.extents[0] = 1;
  part.extents[1] = channels;
  return withType(input.type, [&]<typename T>() -> Error {
    if constexpr (FloatElement<T>) {
      for (int64_t i = 0; i != input.extents[0] * groups; ++i) {
        int64_t sample = i / groups;
        int64_t first = i % groups * channels;
        normalize<T>(
            input.view(part.shape(), input.strides(),
                       sample * input.steps[0] + first * input.steps[1]),
            output.view(part.shape(), output.strides(),
                        sample * output.steps[0] + first * output.steps[1]),
            epsilon, true, [&](double y, const auto &place) {
              int64_t channel = first + place[1];
              if (weight.data)
                y *= numberAt<T>(weight, channel * weight.steps[0]);
              if (bias.data)
                y += numberAt<T>(bias, channel * bias.steps[0]);
              return y;
            });
      }
      return Error::success();
    } else {
      return unknownType("GroupNorm", input);
    }
  });
}
