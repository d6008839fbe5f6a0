// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Composite.h"
#include "Emission/DimExpr.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The low bits of 32-bit integers as a narrower type, in two's complement.
static Value wrapInteger(Emitter &emit, Value x, IntegerType narrow) {
  unsigned width = narrow.getWidth();
  Value low = emit.create<coreai::BroadcastingBitwiseAndOp>(
      {x, emit.index((int64_t(1) << width) - 1)});
  if (narrow.isSigned()) {
    int64_t sign = int64_t(1) << (width - 1);
    low = emit.sub(
        emit.create<coreai::BroadcastingBitwiseXorOp>({low, emit.index(sign)}),
        emit.index(sign));
  }
  return emit.cast(low, narrow);
}

/// x @ y over the last two axes. 8- and 16-bit integers wrap as in torch; the
/// runtime ends the process when a sum of products leaves its type, so they
/// are multiplied as 32-bit ones.
static Value product(Emitter &emit, Value x, Value y, Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() >= 32)
    return emit.matmul(emit.cast(x, element), emit.cast(y, element));
  Value wide =
      emit.matmul(emit.cast(x, emit.si32()), emit.cast(y, emit.si32()));
  return wrapInteger(emit, wide, integer);
}

/// beta * self + alpha * product. With beta = 0 torch ignores self, whatever
/// it holds.
static FailureOr<Value> scaledSum(const AtenNode &node, Emitter &emit,
                                  Value product) {
  Type element = getElementTypeOrSelf(product);
  auto scaled = [&](Value x, StringRef parameter) -> FailureOr<Value> {
    if (node[parameter].isNumber())
      return emit.scaleBy(x, node.number(parameter));
    FailureOr<Value> factor = emit.operand(node, parameter, element);
    if (failed(factor))
      return failure();
    return emit.mul(x, *factor);
  };
  FailureOr<Value> term = scaled(product, "alpha");
  if (failed(term))
    return failure();
  if (node["beta"].isNumber() && node.number("beta") == 0)
    return term;
  FailureOr<Value> bias =
      scaled(emit.cast(emit.tensor(node, "self"), element), "beta");
  if (failed(bias))
    return failure();
  return emit.add(*term, *bias);
}

static Type resultElement(const AtenNode &node, Emitter &emit) {
  return emit.elementType(node.result().dtype);
}

/// The rows of a matrix before they were merged into one axis: what a reshape
/// that keeps the last axis was applied to, else `x` itself.
///
/// torch merges rows to multiply a tensor by a matrix. The optimizer undoes it:
/// it moves the reshape past the product and past the sum or product that
/// follows, whatever the other operand's shape, and ends the process where the
/// two then do not broadcast. It has nothing to move if the product is of the
/// original rows. Where the rows are split again at once, as in torch's linear,
/// the reshapes stay: clients count them. Not where they are of a size that
/// data decides, which is read from the product: it would be computed twice.
static Value unmergedRows(const AtenNode &node, Emitter &emit, Value x) {
  auto merge = x.getDefiningOp<coreai::ReshapeOp>();
  bool staysMerged = emit.isSplitAgain(node.inProgram()) && !emit.mayBeEmpty;
  if (!merge || emit.type(x).getRank() != 2 || staysMerged)
    return x;
  auto source = dyn_cast<RankedTensorType>(merge->getOperand(0).getType());
  int64_t columns = emit.type(x).getDimSize(1);
  if (!source || source.getRank() <= 2 || ShapedType::isDynamic(columns) ||
      source.getShape().back() != columns)
    return x;
  return merge->getOperand(0);
}

/// The product of unmerged rows as a matrix.
static Value mergedRows(Emitter &emit, Value x) {
  int64_t rank = emit.type(x).getRank();
  return rank <= 2 ? x : emit.mergeAxes(x, 0, rank - 1);
}

/// mm(self, mat2)
static Value lowerMm(const AtenNode &node, Emitter &emit) {
  Value rows = unmergedRows(node, emit, emit.tensor(node, "self"));
  return mergedRows(emit, product(emit, rows, emit.tensor(node, "mat2"),
                                  resultElement(node, emit)));
}

/// What a view that merges batch axes is a view of: [a, b, m, k] for
/// [a * b, m, k]. Null where the argument is anything else.
static const Argument *beforeMerge(const Argument &argument) {
  const Node *view = argument.isValue() ? argument.asNode() : nullptr;
  if (!view || !view->callee ||
      (view->callee->name != "view.default" &&
       view->callee->name != "reshape.default"))
    return nullptr;
  const Argument &source = view->argument("self");
  if (!source.isValue())
    return nullptr;
  ArrayRef<Size> merged = view->info().sizes;
  ArrayRef<Size> sizes = source.asNode()->info().sizes;
  bool isMerge = sizes.size() > 3 && merged.size() == 3 &&
                 sizes.take_back(2) == merged.take_back(2);
  return isMerge ? &source : nullptr;
}

/// `x` of [n, m, k] with the batch axes of `like`, which are n together.
static Value splitBatch(Emitter &emit, Value x, Value like) {
  int64_t batchAxes = emit.type(like).getRank() - 2;
  SmallVector<DimExpr> dims;
  for (int64_t axis = 0; axis < batchAxes; ++axis)
    dims.push_back(DimExpr(emit, like, axis));
  dims.push_back(DimExpr(emit, x, 1));
  dims.push_back(DimExpr(emit, x, 2));
  SmallVector<int64_t> shape(emit.type(like).getShape().take_front(batchAxes));
  llvm::append_range(shape, emit.type(x).getShape().take_back(2));
  return emit.reshape(x, joinDims(emit, dims), emit.type(x).clone(shape));
}

/// bmm(self, mat2)
///
/// matmul is decomposed into views that merge the batch axes, this, and a view
/// that splits them. Where their sizes are dynamic, coreai-core's optimizer
/// drops such a view of one operand even if an earlier view has undone that of
/// the other, or if it has none, and the batches no longer fit. With all the
/// axes in place there is no view to drop.
static Value lowerBmm(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  Value left = emit.tensor(node, "self"), right = emit.tensor(node, "mat2");
  const Argument *x = beforeMerge(node["self"]);
  const Argument *y = beforeMerge(node["mat2"]);
  if ((!x && !y) || !node.result().sizes.front().isDynamic())
    return product(emit, left, right, element);
  auto batchOf = [](const Argument *argument) {
    return argument->asNode()->info().sizes.drop_back(2);
  };
  Value split = emit.value(x ? *x : *y);
  bool isSame = x && y && batchOf(x) == batchOf(y);
  left = x ? split : splitBatch(emit, left, split);
  right = isSame || !x ? emit.value(*y) : splitBatch(emit, right, split);
  return emit.mergeAxes(product(emit, left, right, element), 0,
                        emit.type(split).getRank() - 2);
}

/// addmm(self, mat1, mat2, beta, alpha)
///
///   beta * self + alpha * (mat1 @ mat2)
static FailureOr<Value> lowerAddmm(const AtenNode &node, Emitter &emit) {
  Value rows = unmergedRows(node, emit, emit.tensor(node, "mat1"));
  Value result =
      product(emit, rows, emit.tensor(node, "mat2"), resultElement(node, emit));
  // A bias per column is added before the rows are merged again.
  bool isPerColumn = emit.type(emit.tensor(node, "self")).getRank() <= 1;
  if (!isPerColumn)
    result = mergedRows(emit, result);
  FailureOr<Value> sum = scaledSum(node, emit, result);
  if (failed(sum))
    return failure();
  return isPerColumn ? mergedRows(emit, *sum) : *sum;
}

/// baddbmm(self, batch1, batch2, beta, alpha)
static FailureOr<Value> lowerBaddbmm(const AtenNode &node, Emitter &emit) {
  return scaledSum(node, emit,
                   product(emit, emit.tensor(node, "batch1"),
                           emit.tensor(node, "batch2"),
                           resultElement(node, emit)));
}

/// addbmm(self, batch1, batch2, beta, alpha)
///
///   beta * self + alpha * Σ over the batch of (batch1[i] @ batch2[i])
static FailureOr<Value> lowerAddbmm(const AtenNode &node, Emitter &emit) {
  Value products =
      product(emit, emit.tensor(node, "batch1"), emit.tensor(node, "batch2"),
              resultElement(node, emit));
  return scaledSum(node, emit,
                   emit.reduce<coreai::ReduceSumOp>(products, {0}, false));
}

/// addmv(self, mat, vec, beta, alpha)
///
///   beta * self + alpha * (mat @ vec)
static FailureOr<Value> lowerAddmv(const AtenNode &node, Emitter &emit) {
  Value column = emit.expandDims(emit.tensor(node, "vec"), {1});
  Value products = product(emit, emit.tensor(node, "mat"), column,
                           resultElement(node, emit));
  return scaledSum(node, emit, emit.shrinkDims(products, {1}));
}

/// _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim)
///
/// Each input gets unit axes where its list says so; the sum over `sumdim` of
/// the product of all three.
static Value lowerTrilinear(const AtenNode &node, Emitter &emit) {
  auto expanded = [&](StringRef input, StringRef axes) {
    return emit.expandDims(emit.tensor(node, input), node.integers(axes));
  };
  Value x =
      emit.mul(emit.mul(expanded("i1", "expand1"), expanded("i2", "expand2")),
               expanded("i3", "expand3"));
  SmallVector<int64_t> axes = node.axes("sumdim", emit.type(x).getRank());
  return emit.reduce<coreai::ReduceSumOp>(x, axes, /*keepDims=*/false);
}

//===----------------------------------------------------------------------===//
// Products of groups
//===----------------------------------------------------------------------===//

/// The group of each of `count` places: how many groups end at or before it.
/// `ends` are the ascending ends of the groups.
static Value groupOf(Emitter &emit, Value ends, const DimExpr &count) {
  Value places = emit.expandDims(countUp(emit, count), {1});
  Value isPast = emit.logicalNot(
      emit.greater(emit.expandDims(emit.cast(ends, emit.si32()), {0}), places));
  return emit.reduce<coreai::ReduceSumOp>(emit.cast(isPast, emit.si32()), {1},
                                          /*keepDims=*/false);
}

/// rows[s] @ matrices[group(s)] for rows [S, K] and matrices [G, K, N]; zero
/// for rows past the last group. The products of rows with the matrices that
/// they pick are the composite of mixtures of experts.
static FailureOr<Value> groupedProduct(Emitter &emit, Value rows,
                                       Value matrices, Value ends) {
  Value group = groupOf(emit, ends, DimExpr(emit, rows, 0));
  Value count = DimExpr(emit, ends, 0).scalar();
  Value picked = emit.minimum(group, emit.sub(count, emit.index(1)));
  CompositeSpec spec = {"gather_mm",
                        "gather_mm",
                        {"lhs", "rhs", "rhs_indices"},
                        {{"num_batch_axes", int64_t(0)}}};
  auto body = [&](ValueRange arguments) -> FailureOr<Value> {
    return emit.matmul(arguments[0], emit.take(arguments[1], arguments[2], 0));
  };
  FailureOr<Value> products = emit.composite(
      spec, {emit.expandDims(rows, {1}), matrices, picked}, body);
  if (failed(products))
    return failure();
  Value result = emit.shrinkDims(*products, {1});
  Value isInGroup = emit.expandDims(emit.greater(count, group), {1});
  return emit.where(isInGroup, result,
                    emit.scalar(0.0, getElementTypeOrSelf(result)));
}

/// Products over the parts of the inner axis: x [M, K] and y [K, N], of which
/// group g takes its columns and rows; [G, M, N].
static Value splitProduct(Emitter &emit, Value x, Value y, Value ends) {
  Value group = groupOf(emit, ends, DimExpr(emit, y, 0));
  Value groups = emit.expandDims(countUp(emit, DimExpr(emit, ends, 0)), {1});
  Value isMember = emit.equal(groups, emit.expandDims(group, {0}));
  Value part =
      emit.where(emit.expandDims(isMember, {1}), emit.expandDims(x, {0}),
                 emit.scalar(0.0, getElementTypeOrSelf(x)));
  return emit.matmul(part, emit.expandDims(y, {0}));
}

/// _grouped_mm(self, mat2, offs, bias, out_dtype)
///
/// Matrix products by groups that end at `offs`: of the rows of self where only
/// mat2 has three axes, of the columns of mat2 where only self has, of the
/// inner axis where neither has. Without groups, a batched product.
static FailureOr<Value> lowerGroupedMm(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  Value y = emit.tensor(node, "mat2");
  Value ends = emit.optionalTensor(node, "offs");
  Type element = resultElement(node, emit);
  bool isBatch = emit.type(x).getRank() == 3,
       isOther = emit.type(y).getRank() == 3;
  if (node.has("bias"))
    return emit.error(node) << "a grouped product with a bias";
  if (isBatch && isOther)
    return emit.cast(emit.matmul(x, y), element);
  if (!ends)
    return emit.error(node) << "a grouped product without groups";
  if (!isBatch && !isOther)
    return emit.cast(splitProduct(emit, x, y, ends), element);
  FailureOr<Value> result =
      isOther ? groupedProduct(emit, x, y, ends)
              : groupedProduct(emit, emit.transpose(y, {1, 0}),
                               emit.transpose(x, {0, 2, 1}), ends);
  if (failed(result))
    return failure();
  return emit.cast(isOther ? *result : emit.transpose(*result, {1, 0}),
                   element);
}

/// transformers::grouped_mm_fallback(input, weight, offs)
///
/// The form that transformers gives to products of groups of rows in exported
/// mixtures of experts.
static FailureOr<Value> lowerExpertsMm(const AtenNode &node, Emitter &emit) {
  return groupedProduct(emit, emit.tensor(node, "input"),
                        emit.tensor(node, "weight"), emit.tensor(node, "offs"));
}

//===----------------------------------------------------------------------===//
// Parts of matrices
//===----------------------------------------------------------------------===//

/// diagonal(self, offset, dim1, dim2)
///
/// The elements with index[dim2] - index[dim1] = offset, as a new last axis:
/// a gather of (row, column) pairs from the two axes brought to the front.
static Value lowerDiagonal(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = emit.type(x).getRank();
  int64_t rows = node.axis("dim1", rank);
  int64_t columns = node.axis("dim2", rank);
  int64_t offset = node.integer("offset");
  int64_t firstRow = std::max<int64_t>(0, -offset);
  int64_t firstColumn = std::max<int64_t>(0, offset);

  SmallVector<int64_t> toFront = {rows, columns}, toBack;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != rows && axis != columns)
      toFront.push_back(axis);
  for (int64_t axis = 1; axis < rank - 1; ++axis)
    toBack.push_back(axis);
  toBack.push_back(0);

  DimExpr length = (DimExpr(emit, x, rows) - firstRow)
                       .min(DimExpr(emit, x, columns) - firstColumn);
  Value step = emit.expandDims(countUp(emit, length), {1});
  Value pairs = emit.concat({emit.add(step, emit.index(firstRow)),
                             emit.add(step, emit.index(firstColumn))},
                            1);
  Value picked =
      emit.create<coreai::GatherNdOp>({emit.transpose(x, toFront), pairs});
  return rank == 2 ? picked : emit.transpose(picked, toBack);
}

llvm::ArrayRef<TableEntry> corten::loweringsLinearAlgebra() {
#define IN_LinearAlgebra ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
