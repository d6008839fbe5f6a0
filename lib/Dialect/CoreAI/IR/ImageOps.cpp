// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/ImageOps.h"

#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// The shape of the bytes of an image.
static Shape getPixelShape(uint32_t code, int64_t height, int64_t width) {
  switch (static_cast<PixelFormat>(code)) {
  case PixelFormat::RGB24:
    return {height, width, 3};
  case PixelFormat::ARGB32:
  case PixelFormat::BGRA32:
    return {height, width, 4};
  case PixelFormat::YpCbCr420Planar8:
    // The two colour planes have half the extents, rounded down.
    return {height * width + 2 * (height / 2) * (width / 2)};
  case PixelFormat::Unknown:
    break;
  }
  return {height * width};
}

LogicalResult ImageToTensorOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  auto image = dyn_cast<ImageType>(adaptor.getSource().getType());
  auto height = image ? dyn_cast<IntegerAttr>(image.getHeight()) : nullptr;
  auto width = image ? dyn_cast<IntegerAttr>(image.getWidth()) : nullptr;
  if (!height || !width)
    return emitOptionalError(location, "expected an image of known size, got ",
                             adaptor.getSource().getType());
  Shape shape = getPixelShape(image.getFourCC().getCode(), height.getInt(),
                              width.getInt());
  inferred.push_back(RankedTensorType::get(
      shape, IntegerType::get(context, 8, IntegerType::Unsigned)));
  return success();
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

LogicalResult InterpolateOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> input =
      getTensorType(location, adaptor.getInput());
  if (failed(input))
    return failure();
  int64_t rank = input->getRank();
  for (Value vector :
       {adaptor.getOutputShape(), adaptor.getScale(), adaptor.getOffset()}) {
    FailureOr<RankedTensorType> type = getTensorType(location, vector);
    if (failed(type))
      return failure();
    if (type->getShape() != ArrayRef<int64_t>{rank})
      return emitOptionalError(location, "expected one element for each of ",
                               rank, " axes, got ", *type);
  }
  Shape shape = getDynamicShape(rank);
  if (auto extents = getConstantIndices(adaptor.getOutputShape())) {
    for (int64_t extent : *extents)
      if (extent < 0)
        return emitOptionalError(location, "extents must not be negative, got ",
                                 extent);
    shape = *extents;
  }
  inferred.push_back(RankedTensorType::get(shape, input->getElementType()));
  return success();
}

LogicalResult InterpolateCoordinatesOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> input =
      getTensorType(location, adaptor.getInput());
  FailureOr<RankedTensorType> coordinates =
      getTensorType(location, adaptor.getCoords());
  if (failed(input) || failed(coordinates))
    return failure();
  if (coordinates->getRank() != 2 ||
      (!coordinates->isDynamicDim(1) &&
       coordinates->getDimSize(1) != input->getRank()))
    return emitOptionalError(location, "expected rows of ", input->getRank(),
                             " coordinates, got ", *coordinates);
  inferred.push_back(RankedTensorType::get(coordinates->getDimSize(0),
                                           input->getElementType()));
  return success();
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ImageOps.cpp.inc"
