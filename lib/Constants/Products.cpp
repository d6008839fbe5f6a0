// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products, windows, and values between elements.

#include "Kernels.h"

using namespace corten;
using namespace mlir;
using runtime::PortableKernel;
using runtime::Tensor;

/// Matrices spread over `counts` of them.
static std::optional<Tensor> matrices(const Elements &elements,
                                      ArrayRef<int64_t> counts) {
  if (elements.shape().size() < 2)
    return std::nullopt;
  SmallVector<int64_t> shape(counts);
  llvm::append_range(shape, elements.shape().take_back(2));
  return elements.spread(shape);
}

bool corten::computeMatmul(Operands operands, const Elements &result) {
  if (result.shape().size() < 2)
    return false;
  ArrayRef<int64_t> counts = result.shape().drop_back(2);
  std::optional<Tensor> x = matrices(operands[0], counts);
  std::optional<Tensor> y = matrices(operands[1], counts);
  return x && y && runs(PortableKernel::MatMul, {*x, *y}, result.output());
}

/// Numbers of operands one after the other; empty if one has not as many as
/// axes in space.
static SmallVector<int64_t> spatial(Operands operands, size_t rank) {
  SmallVector<int64_t> numbers;
  for (const Elements &operand : operands) {
    SmallVector<int64_t> own = operand.indices();
    if (own.size() != rank)
      return {};
    llvm::append_range(numbers, own);
  }
  return numbers;
}

/// Whether an output extent is what windows of an extent make.
static bool isWindowed(ArrayRef<int64_t> input, ArrayRef<int64_t> window,
                       ArrayRef<int64_t> numbers, ArrayRef<int64_t> output) {
  size_t rank = window.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t stride = numbers[axis], dilation = numbers[rank + axis];
    int64_t reach = dilation * (window[axis] - 1) + 1;
    if (stride <= 0 || dilation <= 0 || input[axis] < reach ||
        output[axis] != (input[axis] - reach) / stride + 1)
      return false;
  }
  return true;
}

bool corten::computeConvolution(Operands operands, const Elements &result) {
  ArrayRef<int64_t> input = operands[0].shape(), weight = operands[1].shape();
  size_t rank = input.size() - 2;
  SmallVector<int64_t> numbers = spatial(operands.slice(2, 2), rank);
  SmallVector<int64_t> groups = operands[4].indices();
  if (numbers.empty() || groups.size() != 1 ||
      result.shape().size() != input.size() ||
      !isWindowed(input.drop_front(2), weight.drop_front(2), numbers,
                  result.shape().drop_front(2)))
    return false;
  numbers.append(rank, 0);
  numbers.push_back(groups.front());
  return runs(PortableKernel::Convolution,
              {operands[0].tensor(), operands[1].tensor()}, result.output(),
              numbers);
}

bool corten::computeTransposedConvolution(Operands operands,
                                          const Elements &result) {
  ArrayRef<int64_t> input = operands[0].shape();
  size_t rank = input.size() - 2;
  // In the order of the op: stride, padding, dilation, output_pad.
  SmallVector<int64_t> strides = spatial(operands.slice(2, 1), rank);
  SmallVector<int64_t> padding = spatial(operands.slice(3, 1), rank);
  SmallVector<int64_t> dilations = spatial(operands.slice(4, 1), rank);
  SmallVector<int64_t> groups = operands[6].indices();
  if (strides.empty() || padding.empty() || dilations.empty() ||
      groups.size() != 1)
    return false;
  SmallVector<int64_t> numbers(strides);
  llvm::append_range(numbers, dilations);
  llvm::append_range(numbers, padding);
  numbers.push_back(groups.front());
  return runs(PortableKernel::ConvolutionTransposed,
              {operands[0].tensor(), operands[1].tensor()}, result.output(),
              numbers);
}

bool corten::computePool(PortableKernel kernel, Operands operands,
                         const Elements &result) {
  ArrayRef<int64_t> input = operands[0].shape();
  size_t rank = input.size() - 2;
  SmallVector<int64_t> numbers = spatial(operands.slice(1, 3), rank);
  // A window that sticks out is one of a maximum, and asked for.
  bool isCeiling = operands.size() > 4 && operands[4].indices().front();
  if (numbers.empty() || result.shape().size() != input.size() || isCeiling ||
      !isWindowed(input.drop_front(2), ArrayRef(numbers).take_front(rank),
                  ArrayRef(numbers).drop_front(rank),
                  result.shape().drop_front(2)))
    return false;
  numbers.append(rank, 0);
  return runs(kernel, operands[0].tensor(), result.output(), numbers);
}

static int64_t isNearest(coreai::InterpolationMode mode) {
  return mode == coreai::InterpolationMode::NearestNeighbor;
}

bool corten::computeInterpolation(coreai::InterpolateOp op, Operands operands,
                                  const Elements &result) {
  if (operands[1].indices() != SmallVector<int64_t>(result.shape()))
    return false;
  return runs(
      PortableKernel::Interpolate,
      {operands[0].tensor(), operands[2].tensor(), operands[3].tensor()},
      result.output(), isNearest(op.getInterpolationMode()));
}

bool corten::computeSamples(coreai::InterpolateCoordinatesOp op,
                            Operands operands, const Elements &result) {
  return runs(PortableKernel::InterpolateCoordinates,
              {operands[0].tensor(), operands[1].tensor()}, result.output(),
              isNearest(op.getInterpolationMode()));
}
