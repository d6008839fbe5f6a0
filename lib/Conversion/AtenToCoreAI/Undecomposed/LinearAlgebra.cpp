// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of tensors of any rank. A decomposition folds them into products of
// matrices or batches of matrices; so do these.

#include "Emission/DimExpr.h"
#include "ShapeRules/Equation.h"
#include "Undecomposed/Call.h"
#include "Undecomposed/SameAs.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

/// x @ y, with everything that this means for integers.
static FailureOr<Value> product(const AtenNode &node, Emitter &emit, Value x,
                                Value y) {
  Type element = emit.elementType(node.result().dtype);
  bool isMatrices = emit.type(x).getRank() == 2 && emit.type(y).getRank() == 2;
  return call(node, emit, isMatrices ? "mm.default" : "bmm.default",
              {{"self", x}, {"mat2", y}}, RankedTensorType::get({}, element));
}

/// `x`, which has some axes merged into its first, in the shape of the result.
static Value unfolded(const AtenNode &node, Emitter &emit, Value x,
                      ArrayRef<DimExpr> shape) {
  RankedTensorType type = emit.typeOf(node);
  if (type.hasStaticShape())
    return emit.reshape(x, type.getShape());
  return emit.reshape(x, joinDims(emit, shape),
                      type.clone(emit.type(x).getElementType()));
}

static SmallVector<DimExpr> dimsOf(Emitter &emit, Value x, int64_t from,
                                   int64_t to) {
  SmallVector<DimExpr> dims;
  for (int64_t axis = from; axis < to; ++axis)
    dims.push_back(DimExpr(emit, x, axis));
  return dims;
}

/// linear(input, weight, bias) = input @ weightᵀ + bias
static FailureOr<Value> lowerLinear(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "input");
  Value weight = emit.tensor(node, "weight");
  Value bias = emit.optionalTensor(node, "bias");
  int64_t rank = emit.type(x).getRank();
  bool isVector = emit.type(weight).getRank() == 1;
  if (isVector)
    weight = emit.expandDims(weight, {0});
  auto folded = [&] {
    return rank == 1   ? emit.expandDims(x, {0})
           : rank == 2 ? x
                       : emit.mergeAxes(x, 0, rank - 1);
  };
  // In the order of the decomposed program, so that the text is the same.
  Value rows = bias ? folded() : Value();
  Value columns = emit.transpose(weight, {1, 0});
  if (!rows)
    rows = folded();
  FailureOr<Value> result =
      bias ? call(node, emit, "addmm.default",
                  {{"self", bias},
                   {"mat1", rows},
                   {"mat2", columns},
                   {"beta", 1},
                   {"alpha", 1}},
                  RankedTensorType::get({},
                                        emit.elementType(node.result().dtype)))
           : product(node, emit, rows, columns);
  if (failed(result))
    return failure();
  if (isVector)
    result = emit.shrinkDims(*result, {1});
  if (rank == 1)
    return emit.shrinkDims(*result, {0});
  if (rank == 2)
    return result;
  SmallVector<DimExpr> shape = dimsOf(emit, x, 0, rank - 1);
  if (!isVector)
    shape.push_back(DimExpr(emit, weight, 0));
  return unfolded(node, emit, *result, shape);
}

/// matmul(self, other): vectors are rows on the left and columns on the right.
static FailureOr<Value> lowerMatmul(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self"), y = emit.refined(node, "other");
  int64_t xRank = emit.type(x).getRank(), yRank = emit.type(y).getRank();
  if (xRank == 0 || yRank == 0)
    return emit.error(node) << "matmul of a scalar";
  Value left = xRank == 1 ? emit.expandDims(x, {0}) : x;
  Value right = yRank == 1 ? emit.expandDims(y, {1}) : y;
  RankedTensorType leftType = emit.type(left), rightType = emit.type(right);
  auto dropUnits = [&](Value result) {
    SmallVector<int64_t> axes;
    int64_t rank = emit.type(result).getRank();
    if (xRank == 1)
      axes.push_back(rank - 2);
    if (yRank == 1)
      axes.push_back(rank - 1);
    return emit.shrinkDims(result, axes);
  };

  // Many rows with one matrix: one matrix of many rows.
  if (leftType.getRank() > 2 && rightType.getRank() == 2) {
    int64_t rank = leftType.getRank();
    FailureOr<Value> result =
        product(node, emit, emit.mergeAxes(left, 0, rank - 1), right);
    if (failed(result))
      return failure();
    if (yRank == 1)
      result = emit.shrinkDims(*result, {1});
    SmallVector<DimExpr> shape = dimsOf(emit, left, 0, rank - 1);
    if (yRank != 1)
      shape.push_back(DimExpr(emit, right, 1));
    return unfolded(node, emit, *result, shape);
  }
  // The same batch on both sides: one axis of it.
  int64_t batch = leftType.getRank() - 2;
  bool sameBatch =
      batch > 1 && leftType.getRank() == rightType.getRank() &&
      leftType.getShape().take_front(batch) ==
          rightType.getShape().take_front(batch) &&
      !ShapedType::isDynamicShape(leftType.getShape().take_front(batch));
  if (sameBatch) {
    FailureOr<Value> result =
        product(node, emit, emit.mergeAxes(left, 0, batch),
                emit.mergeAxes(right, 0, batch));
    if (failed(result))
      return failure();
    SmallVector<DimExpr> shape = dimsOf(emit, left, 0, batch + 1);
    shape.push_back(DimExpr(emit, right, batch + 1));
    return unfolded(node, emit, *result, shape);
  }
  FailureOr<Value> result = product(node, emit, left, right);
  if (failed(result))
    return failure();
  return dropUnits(*result);
}

/// mv(self, vec)
static FailureOr<Value> lowerMv(const AtenNode &node, Emitter &emit) {
  Value column = emit.expandDims(emit.tensor(node, "vec"), {1});
  FailureOr<Value> result =
      product(node, emit, emit.tensor(node, "self"), column);
  if (failed(result))
    return failure();
  return emit.shrinkDims(*result, {1});
}

/// dot(self, tensor) = Σ self * tensor
static Value lowerDot(const AtenNode &node, Emitter &emit) {
  Value products =
      emit.mul(emit.tensor(node, "self"), emit.tensor(node, "tensor"));
  return emit.reduce<coreai::ReduceSumOp>(products, {0}, /*keepDims=*/false);
}

/// outer(self, vec2), ger(self, vec2)
static FailureOr<Value> lowerOuter(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  Value column =
      emit.expandDims(emit.convert(emit.tensor(node, "self"), element), {1});
  return emit.mul(column, emit.convert(emit.tensor(node, "vec2"), element));
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

namespace {

/// A tensor whose axes have labels.
struct Labelled {
  Value value;
  AxisLabels labels;
};

class Einsum {
public:
  Einsum(const AtenNode &node, Emitter &emit) : node(node), emit(emit) {}
  FailureOr<Value> lower();

private:
  FailureOr<Labelled> operand(AxisLabels labels, Value x);
  void sumOut(Labelled &x, llvm::function_ref<bool(int)> keeps);
  FailureOr<Labelled> contract(Labelled x, Labelled y,
                               llvm::function_ref<bool(int)> keeps);
  /// The axes of `labels`, in that order, merged from `mergeFrom` on into one
  /// or two groups.
  Value arranged(const Labelled &x, ArrayRef<int> batch, ArrayRef<int> first,
                 ArrayRef<int> second);

  const AtenNode &node;
  Emitter &emit;
};

} // namespace

/// An operand with the diagonals of repeated labels taken.
FailureOr<Labelled> Einsum::operand(AxisLabels labels, Value x) {
  for (size_t first = 0; first < labels.size(); ++first)
    for (size_t second = labels.size() - 1; second > first; --second) {
      int label = labels[first];
      if (label != labels[second])
        continue;
      FailureOr<Value> diagonal = call(node, emit, "diagonal.default",
                                       {{"self", x},
                                        {"offset", 0},
                                        {"dim1", static_cast<int64_t>(first)},
                                        {"dim2", static_cast<int64_t>(second)}},
                                       emit.type(x));
      if (failed(diagonal))
        return failure();
      x = *diagonal;
      labels.erase(labels.begin() + second);
      labels.erase(labels.begin() + first);
      labels.push_back(label);
      // The diagonal is the last axis; look at this place again.
      second = labels.size();
    }
  return Labelled{x, labels};
}

void Einsum::sumOut(Labelled &x, llvm::function_ref<bool(int)> keeps) {
  SmallVector<int64_t> axes;
  AxisLabels left;
  for (auto [axis, label] : llvm::enumerate(x.labels)) {
    if (keeps(label))
      left.push_back(label);
    else
      axes.push_back(axis);
  }
  x.value = emit.reduce<coreai::ReduceSumOp>(x.value, axes, false);
  x.labels = left;
}

Value Einsum::arranged(const Labelled &x, ArrayRef<int> batch,
                       ArrayRef<int> first, ArrayRef<int> second) {
  SmallVector<int64_t> order;
  auto place = [&](int label) {
    return llvm::find(x.labels, label) - x.labels.begin();
  };
  // An axis of the batch that only the other tensor has is 1 here.
  SmallVector<int64_t> missing;
  for (auto [axis, label] : llvm::enumerate(batch)) {
    if (llvm::is_contained(x.labels, label))
      order.push_back(place(label));
    else
      missing.push_back(axis);
  }
  for (ArrayRef<int> group : {first, second})
    for (int label : group)
      order.push_back(place(label));
  Value value = emit.transpose(x.value, order);
  value = emit.expandDims(value, missing);
  int64_t from = batch.size(), middle = from + first.size();
  int64_t to = middle + second.size();
  if (middle == to)
    value = emit.expandDims(value, {to});
  else if (to - middle > 1)
    value = emit.mergeAxes(value, middle, to);
  if (from == middle)
    value = emit.expandDims(value, {from});
  else if (middle - from > 1)
    value = emit.mergeAxes(value, from, middle);
  return value;
}

/// The sum of products over the labels that are not kept.
FailureOr<Labelled> Einsum::contract(Labelled x, Labelled y,
                                     llvm::function_ref<bool(int)> keeps) {
  auto has = [](const Labelled &tensor, int label) {
    return llvm::is_contained(tensor.labels, label);
  };
  auto isUnit = [&](const Labelled &tensor, int label) {
    int64_t axis = llvm::find(tensor.labels, label) - tensor.labels.begin();
    return emit.type(tensor.value).getDimSize(axis) == 1;
  };
  sumOut(x, [&](int label) { return keeps(label) || has(y, label); });
  sumOut(y, [&](int label) { return keeps(label) || has(x, label); });

  // An extent of 1 stretches: summing over it is summing the other side.
  SmallVector<int> batch, left, right, summed;
  for (int label : x.labels) {
    if (!has(y, label))
      left.push_back(label);
    else if (keeps(label))
      batch.push_back(label);
    else
      summed.push_back(label);
  }
  for (int label : y.labels)
    if (!has(x, label))
      right.push_back(label);
  SmallVector<int> stretched;
  llvm::erase_if(summed, [&](int label) {
    if (isUnit(x, label) == isUnit(y, label))
      return false;
    stretched.push_back(label);
    return true;
  });
  auto isNotStretched = [&](int label) {
    return !llvm::is_contained(stretched, label);
  };
  sumOut(x, isNotStretched);
  sumOut(y, isNotStretched);

  Labelled result;
  SmallVector<DimExpr> shape;
  SmallVector<int64_t> extents;
  auto keepAxis = [&](const Labelled &from, int label) {
    int64_t axis = llvm::find(from.labels, label) - from.labels.begin();
    shape.push_back(DimExpr(emit, from.value, axis));
    extents.push_back(shape.back().extent());
    result.labels.push_back(label);
  };
  for (int label : batch)
    keepAxis(isUnit(x, label) ? y : x, label);
  for (int label : left)
    keepAxis(x, label);
  for (int label : right)
    keepAxis(y, label);

  FailureOr<Value> products =
      product(node, emit, arranged(x, batch, left, summed),
              arranged(y, batch, summed, right));
  if (failed(products))
    return failure();
  auto type = RankedTensorType::get(extents, getElementTypeOrSelf(*products));
  result.value = type.hasStaticShape()
                     ? emit.reshape(*products, extents)
                     : emit.reshape(*products, joinDims(emit, shape), type);
  return result;
}

FailureOr<Value> Einsum::lower() {
  ArrayRef<Argument> tensors = node.list("tensors");
  Type element = emit.elementType(node.result().dtype);
  SmallVector<size_t> ranks;
  for (const Argument &tensor : tensors)
    ranks.push_back(emit.type(emit.value(tensor)).getRank());
  llvm::Expected<Equation> equation =
      parseEquation(node.string("equation"), ranks);
  if (!equation)
    return emit.error(node) << llvm::toString(equation.takeError());
  const AxisLabels &wanted = equation->result;
  SmallVector<Labelled> operands;
  for (auto [labels, tensor] : llvm::zip_equal(equation->operands, tensors)) {
    Value x = emit.cast(emit.refined(tensor), element);
    FailureOr<Labelled> labelled = operand(labels, x);
    if (failed(labelled))
      return failure();
    operands.push_back(*labelled);
  }

  Labelled result = operands.front();
  for (size_t next = 1; next < operands.size(); ++next) {
    auto isNeeded = [&](int label) {
      return llvm::is_contained(wanted, label) ||
             llvm::any_of(ArrayRef(operands).drop_front(next + 1),
                          [&](const Labelled &later) {
                            return llvm::is_contained(later.labels, label);
                          });
    };
    FailureOr<Labelled> product = contract(result, operands[next], isNeeded);
    if (failed(product))
      return failure();
    result = *product;
  }
  sumOut(result, [&](int label) { return llvm::is_contained(wanted, label); });
  SmallVector<int64_t> order;
  for (int label : wanted)
    order.push_back(llvm::find(result.labels, label) - result.labels.begin());
  return emit.refine(emit.transpose(result.value, order), emit.typeOf(node));
}

/// einsum(equation, tensors): sums of products over the axes that the equation
/// does not name on its right, from the first tensor to the last.
static FailureOr<Value> lowerEinsum(const AtenNode &node, Emitter &emit) {
  return Einsum(node, emit).lower();
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedLinearAlgebra() {
#define IN_UndecomposedLinearAlgebra ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
