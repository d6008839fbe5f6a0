// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of factors that were rounded to bf16, or quantized to bytes. What is
// rounded is multiplied and summed exactly, as far as double goes; the program
// gets sums in f32.

#include "Narrow.h"

#include "Epilogue.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace corten::runtime;
using namespace corten::runtime::portable;

static double rounded(float x) { return double(float(BFloat16(x))); }

/// Elements of a product's factors as floats.
static float numberOf(const Tensor &tensor, int64_t offset) {
  float result = 0;
  withFactor(tensor.type,
             [&]<typename T>() { result = float(tensor.as<T>()[offset]); });
  return result;
}

static int64_t offsetOf(const Tensor &tensor,
                        const std::array<int64_t, kMaxRank> &index, int axes) {
  int64_t offset = 0;
  for (int axis = 0; axis != axes; ++axis)
    offset += index[axis] * tensor.steps[axis];
  return offset;
}

static Error doesNotMake(std::string_view kernel, const Tensor &input,
                         const Tensor &output) {
  return Error(std::string(kernel) + ": " + input.describe() +
               " does not make " + output.describe());
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

Error portable::checkPackPairs(const Invocation &call) {
  constexpr std::string_view kName = "PackPairs";
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int rank = input.rank;
  if (rank < 3 || output.rank != rank || output.type != ElementType::BF16 ||
      !output.isContiguous() ||
      !std::equal(input.extents.begin(), input.extents.begin() + rank - 3,
                  output.extents.begin()) ||
      output.extents[rank - 3] != panelCount(input.extents[rank - 1]) ||
      output.extents[rank - 2] !=
          input.extents[rank - 3] * pairCount(input.extents[rank - 2]) ||
      output.extents[rank - 1] != kPairRow)
    return doesNotMake(kName, input, output);
  return isFactor(input.type) ? Error::success() : unknownType(kName, input);
}

Error portable::runPackPairs(const Invocation &call) {
  if (Error error = checkPackPairs(call))
    return error;
  const Tensor &input = call.input();
  int rank = input.rank;
  int64_t pairs = pairCount(input.extents[rank - 2]);
  auto *to = call.output().as<BFloat16>();
  // In the order that they have in memory.
  std::array<int64_t, kMaxRank> index = {};
  int64_t rows = call.output().size() / kPairRow;
  int64_t perMatrix =
      call.output().extents[rank - 3] * call.output().extents[rank - 2];
  for (int64_t row = 0; row != rows; ++row) {
    int64_t matrix = row / perMatrix;
    for (int axis = rank - 3; axis-- > 0;) {
      index[axis] = matrix % input.extents[axis];
      matrix /= input.extents[axis];
    }
    int64_t inPanel = row % call.output().extents[rank - 2];
    int64_t panel = row % perMatrix / call.output().extents[rank - 2];
    index[rank - 3] = inPanel / pairs;
    for (int64_t i = 0; i != kPairRow; ++i) {
      index[rank - 2] = inPanel % pairs * 2 + i % 2;
      index[rank - 1] = panel * kPanelWidth + i / 2;
      bool isThere = index[rank - 2] < input.extents[rank - 2] &&
                     index[rank - 1] < input.extents[rank - 1];
      *to++ = BFloat16(isThere ? numberOf(input, offsetOf(input, index, rank))
                               : 0.0f);
    }
  }
  return Error::success();
}

/// That rows of `a` fit to packed ones that have `groups` for its depth.
static Error checkProduct(std::string_view kernel, const Invocation &call,
                          ElementType type, int64_t extraRows,
                          int64_t (*groups)(int64_t), int64_t width) {
  if (call.inputs.size() < 2)
    return Error(std::string(kernel) + " needs two matrices");
  const Tensor &a = call.input(0);
  const Tensor &packed = call.input(1);
  const Tensor &output = call.output();
  int rank = output.rank;
  if (rank < 2 || a.rank != rank || packed.rank != 3 || packed.type != type ||
      !packed.isContiguous() ||
      !std::equal(a.extents.begin(), a.extents.begin() + rank - 1,
                  output.extents.begin()) ||
      packed.extents[0] != panelCount(output.extents[rank - 1]) ||
      packed.extents[1] != extraRows + groups(a.extents[rank - 1]) ||
      packed.extents[2] != width)
    return Error(std::string(kernel) + ": " + a.describe() + " and " +
                 packed.describe() + " do not make " + output.describe());
  if (!isFactor(a.type))
    return unknownType(kernel, a);
  return Epilogue(call, 2).check(kernel);
}

Error portable::checkPairProduct(const Invocation &call) {
  return checkProduct("MatMulPairs", call, ElementType::BF16, 0, pairCount,
                      kPairRow);
}

Error portable::runMatMulPairs(const Invocation &call) {
  if (Error error = checkPairProduct(call))
    return error;
  const Tensor &a = call.input(0);
  const Tensor &packed = call.input(1);
  int rank = a.rank;
  int64_t depth = a.extents[rank - 1];
  storeProducts(Epilogue(call, 2),
                [&](const auto &index, int64_t count, float *products) {
                  int64_t row = offsetOf(a, index, rank - 1);
                  for (int64_t i = 0; i != count; ++i) {
                    int64_t column = index[rank - 1] + i;
                    const auto *pairs = packed.as<BFloat16>() +
                                        column / kPanelWidth * packed.steps[0] +
                                        column % kPanelWidth * 2;
                    double sum = 0;
                    for (int64_t k = 0; k != depth; ++k)
                      sum += rounded(numberOf(a, row + k * a.steps[rank - 1])) *
                             double(float(pairs[k / 2 * kPairRow + k % 2]));
                    products[i] = float(sum);
                  }
                });
  return Error::success();
}

Error portable::runConvolutionPairs(const Invocation &call) {
  Expected<Window> window = readPairWindow(call);
  if (!window)
    return window.takeError();
  const Tensor &x = call.input(0);
  const Tensor &packed = call.input(1);
  if (!isFactor(x.type))
    return unknownType("ConvolutionPairs", x);
  Epilogue epilogue(call, 2);
  if (Error error = epilogue.check("ConvolutionPairs"))
    return error;
  int64_t channels = x.extents[1] / window->groups;
  int64_t perGroup = call.output().extents[1] / window->groups;
  storeProducts(epilogue, [&](const auto &index, int64_t count,
                              float *products) {
    int64_t group = index[1] / perGroup;
    int64_t column = index[1] % perGroup;
    int64_t from = index[0] * x.steps[0] + group * channels * x.steps[1];
    const auto *weights = packed.as<BFloat16>() + group * packed.steps[0] +
                          column / kPanelWidth * packed.steps[1] +
                          column % kPanelWidth * 2;
    for (int64_t i = 0; i != count; ++i) {
      double sum = 0;
      forEachTap(*window, x, placeAt(index, x.rank, i),
                 [&](int64_t offset, int64_t tap) {
                   const BFloat16 *w =
                       weights + tap * pairCount(channels) * kPairRow;
                   for (int64_t c = 0; c != channels; ++c)
                     sum +=
                         rounded(numberOf(x, from + offset + c * x.steps[1])) *
                         double(float(w[c / 2 * kPairRow + c % 2]));
                 });
      products[i] = float(sum);
    }
  });
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Quads
//===----------------------------------------------------------------------===//

namespace {
/// How numbers are quantized whose largest magnitude is known. Those of which
/// one is no number, or is infinite, are all none.
struct Quantizer {
  float scale = 0;
  float inverse = 0;

  explicit Quantizer(float largest) {
    if (!std::isfinite(largest)) {
      scale = std::nanf("");
    } else if (largest >= kQuadTiny) {
      scale = largest / kQuadLimit;
      inverse = kQuadLimit / largest;
    }
  }

  int quantize(float x) const {
    float steps = x * inverse;
    if (std::isnan(steps))
      return 0;
    return int(
        std::nearbyintf(std::clamp<float>(steps, -kQuadLimit, kQuadLimit)));
  }

  /// Of numbers that `at(i)` gives.
  template <typename At> static Quantizer of(int64_t count, At &&at) {
    // As bits, of which those of what is no number are the largest.
    uint32_t largest = 0;
    for (int64_t i = 0; i != count; ++i)
      largest = std::max(largest, std::bit_cast<uint32_t>(at(i)) & 0x7fffffffu);
    return Quantizer(std::bit_cast<float>(largest));
  }
};
} // namespace

Error portable::checkPackQuads(const Invocation &call) {
  constexpr std::string_view kName = "PackQuads";
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  if (input.rank != 2 || output.rank != 3 || output.type != ElementType::UI8 ||
      !output.isContiguous() ||
      output.extents[0] != panelCount(input.extents[1]) ||
      output.extents[1] != 1 + quadCount(input.extents[0]) ||
      output.extents[2] != kQuadRow)
    return doesNotMake(kName, input, output);
  return isFactor(input.type) ? Error::success() : unknownType(kName, input);
}

Error portable::runPackQuads(const Invocation &call) {
  if (Error error = checkPackQuads(call))
    return error;
  const Tensor &input = call.input();
  const Tensor &output = call.output();
  int64_t depth = input.extents[0];
  for (int64_t column = 0; column != output.extents[0] * kPanelWidth;
       ++column) {
    bool isColumn = column < input.extents[1];
    auto at = [&](int64_t k) {
      return isColumn && k < depth
                 ? numberOf(input, k * input.steps[0] + column * input.steps[1])
                 : 0.0f;
    };
    Quantizer quantizer = Quantizer::of(depth, at);
    uint8_t *to = output.as<uint8_t>() +
                  column / kPanelWidth * output.steps[0] +
                  column % kPanelWidth * 4;
    std::memcpy(to, &quantizer.scale, sizeof(float));
    for (int64_t k = 0; k != 4 * quadCount(depth); ++k)
      to[(1 + k / 4) * kQuadRow + k % 4] =
          uint8_t(quantizer.quantize(at(k)) + kQuadZero);
  }
  return Error::success();
}

Error portable::checkQuadProduct(const Invocation &call) {
  return checkProduct("MatMulQuads", call, ElementType::UI8, 1, quadCount,
                      kQuadRow);
}

Error portable::runMatMulQuads(const Invocation &call) {
  if (Error error = checkQuadProduct(call))
    return error;
  const Tensor &a = call.input(0);
  const Tensor &packed = call.input(1);
  int rank = a.rank;
  int64_t depth = a.extents[rank - 1];
  storeProducts(Epilogue(call, 2), [&](const auto &index, int64_t count,
                                       float *products) {
    int64_t row = offsetOf(a, index, rank - 1);
    auto at = [&](int64_t k) {
      return numberOf(a, row + k * a.steps[rank - 1]);
    };
    Quantizer quantizer = Quantizer::of(depth, at);
    for (int64_t i = 0; i != count; ++i) {
      int64_t column = index[rank - 1] + i;
      const uint8_t *quads = packed.as<uint8_t>() +
                             column / kPanelWidth * packed.steps[0] +
                             column % kPanelWidth * 4;
      float scale;
      std::memcpy(&scale, quads, sizeof scale);
      int64_t sum = 0;
      for (int64_t k = 0; k != depth; ++k)
        sum += quantizer.quantize(at(k)) *
               (int(quads[(1 + k / 4) * kQuadRow + k % 4]) - kQuadZero);
      products[i] = float(sum) * quantizer.scale * scale;
    }
  });
  return Error::success();
}
