// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and rules of the ops that make, reshape and repeat tensors. Those that
// join and cut them are in ShapeParts.cpp, the folders in ShapeFolders.cpp.

#include "corten/Dialect/CoreAI/IR/ShapeOps.h"

#include "ShapeInference.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

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

/// The shape that an operand says: that of a tensor whose shape it is, the
/// numbers of a constant, or as many `?` as it has elements.
static FailureOr<Shape> getStatedShape(std::optional<Location> location,
                                       Value shape, Widening widening) {
  if (auto queried = getQueriedShape(shape))
    return *queried;
  if (auto constant = getConstantIndices(shape, widening))
    return *constant;
  return getUnknownShape(location, shape);
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

/// Replaces a single -1 in `shape` by what is left of `type` and checks the
/// number of elements, as far as it is known.
static FailureOr<Shape> resolveShape(std::optional<Location> location,
                                     RankedTensorType type, Shape shape) {
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
    return shape;
  if (open ? *elements % known != 0 : *elements != known)
    return emitOptionalError(location, "cannot reshape ", type, " into ", known,
                             open ? " times any number of" : "", " elements");
  if (open)
    *open = *elements / known;
  return shape;
}

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &inferred) {
  Value stated = adaptor.getNewShape();
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    auto constant = getConstantIndices(stated, Widening::Bits);
    return constant ? resolveShape(location, type, *constant)
                    : getStatedShape(location, stated, Widening::Bits);
  };
  return inferShaped(location, adaptor.getInput(), stated, inferred, shapeOf);
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &inferred) {
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    int64_t rank = type.getRank();
    auto permutation = getConstantIndices(adaptor.getPermutation());
    if (!permutation)
      return getDynamicShape(rank);
    if (static_cast<int64_t>(permutation->size()) != rank)
      return emitOptionalError(location, "permutation of ", permutation->size(),
                               " axes for a tensor of rank ", rank);
    FailureOr<Indices> axes = resolveAxes(location, *permutation, rank);
    if (failed(axes))
      return failure();
    return llvm::map_to_vector(
        *axes, [&](int64_t axis) { return type.getDimSize(axis); });
  };
  return inferShaped(location, adaptor.getInput(), adaptor.getPermutation(),
                     inferred, shapeOf);
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
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    FailureOr<Shape> added = getUnknownShape(location, adaptor.getAxes());
    if (failed(added))
      return failure();
    int64_t rank = type.getRank() + added->size();
    auto constant = getConstantIndices(adaptor.getAxes());
    if (!constant)
      return getDynamicShape(rank);
    FailureOr<Indices> axes = resolveAxes(location, *constant, rank);
    if (failed(axes))
      return failure();
    // A repeated axis counts again at the next place.
    llvm::sort(*axes);
    Shape shape(type.getShape());
    for (int64_t axis : *axes)
      shape.insert(shape.begin() + std::min<int64_t>(axis, shape.size()), 1);
    return shape;
  };
  return inferShaped(location, adaptor.getInput(), adaptor.getAxes(), inferred,
                     shapeOf);
}

LogicalResult ShrinkDimsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    FailureOr<Shape> removed = getUnknownShape(location, adaptor.getAxes());
    if (failed(removed))
      return failure();
    int64_t rank = type.getRank();
    int64_t count = removed->size();
    if (count > rank)
      return emitOptionalError(location, "lists ", count,
                               " axes of a tensor of rank ", rank);
    auto constant = getConstantIndices(adaptor.getAxes(), Widening::Bits);
    if (!constant)
      return getDynamicShape(rank - count);
    FailureOr<Indices> axes = resolveAxes(location, *constant, rank);
    if (failed(axes))
      return failure();
    for (auto [position, axis] : llvm::zip_equal(*axes, *constant))
      if (type.getDimSize(position) != 1)
        return emitOptionalError(location, "axis ", axis, " of ", type,
                                 " is not of extent 1");
    Shape shape;
    for (auto [axis, extent] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(*axes, static_cast<int64_t>(axis)))
        shape.push_back(extent);
    return shape;
  };
  return inferShaped(location, adaptor.getInput(), adaptor.getAxes(), inferred,
                     shapeOf);
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
  return inferShaped(location, adaptor.getInput(), adaptor.getShape(), inferred,
                     [&](RankedTensorType) {
                       return getStatedShape(location, adaptor.getShape(),
                                             Widening::Signed);
                     });
}

LogicalResult BroadcastToOp::verify() {
  return verifyReadableConstants(getLoc(), getShape());
}

LogicalResult BroadcastInDimsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferred) {
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    int64_t rank = type.getRank();
    auto axes = getConstantIndices(adaptor.getAxes(), Widening::Bits);
    auto sizes = getConstantIndices(adaptor.getDimSizes());
    if (!axes)
      return getDynamicShape(rank);
    if (sizes && axes->size() != sizes->size())
      return emitOptionalError(location, "lists ", axes->size(), " axes and ",
                               sizes->size(), " sizes");
    Shape shape(type.getShape());
    for (auto [index, axis] : llvm::enumerate(*axes)) {
      // coreai-core does not mind as long as the size is unknown as well.
      if (!sizes && !normalizeAxis(axis, rank))
        continue;
      FailureOr<int64_t> position = resolveAxis(location, axis, rank);
      if (failed(position))
        return failure();
      shape[*position] = sizes ? (*sizes)[index] : ShapedType::kDynamic;
    }
    return shape;
  };
  return inferShaped(location, adaptor.getInput(), {}, inferred, shapeOf);
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
  auto shapeOf = [&](RankedTensorType type) -> FailureOr<Shape> {
    FailureOr<RankedTensorType> dimsType =
        getTensorType(location, adaptor.getDims());
    if (failed(dimsType))
      return failure();
    if (dimsType->getRank() != 1 || dimsType->getDimSize(0) > type.getRank())
      return emitOptionalError(location, "more counts than axes: ", *dimsType,
                               " for a tensor of rank ", type.getRank());
    auto counts = getConstantIndices(adaptor.getDims());
    if (!counts)
      return getDynamicShape(type.getRank());
    Shape shape(type.getShape());
    auto tiled = MutableArrayRef(shape).take_back(counts->size());
    for (auto [extent, count] : llvm::zip_equal(tiled, *counts))
      if (!ShapedType::isDynamic(extent) &&
          llvm::MulOverflow(extent, count, extent))
        return emitOptionalError(location, "extent overflows");
    return shape;
  };
  return inferShaped(location, adaptor.getInput(), adaptor.getDims(), inferred,
                     shapeOf);
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ShapeOps.cpp.inc"
