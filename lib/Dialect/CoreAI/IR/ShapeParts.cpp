// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and rules of the ops that join, cut and pad tensors.

#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/ShapeOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &inferred) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(location, "needs at least one input");
  if (failed(verifyReadableConstants(location, adaptor.getDimension())))
    return failure();
  std::optional<int64_t> dimension = getConstantIndex(adaptor.getDimension());
  if (!dimension)
    return emitOptionalError(location, "dimension must be a constant");

  std::optional<int64_t> axis;
  Shape joined;
  Type element;
  for (Value input : adaptor.getInputs()) {
    FailureOr<RankedTensorType> type = getTensorType(location, input);
    if (failed(type))
      return failure();
    // A scalar joins as a vector of one element.
    Shape shape(type->getShape());
    if (shape.empty())
      shape.push_back(1);
    if (!element) {
      element = type->getElementType();
      axis = normalizeAxis(*dimension, std::max<int64_t>(type->getRank(), 1));
      if (!axis || (type->getRank() == 0 && *dimension < 0))
        return emitOptionalError(location, "dimension ", *dimension,
                                 " is out of range for ", *type);
      joined = shape;
      continue;
    }
    if (type->getElementType() != element)
      return emitOptionalError(location, "inputs have element types ", element,
                               " and ", type->getElementType());
    if (shape.size() != joined.size())
      return emitOptionalError(location, "inputs have different ranks");
    for (auto [index, extent] : llvm::enumerate(shape)) {
      int64_t &total = joined[index];
      if (static_cast<int64_t>(index) != *axis) {
        if (extent != total)
          return emitOptionalError(location, "inputs differ off axis ", *axis);
      } else if (ShapedType::isDynamic(extent) ||
                 ShapedType::isDynamic(total)) {
        total = ShapedType::kDynamic;
      } else if (llvm::AddOverflow(total, extent, total)) {
        return emitOptionalError(location, "extent overflows");
      }
    }
  }
  inferred.push_back(RankedTensorType::get(joined, element));
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("needs at least one input");
  if (!isConstant(getDimension()))
    return success();
  SmallVector<Type> inferred;
  if (failed(
          inferReturnTypes(getContext(), getLoc(), Adaptor(*this), inferred)))
    return failure();
  if (inferred.front() != getType())
    return emitOpError("result must be ") << inferred.front();
  return success();
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

/// The sizes of the parts that a tensor of the given extent is cut into.
static FailureOr<Indices> getPartSizes(std::optional<Location> location,
                                       Value sizes, int64_t extent) {
  auto constant = getConstantIndices(sizes);
  if (!constant)
    return emitOptionalError(location, "sizes must be constant");
  auto isScalar = cast<ShapedType>(sizes.getType()).getRank() == 0;
  if (!isScalar) {
    int64_t total =
        std::accumulate(constant->begin(), constant->end(), int64_t(0));
    if (!ShapedType::isDynamic(extent) && total != extent)
      return emitOptionalError(location, "sizes add up to ", total,
                               ", not to the extent ", extent);
    return *constant;
  }
  int64_t size = constant->front();
  if (size <= 0 || ShapedType::isDynamic(extent))
    return emitOptionalError(location,
                             "a single size must be positive, and the extent "
                             "that it divides static");
  Indices parts;
  for (int64_t begin = 0; begin < extent; begin += size)
    parts.push_back(std::min(size, extent - begin));
  return parts;
}

LogicalResult SplitOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  if (failed(type))
    return failure();
  std::optional<int64_t> dim = getConstantIndex(adaptor.getDim());
  if (!dim)
    return emitOptionalError(location, "dim must be a constant");
  FailureOr<int64_t> axis = resolveAxis(location, *dim, type->getRank());
  if (failed(axis))
    return failure();
  FailureOr<Indices> parts = getPartSizes(
      location, adaptor.getSplitSizeOrSections(), type->getDimSize(*axis));
  if (failed(parts))
    return failure();
  for (int64_t part : *parts) {
    Shape shape(type->getShape());
    shape[*axis] = part;
    inferred.push_back(RankedTensorType::get(shape, type->getElementType()));
  }
  return success();
}

LogicalResult SplitOp::verify() {
  if (failed(verifyReadableConstants(getLoc(),
                                     {getSplitSizeOrSections(), getDim()})))
    return failure();
  if (getNumResults() == 0)
    return emitOpError("needs at least one result");
  if (!haveSameElementType(getInput().getType(), getResult(0).getType()))
    return emitOpError("first result must have the element type of the input");
  return success();
}

/// The number of steps from `start` to `end`.
static int64_t getStepCount(int64_t start, int64_t end, int64_t stride) {
  return std::max<int64_t>(0, llvm::divideCeilSigned(end - start, stride));
}

/// The extent of a slice of `extent` elements.
static int64_t getSliceExtent(int64_t extent, int64_t start, int64_t end,
                              int64_t stride) {
  return getStepCount(resolveSliceBound(start, extent),
                      resolveSliceBound(end, extent), stride);
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    Shape shape = getDynamicShape(type.getRank());
    auto starts = getConstantIndices(adaptor.getStartIndices());
    auto ends = getConstantIndices(adaptor.getEndIndices());
    auto strides = getConstantIndices(adaptor.getStrides());
    if (!starts || !ends || !strides)
      return shape;
    // An axis that some vector does not reach stays `?`.
    for (auto [extent, whole, start, end, stride] :
         llvm::zip(shape, type.getShape(), *starts, *ends, *strides)) {
      if (ShapedType::isDynamic(whole))
        continue;
      if (stride == 0)
        return emitOptionalError(location, "stride must not be zero");
      extent = getSliceExtent(whole, start, end, stride);
    }
    return shape;
  };
  return inferShaped(location, adaptor.getInput(),
                     adaptor.getOperands().drop_front(), inferred, shapeOf);
}

/// What coreai-core takes for the extent of the updated part. It differs from
/// the slice of the same indices: negative bounds count from the end as often
/// as it takes, and going backwards the first element cannot be reached.
static int64_t getUpdateExtent(int64_t extent, int64_t start, int64_t end,
                               int64_t stride) {
  int64_t greatest = stride > 0 ? extent : extent - 1;
  auto resolve = [&](int64_t bound) {
    if (bound < 0)
      bound = llvm::mod<int64_t, int64_t, int64_t>(bound, extent);
    return std::min(bound, greatest);
  };
  return extent == 0 ? 0 : getStepCount(resolve(start), resolve(end), stride);
}

LogicalResult SliceUpdateOp::verify() {
  if (getUpdate().getType().getRank() != getInput().getType().getRank())
    return emitOpError("update must have the rank of the input");
  if (!getStaticLength(getStartIndices()))
    return emitOpError("start indices must be of static length");
  Value vectors[] = {getStartIndices(), getEndIndices(), getStrides()};
  if (failed(verifySameStaticShapes(*this, vectors)))
    return failure();
  RankedTensorType type = getInput().getType();
  RankedTensorType updateType = getUpdate().getType();
  if (!type.hasStaticShape() || !updateType.hasStaticShape())
    return success();

  if (failed(verifyReadableConstants(getLoc(), vectors)))
    return failure();
  auto starts = getConstantIndices(getStartIndices(), Widening::Bits);
  auto ends = getConstantIndices(getEndIndices(), Widening::Bits);
  auto strides = getConstantIndices(getStrides(), Widening::Bits);
  if (!starts || !ends || !strides)
    return success();
  int64_t count = starts->size();
  if (count < type.getRank())
    return emitOpError("lists ")
           << count << " indices for a tensor of rank " << type.getRank();
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if ((*strides)[axis] == 0)
      return emitOpError("stride must not be zero");
    int64_t extent = getUpdateExtent(type.getDimSize(axis), (*starts)[axis],
                                     (*ends)[axis], (*strides)[axis]);
    if (extent != updateType.getDimSize(axis))
      return emitOpError("extent ") << axis << " of the update must be "
                                    << extent << ", got " << updateType;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Filling, reversing
//===----------------------------------------------------------------------===//

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &inferred) {
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    int64_t rank = type.getRank();
    Shape shape = getDynamicShape(rank);
    auto padding = getConstantIndices(adaptor.getPadding());
    if (!padding)
      return shape;
    if (static_cast<int64_t>(padding->size()) != 2 * rank)
      return emitOptionalError(location, padding->size(),
                               " paddings for a tensor of rank ", rank);
    for (auto [axis, whole] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(whole))
        shape[axis] = (*padding)[2 * axis] + whole + (*padding)[2 * axis + 1];
    return shape;
  };
  return inferShaped(location, adaptor.getInput(), adaptor.getPadding(),
                     inferred, shapeOf);
}

/// The widest margin a mode can fill from an axis of the given extent.
static std::optional<int64_t> getPaddingLimit(PaddingMode mode,
                                              int64_t extent) {
  switch (mode) {
  case PaddingMode::Reflect:
    return extent - 1;
  case PaddingMode::Symmetric:
  case PaddingMode::Circular:
    return extent;
  case PaddingMode::Constant:
  case PaddingMode::Replicate:
    return std::nullopt;
  }
  llvm_unreachable("all modes are listed");
}

LogicalResult PadOp::verify() {
  if (getPaddingMode() != PaddingMode::Constant &&
      !isConstant(getPaddingValue()))
    return emitOpError("padding value must be a constant in this mode");
  auto padding = getConstantIndices(getPadding());
  RankedTensorType type = getInput().getType();
  if (!padding || static_cast<int64_t>(padding->size()) != 2 * type.getRank())
    return success();
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> limit = getPaddingLimit(getPaddingMode(), extent);
    if (limit &&
        std::max((*padding)[2 * axis], (*padding)[2 * axis + 1]) > *limit)
      return emitOpError("axis ")
             << axis << " can be padded by at most " << *limit;
  }
  return success();
}

LogicalResult ReverseOp::verify() {
  int64_t rank = getInput().getType().getRank();
  std::optional<int64_t> count = getStaticLength(getDims());
  if (count && *count > rank)
    return emitOpError("lists ")
           << *count << " axes of a tensor of rank " << rank;
  if (failed(verifyReadableConstants(getLoc(), getDims())))
    return failure();
  auto axes = getConstantIndices(getDims());
  if (!axes)
    return success();
  if (failed(resolveAxes(getLoc(), *axes, rank)))
    return failure();
  for (auto [index, axis] : llvm::enumerate(*axes))
    if (llvm::is_contained(ArrayRef(*axes).take_front(index), axis))
      return emitOpError("axis ") << axis << " is listed twice";
  return success();
}
