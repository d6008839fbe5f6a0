// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/ConvolutionOps.h"

#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace corten::coreai;

/// Batch and channels come before the spatial axes.
static constexpr int64_t kSpatialBegin = 2;

/// Reports an error when a vector's known length is not that of the spatial
/// axes.
static LogicalResult verifySpatialLength(std::optional<Location> location,
                                         Value vector, int64_t spatial) {
  auto type = cast<RankedTensorType>(vector.getType());
  int64_t length = type.getDimSize(0);
  if (ShapedType::isDynamic(length) || length == spatial)
    return success();
  return emitOptionalError(location, "expected one number for each of ",
                           spatial, " axes, got ", type);
}

/// How far beyond its first element a window of `taps` elements reaches.
static int64_t getReach(int64_t taps, int64_t dilation) {
  int64_t reach;
  if (llvm::MulOverflow(dilation, taps - 1, reach))
    return std::numeric_limits<int64_t>::max();
  return reach;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// `groups` must divide the channels of the input into those of the weight.
static LogicalResult verifyGroups(std::optional<Location> location,
                                  Value groups, int64_t inputChannels,
                                  int64_t weightChannels) {
  std::optional<int64_t> count = getConstantIndex(groups);
  if (!count)
    return emitOptionalError(location, "groups must be a constant");
  if (*count == 0)
    return emitOptionalError(location, "groups must be positive");
  if (ShapedType::isDynamic(inputChannels))
    return success();
  if (inputChannels % *count != 0 || inputChannels / *count != weightChannels)
    return emitOptionalError(location, "cannot group ", inputChannels,
                             " channels by ", *count, " for a weight of ",
                             ShapedType::isDynamic(weightChannels)
                                 ? "unknown"
                                 : Twine(weightChannels).str(),
                             " channels");
  return success();
}

/// Appends the spatial extents of a convolution whose parameters are known.
static LogicalResult
appendSpatialExtents(std::optional<Location> location, ArrayRef<int64_t> input,
                     ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                     ArrayRef<int64_t> dilations, Shape &shape) {
  if (llvm::is_contained(strides, 0))
    return emitOptionalError(location, "strides must be positive");
  // coreai-core lets a dilation of zero pass in two dimensions only.
  if (input.size() == 3 && llvm::is_contained(dilations, 0))
    return emitOptionalError(location, "dilations must be positive");
  for (auto [extent, taps, stride, dilation] :
       llvm::zip_equal(input, kernel, strides, dilations)) {
    if (ShapedType::isDynamic(extent)) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    int64_t room = extent - 1 - getReach(taps, dilation);
    if (room < 0)
      return emitOptionalError(location, "a kernel of ", taps,
                               " elements does not fit into ", extent);
    shape.push_back(room / stride + 1);
  }
  return success();
}

/// All spatial extents are `?` when the kernel, the strides or the dilations
/// are not known completely; nothing else is checked then, as in coreai-core.
template <typename Adaptor>
static LogicalResult inferConvolution(std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> input =
      getTensorType(location, adaptor.getInput());
  FailureOr<RankedTensorType> weight =
      getTensorType(location, adaptor.getWeight());
  if (failed(input) || failed(weight))
    return failure();
  int64_t spatial = input->getRank() - kSpatialBegin;
  if (spatial < 1 || weight->getRank() != input->getRank())
    return emitOptionalError(location, "cannot convolve ", *input, " with ",
                             *weight);
  if (failed(verifySpatialLength(location, adaptor.getStride(), spatial)) ||
      failed(verifySpatialLength(location, adaptor.getDilation(), spatial)))
    return failure();

  Shape shape{input->getDimSize(0), weight->getDimSize(0)};
  ArrayRef<int64_t> kernel = weight->getShape().drop_front(kSpatialBegin);
  Value vectors[] = {adaptor.getStride(), adaptor.getDilation()};
  if (ShapedType::isDynamicShape(kernel) ||
      !llvm::all_of(vectors, isConstant)) {
    shape.append(spatial, ShapedType::kDynamic);
  } else if (failed(verifyReadableConstants(location, vectors)) ||
             failed(verifyReadableConstants(location, adaptor.getGroups())) ||
             failed(verifyGroups(location, adaptor.getGroups(),
                                 input->getDimSize(1),
                                 weight->getDimSize(1))) ||
             failed(appendSpatialExtents(
                 location, input->getShape().drop_front(kSpatialBegin), kernel,
                 *getConstantIndices(adaptor.getStride()),
                 *getConstantIndices(adaptor.getDilation()), shape))) {
    return failure();
  }
  inferred.push_back(RankedTensorType::get(shape, input->getElementType()));
  return success();
}

template <typename Op> static LogicalResult verifyTransposedConvolution(Op op) {
  RankedTensorType input = op.getInput().getType();
  int64_t spatial = input.getRank() - kSpatialBegin;
  for (Value vector :
       {op.getStride(), op.getPadding(), op.getDilation(), op.getOutputPad()})
    if (failed(verifySpatialLength(op.getLoc(), vector, spatial)))
      return failure();

  RankedTensorType output = op.getOutput().getType();
  if (output.getRank() == 0 ||
      failed(verifyCompatibleDims({input.getDimSize(0), output.getDimSize(0)})))
    return op.emitOpError("result must have the batch extent of the input");

  std::optional<int64_t> groups = getConstantIndex(op.getGroups());
  int64_t channels = input.getDimSize(1);
  if (groups && !ShapedType::isDynamic(channels) &&
      (*groups == 0 || channels % *groups != 0))
    return op.emitOpError("cannot group ")
           << channels << " channels by " << *groups;
  return success();
}

LogicalResult ConvTranspose2dOp::verify() {
  return verifyTransposedConvolution(*this);
}

LogicalResult ConvTranspose3dOp::verify() {
  return verifyTransposedConvolution(*this);
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// The number of windows along an axis. coreai-core rounds toward zero, so
/// that a window slightly too large still counts; a negative number ends its
/// process.
static FailureOr<int64_t> getWindowCount(std::optional<Location> location,
                                         int64_t extent, int64_t taps,
                                         int64_t stride, int64_t dilation) {
  if (stride == 0)
    return emitOptionalError(location, "strides must be positive");
  int64_t count = (extent - 1 - getReach(taps, dilation)) / stride + 1;
  if (count < 0)
    return emitOptionalError(location, "a window of ", taps,
                             " elements does not fit into ", extent);
  return count;
}

template <typename Adaptor>
static LogicalResult inferSumPool(std::optional<Location> location,
                                  Adaptor adaptor,
                                  SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> input =
      getTensorType(location, adaptor.getInput());
  if (failed(input))
    return failure();
  if (input->getRank() < kSpatialBegin)
    return emitOptionalError(location, "cannot pool ", *input);

  ArrayRef<int64_t> spatial = input->getShape().drop_front(kSpatialBegin);
  auto kernel = getConstantIndices(adaptor.getKernelSize());
  auto strides = getConstantIndices(adaptor.getStrides());
  auto dilations = getConstantIndices(adaptor.getDilation());
  Shape shape(input->getShape().take_front(kSpatialBegin));
  shape.append(spatial.size(), ShapedType::kDynamic);
  if (kernel && strides && dilations) {
    for (auto [count, extent, taps, stride, dilation] :
         llvm::zip(MutableArrayRef(shape).drop_front(kSpatialBegin), spatial,
                   *kernel, *strides, *dilations)) {
      if (ShapedType::isDynamic(extent))
        continue;
      FailureOr<int64_t> windows =
          getWindowCount(location, extent, taps, stride, dilation);
      if (failed(windows))
        return failure();
      count = *windows;
    }
  }
  inferred.push_back(RankedTensorType::get(shape, input->getElementType()));
  return success();
}

/// Reports an error when a constant vector contains a zero.
static LogicalResult verifyPositive(Operation *op, Value vector,
                                    StringRef name) {
  if (failed(verifyReadableConstants(op->getLoc(), vector)))
    return failure();
  auto values = getConstantIndices(vector);
  if (values && llvm::is_contained(*values, 0))
    return op->emitOpError() << name << " must be positive";
  return success();
}

/// coreai-core looks at the first two dilations only.
template <typename Op> static LogicalResult verifyMaxPool(Op op) {
  if (failed(verifyReadableConstants(op.getLoc(), op.getDilation())))
    return failure();
  auto dilations = getConstantIndices(op.getDilation());
  if (dilations && llvm::is_contained(ArrayRef(*dilations).take_front(2), 0))
    return op.emitOpError("dilation must be positive");
  return success();
}

LogicalResult MaxPool2dOp::verify() { return verifyMaxPool(*this); }
LogicalResult MaxPool3dOp::verify() { return verifyMaxPool(*this); }

template <typename Op> static LogicalResult verifySumPool(Op op) {
  if (failed(verifyPositive(op, op.getKernelSize(), "kernel size")) ||
      failed(verifyPositive(op, op.getStrides(), "stride")))
    return failure();
  return verifyPositive(op, op.getDilation(), "dilation");
}

LogicalResult SumPool2dOp::verify() { return verifySumPool(*this); }
LogicalResult SumPool3dOp::verify() { return verifySumPool(*this); }

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ConvolutionOps.cpp.inc"
