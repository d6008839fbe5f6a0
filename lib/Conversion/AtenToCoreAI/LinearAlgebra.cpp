// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DimExpr.h"
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

/// What a view that merges batch axes is a view of: [a, b, m, k] for
/// [a * b, m, k]. Null where the argument is anything else.
static const Argument *beforeMerge(const Argument &argument) {
  const Node *view = argument.asNode();
  if (!view->callee || view->callee->name != "view.default")
    return nullptr;
  const Argument &source = view->argument("self");
  ArrayRef<Size> merged = view->info().sizes;
  ArrayRef<Size> sizes = source.asNode()->info().sizes;
  bool isMerge = sizes.size() > 3 && merged.size() == 3 &&
                 sizes.take_back(2) == merged.take_back(2);
  return isMerge ? &source : nullptr;
}

/// bmm(self, mat2)
///
/// matmul is decomposed into views that merge the batch axes, this, and a view
/// that splits them. Where their sizes are dynamic, coreai-core's optimizer
/// drops such a view of one operand even if an earlier view has undone that of
/// the other, and the batches no longer fit. With all the axes in place there
/// is no view to drop.
static Value lowerBmm(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  const Argument *x = beforeMerge(node["self"]);
  const Argument *y = beforeMerge(node["mat2"]);
  if (x && y && node.result().sizes.front().isDynamic()) {
    ArrayRef<Size> left = x->asNode()->info().sizes.drop_back(2);
    ArrayRef<Size> right = y->asNode()->info().sizes.drop_back(2);
    if (left == right)
      return emit.mergeAxes(
          product(emit, emit.value(*x), emit.value(*y), element), 0,
          static_cast<int64_t>(left.size()));
  }
  return product(emit, emit.tensor(node, "self"), emit.tensor(node, "mat2"),
                 element);
}

/// mm(self, mat2)
static Value lowerMatmul(const AtenNode &node, Emitter &emit) {
  return product(emit, emit.tensor(node, "self"), emit.tensor(node, "mat2"),
                 resultElement(node, emit));
}

/// addmm(self, mat1, mat2, beta, alpha)
///
///   beta * self + alpha * (mat1 @ mat2)
static FailureOr<Value> lowerAddmm(const AtenNode &node, Emitter &emit) {
  return scaledSum(node, emit,
                   product(emit, emit.tensor(node, "mat1"),
                           emit.tensor(node, "mat2"),
                           resultElement(node, emit)));
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
  SmallVector<int64_t> axes;
  for (int64_t dim : node.integers("sumdim"))
    axes.push_back(emit.axis(dim, emit.type(x).getRank()));
  return emit.reduce<coreai::ReduceSumOp>(x, axes, /*keepDims=*/false);
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
  int64_t rows = emit.axis(node.integer("dim1"), rank);
  int64_t columns = emit.axis(node.integer("dim2"), rank);
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
#define LINEAR_ALGEBRA(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "AtenTable.def"
  };
  return entries;
}
