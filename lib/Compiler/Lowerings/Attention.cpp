// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, however it is written: composites are inlined, and what they
// consist of is what people write by hand.
//
//   scores  = batch_matmul(queries * scale, transposed keys) [* scale]
//   masked  = scores, scores + mask, where(mask, scores, -inf), or
//             where(hidden, -inf, scores)
//   joined  = masked, or concat(masked, sinks): one more column
//   weights = softmax(joined [- its maximum]) without that column, with zeros
//             for queries that see nothing
//   result  = batch_matmul(weights, values)
//
// Products may have leading axes merged into one, which matmul of PyTorch
// becomes. What is between is never stored, and is not rounded to a narrow
// type.

#include "../Lowerings.h"
#include "../Patterns.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/Sequence.h"

#include <bit>
#include <cmath>
#include <tuple>

using namespace corten;
using namespace mlir;

namespace {
struct AttentionParts {
  Value queries;
  Value transposedKeys;
  Value values;
  /// Null if all is seen.
  Value mask;
  /// Whether that says what is hidden, rather than what is seen.
  bool isMaskOfHidden = false;
  /// One more score for each query, which has no value; null if there is none.
  Value sinks;
  double scale = 1;
  /// Whether heads are two axes of values, which others are one of.
  bool hasGroupsOfValues = false;
  bool unseeingGivesZeros = false;
};

/// Why something that looks like attention is none: the first reason.
struct Reason {
  std::string text;

  /// False, for who returns it.
  bool fail(const Twine &reason) {
    if (text.empty())
      text = reason.str();
    return false;
  }
};
} // namespace

static bool isNumber(Value value, double number) {
  std::optional<double> found = constantNumber(value);
  return found && *found == number;
}

/// A value before its leading axes, which are several, became one; null if they
/// did not.
static Value beforeMergedBatch(Value value, Planner &planner) {
  auto reshape = value.getDefiningOp<coreai::ReshapeOp>();
  if (!reshape)
    return nullptr;
  const Form &merged = planner.form(value);
  const Form &form = planner.form(reshape.getInput());
  if (merged.rank() != 3 || form.rank() <= 3 ||
      ArrayRef(form.extents).take_back(2) !=
          ArrayRef(merged.extents).take_back(2))
    return nullptr;
  return reshape.getInput();
}

static ArrayRef<Size> leadingExtents(Planner &planner, Value value) {
  return ArrayRef(planner.form(value).extents).drop_back(2);
}

/// Whether the leading axes of a value are these, or heads are two axes of it:
/// groups, and those in one, which share what they have.
static bool hasLeading(Planner &planner, Value value, ArrayRef<Size> wanted) {
  ArrayRef<Size> leading = leadingExtents(planner, value);
  if (leading == wanted)
    return true;
  return leading.size() == wanted.size() + 1 &&
         leading.drop_back(2) == wanted.drop_back() &&
         planner.sizes.mul(leading[leading.size() - 2], leading.back()) ==
             wanted.back();
}

/// The product of queries and keys behind what scales it.
static bool matchScores(Value value, AttentionParts &parts, Planner &planner,
                        Reason &why) {
  auto [scaled, factor] = splitFactor(withoutCasts(value));
  Value product = withoutCasts(scaled);
  Value scores = product;
  auto split = scores.getDefiningOp<coreai::ReshapeOp>();
  if (split) {
    // The scale may come before axes are split again, or after that.
    auto [inner, innerFactor] = splitFactor(withoutCasts(split.getInput()));
    product = withoutCasts(inner);
    factor *= innerFactor;
  }
  Operation *op = definedBy(product, "batch_matmul");
  if (!op)
    return false;
  if (!product.hasOneUse() || !scores.hasOneUse())
    return why.fail("its scores are used elsewhere too");
  auto [queries, scale] = splitFactor(op->getOperand(0));
  auto [keys, keyScale] = splitFactor(op->getOperand(1));
  if (split) {
    // Axes that were merged come back as they were.
    queries = beforeMergedBatch(queries, planner);
    keys = beforeMergedBatch(keys, planner);
    if (!queries || !keys ||
        leadingExtents(planner, queries) != leadingExtents(planner, scores) ||
        leadingExtents(planner, keys) != leadingExtents(planner, scores))
      return why.fail("axes of queries and keys were merged in another way "
                      "than those of its scores are split");
    double inner;
    std::tie(queries, inner) = splitFactor(queries);
    scale *= inner;
  }
  parts.queries = queries;
  parts.transposedKeys = keys;
  parts.scale = factor * scale * keyScale;
  return true;
}

/// What softmax is applied to.
static bool matchMasked(Value value, AttentionParts &parts, Planner &planner,
                        Reason &why) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  if (Operation *where = definedBy(value, "where")) {
    parts.mask = where->getOperand(0);
    parts.isMaskOfHidden = isNumber(where->getOperand(1), kHidden);
    if (!matchScores(where->getOperand(parts.isMaskOfHidden ? 2 : 1), parts,
                     planner, why))
      return false;
    return parts.isMaskOfHidden || isNumber(where->getOperand(2), kHidden) ||
           why.fail(
               "what its mask hides is another number than minus infinity");
  }
  if (Operation *add = definedBy(value, "add"))
    for (unsigned side : {0, 1}) {
      parts.mask = add->getOperand(1 - side);
      if (matchScores(add->getOperand(side), parts, planner, why))
        return true;
    }
  parts.mask = nullptr;
  return matchScores(value, parts, planner, why);
}

/// Whether a reduction goes over the last axis alone.
static bool isOverKeys(Operation *reduction, int64_t rank, Planner &planner) {
  auto axes = planner.axes(reduction->getOperand(1), unsigned(rank));
  return axes && ArrayRef(*axes) == ArrayRef(rank - 1);
}

/// What softmax is computed of, where its largest element was subtracted, which
/// softmax does by itself.
static Value withoutMaximum(Value value, int64_t rank, Planner &planner) {
  Operation *sub = definedBy(value, "sub");
  Operation *most =
      sub ? definedBy(withoutCasts(sub->getOperand(1)), "reduce_max") : nullptr;
  if (!most || most->getOperand(0) != sub->getOperand(0) ||
      !isOverKeys(most, rank, planner))
    return value;
  return sub->getOperand(0);
}

/// The weights with the column of sinks, if `value` is all but the last column
/// of them.
static Value withLastColumn(Value value, Planner &planner) {
  auto slice = value.getDefiningOp<coreai::SliceOp>();
  if (!slice)
    return nullptr;
  const Form &part = planner.form(value);
  const Form &all = planner.form(slice.getInput());
  Size columns =
      planner.sizes.add(part.extents.back(), planner.sizes.number(1));
  bool isFirst =
      part.base == all.base && part.offset == all.offset &&
      part.strides == all.strides &&
      ArrayRef(part.extents).drop_back() == ArrayRef(all.extents).drop_back() &&
      columns == all.extents.back();
  return isFirst ? slice.getInput() : Value();
}

/// The scores that a column of sinks was put behind, which `parts` gets.
static Value withoutSinks(Value joined, int64_t rank, Planner &planner,
                          AttentionParts &parts) {
  auto concat = joined.getDefiningOp<coreai::ConcatOp>();
  if (!concat || concat.getInputs().size() != 2)
    return nullptr;
  auto axis = planner.axis(concat.getDimension(), unsigned(rank));
  Value sinks = concat.getInputs()[1];
  if (!axis || *axis != rank - 1 ||
      !isKnown(planner.form(sinks).extents.back(), 1))
    return nullptr;
  parts.sinks = sinks;
  return concat.getInputs()[0];
}

/// Whether `condition` says of each query that it sees nothing.
static bool saysNothingIsSeen(Value condition, Value masked, int64_t rank,
                              Planner &planner) {
  Operation *equal = definedBy(condition, "equal");
  if (!equal ||
      !isNumber(equal->getOperand(1), -std::numeric_limits<double>::infinity()))
    return false;
  Operation *most = definedBy(equal->getOperand(0), "reduce_max");
  return most && withoutCasts(most->getOperand(0)) == withoutCasts(masked) &&
         isOverKeys(most, rank, planner);
}

/// Whether a value is what softmax gives, or a part of it.
static bool isOfSoftmax(Value value) {
  value = withoutCasts(value);
  if (auto slice = value.getDefiningOp<coreai::SliceOp>())
    value = withoutCasts(slice.getInput());
  return value.getDefiningOp<coreai::SoftmaxOp>() != nullptr;
}

/// `why` says why not, where weights of a softmax are multiplied.
static std::optional<AttentionParts>
matchAttention(Operation *op, Planner &planner, Reason &why) {
  AttentionParts parts;
  auto nearly = [&](Value weights, const Twine &reason) {
    if (isOfSoftmax(weights))
      why.fail(reason);
    return std::nullopt;
  };
  parts.values = op->getOperand(1);
  Value weights = withoutCasts(op->getOperand(0));
  if (Value split = beforeMergedBatch(weights, planner)) {
    parts.values = beforeMergedBatch(parts.values, planner);
    if (!weights.hasOneUse() || !parts.values ||
        !hasLeading(planner, parts.values, leadingExtents(planner, split)))
      return nearly(split, "axes of its weights and values were merged in "
                           "different ways");
    parts.hasGroupsOfValues =
        planner.form(parts.values).rank() != planner.form(split).rank();
    weights = withoutCasts(split);
  }
  auto rank = int64_t(planner.form(weights).rank());
  Value guard;
  bool isGuardTrueForNothing = false;
  if (Operation *where = definedBy(weights, "where")) {
    guard = where->getOperand(0);
    isGuardTrueForNothing = isNumber(where->getOperand(1), 0);
    if (!isGuardTrueForNothing && !isNumber(where->getOperand(2), 0))
      return nearly(where->getOperand(1), "some of its weights are replaced");
    weights = withoutCasts(where->getOperand(isGuardTrueForNothing ? 2 : 1));
  }
  Value withSinks = withLastColumn(weights, planner);
  if (withSinks) {
    if (!weights.hasOneUse())
      return nearly(withSinks, "its weights are used elsewhere too");
    weights = withoutCasts(withSinks);
  }
  auto softmax = weights.getDefiningOp<coreai::SoftmaxOp>();
  if (!softmax)
    return nearly(weights, "some columns of its weights are dropped, which are "
                           "not one last column");
  if (!weights.hasOneUse())
    return nearly(weights, "its weights are used elsewhere too");
  auto axis = planner.axis(softmax.getAxis(), unsigned(rank));
  Value masked =
      withoutMaximum(withoutCasts(softmax.getInput()), rank, planner);
  if (withSinks)
    masked = withoutSinks(withoutCasts(masked), rank, planner, parts);
  if (!axis || *axis != rank - 1)
    return nearly(weights, "its softmax is not over the last axis");
  if (!masked)
    return nearly(weights, "a column of its weights is dropped, and not one "
                           "was joined to its scores");
  if (!matchMasked(withoutCasts(masked), parts, planner, why))
    return nearly(weights, "what its softmax is of is no product of queries "
                           "and keys");
  bool isGuardTheMask =
      guard == parts.mask && isGuardTrueForNothing == parts.isMaskOfHidden;
  if (guard && !isGuardTheMask &&
      !(isGuardTrueForNothing &&
        saysNothingIsSeen(guard, masked, rank, planner)))
    return nearly(weights, "its weights are replaced by zeros where something "
                           "else is so than that nothing is seen");
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

/// Heads as one axis instead of two.
static Form withoutGroups(Planner &planner, const Form &form) {
  SizeList extents = form.extents;
  unsigned groups = form.rank() - 4;
  extents[groups] = planner.sizes.mul(extents[groups], extents[groups + 1]);
  extents.erase(extents.begin() + groups + 1);
  return planner.reshaped(form, extents);
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
  std::optional<Form> fewValues;
  if (!parts.hasGroupsOfValues) {
    fewValues = beforeMerge(planner, parts.values);
  } else {
    fewValues = forms.values;
    forms.values = withoutGroups(planner, forms.values);
  }
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

/// What belongs to scores has as many heads as there are queries, or one: with
/// two axes of heads where they are those of `batch`.
static Form splitHeads(Planner &planner, const Form &form, ArrayRef<Size> batch,
                       std::optional<unsigned> axis) {
  if (!axis || form.rank() <= 2)
    return form;
  unsigned heads = form.rank() - 3;
  SizeList extents = form.extents;
  Size one = planner.sizes.number(1);
  bool isOne = isKnown(extents[heads], 1);
  extents[heads] = isOne ? one : batch[*axis];
  extents.insert(extents.begin() + heads + 1, isOne ? one : batch[*axis + 1]);
  return planner.reshaped(form, extents);
}

/// Whether fast attention knows elements of a type.
static bool isFast(Type element) {
  return element.isF32() || element.isF16() || element.isBF16();
}

/// Whether keys and values are the weights of two wide layers with a softmax
/// between them, which are packed when the plan is loaded.
static bool hasPackedLayers(const AttentionForms &forms, Planner &planner) {
  constexpr int64_t kWide = 256;
  auto isWide = [](const Form &form) {
    return !known(form.extents.back()) || *known(form.extents.back()) > kWide;
  };
  return planner.isConstant(forms.keys) && planner.isConstant(forms.values) &&
         (isWide(forms.keys) || isWide(forms.values));
}

/// `a type`, for messages.
static std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Whether fast attention knows the types of all parts, and no other way is
/// better.
static bool isForFastAttention(Operation *op, const AttentionParts &parts,
                               const AttentionForms &forms, Planner &planner,
                               Reason &why) {
  Type element = forms.queries.element;
  if (!isFast(element))
    return why.fail("its elements are of the type " + nameOf(element));
  if (forms.keys.element != element || forms.values.element != element ||
      resultElement(op) != element)
    return why.fail("queries, keys, values and the result are not of one type");
  if (hasPackedLayers(forms, planner))
    return why.fail("keys and values are constants, which are packed");
  if (parts.mask) {
    Type mask = planner.form(parts.mask).element;
    if (mask != element && !mask.isInteger(1))
      return why.fail("its mask is of the type " + nameOf(mask));
  }
  if (parts.sinks) {
    Type sinks = planner.form(parts.sinks).element;
    if (!isFast(sinks))
      return why.fail("its sinks are of the type " + nameOf(sinks));
  }
  return true;
}

/// The leading axes, which broadcast.
static SizeList leadingExtents(const AttentionForms &forms, Planner &planner) {
  SmallVector<Form> batches;
  for (const Form *form : {&forms.queries, &forms.keys, &forms.values}) {
    Form batch = *form;
    batch.extents.pop_back_n(2);
    batch.strides.pop_back_n(2);
    batches.push_back(batch);
  }
  return planner.broadcastExtents(batches);
}

/// The mask, which says what is seen.
static Form maskOfSeen(Operation *op, const AttentionParts &parts,
                       Planner &planner) {
  Form mask = planner.form(parts.mask);
  if (!parts.isMaskOfHidden)
    return mask;
  Type element = mask.element;
  return planner.tile(mask, element, [&](OpBuilder &b, ValueRange in) {
    return plan::LaneOp::create(b, op->getLoc(), laneType(element), "Not", in)
        .getResult();
  });
}

/// What the kernel gives with the axes of the result: heads that were split are
/// one axis again, and where leading axes were merged (`isMerged`) they are as
/// they were.
static Form withAxesOfResult(Operation *op, Form result,
                             const AttentionForms &forms, bool isMerged,
                             Planner &planner) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (forms.splitAxis) {
    SizeList extents = result.extents;
    extents[*forms.splitAxis] = planner.sizes.mul(
        extents[*forms.splitAxis], extents[*forms.splitAxis + 1]);
    extents.erase(extents.begin() + *forms.splitAxis + 1);
    if (!isMerged)
      planner.refine(extents, type);
    result = planner.reshaped(result, extents);
  }
  if (isMerged) {
    SizeList extents = planner.form(op->getOperand(0)).extents;
    extents.back() = forms.values.extents.back();
    planner.refine(extents, type);
    result = planner.reshaped(result, extents);
  }
  return result;
}

static bool lowerAttention(Operation *op, Planner &planner, Reason &why) {
  Sizes &sizes = planner.sizes;
  std::optional<AttentionParts> parts = matchAttention(op, planner, why);
  if (!parts)
    return false;
  AttentionForms forms = formsOf(*parts, planner);
  if (!isForFastAttention(op, *parts, forms, planner, why))
    return false;
  SizeList batch = leadingExtents(forms, planner);
  auto spread = [&](const Form &form, Size rows, Size columns) {
    SizeList shape = batch;
    shape.append({rows, columns});
    return broadcast(sizes, form, shape);
  };
  auto spreadHeads = [&](const Form &form, Size rows, Size columns) {
    return spread(splitHeads(planner, form, batch, forms.splitAxis), rows,
                  columns);
  };
  Size numQueries = forms.queries.extents[forms.queries.rank() - 2];
  Size numKeys = forms.keys.extents[forms.keys.rank() - 2];
  Size depth = forms.queries.extents.back();
  Size width = forms.values.extents.back();
  std::optional<Form> mask, sinks;
  if (parts->mask)
    mask = spreadHeads(maskOfSeen(op, *parts, planner), numQueries, numKeys);
  if (parts->sinks)
    sinks =
        spreadHeads(planner.form(parts->sinks), numQueries, sizes.number(1));
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  bool isMerged = size_t(resultType.getRank()) !=
                  batch.size() + 2 - forms.splitAxis.has_value();
  KernelCall call;
  call.kernel = sinks ? "AttentionWithSinks" : "Attention";
  call.inputs = {spread(forms.queries, numQueries, depth),
                 spread(forms.keys, numKeys, depth),
                 spread(forms.values, numKeys, width), mask};
  if (sinks)
    call.inputs.push_back(sinks);
  call.numbers = {sizes.number(std::bit_cast<int64_t>(parts->scale)),
                  sizes.number(0), sizes.number(parts->unseeingGivesZeros)};
  call.extents = batch;
  call.extents.append({numQueries, width});
  call.element = forms.queries.element;
  if (!isMerged)
    call.order = wantedOrder(op, planner, forms.splitAxis);
  planner.setForm(op->getResult(0), withAxesOfResult(op, planner.kernel(call),
                                                     forms, isMerged, planner));
  return true;
}

bool corten::lowerAttention(Operation *op, Planner &planner) {
  Reason why;
  bool isLowered = ::lowerAttention(op, planner, why);
  if (!isLowered)
    planner.noteNearMiss(op, "attention", why.text);
  return isLowered;
}
