// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much a step computes, for whoever measures it. A multiplication and an
// addition are two; a function of one number, such as exp, is one.

#include "Arithmetic.h"

#include "corten/Runtime/Winograd.h"

using namespace corten::runtime;
using namespace corten::runtime::execution;

/// What kernels reach at small sizes: operations in a nanosecond of products
/// and of others, and of any that uses no vectors, bytes in a nanosecond, and
/// what each step takes besides.
static constexpr double kProductRate = 150;
static constexpr double kFastRate = 16;
static constexpr double kPortableRate = 2;
static constexpr double kBytesPerNanosecond = 64;
static constexpr double kStepTime = 100;

static bool isMatrixProduct(PortableKernel kernel) {
  switch (kernel) {
  case PortableKernel::MatMul:
  case PortableKernel::MatMulPacked:
  case PortableKernel::MatMulRouted:
  case PortableKernel::MatMulRoutedCompressed:
  case PortableKernel::MatMulCompressed:
  case PortableKernel::MatMulSparse:
  case PortableKernel::MatMulPairs:
  case PortableKernel::MatMulQuads:
    return true;
  default:
    return false;
  }
}

/// What a product, or one that was packed, sums over.
static double depthOf(PortableKernel kernel, std::span<const Tensor> inputs) {
  const Tensor &left = inputs[0];
  const Tensor &right = inputs[1];
  if (isMatrixProduct(kernel))
    return double(left.extents[left.rank - 1]);
  switch (kernel) {
  case PortableKernel::ConvolutionPacked:
    return double(right.extents[2]);
  case PortableKernel::ConvolutionPairs:
    // Of an odd number of channels a few too many.
    return 2 * double(right.extents[2]);
  case PortableKernel::ConvolutionDepthwise:
    return double(right.extents[0]);
  case PortableKernel::ConvolutionWinograd:
    // As much as the direct form would be.
    return double(right.extents[2]) * kWinogradKernel * kWinogradKernel;
  default:
    // Weights are [output channels, ...].
    return double(right.size()) / std::max<double>(double(right.extents[0]), 1);
  }
}

/// Both products, and what is done with each score between them.
static double attentionOf(std::span<const Tensor> inputs) {
  const Tensor &queries = inputs[0];
  const Tensor &values = inputs[2];
  auto width = double(queries.extents[queries.rank - 1]);
  auto keys = double(values.extents[values.rank - 2]);
  auto result = double(values.extents[values.rank - 1]);
  double rows = width > 0 ? double(queries.size()) / width : 0;
  return rows * keys * (2 * width + 2 * result + 5);
}

static bool isProduct(PortableKernel kernel) {
  switch (kernel) {
  case PortableKernel::Convolution:
  case PortableKernel::ConvolutionPacked:
  case PortableKernel::ConvolutionPairs:
  case PortableKernel::ConvolutionDepthwise:
  case PortableKernel::ConvolutionWinograd:
    return true;
  default:
    return isMatrixProduct(kernel);
  }
}

/// Of the first input or the first output, whichever has more.
static double elementsOf(std::span<const Tensor> inputs,
                         std::span<const Tensor> outputs) {
  double operands = inputs.empty() ? 0 : double(inputs[0].size());
  double results = outputs.empty() ? 0 : double(outputs[0].size());
  return std::max(operands, results);
}

double execution::arithmeticOf(const Step &step, std::span<const Tensor> inputs,
                               std::span<const Tensor> outputs) {
  if (step.kind != plan::StepKind::Kernel || outputs.empty())
    return 0;
  auto results = double(outputs[0].size());
  double operands = inputs.empty() ? 0 : double(inputs[0].size());
  double perElement =
      step.program ? double(step.program->instructions.size()) : 0;
  if (isProduct(step.kernel))
    return results * (2 * depthOf(step.kernel, inputs) + perElement);
  switch (step.kernel) {
  case PortableKernel::Copy:
  case PortableKernel::Fill:
  case PortableKernel::Unpack:
  case PortableKernel::PadByRule:
  case PortableKernel::Cast:
  case PortableKernel::PackMatrix:
  case PortableKernel::PackCodes:
  case PortableKernel::PackPlaces:
  case PortableKernel::PackValues:
  case PortableKernel::PackWinograd:
  case PortableKernel::PackPairs:
  case PortableKernel::PackQuads:
  case PortableKernel::GatherAlongAxis:
  case PortableKernel::GatherNd:
  case PortableKernel::GatherSparse:
  case PortableKernel::NonZero:
  case PortableKernel::Numbers:
  case PortableKernel::RangeCount:
  // Only its author knows.
  case PortableKernel::Foreign:
    return 0;
  case PortableKernel::ConvolutionTransposed:
    // Every element of the input goes everywhere.
    return 2 * operands * depthOf(step.kernel, inputs);
  case PortableKernel::ConvolutionTransposedPacked:
    // The same; rows of panels are the taps of a group's channels.
    return 2 * operands * double(inputs[1].extents[2]) *
               double(outputs[0].extents[1]) /
               std::max<double>(double(inputs[0].extents[1]), 1) +
           results * perElement;
  case PortableKernel::Attention:
  case PortableKernel::AttentionWithSinks:
    return attentionOf(inputs);
  case PortableKernel::GatedDelta:
    // Recall, change and result take a multiplication for each element of the
    // state and step.
    return 6 * double(inputs[0].extents[3]) * double(inputs[2].size());
  case PortableKernel::Tile:
    return results * perElement;
  case PortableKernel::TileReduce:
    return operands * (perElement + 1);
  case PortableKernel::LayerNorm:
  case PortableKernel::RmsNorm:
  case PortableKernel::GroupNorm:
    return 8 * results;
  case PortableKernel::Softmax:
    return 5 * results;
  default:
    // Once for each element, on the larger side.
    return elementsOf(inputs, outputs);
  }
}

int64_t execution::bytesOf(const Tensor &tensor) {
  if (!tensor.data)
    return 0;
  auto bytes = int64_t(byteSize(tensor.type));
  for (size_t axis = 0; axis != tensor.rank; ++axis)
    if (tensor.steps[axis] != 0)
      bytes *= tensor.extents[axis];
  return bytes;
}

double execution::nanosecondsOf(const Step &step,
                                std::span<const Tensor> inputs,
                                std::span<const Tensor> outputs, bool isFast) {
  int64_t bytes = 0;
  for (const Tensor &output : outputs)
    bytes += 2 * bytesOf(output);
  // Tables are read here and there.
  bool isGather = step.kernel == PortableKernel::GatherNd ||
                  step.kernel == PortableKernel::GatherAlongAxis;
  for (const Tensor &input : inputs)
    if (!isGather)
      bytes += bytesOf(input);
  // What a fast kernel has accepted is what it takes. A portable one looks when
  // it is run: until then there may be less of it, in a plan that is damaged.
  double arithmetic = isFast ? arithmeticOf(step, inputs, outputs)
                             : elementsOf(inputs, outputs);
  double perNanosecond = !isFast                  ? kPortableRate
                         : isProduct(step.kernel) ? kProductRate
                                                  : kFastRate;
  return kStepTime + std::max(arithmetic / perNanosecond,
                              double(bytes) / kBytesPerNanosecond);
}
