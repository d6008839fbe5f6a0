// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose right side was packed into panels, with a program for what
// comes after. Sums are kept in double; the program gets them in f32.

#include "Epilogue.h"
#include "Window.h"

#include "corten/Runtime/Panels.h"

#include <algorithm>

using namespace corten::runtime;
using namespace corten::runtime::portable;

template <typename T> static double widen(T x) { return double(float(x)); }

Error portable::runPackMatrix(const Invocation &call) {
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank;
  bool fits =
      rank >= 2 && output.rank == rank + 1 &&
      std::equal(input.extents.begin(), input.extents.begin() + rank - 2,
                 output.extents.begin());
  if (!fits ||
      output.extents[rank - 2] != panelCount(input.extents[rank - 1]) ||
      output.extents[rank - 1] != input.extents[rank - 2] ||
      output.extents[rank] != kPanelWidth)
    return Error("PackMatrix: " + input.describe() + " does not make " +
                 output.describe());
  bool isFactors = isFactor(input.type) && isFactor(output.type);
  if (!isFactors ||
      (output.type != input.type && output.type != ElementType::F32))
    return unknownType("PackMatrix", output);
  // The columns of a panel are a window on those of the matrix.
  Tensor source = input;
  source.rank = uint8_t(rank + 1);
  source.extents = output.extents;
  source.steps[rank] = input.steps[rank - 1];
  source.steps[rank - 1] = input.steps[rank - 2];
  source.steps[rank - 2] = kPanelWidth * input.steps[rank - 1];
  int64_t columns = input.extents[rank - 1];
  // How many of a run's columns there are follows from its panel, which comes
  // before its rows.
  int64_t run = 0;
  int64_t panels = output.extents[rank - 2];
  int64_t depth = output.extents[rank - 1];
  auto copy = [&]<typename From, typename To>() {
    stridedLoop<2>(
        output.shape(), {source.steps.data(), output.steps.data()},
        [&](const auto &offsets, int64_t count, const auto &steps) {
          int64_t first = run++ / depth % panels * kPanelWidth;
          for (int64_t i = 0; i != count; ++i)
            output.as<To>()[offsets[1] + i * steps[1]] =
                first + i < columns
                    ? To(float(input.as<From>()[offsets[0] + i * steps[0]]))
                    : To(0.0f);
        });
  };
  withFactor(input.type, [&]<typename From>() {
    if (output.type == input.type)
      copy.template operator()<From, From>();
    else
      copy.template operator()<From, float>();
  });
  return Error::success();
}

/// The two operands must be of types that products are made of.
static Error checkFactors(std::string_view kernel, const Invocation &call) {
  for (size_t i : {0, 1})
    if (!isFactor(call.input(i).type))
      return unknownType(kernel, call.input(i));
  return Error::success();
}

Error portable::runMatMulPacked(const Invocation &call) {
  constexpr std::string_view kName = "MatMulPacked";
  if (Error error = checkPackedProduct(call))
    return error;
  Epilogue epilogue(call, 2);
  if (Error error = epilogue.check(kName))
    return error;
  const Tensor &a = call.input(0);
  const Tensor &packed = call.input(1);
  int rank = call.output().rank;
  int64_t depth = a.extents[rank - 1];
  int64_t aStep = a.steps[rank - 1];
  // The last three axes are those of one matrix.
  std::array<int64_t, 3> steps;
  std::copy_n(packed.steps.begin() + packed.rank - 3, 3, steps.begin());
  withFactor(a.type, [&]<typename A>() {
    withFactor(packed.type, [&]<typename B>() {
      storeProducts(
          epilogue, [&](const auto &index, int64_t count, float *products) {
            int64_t aOffset = 0, bOffset = 0;
            for (int axis = 0; axis != rank - 1; ++axis)
              aOffset += index[axis] * a.steps[axis];
            for (int axis = 0; packed.rank > 3 && axis != rank - 2; ++axis)
              bOffset += index[axis] * packed.steps[axis];
            for (int64_t i = 0; i != count; ++i) {
              int64_t column = index[rank - 1] + i;
              const A *row = a.as<A>() + aOffset;
              const B *other = packed.as<B>() + bOffset +
                               column / kPanelWidth * steps[0] +
                               column % kPanelWidth * steps[2];
              double sum = 0;
              for (int64_t k = 0; k != depth; ++k)
                sum += widen(row[k * aStep]) * widen(other[k * steps[1]]);
              products[i] = float(sum);
            }
          });
    });
  });
  return Error::success();
}

Error portable::checkPackedProduct(const Invocation &call) {
  constexpr std::string_view kName = "MatMulPacked";
  if (call.inputs.size() < 2)
    return Error(std::string(kName) + " needs two matrices");
  const Tensor &a = call.input(0);
  const Tensor &packed = call.input(1);
  const Tensor &output = call.output();
  int rank = output.rank;
  bool fits = rank >= 2 && a.rank == rank &&
              (packed.rank == 3 || packed.rank == rank + 1) &&
              packed.extents[packed.rank - 1] == kPanelWidth;
  if (fits)
    fits =
        std::equal(a.extents.begin(), a.extents.begin() + rank - 1,
                   output.extents.begin()) &&
        (packed.rank == 3 ||
         std::equal(a.extents.begin(), a.extents.begin() + rank - 2,
                    packed.extents.begin())) &&
        packed.extents[packed.rank - 2] == a.extents[rank - 1] &&
        packed.extents[packed.rank - 3] == panelCount(output.extents[rank - 1]);
  if (!fits)
    return Error(std::string(kName) + ": " + a.describe() + " and " +
                 packed.describe() + " do not make " + output.describe());
  return checkFactors(kName, call);
}

/// `forEachTap` is called with a place of the output, and calls a function with
/// the offset of each place of the input that is seen from there, and its tap.
template <typename Taps>
static Error convolvePacked(std::string_view name, const Invocation &call,
                            const Window &window, Taps &&forEachTap) {
  Epilogue epilogue(call, 2);
  if (Error error = epilogue.check(name))
    return error;
  if (Error error = checkFactors(name, call))
    return error;
  const Tensor &x = call.input(0);
  const Tensor &packed = call.input(1);
  int64_t channels = x.extents[1] / window.groups;
  int64_t perGroup = call.output().extents[1] / window.groups;
  withFactor(x.type, [&]<typename A>() {
    withFactor(packed.type, [&]<typename B>() {
      storeProducts(epilogue, [&](const auto &index, int64_t count,
                                  float *products) {
        int64_t group = index[1] / perGroup;
        int64_t column = index[1] % perGroup;
        const A *from =
            x.as<A>() + index[0] * x.steps[0] + group * channels * x.steps[1];
        const B *weights = packed.as<B>() + group * packed.steps[0] +
                           column / kPanelWidth * packed.steps[1] +
                           column % kPanelWidth * packed.steps[3];
        for (int64_t i = 0; i != count; ++i) {
          double sum = 0;
          forEachTap(placeAt(index, x.rank, i),
                     [&](int64_t offset, int64_t tap) {
                       const B *w = weights + tap * channels * packed.steps[2];
                       for (int64_t c = 0; c != channels; ++c)
                         sum += widen(from[offset + c * x.steps[1]]) *
                                widen(w[c * packed.steps[2]]);
                     });
          products[i] = float(sum);
        }
      });
    });
  });
  return Error::success();
}

Error portable::runConvolutionPacked(const Invocation &call) {
  Expected<Window> window = readPackedWindow(call);
  if (!window)
    return window.takeError();
  return convolvePacked("ConvolutionPacked", call, *window,
                        [&](const Place &place, auto &&function) {
                          forEachTap(*window, call.input(0), place, function);
                        });
}

Error portable::runConvolutionTransposedPacked(const Invocation &call) {
  Expected<Window> window = readTransposedPackedWindow(call);
  if (!window)
    return window.takeError();
  return convolvePacked("ConvolutionTransposedPacked", call, *window,
                        [&](const Place &place, auto &&function) {
                          forEachTransposedTap(*window, call.input(0), place,
                                               function);
                        });
}

Error portable::runConvolutionDepthwise(const Invocation &call) {
  constexpr std::string_view kName = "ConvolutionDepthwise";
  Expected<Window> window = readDepthwiseWindow(call);
  if (!window)
    return window.takeError();
  Epilogue epilogue(call, 2);
  if (Error error = epilogue.check(kName))
    return error;
  if (Error error = checkFactors(kName, call))
    return error;
  const Tensor &x = call.input(0);
  const Tensor &weights = call.input(1);
  withFactor(x.type, [&]<typename A>() {
    withFactor(weights.type, [&]<typename B>() {
      storeProducts(
          epilogue, [&](const auto &index, int64_t count, float *products) {
            const A *from =
                x.as<A>() + index[0] * x.steps[0] + index[1] * x.steps[1];
            const B *w = weights.as<B>() + index[1] * weights.steps[1];
            for (int64_t i = 0; i != count; ++i) {
              double sum = 0;
              forEachTap(*window, x, placeAt(index, x.rank, i),
                         [&](int64_t offset, int64_t tap) {
                           sum += widen(from[offset]) *
                                  widen(w[tap * weights.steps[0]]);
                         });
              products[i] = float(sum);
            }
          });
    });
  });
  return Error::success();
}
