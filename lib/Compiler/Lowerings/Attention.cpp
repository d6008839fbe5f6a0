// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, however it is written: composites are inlined, and what they
// consist of is what people write by hand.
//
//   scores  = batch_matmul(queries * scale, transposed keys) [* scale]
//   masked  = scores, scores + mask, or where(mask, scores, -inf)
//   weights = softmax(masked), with zeros for queries that see nothing
//   result  = batch_matmul(weights, values)
//
// What is between is never stored, and is not rounded to a narrow type.

#include "../Lowerings.h"
#include "../Patterns.h"

#include "corten/Runtime/KernelLimits.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/Sequence.h"

#include <bit>
#include <cmath>

using namespace corten;
using namespace mlir;

namespace {
struct AttentionParts {
  Value queries;
  Value transposedKeys;
  Value values;
  /// Null if all is seen.
  Value mask;
  double scale = 1;
  bool unseeingGivesZeros = false;
};
} // namespace

static bool isNumber(Value value, double number) {
  std::optional<double> found = constantNumber(value);
  return found && *found == number;
}

/// The product of queries and keys behind what scales it.
static bool matchScores(Value value, AttentionParts &parts) {
  auto [scaled, factor] = splitFactor(withoutCasts(value));
  Value product = withoutCasts(scaled);
  Operation *op = definedBy(product, "batch_matmul");
  if (!op || !product.hasOneUse())
    return false;
  auto [queries, scale] = splitFactor(op->getOperand(0));
  auto [keys, keyScale] = splitFactor(op->getOperand(1));
  parts.queries = queries;
  parts.transposedKeys = keys;
  parts.scale = factor * scale * keyScale;
  return true;
}

/// What softmax is applied to.
static bool matchMasked(Value value, AttentionParts &parts) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  if (Operation *where = definedBy(value, "where")) {
    parts.mask = where->getOperand(0);
    return isNumber(where->getOperand(2), kHidden) &&
           matchScores(where->getOperand(1), parts);
  }
  if (Operation *add = definedBy(value, "add"))
    for (unsigned side : {0, 1}) {
      parts.mask = add->getOperand(1 - side);
      if (matchScores(add->getOperand(side), parts))
        return true;
    }
  parts.mask = nullptr;
  return matchScores(value, parts);
}

/// Whether `condition` says of each query that it sees nothing.
static bool saysNothingIsSeen(Value condition, Value masked, int64_t rank,
                              Planner &planner) {
  Operation *equal = definedBy(condition, "equal");
  if (!equal ||
      !isNumber(equal->getOperand(1), -std::numeric_limits<double>::infinity()))
    return false;
  Operation *most = definedBy(equal->getOperand(0), "reduce_max");
  if (!most || withoutCasts(most->getOperand(0)) != withoutCasts(masked))
    return false;
  auto axes = planner.axes(most->getOperand(1), unsigned(rank));
  return axes && ArrayRef(*axes) == ArrayRef(rank - 1);
}

static std::optional<AttentionParts> matchAttention(Operation *op,
                                                    Planner &planner) {
  AttentionParts parts;
  parts.values = op->getOperand(1);
  Value weights = withoutCasts(op->getOperand(0));
  auto rank = int64_t(planner.form(weights).rank());
  Value guard;
  bool isGuardTrueForNothing = false;
  if (Operation *where = definedBy(weights, "where")) {
    guard = where->getOperand(0);
    isGuardTrueForNothing = isNumber(where->getOperand(1), 0);
    if (!isGuardTrueForNothing && !isNumber(where->getOperand(2), 0))
      return std::nullopt;
    weights = withoutCasts(where->getOperand(isGuardTrueForNothing ? 2 : 1));
  }
  auto softmax = weights.getDefiningOp<coreai::SoftmaxOp>();
  if (!softmax || !weights.hasOneUse())
    return std::nullopt;
  auto axis = planner.axis(softmax.getAxis(), unsigned(rank));
  Value masked = softmax.getInput();
  if (!axis || *axis != rank - 1 || !matchMasked(withoutCasts(masked), parts))
    return std::nullopt;
  if (guard &&
      (isGuardTrueForNothing ? !saysNothingIsSeen(guard, masked, rank, planner)
                             : guard != parts.mask))
    return std::nullopt;
  parts.unseeingGivesZeros = bool(guard);
  return parts;
}

namespace {
/// Queries, keys and values as the kernel wants them, with one more axis where
/// several heads of queries share keys.
struct AttentionForms {
  Form queries;
  Form keys;
  Form values;
  /// The axis of heads, if it is two: groups, and those in one that share keys.
  std::optional<unsigned> splitAxis;
};
} // namespace

/// The form before axes were merged that keys are repeated along, if a value is
/// the result of that: repeating is a matter of strides there.
static std::optional<Form> beforeMerge(Planner &planner, Value value) {
  auto reshape = value.getDefiningOp<coreai::ReshapeOp>();
  if (!reshape)
    return std::nullopt;
  const Form &merged = planner.form(value);
  const Form &form = planner.form(reshape.getInput());
  unsigned rank = merged.rank();
  if (rank < 3 || form.rank() != rank + 1 ||
      !isKnown(form.strides[rank - 2], 0) ||
      ArrayRef(form.extents).take_back(2) !=
          ArrayRef(merged.extents).take_back(2) ||
      ArrayRef(form.extents).take_front(rank - 3) !=
          ArrayRef(merged.extents).take_front(rank - 3))
    return std::nullopt;
  return form;
}

/// The keys behind what turns them over.
static Value beforeTranspose(Planner &planner, Value value, unsigned rank) {
  auto transpose = value.getDefiningOp<coreai::TransposeOp>();
  if (!transpose)
    return nullptr;
  auto order = planner.axes(transpose.getPermutation(), rank);
  if (!order)
    return nullptr;
  auto wanted = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(wanted[rank - 1], wanted[rank - 2]);
  return *order == wanted ? transpose.getInput() : Value();
}

static AttentionForms formsOf(const AttentionParts &parts, Planner &planner) {
  Sizes &sizes = planner.sizes;
  AttentionForms forms;
  forms.queries = planner.form(parts.queries);
  const Form &turned = planner.form(parts.transposedKeys);
  unsigned rank = turned.rank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  forms.keys = transposed(turned, order);
  forms.values = planner.form(parts.values);
  Value keys = beforeTranspose(planner, parts.transposedKeys, rank);
  std::optional<Form> fewKeys;
  if (keys)
    fewKeys = beforeMerge(planner, keys);
  std::optional<Form> fewValues = beforeMerge(planner, parts.values);
  if (!fewKeys || !fewValues || forms.queries.rank() != rank ||
      ArrayRef(fewKeys->extents).drop_back(2) !=
          ArrayRef(fewValues->extents).drop_back(2))
    return forms;
  SizeList extents = forms.queries.extents;
  extents[rank - 3] = fewKeys->extents[rank - 3];
  extents.insert(extents.begin() + rank - 2, fewKeys->extents[rank - 2]);
  std::optional<Form> queries = reshaped(sizes, forms.queries, extents);
  if (queries)
    forms = {*queries, *fewKeys, *fewValues, rank - 3};
  return forms;
}

/// The order in which the next operation wants the axes of a result: that of a
/// transposition which is all that becomes of it.
static SmallVector<int64_t> wantedOrder(Operation *op, Planner &planner,
                                        std::optional<unsigned> splitAxis) {
  Value result = op->getResult(0);
  auto rank = unsigned(planner.form(op->getOperand(0)).rank());
  if (!result.hasOneUse())
    return {};
  auto transpose = dyn_cast<coreai::TransposeOp>(*result.getUsers().begin());
  if (!transpose)
    return {};
  auto order = planner.axes(transpose.getPermutation(), rank);
  if (!order || !splitAxis)
    return order.value_or(SmallVector<int64_t>());
  SmallVector<int64_t> split;
  for (int64_t axis : *order) {
    split.push_back(axis > int64_t(*splitAxis) ? axis + 1 : axis);
    if (axis == int64_t(*splitAxis))
      split.push_back(axis + 1);
  }
  return split;
}

bool corten::lowerAttention(Operation *op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  std::optional<AttentionParts> parts = matchAttention(op, planner);
  if (!parts)
    return false;
  AttentionForms forms = formsOf(*parts, planner);
  Type element = forms.queries.element;
  // Wider ones have no fast kernel.
  auto isNarrow = [](Size size) {
    return known(size) && *known(size) <= runtime::kAttentionWidth;
  };
  if ((!element.isF32() && !element.isF16() && !element.isBF16()) ||
      forms.keys.element != element || forms.values.element != element ||
      resultElement(op) != element || !isNarrow(forms.queries.extents.back()) ||
      !isNarrow(forms.values.extents.back()))
    return false;
  // Leading axes broadcast.
  SmallVector<Form> batches;
  for (const Form *form : {&forms.queries, &forms.keys, &forms.values}) {
    Form batch = *form;
    batch.extents.pop_back_n(2);
    batch.strides.pop_back_n(2);
    batches.push_back(batch);
  }
  SizeList batch = planner.broadcastExtents(batches);
  auto spread = [&](const Form &form, Size rows, Size columns) {
    SizeList shape = batch;
    shape.append({rows, columns});
    return broadcast(sizes, form, shape);
  };
  Size numQueries = forms.queries.extents[forms.queries.rank() - 2];
  Size numKeys = forms.keys.extents[forms.keys.rank() - 2];
  Size depth = forms.queries.extents.back();
  Size width = forms.values.extents.back();
  std::optional<Form> mask;
  if (parts->mask) {
    mask = planner.form(parts->mask);
    if (mask->element != element && !mask->element.isInteger(1))
      return false;
    if (forms.splitAxis && mask->rank() > 2) {
      // Of as many heads as there are queries, or of one.
      unsigned heads = mask->rank() - 3;
      SizeList extents = mask->extents;
      bool isOne = isKnown(extents[heads], 1);
      extents[heads] = isOne ? sizes.number(1) : batch[*forms.splitAxis];
      extents.insert(extents.begin() + heads + 1,
                     isOne ? sizes.number(1) : batch[*forms.splitAxis + 1]);
      mask = planner.reshaped(*mask, extents);
    }
    mask = spread(*mask, numQueries, numKeys);
  }
  KernelCall call;
  call.kernel = "Attention";
  call.inputs = {spread(forms.queries, numQueries, depth),
                 spread(forms.keys, numKeys, depth),
                 spread(forms.values, numKeys, width), mask};
  call.numbers = {sizes.number(std::bit_cast<int64_t>(parts->scale)),
                  sizes.number(0), sizes.number(parts->unseeingGivesZeros)};
  call.extents = batch;
  call.extents.append({numQueries, width});
  call.element = element;
  call.order = wantedOrder(op, planner, forms.splitAxis);
  Form result = planner.kernel(call);
  if (forms.splitAxis) {
    SizeList extents = result.extents;
    extents[*forms.splitAxis] =
        sizes.mul(extents[*forms.splitAxis], extents[*forms.splitAxis + 1]);
    extents.erase(extents.begin() + *forms.splitAxis + 1);
    planner.refine(extents, op->getResult(0).getType());
    result = planner.reshaped(result, extents);
  }
  planner.setForm(op->getResult(0), result);
  return true;
}
