// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes, and ops that only regroup elements: reshape, expand_dims and
// shrink_dims. Two become one, also with element-wise ops between them, and one
// that changes nothing goes.

#include "Rewriting.h"
#include "corten/Dialect/CoreAI/IR/ConstantOperands.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;

namespace corten {
#define GEN_PASS_DEF_MERGEREORDERINGS
#include "corten/Transforms/Passes.h.inc"
} // namespace corten

namespace {
struct MergeReorderings : corten::impl::MergeReorderingsBase<MergeReorderings> {
  void runOnOperation() override {
    rewrite(getOperation(), {mergeReorderings});
  }
};
} // namespace

static bool isRegrouping(Operation *op) {
  return isa_and_present<ReshapeOp, ExpandDimsOp, ShrinkDimsOp>(op);
}

//===----------------------------------------------------------------------===//
// Element-wise ops in between
//===----------------------------------------------------------------------===//

/// How many ops are looked through.
static constexpr size_t kMaxChain = 8;

namespace {
/// Element-wise ops that nothing else uses, each of one tensor and of numbers,
/// the last one first.
struct Chain {
  SmallVector<Operation *, kMaxChain> ops;
  /// What the first op takes.
  Value source;
};
} // namespace

/// The tensor that an element-wise op is about, if all else is one number that
/// is the same everywhere, and the shape stays.
static OpOperand *subjectOf(Operation *op) {
  bool isElementwise = op->hasTrait<OpTrait::Elementwise>() ||
                       op->hasTrait<OpTrait::ResultsBroadcastableShape>() ||
                       isa<ReluOp, GeluOp, CastOp>(op);
  if (!isElementwise || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return nullptr;
  OpOperand *subject = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    if (splatOf(operand.get()))
      continue;
    if (subject)
      return nullptr;
    subject = &operand;
  }
  RankedTensorType type = plainTensor(op->getResult(0));
  RankedTensorType from =
      subject ? plainTensor(subject->get()) : RankedTensorType();
  if (!type || !from || type.getShape() != from.getShape())
    return nullptr;
  for (Value operand : op->getOperands())
    if (operand != subject->get() && !fitsInto(operand.getType(), type))
      return nullptr;
  return subject;
}

/// The chain above `value`, which may be empty.
static Chain chainAbove(Value value) {
  Chain chain;
  chain.source = value;
  while (chain.ops.size() < kMaxChain) {
    Operation *op = chain.source.getDefiningOp();
    OpOperand *subject =
        op && chain.source.hasOneUse() ? subjectOf(op) : nullptr;
    if (!subject)
      break;
    chain.ops.push_back(op);
    chain.source = subject->get();
  }
  return chain;
}

/// A number for a tensor of another shape; null if that cannot be written.
static Value resized(Value number, Operation *op, ArrayRef<int64_t> shape,
                     OpBuilder &builder) {
  DenseElementsAttr splat = splatOf(number);
  bool isSpread = op->hasTrait<OpTrait::ResultsBroadcastableShape>();
  if (!isSpread && ShapedType::isDynamicShape(shape))
    return {};
  auto type = RankedTensorType::get(isSpread ? ArrayRef<int64_t>() : shape,
                                    splat.getElementType());
  return ConstantOp::create(builder, number.getLoc(), splat.resizeSplat(type));
}

/// The chain on `value` in place of its source, which has the same elements in
/// another shape. Null if it cannot be.
static Value rebuilt(const Chain &chain, Value value, OpBuilder &builder) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  // Numbers of plain ops have the shape of all else.
  if (ShapedType::isDynamicShape(shape) &&
      llvm::any_of(chain.ops, [](Operation *op) {
        return op->getNumOperands() > 1 &&
               !op->hasTrait<OpTrait::ResultsBroadcastableShape>();
      }))
    return {};
  for (Operation *op : llvm::reverse(chain.ops)) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, splatOf(operand)
                               ? resized(operand, op, shape, builder)
                               : value);
    Operation *copy = builder.clone(*op, mapping);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    copy->getResult(0).setType(
        RankedTensorType::get(shape, type.getElementType()));
    value = copy->getResult(0);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Regrouping
//===----------------------------------------------------------------------===//

/// A shape that a constant can say: nothing in it is 0, and no extent is left
/// open. The official runtime finds no extent for what turns out to be empty.
static bool isWritable(RankedTensorType type) {
  return type && type.hasStaticShape() &&
         !llvm::is_contained(type.getShape(), 0);
}

/// `value` in the shape of `type`, which has to be writable.
static Value reshape(Value value, RankedTensorType type, Location location,
                     OpBuilder &builder) {
  if (value.getType() == type)
    return value;
  return ReshapeOp::create(builder, location, type, value,
                           makeSizes(builder, location, type.getShape()));
}

/// What a regrouping op has its elements from.
static Value ungrouped(Value value, SmallVectorImpl<Location> &places) {
  for (size_t i = 0; i < kMaxChain; ++i) {
    Operation *op = value.getDefiningOp();
    if (!isRegrouping(op))
      break;
    places.push_back(op->getLoc());
    value = op->getOperand(0);
  }
  return value;
}

/// Whether a reshape of `source` by `op` is `source` itself.
static bool isSameShape(ReshapeOp op, Value source) {
  if (source.getType() != op.getType())
    return false;
  // The elements leave one extent no choice.
  if (op.getType().getNumDynamicDims() <= 1)
    return true;
  auto query = op.getNewShape().getDefiningOp<GetShapeOp>();
  return query && query.getInput() == source;
}

static Value mergeReshape(ReshapeOp op, OpBuilder &builder) {
  SmallVector<Location> places;
  Value source = ungrouped(op.getInput(), places);
  if (isSameShape(op, source))
    return source;
  if (source != op.getInput())
    return ReshapeOp::create(builder, fuse(op.getLoc(), places), op.getType(),
                             source, op.getNewShape());
  // A shape that is computed although it is known.
  if (!getInlineConstant(op.getNewShape()) && plainTensor(op.getOutput()) &&
      isWritable(op.getType()))
    return reshape(op.getInput(), op.getType(), op.getLoc(), builder);
  Chain chain = chainAbove(op.getInput());
  source = ungrouped(chain.source, places);
  if (chain.ops.empty() || source == chain.source || !plainTensor(source))
    return {};
  Value computed = rebuilt(chain, source, builder);
  if (!computed)
    return {};
  if (computed.getType() == op.getType() && isSameShape(op, computed))
    return computed;
  return ReshapeOp::create(builder, fuse(op.getLoc(), places), op.getType(),
                           computed, op.getNewShape());
}

/// Axes counted from the front; none if they are not constants.
static std::optional<SmallVector<int64_t>> axesOf(Value axes, int64_t rank) {
  std::optional<Indices> indices = getConstantIndices(axes);
  if (!indices)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (int64_t axis : *indices) {
    std::optional<int64_t> place = normalizeAxis(axis, rank);
    if (!place)
      return std::nullopt;
    result.push_back(*place);
  }
  return result;
}

/// The axes of a tensor of `rank` that are not in `axes`.
static SmallVector<int64_t> otherAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return others;
}

/// Two insertions of axes, or two removals, as one. The axes of an insertion
/// are places in its result, those of a removal places in its input.
template <typename Op>
static Value mergeAxes(Op op, OpBuilder &builder, bool isInsertion) {
  auto inner = op.getInput().template getDefiningOp<Op>();
  if (!inner)
    return {};
  Op first = isInsertion ? op : inner;
  Op second = isInsertion ? inner : op;
  int64_t rank = isInsertion ? op.getType().getRank()
                             : inner.getInput().getType().getRank();
  auto outerAxes = axesOf(first.getAxes(), rank);
  if (!outerAxes)
    return {};
  SmallVector<int64_t> left = otherAxes(*outerAxes, rank);
  auto innerAxes = axesOf(second.getAxes(), left.size());
  if (!innerAxes)
    return {};
  SmallVector<int64_t> axes(*outerAxes);
  for (int64_t axis : *innerAxes)
    axes.push_back(left[axis]);
  llvm::sort(axes);
  Location place = placeOf(*op, op.getInput());
  Type element = builder.getIntegerType(32, /*isSigned=*/true);
  return Op::create(builder, place, op.getType(), inner.getInput(),
                    makeIndices(builder, place, axes, element));
}

/// An insertion or removal of axes.
static Value mergeUnitAxes(Operation &op, OpBuilder &builder) {
  Value input = op.getOperand(0), result = op.getResult(0);
  if (input.getType() == result.getType())
    return input;
  Operation *before = input.getDefiningOp();
  // All other axes stay in their order, so types say it all.
  if (isa_and_present<ExpandDimsOp, ShrinkDimsOp>(before) &&
      before->getOperand(0).getType() == result.getType())
    return before->getOperand(0);
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    if (Value merged = mergeAxes(expand, builder, /*isInsertion=*/true))
      return merged;
  if (auto shrink = dyn_cast<ShrinkDimsOp>(op))
    if (Value merged = mergeAxes(shrink, builder, /*isInsertion=*/false))
      return merged;
  // Of something that was reshaped.
  RankedTensorType type = plainTensor(result);
  if (!isWritable(type))
    return {};
  SmallVector<Location> places;
  if (isRegrouping(before))
    return reshape(ungrouped(input, places), type, fuse(op.getLoc(), places),
                   builder);
  Chain chain = chainAbove(input);
  Value source = ungrouped(chain.source, places);
  if (chain.ops.empty() || source == chain.source || !plainTensor(source))
    return {};
  Value computed = rebuilt(chain, source, builder);
  return computed ? reshape(computed, type, fuse(op.getLoc(), places), builder)
                  : Value();
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// A permutation that is known and one.
static std::optional<SmallVector<int64_t>> permutationOf(TransposeOp op) {
  int64_t rank = op.getType().getRank();
  auto axes = axesOf(op.getPermutation(), rank);
  if (!axes || static_cast<int64_t>(axes->size()) != rank ||
      !otherAxes(*axes, rank).empty())
    return std::nullopt;
  return axes;
}

/// `value` with its axes in another order, as the type of a result.
static Value transpose(Value value, ArrayRef<int64_t> permutation, Type type,
                       Location location, OpBuilder &builder) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())) &&
      value.getType() == type)
    return value;
  return TransposeOp::create(builder, location, type, value,
                             makeSizes(builder, location, permutation));
}

/// Whether only axes of one element change their place.
static bool movesUnitsOnly(ArrayRef<int64_t> permutation,
                           RankedTensorType type) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (type.getDimSize(axis) == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
}

static Value mergeTranspose(TransposeOp op, OpBuilder &builder) {
  auto outer = permutationOf(op);
  RankedTensorType from = plainTensor(op.getInput());
  if (!outer || !from || !plainTensor(op.getOutput()))
    return {};
  if (op.getType() == from &&
      llvm::equal(*outer, llvm::seq<int64_t>(outer->size())))
    return op.getInput();
  Chain chain = chainAbove(op.getInput());
  auto inner = chain.source.getDefiningOp<TransposeOp>();
  auto first = inner ? permutationOf(inner) : std::nullopt;
  if (first && plainTensor(inner.getInput())) {
    SmallVector<int64_t> both;
    for (int64_t axis : *outer)
      both.push_back((*first)[axis]);
    if (Value computed = rebuilt(chain, inner.getInput(), builder))
      return transpose(computed, both, op.getType(),
                       placeOf(*op, inner.getOutput()), builder);
  }
  if (movesUnitsOnly(*outer, from) && isWritable(op.getType()))
    return reshape(op.getInput(), op.getType(), op.getLoc(), builder);
  return {};
}

/// Two tensors with their axes in the same other order, combined: the result
/// is put in order instead.
static Value sinkTransposes(Operation &op, OpBuilder &builder) {
  bool isElementwise = op.hasTrait<OpTrait::Elementwise>() ||
                       op.hasTrait<OpTrait::ResultsBroadcastableShape>();
  RankedTensorType type = plainTensor(op.getResult(0));
  if (!isElementwise || op.getNumOperands() != 2 || !type)
    return {};
  auto lhs = op.getOperand(0).getDefiningOp<TransposeOp>();
  auto rhs = op.getOperand(1).getDefiningOp<TransposeOp>();
  auto permutation = lhs ? permutationOf(lhs) : std::nullopt;
  if (!permutation || !rhs || permutationOf(rhs) != permutation ||
      lhs.getType().getRank() != type.getRank() ||
      !plainTensor(lhs.getInput()) || !plainTensor(rhs.getInput()))
    return {};
  auto isOnlyHere = [&](Value value) {
    return llvm::all_of(llvm::make_range(value.use_begin(), value.use_end()),
                        [&](OpOperand &use) { return use.getOwner() == &op; });
  };
  if (!isOnlyHere(lhs.getOutput()) || !isOnlyHere(rhs.getOutput()))
    return {};
  SmallVector<int64_t> shape(type.getRank());
  for (auto [axis, from] : llvm::enumerate(*permutation))
    shape[from] = type.getDimSize(axis);
  IRMapping mapping;
  mapping.map(op.getOperand(0), lhs.getInput());
  mapping.map(op.getOperand(1), rhs.getInput());
  Operation *copy = builder.clone(op, mapping);
  copy->getResult(0).setType(
      RankedTensorType::get(shape, type.getElementType()));
  return transpose(copy->getResult(0), *permutation, type,
                   fuse(lhs.getLoc(), {rhs.getLoc()}), builder);
}

Value corten::mergeReorderings(Operation &op, OpBuilder &builder) {
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case([&](ReshapeOp reshape) { return mergeReshape(reshape, builder); })
      .Case<ExpandDimsOp, ShrinkDimsOp>(
          [&](auto) { return mergeUnitAxes(op, builder); })
      .Case([&](TransposeOp transpose) {
        return mergeTranspose(transpose, builder);
      })
      .Default([&](Operation *) { return sinkTransposes(op, builder); });
}
