// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and rules of the ops that move elements. Their folders are in
// ShapeFolders.cpp.

#include "corten/Dialect/CoreAI/IR/ShapeOps.h"

#include "ConstantOperands.h"
#include "ShapeInference.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// The length of an arithmetic sequence of integers; `?` when it does not fit.
static int64_t getSequenceLength(const APInt &start, const APInt &stop,
                                 const APInt &step, bool isSigned) {
  // Two bits more than 64 hold every difference with its sign.
  constexpr unsigned kWidth = 66;
  auto widen = [&](const APInt &value) {
    return isSigned ? value.sext(kWidth) : value.zext(kWidth);
  };
  APInt length = llvm::APIntOps::RoundingSDiv(widen(stop) - widen(start),
                                              widen(step), APInt::Rounding::UP);
  if (length.isNegative())
    return 0;
  return length.getActiveBits() < 64 ? length.getSExtValue()
                                     : ShapedType::kDynamic;
}

static int64_t getSequenceLength(const APFloat &start, const APFloat &stop,
                                 const APFloat &step) {
  double length = std::ceil((stop.convertToDouble() - start.convertToDouble()) /
                            step.convertToDouble());
  // Beyond this, double no longer tells neighbouring integers apart.
  if (!(std::abs(length) < std::ldexp(1.0, 53)))
    return ShapedType::kDynamic;
  return std::max<int64_t>(0, static_cast<int64_t>(length));
}

LogicalResult RangeOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &inferred) {
  if (failed(verifyReadableConstants(location, adaptor.getOperands())))
    return failure();
  Type element = getElementTypeOrSelf(adaptor.getStart().getType());
  DenseElementsAttr start = getInlineConstant(adaptor.getStart());
  DenseElementsAttr stop = getInlineConstant(adaptor.getStop());
  DenseElementsAttr step = getInlineConstant(adaptor.getStep());

  int64_t length = ShapedType::kDynamic;
  bool areConstant = start && stop && step &&
                     start.getElementType() == stop.getElementType() &&
                     start.getElementType() == step.getElementType();
  if (areConstant && isa<FloatType>(element)) {
    auto value = [](DenseElementsAttr elements) {
      return *elements.value_begin<APFloat>();
    };
    if (value(step).isZero())
      return emitOptionalError(location, "step must not be zero");
    length = getSequenceLength(value(start), value(stop), value(step));
  } else if (areConstant && isa<IntegerType>(element)) {
    auto value = [](DenseElementsAttr elements) {
      return *elements.value_begin<APInt>();
    };
    if (value(step).isZero())
      return emitOptionalError(location, "step must not be zero");
    length = getSequenceLength(value(start), value(stop), value(step),
                               element.isSignedInteger());
  }
  inferred.push_back(RankedTensorType::get(length, element));
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

LogicalResult GetShapeOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  if (failed(type))
    return failure();
  inferred.push_back(RankedTensorType::get(
      type->getRank(), IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

/// The extents of the tensor whose `coreai.get_shape` the operand is.
static std::optional<Shape> getQueriedShape(Value shape) {
  auto query = shape.getDefiningOp<GetShapeOp>();
  if (!query)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(query.getInput().getType());
  return type ? std::optional(Shape(type.getShape())) : std::nullopt;
}

/// As many `?` as the vector has elements.
static FailureOr<Shape> getUnknownShape(std::optional<Location> location,
                                        Value vector) {
  FailureOr<RankedTensorType> type = getTensorType(location, vector);
  if (failed(type))
    return failure();
  if (type->getRank() != 1 || type->isDynamicDim(0))
    return emitOptionalError(location, "length of the shape must be static, ",
                             "got ", *type);
  return getDynamicShape(type->getDimSize(0));
}

/// The type of a tensor that is to be changed as `indices` say, of which
/// constants must be readable.
static FailureOr<RankedTensorType>
getIndexedType(std::optional<Location> location, Value input,
               ValueRange indices) {
  FailureOr<RankedTensorType> type = getTensorType(location, input);
  if (failed(type) || failed(verifyReadableConstants(location, indices)))
    return failure();
  return type;
}

/// Infers a tensor with the elements of `type` and other extents.
static LogicalResult inferReshaped(RankedTensorType type,
                                   ArrayRef<int64_t> shape,
                                   SmallVectorImpl<Type> &inferred) {
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

/// Replaces a single -1 in `shape` by what is left of `type` and checks the
/// number of elements, as far as it is known.
static LogicalResult resolveShape(std::optional<Location> location,
                                  RankedTensorType type, Shape &shape) {
  int64_t known = 1;
  int64_t *open = nullptr;
  for (int64_t &extent : shape) {
    if (extent == 0 || extent < -1)
      return emitOptionalError(location, "extents must be positive or -1, got ",
                               extent);
    if (extent == -1 && open)
      return emitOptionalError(location, "only one extent may be -1");
    if (extent == -1)
      open = &extent;
    else if (llvm::MulOverflow(known, extent, known))
      return emitOptionalError(location, "number of elements overflows");
  }
  if (open)
    *open = ShapedType::kDynamic;
  std::optional<int64_t> elements = getElementCount(type.getShape());
  if (!elements)
    return success();
  if (open ? *elements % known != 0 : *elements != known)
    return emitOptionalError(location, "cannot reshape ", type, " into ", known,
                             open ? " times any number of" : "", " elements");
  if (open)
    *open = *elements / known;
  return success();
}

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getIndexedType(location, adaptor.getInput(), adaptor.getNewShape());
  if (failed(type))
    return failure();

  FailureOr<Shape> shape;
  if (auto queried = getQueriedShape(adaptor.getNewShape())) {
    shape = *queried;
  } else if (auto constant =
                 getConstantIndices(adaptor.getNewShape(), Widening::Bits)) {
    shape = *constant;
    if (failed(resolveShape(location, *type, *shape)))
      return failure();
  } else {
    shape = getUnknownShape(location, adaptor.getNewShape());
  }
  if (failed(shape))
    return failure();
  return inferReshaped(*type, *shape, inferred);
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getIndexedType(location, adaptor.getInput(), adaptor.getPermutation());
  if (failed(type))
    return failure();

  int64_t rank = type->getRank();
  Shape shape = getDynamicShape(rank);
  if (auto permutation = getConstantIndices(adaptor.getPermutation())) {
    if (static_cast<int64_t>(permutation->size()) != rank)
      return emitOptionalError(location, "permutation of ", permutation->size(),
                               " axes for a tensor of rank ", rank);
    for (auto [extent, axis] : llvm::zip_equal(shape, *permutation)) {
      if (failed(resolveAxis(location, axis, rank)))
        return failure();
      extent = type->getDimSize(axis);
    }
  }
  return inferReshaped(*type, shape, inferred);
}

LogicalResult TransposeOp::verify() {
  auto permutation = getConstantIndices(getPermutation());
  RankedTensorType type = getInput().getType();
  // What inference finds wrong is reported by its own check, after this one.
  if (!permutation || !type.hasStaticShape() || !getType().hasStaticShape() ||
      static_cast<int64_t>(permutation->size()) != getType().getRank())
    return success();
  for (auto [index, axis] : llvm::enumerate(*permutation))
    if (axis < type.getRank() &&
        getType().getDimSize(index) != type.getDimSize(axis))
      return emitOpError("extent ")
             << index << " of the result must be " << type.getDimSize(axis)
             << ", got " << getType().getDimSize(index);
  return success();
}

LogicalResult ExpandDimsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getIndexedType(location, adaptor.getInput(), adaptor.getAxes());
  if (failed(type))
    return failure();
  FailureOr<Shape> added = getUnknownShape(location, adaptor.getAxes());
  if (failed(added))
    return failure();

  int64_t rank = type->getRank() + added->size();
  Shape shape = getDynamicShape(rank);
  if (auto axes = getConstantIndices(adaptor.getAxes())) {
    for (int64_t &axis : *axes) {
      FailureOr<int64_t> position = resolveAxis(location, axis, rank);
      if (failed(position))
        return failure();
      axis = *position;
    }
    // A repeated axis counts again at the next place.
    llvm::sort(*axes);
    shape.assign(type->getShape().begin(), type->getShape().end());
    for (int64_t axis : *axes)
      shape.insert(shape.begin() + std::min<int64_t>(axis, static_cast<int64_t>(
                                                               shape.size())),
                   1);
  }
  return inferReshaped(*type, shape, inferred);
}

LogicalResult ShrinkDimsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getIndexedType(location, adaptor.getInput(), adaptor.getAxes());
  if (failed(type))
    return failure();
  FailureOr<Shape> removed = getUnknownShape(location, adaptor.getAxes());
  if (failed(removed))
    return failure();
  int64_t rank = type->getRank();
  int64_t count = removed->size();
  if (count > rank)
    return emitOptionalError(location, "lists ", count,
                             " axes of a tensor of rank ", rank);

  Shape shape = getDynamicShape(rank - count);
  if (auto axes = getConstantIndices(adaptor.getAxes(), Widening::Bits)) {
    llvm::SmallBitVector isRemoved(rank);
    for (int64_t axis : *axes) {
      FailureOr<int64_t> position = resolveAxis(location, axis, rank);
      if (failed(position))
        return failure();
      if (type->getDimSize(*position) != 1)
        return emitOptionalError(location, "axis ", axis, " of ", *type,
                                 " is not of extent 1");
      isRemoved.set(*position);
    }
    shape.clear();
    for (auto [axis, extent] : llvm::enumerate(type->getShape()))
      if (!isRemoved[axis])
        shape.push_back(extent);
  }
  return inferReshaped(*type, shape, inferred);
}

/// With constant axes the declared shape is compared exactly, without them not
/// at all.
LogicalResult ShrinkDimsOp::verify() {
  if (!getInlineConstant(getAxes()))
    return success();
  SmallVector<Type> inferred;
  if (failed(
          inferReturnTypes(getContext(), getLoc(), Adaptor(*this), inferred)))
    return failure();
  if (!haveSameElementTypeAndShape(inferred.front(), getType()))
    return emitOpError("result must be ") << inferred.front();
  return success();
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

LogicalResult BroadcastToOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getIndexedType(location, adaptor.getInput(), adaptor.getShape());
  if (failed(type))
    return failure();
  FailureOr<Shape> shape;
  if (auto queried = getQueriedShape(adaptor.getShape()))
    shape = *queried;
  else if (auto constant = getConstantIndices(adaptor.getShape()))
    shape = *constant;
  else
    shape = getUnknownShape(location, adaptor.getShape());
  if (failed(shape))
    return failure();
  return inferReshaped(*type, *shape, inferred);
}

LogicalResult BroadcastToOp::verify() {
  return verifyReadableConstants(getLoc(), getShape());
}

LogicalResult BroadcastInDimsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  if (failed(type))
    return failure();
  int64_t rank = type->getRank();
  Shape shape = getDynamicShape(rank);
  auto axes = getConstantIndices(adaptor.getAxes(), Widening::Bits);
  auto sizes = getConstantIndices(adaptor.getDimSizes());
  if (axes && sizes && axes->size() != sizes->size())
    return emitOptionalError(location, "lists ", axes->size(), " axes and ",
                             sizes->size(), " sizes");
  if (axes) {
    shape.assign(type->getShape().begin(), type->getShape().end());
    for (auto [index, axis] : llvm::enumerate(*axes)) {
      // coreai-core does not mind as long as the size is unknown as well.
      if (!sizes && !normalizeAxis(axis, rank))
        continue;
      FailureOr<int64_t> position = resolveAxis(location, axis, rank);
      if (failed(position))
        return failure();
      shape[*position] = sizes ? (*sizes)[index] : ShapedType::kDynamic;
    }
  }
  return inferReshaped(*type, shape, inferred);
}

LogicalResult BroadcastInDimsOp::verify() {
  RankedTensorType type = getInput().getType();
  if (!type.hasStaticShape() || !getType().hasStaticShape() ||
      type.getRank() != getType().getRank())
    return success();
  for (auto [before, after] :
       llvm::zip_equal(type.getShape(), getType().getShape()))
    if (after < before)
      return emitOpError("must not make ") << type << " smaller";
  return success();
}

LogicalResult TileOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> type =
      getTensorType(location, adaptor.getInput());
  FailureOr<RankedTensorType> dimsType =
      getTensorType(location, adaptor.getDims());
  if (failed(type) || failed(dimsType) ||
      failed(verifyReadableConstants(location, adaptor.getDims())))
    return failure();
  if (dimsType->getRank() != 1 || dimsType->getDimSize(0) > type->getRank())
    return emitOptionalError(location, "more counts than axes: ", *dimsType,
                             " for a tensor of rank ", type->getRank());

  Shape shape = getDynamicShape(type->getRank());
  if (auto counts = getConstantIndices(adaptor.getDims())) {
    shape.assign(type->getShape().begin(), type->getShape().end());
    auto tiled = MutableArrayRef(shape).take_back(counts->size());
    for (auto [extent, count] : llvm::zip_equal(tiled, *counts))
      if (!ShapedType::isDynamic(extent) &&
          llvm::MulOverflow(extent, count, extent))
        return emitOptionalError(location, "extent overflows");
  }
  return inferReshaped(*type, shape, inferred);
}

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
  FailureOr<RankedTensorType> type = getIndexedType(
      location, adaptor.getInput(), adaptor.getOperands().drop_front());
  if (failed(type))
    return failure();
  Shape shape = getDynamicShape(type->getRank());
  auto starts = getConstantIndices(adaptor.getStartIndices());
  auto ends = getConstantIndices(adaptor.getEndIndices());
  auto strides = getConstantIndices(adaptor.getStrides());
  if (starts && ends && strides) {
    // An axis that some vector does not reach stays `?`.
    for (auto [extent, whole, start, end, stride] :
         llvm::zip(shape, type->getShape(), *starts, *ends, *strides)) {
      if (ShapedType::isDynamic(whole))
        continue;
      if (stride == 0)
        return emitOptionalError(location, "stride must not be zero");
      extent = getSliceExtent(whole, start, end, stride);
    }
  }
  return inferReshaped(*type, shape, inferred);
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
  FailureOr<RankedTensorType> type =
      getIndexedType(location, adaptor.getInput(), adaptor.getPadding());
  if (failed(type))
    return failure();
  int64_t rank = type->getRank();
  Shape shape = getDynamicShape(rank);
  if (auto padding = getConstantIndices(adaptor.getPadding())) {
    if (static_cast<int64_t>(padding->size()) != 2 * rank)
      return emitOptionalError(location, padding->size(),
                               " paddings for a tensor of rank ", rank);
    for (auto [axis, whole] : llvm::enumerate(type->getShape()))
      if (!ShapedType::isDynamic(whole))
        shape[axis] = (*padding)[2 * axis] + whole + (*padding)[2 * axis + 1];
  }
  return inferReshaped(*type, shape, inferred);
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
  for (auto [index, axis] : llvm::enumerate(*axes)) {
    if (failed(resolveAxis(getLoc(), axis, rank)))
      return failure();
    if (llvm::is_contained(ArrayRef(*axes).take_front(index), axis))
      return emitOpError("axis ") << axis << " is listed twice";
  }
  return success();
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ShapeOps.cpp.inc"
