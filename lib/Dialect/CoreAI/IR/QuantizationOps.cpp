// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/QuantizationOps.h"

#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

/// Appends the shape of one tensor with the element type of another.
static LogicalResult inferShapeAndElement(std::optional<Location> location,
                                          Value shape, Value element,
                                          SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type = getTensorType(location, shape);
  if (failed(type))
    return failure();
  inferred.push_back(RankedTensorType::get(
      type->getShape(), getElementTypeOrSelf(element.getType())));
  return success();
}

//===----------------------------------------------------------------------===//
// Scale and offset
//===----------------------------------------------------------------------===//

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &inferred) {
  return inferShapeAndElement(location, adaptor.getInput(),
                              adaptor.getOffset1(), inferred);
}

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  return inferShapeAndElement(location, adaptor.getInput(),
                              adaptor.getOffset2(), inferred);
}

/// One set of parameters for the whole tensor: the axes are all of them, in
/// order.
template <typename Op> static LogicalResult verifyPerTensor(Op op) {
  if (op.getScale().getType().getRank() != 0)
    return op.emitOpError("scale must be a scalar when all axes are listed");
  auto axes = getConstantIndices(op.getAxis());
  if (axes && !llvm::equal(*axes, llvm::seq<int64_t>(axes->size())))
    return op.emitOpError("axes must be all axes in order");
  return success();
}

/// One set of parameters per element of an axis, or scalars for all of them.
template <typename Op> static LogicalResult verifyPerAxis(Op op) {
  std::optional<int64_t> axis = getConstantIndex(op.getAxis(), Widening::Bits);
  RankedTensorType scale = op.getScale().getType();
  RankedTensorType input = op.getInput().getType();
  if (!axis || scale.getRank() == 0)
    return success();
  FailureOr<int64_t> position =
      resolveAxis(op.getLoc(), *axis, input.getRank());
  if (failed(position))
    return failure();
  if (failed(verifyCompatibleDims(
          {scale.getDimSize(0), input.getDimSize(*position)})))
    return op.emitOpError("scale must have an element for each of ")
           << input.getDimSize(*position) << ", got " << scale;
  return success();
}

template <typename Op> static LogicalResult verifyQuantization(Op op) {
  if (failed(verifySameStaticShapes(
          op, {op.getScale(), op.getOffset1(), op.getOffset2()})))
    return failure();
  RankedTensorType axis = op.getAxis().getType();
  if (axis.getRank() == 0)
    return verifyPerAxis(op);
  if (axis.getDimSize(0) == op.getInput().getType().getRank())
    return verifyPerTensor(op);
  if (axis.getDimSize(0) == 1)
    return verifyPerAxis(op);
  return op.emitOpError("axis must be one axis or list all of them, got ")
         << axis;
}

LogicalResult QuantizeOp::verify() { return verifyQuantization(*this); }
LogicalResult DequantizeOp::verify() { return verifyQuantization(*this); }

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult BlockwiseShiftScaleOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  return inferShapeAndElement(location, adaptor.getData(), adaptor.getOffset2(),
                              inferred);
}

/// Whether the value is an inline constant of zeros of either sign.
static bool isConstantZero(Value value) {
  DenseElementsAttr elements = getInlineConstant(value);
  if (!elements)
    return false;
  if (isa<FloatType>(elements.getElementType()))
    return llvm::all_of(elements.getValues<APFloat>(),
                        [](const APFloat &number) { return number.isZero(); });
  return isa<IntegerType>(elements.getElementType()) &&
         llvm::all_of(elements.getValues<APInt>(),
                      [](const APInt &number) { return number.isZero(); });
}

/// Small floats are scaled by a few types only, and never shifted.
static LogicalResult verifySmallFloats(BlockwiseShiftScaleOp op) {
  Type data = op.getData().getType().getElementType();
  Type scale = op.getScale().getType().getElementType();
  bool isAllowed = isa<BFloat16Type, Float16Type, Float8E8M0FNUType>(scale);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(data))
    isAllowed |= isa<Float32Type>(scale);
  else if (isa<Float4E2M1FNType>(data))
    isAllowed |= isa<Float8E4M3FNType>(scale);
  else
    return success();
  if (!isAllowed)
    return op.emitOpError("cannot scale ") << data << " by " << scale;
  if (!isConstantZero(op.getOffset1()) || !isConstantZero(op.getOffset2()))
    return op.emitOpError("offsets of ") << data << " must be constant zeros";
  return success();
}

LogicalResult BlockwiseShiftScaleOp::verify() {
  if (failed(verifySameStaticShapes(*this,
                                    {getScale(), getOffset1(), getOffset2()})))
    return failure();
  RankedTensorType data = getData().getType();
  RankedTensorType scale = getScale().getType();
  if (data.getRank() == scale.getRank()) {
    for (auto [extent, blocks] :
         llvm::zip_equal(data.getShape(), scale.getShape()))
      if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(blocks) &&
          (blocks == 0 || extent % blocks != 0))
        return emitOpError("cannot divide an extent of ")
               << extent << " into " << blocks << " blocks";
  }
  return verifySmallFloats(*this);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// The extent of the channels that `axis` selects.
static FailureOr<int64_t> getChannelCount(std::optional<Location> location,
                                          RankedTensorType input, Value axis) {
  std::optional<int64_t> index = getConstantIndex(axis, Widening::Bits);
  if (!index)
    return emitOptionalError(location, "axis must be a constant");
  FailureOr<int64_t> position = resolveAxis(location, *index, input.getRank());
  if (failed(position))
    return failure();
  return input.getDimSize(*position);
}

/// Appends one vector of channels per element type.
template <typename Adaptor>
static LogicalResult inferStatistics(std::optional<Location> location,
                                     Adaptor adaptor, ValueRange elements,
                                     SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> input =
      getTensorType(location, adaptor.getInput());
  if (failed(input))
    return failure();
  FailureOr<int64_t> channels =
      getChannelCount(location, *input, adaptor.getAxis());
  if (failed(channels))
    return failure();
  for (Value element : elements)
    inferred.push_back(RankedTensorType::get(
        *channels, getElementTypeOrSelf(element.getType())));
  return success();
}

LogicalResult SymmetricQuantizationStatisticsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  return inferStatistics(location, adaptor, adaptor.getInput(), inferred);
}

LogicalResult AsymmetricQuantizationStatisticsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  return inferStatistics(location, adaptor,
                         {adaptor.getInput(), adaptor.getRange()}, inferred);
}

template <typename Op> static LogicalResult verifyStatistics(Op op) {
  std::optional<int64_t> limits = getStaticLength(op.getRange());
  if (limits && *limits != 2)
    return op.emitOpError("range must have 2 elements, got ") << *limits;
  if (failed(verifyReadableConstants(op.getLoc(), op.getAxis())))
    return failure();
  if (!isConstant(op.getAxis()))
    return success();
  FailureOr<int64_t> channels =
      getChannelCount(op.getLoc(), op.getInput().getType(), op.getAxis());
  if (failed(channels))
    return failure();
  for (Type type : op->getResultTypes()) {
    int64_t length = cast<RankedTensorType>(type).getDimSize(0);
    if (failed(verifyCompatibleDims({length, *channels})))
      return op.emitOpError("results must have ")
             << *channels << " elements, got " << length;
  }
  return success();
}

LogicalResult SymmetricQuantizationStatisticsOp::verify() {
  return verifyStatistics(*this);
}

LogicalResult AsymmetricQuantizationStatisticsOp::verify() {
  if (getScale().getType().getShape() != getZeroPoint().getType().getShape())
    return emitOpError("scale and zero point must have one shape");
  return verifyStatistics(*this);
}

//===----------------------------------------------------------------------===//
// Lookup tables
//===----------------------------------------------------------------------===//

/// The shape of what the indices stand for, and the number V of elements that
/// each stands for. coreai-core looks at the axis only when V is more than 1.
static FailureOr<std::pair<Shape, int64_t>>
getLookedUpShape(std::optional<Location> location, RankedTensorType indices,
                 RankedTensorType lut, Value axis) {
  if (lut.getRank() == 0)
    return emitOptionalError(location, "table must not be a scalar");
  std::optional<int64_t> index = getConstantIndex(axis, Widening::Bits);
  if (!index)
    return emitOptionalError(location, "axis must be a constant");
  Shape shape(indices.getShape());
  int64_t width = lut.getShape().back();
  if (width <= 1)
    return std::pair(shape, int64_t(1));
  FailureOr<int64_t> position =
      resolveAxis(location, *index, indices.getRank());
  if (failed(position))
    return failure();
  if (!ShapedType::isDynamic(shape[*position]))
    shape[*position] *= width;
  return std::pair(shape, width);
}

LogicalResult LutToDenseOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> indices =
      getTensorType(location, adaptor.getIndices());
  FailureOr<RankedTensorType> lut = getTensorType(location, adaptor.getLut());
  if (failed(indices) || failed(lut))
    return failure();
  auto found = getLookedUpShape(location, *indices, *lut, adaptor.getAxis());
  if (failed(found))
    return failure();
  inferred.push_back(
      RankedTensorType::get(found->first, lut->getElementType()));
  return success();
}

LogicalResult LutToSparseWithBitmaskOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> indices =
      getTensorType(location, adaptor.getIndices());
  FailureOr<RankedTensorType> lut = getTensorType(location, adaptor.getLut());
  if (failed(indices) || failed(lut))
    return failure();
  auto encoding =
      dyn_cast_if_present<SparseTensorEncodingAttr>(indices->getEncoding());
  if (!encoding)
    return emitOptionalError(location, "indices must be sparse, got ",
                             *indices);
  auto found = getLookedUpShape(location, *indices, *lut, adaptor.getAxis());
  if (failed(found))
    return failure();
  std::optional<uint64_t> count = encoding.getNumNonZero();
  if (count)
    *count *= found->second;
  inferred.push_back(RankedTensorType::get(
      found->first, lut->getElementType(),
      SparseTensorEncodingAttr::get(context, encoding.getCompressionScheme(),
                                    count, encoding.getPosWidth(),
                                    encoding.getCrdWidth(),
                                    encoding.getBlockSize())));
  return success();
}

/// The table is [blocks..., 2^bits, V] for the blocks of the indices.
template <typename Op> static LogicalResult verifyLookup(Op op) {
  auto indices = cast<RankedTensorType>(op.getIndices().getType());
  auto lut = cast<RankedTensorType>(op.getLut().getType());
  if (!indices.hasStaticShape() || !lut.hasStaticShape())
    return op.emitOpError("indices and table must be of static shape");
  if (lut.getRank() != indices.getRank() + 2)
    return op.emitOpError("table must have two axes more than the indices");
  int64_t entries = int64_t(1) << indices.getElementTypeBitWidth();
  if (lut.getShape().drop_back().back() != entries)
    return op.emitOpError("table must have ")
           << entries << " entries for " << indices.getElementType() << ", got "
           << lut;
  for (auto [extent, blocks] : llvm::zip(indices.getShape(), lut.getShape()))
    if (blocks == 0 || extent % blocks != 0)
      return op.emitOpError("cannot divide an extent of ")
             << extent << " into " << blocks << " blocks";

  if (failed(verifyReadableConstants(op.getLoc(), op.getAxis())))
    return failure();
  if (!isConstant(op.getAxis()))
    return success();
  auto found = getLookedUpShape(op.getLoc(), indices, lut, op.getAxis());
  if (failed(found))
    return failure();
  auto result = cast<RankedTensorType>(op.getResult().getType());
  if (result.getShape() != ArrayRef(found->first))
    return op.emitOpError("result must have the shape of ")
           << RankedTensorType::get(found->first, lut.getElementType())
           << ", got " << result;
  return success();
}

LogicalResult LutToDenseOp::verify() { return verifyLookup(*this); }
LogicalResult LutToSparseWithBitmaskOp::verify() { return verifyLookup(*this); }

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

LogicalResult BuildSparseWithBitmaskOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> values =
      getTensorType(location, adaptor.getValues());
  FailureOr<RankedTensorType> bitmask =
      getTensorType(location, adaptor.getBitmask());
  if (failed(values) || failed(bitmask))
    return failure();
  std::optional<uint64_t> count;
  if (values->hasStaticShape())
    count = values->getNumElements();
  auto encoding = SparseTensorEncodingAttr::get(
      context, CompressionScheme::Bitmask, count, /*posWidth=*/1,
      /*crdWidth=*/1, /*blockSize=*/{});
  inferred.push_back(RankedTensorType::get(bitmask->getShape(),
                                           values->getElementType(), encoding));
  return success();
}

LogicalResult SparseWithBitmaskToDenseOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  return inferShapeAndElement(location, adaptor.getInput(), adaptor.getInput(),
                              inferred);
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/QuantizationOps.cpp.inc"
