// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Determinants, linear equations and the exponential of square matrices, the
// last two axes of their operands.

#include "Emission/DimExpr.h"
#include "Emission/Loop.h"
#include "SpecialFunctions/SpecialFunctions.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cmath>
#include <numbers>

using namespace corten;
using namespace mlir;

static LogicalResult checkReal(const AtenNode &node, Emitter &emit, Value x) {
  if (emit.hasFailed())
    return failure();
  if (!isFloat(x))
    return emit.error(node)
           << "matrices of " << getElementTypeOrSelf(x) << ", want real ones";
  return success();
}

/// The factors of a decomposition are not computed.
static LogicalResult checkUnused(const AtenNode &node, Emitter &emit,
                                 ArrayRef<unsigned> factors) {
  for (unsigned factor : factors)
    if (emit.isUsed(node, factor))
      return emit.error(node) << "result " << factor << " of " << node.op()
                              << " is part of a factorization, which Core AI "
                                 "cannot express";
  return success();
}

//===----------------------------------------------------------------------===//
// Elimination
//===----------------------------------------------------------------------===//

namespace {
/// A matrix with further columns to its right, fully eliminated.
struct Eliminated {
  /// The further columns: the solutions.
  Value columns;
  /// The sign of the determinant and ln of its magnitude; [..., 1, 1].
  Value sign, logMagnitude;
  /// The determinant itself.
  Value determinant;
  /// 0, or the first step (from 1) without a pivot other than zero.
  Value firstSingular;
};
} // namespace

/// Gauss and Jordan's elimination of `matrix` [..., n, n + m], whose first n
/// columns become the identity. Each step picks the largest pivot left in its
/// column and swaps its row into place.
static Eliminated eliminate(Emitter &emit, Value matrix) {
  int64_t rows = rankOf(matrix) - 2, columns = rows + 1;
  DimExpr count(emit, matrix, rows);
  Value rowNumbers = emit.expandDims(countUp(emit, count), {1});
  Value columnNumbers =
      emit.expandDims(countUp(emit, DimExpr(emit, matrix, columns)), {0});
  // [..., 1, 1]
  Value none =
      emit.scaleBy(emit.reduce<coreai::ReduceMaxOp>(
                       emit.cast(emit.notEqual(matrix, matrix), emit.f32()),
                       {rows, columns}, /*keepDims=*/true),
                   0.0);
  Value one = affine(emit, none, 1, 1);
  auto pickRow = [&](Value x, Value isRow) {
    return emit.reduce<coreai::ReduceSumOp>(
        emit.where(isRow, x, numberLike(emit, 0.0, x)), {rows}, true);
  };
  auto pickColumn = [&](Value x, Value isColumn) {
    return emit.reduce<coreai::ReduceSumOp>(
        emit.where(isColumn, x, numberLike(emit, 0.0, x)), {columns}, true);
  };

  Results last = loop(
      emit,
      {emit.index(0), matrix, one, none, one, emit.cast(none, emit.si32())},
      [&](ValueRange state) { return emit.greater(count.scalar(), state[0]); },
      [&](ValueRange state) {
        Value step = state[0], x = state[1];
        Value isStep = emit.equal(rowNumbers, step);
        Value column = pickColumn(x, emit.equal(columnNumbers, step));
        // Rows that are done cannot be picked. NaN is no candidate either: it
        // would hide from argmax, and spreads from any other pivot as well.
        Value size =
            emit.where(emit.greater(step, rowNumbers),
                       numberLike(emit, -1.0, column), absolute(emit, column));
        Value place =
            emit.cast(emit.create<coreai::ArgmaxOp>({size, emit.index(rows)}),
                      emit.si32());
        Value isPlace = emit.equal(rowNumbers, place);
        Value upper = pickRow(x, isPlace), lower = pickRow(x, isStep);
        x = emit.where(isStep, upper, emit.where(isPlace, lower, x));
        column = pickColumn(x, emit.equal(columnNumbers, step));
        Value pivot = pickRow(column, isStep);
        Value scaled = emit.divide(upper, pivot);
        x = emit.where(isStep, scaled, emit.sub(x, emit.mul(column, scaled)));

        Value swapSign =
            emit.where(emit.equal(place, step), one, emit.negate(one));
        Value isSingular = emit.logicalAnd(isEqual(emit, pivot, 0),
                                           isEqual(emit, state[5], 0));
        Value next = emit.add(step, emit.index(1));
        return Results{
            next,
            x,
            emit.mul(state[2], emit.mul(swapSign, sign(emit, pivot))),
            emit.add(state[3], logarithm(emit, absolute(emit, pivot))),
            emit.mul(state[4], emit.mul(swapSign, pivot)),
            emit.where(isSingular, next, state[5])};
      });
  Value solutions =
      sliceAxis(emit, last[1], columns, count, DimExpr(emit, matrix, columns));
  return {solutions, last[2], last[3], last[4], last[5]};
}

/// 0 wherever a pivot was missing: the steps after it divide by zero.
static Value unlessSingular(Emitter &emit, const Eliminated &result, Value x,
                            double otherwise) {
  return emit.where(isAbove(emit, result.firstSingular, 0),
                    numberLike(emit, otherwise, x), x);
}

static Value withoutMatrixAxes(Emitter &emit, Value x) {
  return emit.shrinkDims(x, {rankOf(x) - 2, rankOf(x) - 1});
}

/// The matrices have no rows.
static bool isEmptyMatrix(Value x) {
  return cast<RankedTensorType>(x.getType()).getShape().back() == 0;
}

/// _linalg_det(A): the determinant. The factors are not computed.
static FailureOr<Results> lowerDet(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "A");
  if (failed(checkReal(node, emit, x)) ||
      failed(checkUnused(node, emit, {1, 2})))
    return failure();
  if (isEmptyMatrix(x))
    return Results{emit.splat(1.0, emit.typeOf(node)), {}, {}};
  Eliminated result = eliminate(emit, x);
  Value value = unlessSingular(emit, result, result.determinant, 0.0);
  return Results{withoutMatrixAxes(emit, value), {}, {}};
}

/// _linalg_slogdet(A): the sign of the determinant and ln of its magnitude.
static FailureOr<Results> lowerSlogdet(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "A");
  if (failed(checkReal(node, emit, x)) ||
      failed(checkUnused(node, emit, {2, 3})))
    return failure();
  if (isEmptyMatrix(x))
    return Results{emit.splat(1.0, emit.typeOf(node, 0)),
                   emit.splat(0.0, emit.typeOf(node, 1)),
                   {},
                   {}};
  Eliminated result = eliminate(emit, x);
  Value value = unlessSingular(emit, result, result.logMagnitude, -kInfinity);
  return Results{
      withoutMatrixAxes(emit, unlessSingular(emit, result, result.sign, 0.0)),
      withoutMatrixAxes(emit, value),
      {},
      {}};
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

/// The identity, in the shape of the square matrices `like`.
static Value identityLike(Emitter &emit, Value like) {
  int64_t rows = rankOf(like) - 2;
  Value numbers = countUp(emit, DimExpr(emit, like, rows));
  Value isDiagonal =
      emit.equal(emit.expandDims(numbers, {1}), emit.expandDims(numbers, {0}));
  Value zero = emit.scaleBy(
      emit.cast(emit.notEqual(like, like), getElementTypeOrSelf(like)), 0.0);
  return emit.add(zero, emit.cast(isDiagonal, getElementTypeOrSelf(like)));
}

static Value swapLastAxes(Emitter &emit, Value x) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return emit.transpose(x, order);
}

/// linalg_inv_ex(A): the inverse, and where elimination found no pivot.
static FailureOr<Results> lowerInverse(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "A");
  if (failed(checkReal(node, emit, x)))
    return failure();
  if (isEmptyMatrix(x))
    return Results{x, emit.splat(0.0, emit.typeOf(node, 1))};
  Eliminated result =
      eliminate(emit, emit.concat({x, identityLike(emit, x)}, rankOf(x) - 1));
  return Results{result.columns, withoutMatrixAxes(emit, result.firstSingular)};
}

/// `x`, equal along the batch axes that the matrices of the shape `own` were
/// spread over, with the batch axes of `own` only.
static Value withBatchesOf(Emitter &emit, Value x, ArrayRef<int64_t> own) {
  int64_t added = rankOf(x) - static_cast<int64_t>(own.size());
  SmallVector<int64_t> units;
  for (auto [axis, extent] : llvm::enumerate(own.drop_back(2)))
    if (extent == 1)
      units.push_back(added + static_cast<int64_t>(axis));
  x = emit.reduce<coreai::ReduceMaxOp>(x, units, /*keepDims=*/true);
  return emit.reduce<coreai::ReduceMaxOp>(
      x, llvm::to_vector(llvm::seq<int64_t>(added)), /*keepDims=*/false);
}

/// _linalg_solve_ex(A, B, left): X with A X = B, or X A = B, which is
/// Aᵀ Xᵀ = Bᵀ. B may be vectors instead of matrices. What is singular is told
/// for the batches of A.
static FailureOr<Results> lowerSolve(const AtenNode &node, Emitter &emit) {
  Value a = emit.refined(node, "A"), b = emit.refined(node, "B");
  if (failed(checkReal(node, emit, a)) ||
      failed(checkUnused(node, emit, {1, 2})))
    return failure();
  if (isEmptyMatrix(a))
    return Results{emit.constant(DenseElementsAttr::get(emit.typeOf(node),
                                                        ArrayRef<Attribute>())),
                   {},
                   {},
                   emit.splat(0.0, emit.typeOf(node, 3))};
  auto shapeA = cast<RankedTensorType>(a.getType()).getShape();
  auto shapeB = cast<RankedTensorType>(b.getType()).getShape();
  // torch's rule: one axis only, or the batches and rows of A.
  bool isVector = rankOf(b) == 1 ||
                  (rankOf(b) == rankOf(a) - 1 && shapeB == shapeA.drop_back());
  bool left = node.flag("left");
  if (isVector)
    b = emit.expandDims(b, {rankOf(b)});
  if (!left) {
    a = swapLastAxes(emit, a);
    b = isVector ? b : swapLastAxes(emit, b);
  }
  // One set of batch axes for both.
  int64_t rank = std::max(rankOf(a), rankOf(b));
  auto spread = [&](Value x, Value other) {
    Value batches = emit.reduce<coreai::ReduceMaxOp>(
        emit.cast(emit.notEqual(other, other), emit.f32()),
        {rankOf(other) - 2, rankOf(other) - 1}, /*keepDims=*/true);
    return emit.add(x, emit.scaleBy(batches, 0.0));
  };
  if (rank > 2) {
    Value spreadA = spread(a, b);
    b = spread(b, a);
    a = spreadA;
  }
  Eliminated result = eliminate(emit, emit.concat({a, b}, rank - 1));
  Value x = result.columns;
  if (isVector)
    x = emit.shrinkDims(x, {rank - 1});
  else if (!left)
    x = swapLastAxes(emit, x);
  Value firstSingular = withBatchesOf(emit, result.firstSingular, shapeA);
  return Results{x, {}, {}, withoutMatrixAxes(emit, firstSingular)};
}

//===----------------------------------------------------------------------===//
// The exponential
//===----------------------------------------------------------------------===//

/// linalg_matrix_exp(self)
///
/// exp(A) = exp(A / 2^s)^(2^s) with s such that the column sums are at most
/// 1/2, where eight terms of the series are enough for f32. Matrices that need
/// fewer squarings than others skip the rest.
static FailureOr<Value> lowerMatrixExp(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  if (failed(checkReal(node, emit, x)))
    return failure();
  Type element = getElementTypeOrSelf(x);
  x = emit.cast(x, emit.f32());
  int64_t rows = rankOf(x) - 2;
  Value sums =
      emit.reduce<coreai::ReduceSumOp>(absolute(emit, x), {rows}, true);
  Value norm = emit.reduce<coreai::ReduceMaxOp>(sums, {rows + 1}, true);
  Value tiny = numberLike(emit, 1e-30, norm);
  Value exponent =
      emit.scaleBy(logarithm(emit, emit.maximum(emit.scaleBy(norm, 2.0), tiny)),
                   1 / std::numbers::ln2);
  // Infinite and undefined norms give infinite and undefined powers anyway.
  exponent = emit.where(isAbove(emit, exponent, 130),
                        numberLike(emit, 130.0, exponent), exponent);
  Value squarings =
      emit.maximum(ceil(emit, exponent), numberLike(emit, 0.0, exponent));
  x = emit.divide(x, emit.pow(numberLike(emit, 2.0, squarings), squarings));

  Value identity = identityLike(emit, x);
  Value sum = identity;
  for (int term = 8; term > 0; --term)
    sum = emit.add(identity, emit.scaleBy(emit.matmul(x, sum), 1.0 / term));

  Value counts =
      emit.concat({emit.reshape(squarings, {-1}), emit.floats({0})}, 0);
  Value most = emit.reduce<coreai::ReduceMaxOp>(counts, {0}, false);
  Results last = loop(
      emit, {emit.scalar(0.0, emit.f32()), sum},
      [&](ValueRange state) { return emit.greater(most, state[0]); },
      [&](ValueRange state) {
        Value square = emit.matmul(state[1], state[1]);
        return Results{
            affine(emit, state[0], 1, 1),
            emit.where(emit.greater(squarings, state[0]), square, state[1])};
      });
  // The loop may run zero times; then its result must not reach the output as
  // it is (the runtime forwards nothing).
  return emit.cast(emit.add(last[1], numberLike(emit, 0.0, last[1])), element);
}

llvm::ArrayRef<TableEntry> corten::loweringsMatrixFunctions() {
#define IN_MatrixFunctions ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
