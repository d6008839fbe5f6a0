// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Margins around tensors.

#include "Emission/DerivedOps.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

namespace {
/// What is added before and after one axis; null stands for nothing.
struct Margin {
  const Argument *before = nullptr;
  const Argument *after = nullptr;
};
} // namespace

/// The pairs of `pad`, which start at the last axis, by axis.
static SmallVector<Margin> margins(ArrayRef<Argument> pad, int64_t rank) {
  SmallVector<Margin> result(rank);
  for (size_t pair = 0; pair < pad.size() / 2; ++pair)
    result[rank - 1 - pair] = {&pad[2 * pair], &pad[2 * pair + 1]};
  return result;
}

static bool mayBeNegative(const Argument *amount) {
  return amount && (amount->isValue() || amount->asInt() < 0);
}
static bool isZero(const Argument *amount) {
  return !amount || (amount->isInt() && amount->asInt() == 0);
}

/// max(amount, 0), or max(-amount, 0), as tensor<1xsi32>.
static Value positivePart(const Argument *amount, bool negated, Emitter &emit) {
  if (!amount)
    return emit.indices({0});
  if (amount->isInt())
    return emit.indices(
        {std::max<int64_t>(negated ? -amount->asInt() : amount->asInt(), 0)});
  Value size = emit.size(*amount);
  if (negated)
    size = emit.mul(size, emit.indices({-1}));
  return emit.maximum(size, emit.indices({0}));
}

static bool isSymbolic(const Argument *amount) {
  return amount && amount->isValue();
}

/// What a literal margin takes away.
static int64_t cut(const Argument *amount) {
  return amount ? std::max<int64_t>(-amount->asInt(), 0) : 0;
}

/// Cuts off what negative literals take away, all axes at once.
static Value cropAtOnce(Value x, ArrayRef<Margin> margins, Emitter &emit) {
  RankedTensorType type = emit.type(x);
  SmallVector<int64_t> starts, ends;
  SmallVector<Value> computed(margins.size());
  for (auto [axis, margin] : llvm::enumerate(margins)) {
    starts.push_back(cut(margin.before));
    ends.push_back(INT32_MAX);
    if (int64_t after = cut(margin.after); !after)
      continue;
    else if (type.isDynamicDim(axis))
      computed[axis] = emit.add(emit.dim(x, axis), emit.indices({-after}));
    else
      ends.back() = type.getDimSize(axis) - after;
  }
  SmallVector<int64_t> strides(margins.size(), 1);
  if (llvm::none_of(computed, [](Value end) { return bool(end); }))
    return emit.slice(x, starts, ends, strides);
  SmallVector<Value> pieces = {emit.index(0)};
  for (auto [end, literal] : llvm::zip_equal(computed, ends))
    pieces.push_back(end ? end : emit.indices({literal}));
  Value joined =
      pieces.size() > 2 ? emit.create<coreai::ConcatOp>(pieces) : pieces.back();
  return emit.create<coreai::SliceOp>(
      {x, emit.indices(starts), joined, emit.indices(strides)});
}

/// Cuts off what negative margins take away.
static Value crop(Value x, ArrayRef<Margin> margins, Emitter &emit) {
  auto hasNegative = [](Margin margin) {
    return mayBeNegative(margin.before) || mayBeNegative(margin.after);
  };
  if (llvm::none_of(margins, hasNegative))
    return x;
  if (llvm::none_of(margins, [](Margin margin) {
        return isSymbolic(margin.before) || isSymbolic(margin.after);
      }))
    return cropAtOnce(x, margins, emit);
  for (auto [axis, margin] : llvm::enumerate(margins)) {
    if (!hasNegative(margin))
      continue;
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> extents(type.getShape());
    bool isKnown = !type.isDynamicDim(axis) && !isSymbolic(margin.before) &&
                   !isSymbolic(margin.after);
    if (isKnown)
      extents[axis] -= cut(margin.before) + cut(margin.after);
    else
      extents[axis] = ShapedType::kDynamic;

    Value end = emit.indices({INT32_MAX});
    if (isKnown && cut(margin.after))
      end = emit.indices({type.getDimSize(axis) - cut(margin.after)});
    else if (mayBeNegative(margin.after))
      end = emit.sub(emit.dim(x, axis),
                     positivePart(margin.after, /*negated=*/true, emit));
    x = emit.slice(x, axis, positivePart(margin.before, /*negated=*/true, emit),
                   end, 1, type.clone(extents));
  }
  return x;
}

/// Negative margins cut first; positive ones then extend what is left.
static FailureOr<Value> pad(const AtenNode &node, coreai::PaddingMode mode,
                            llvm::function_ref<FailureOr<Value>()> makeFill,
                            Emitter &emit, ArrayRef<Margin> amount) {
  RankedTensorType type = emit.typeOf(node);
  Value x = crop(emit.tensor(node, "self"), amount, emit);
  auto adds = [](const Argument *amount) {
    return !isZero(amount) && (amount->isValue() || amount->asInt() > 0);
  };
  if (llvm::none_of(amount, [&](Margin margin) {
        return adds(margin.before) || adds(margin.after);
      }))
    return x;
  FailureOr<Value> fill = makeFill();
  if (failed(fill))
    return failure();
  SmallVector<Value> pieces;
  for (Margin margin : amount)
    for (const Argument *side : {margin.before, margin.after})
      pieces.push_back(positivePart(side, /*negated=*/false, emit));
  Value sizes = emit.joinSizes(pieces, IndexKind::Unsigned);
  NamedAttribute how = emit.attribute(
      "padding_mode",
      coreai::PaddingModeAttr::get(emit.builder.getContext(), mode));
  auto padded = [&](Value part, Value value) {
    return emit.createTyped<coreai::PadOp>(
        type.clone(getElementTypeOrSelf(part)), {part, sizes, value}, how);
  };
  if (!isComplex(x))
    return padded(x, *fill);
  // The interpreter ends the process when the fill value is complex.
  return emit.create<coreai::CreateComplexOp>(
      {padded(realPart(emit, x), realPart(emit, *fill)),
       padded(imaginaryPart(emit, x), imaginaryPart(emit, *fill))});
}

static SmallVector<Margin> marginsOf(const AtenNode &node, Emitter &emit,
                                     StringRef parameter) {
  ArrayRef<Argument> amounts = node.list(parameter);
  for (const Argument &amount : amounts)
    if (!amount.isValue())
      node.integer(amount);
  if (emit.hasFailed())
    amounts = {};
  return margins(amounts, node.result().sizes.size());
}

/// constant_pad_nd(self, pad, value)
static FailureOr<Value> lowerConstantPad(const AtenNode &node, Emitter &emit) {
  return pad(
      node, coreai::PaddingMode::Constant,
      [&]() -> FailureOr<Value> {
        FailureOr<Value> value =
            emit.operand(node, "value", emit.elementType(node.result().dtype));
        if (failed(value) || isComplex(*value))
          return value;
        // Casts nothing, but the official converter has it, and without it the
        // optimizer puts the constants into another order.
        return emit.createTyped<coreai::CastOp>(value->getType(), *value);
      },
      emit, marginsOf(node, emit, "pad"));
}

/// What a mode that needs no fill value is given.
static FailureOr<Value> zero(const AtenNode &node, Emitter &emit) {
  return emit.scalar(0, emit.elementType(node.result().dtype));
}

/// reflection_pad1d/2d/3d(self, padding): mirrored, the edge not repeated.
static FailureOr<Value> lowerReflectionPad(const AtenNode &node,
                                           Emitter &emit) {
  return pad(
      node, coreai::PaddingMode::Reflect, [&] { return zero(node, emit); },
      emit, marginsOf(node, emit, "padding"));
}

/// replication_pad1d/2d/3d(self, padding): the edge repeated.
///
/// A negative margin may cut the axis away as a whole; what the other side
/// repeats is then the last element that was cut.
static FailureOr<Value> lowerReplicationPad(const AtenNode &node,
                                            Emitter &emit) {
  SmallVector<Margin> amount = marginsOf(node, emit, "padding");
  ArrayRef<Size> extents = node.info("self").sizes;
  // Addresses into it are taken.
  SmallVector<Argument> changed(2 * amount.size());
  for (auto [axis, margin] : llvm::enumerate(amount)) {
    auto keepOne = [&](const Argument *&cut, const Argument *&other) {
      if (!cut || !cut->isInt() || !other || !other->isInt() ||
          extents[axis].isDynamic() || -cut->asInt() < extents[axis].get())
        return;
      int64_t excess = -cut->asInt() - extents[axis].get() + 1;
      changed[2 * axis] = Argument::integer(cut->asInt() + excess);
      changed[2 * axis + 1] = Argument::integer(other->asInt() - excess);
      cut = &changed[2 * axis];
      other = &changed[2 * axis + 1];
    };
    keepOne(margin.before, margin.after);
    keepOne(margin.after, margin.before);
  }
  return pad(
      node, coreai::PaddingMode::Replicate, [&] { return zero(node, emit); },
      emit, amount);
}

llvm::ArrayRef<TableEntry> corten::loweringsPadding() {
#define IN_Padding ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
