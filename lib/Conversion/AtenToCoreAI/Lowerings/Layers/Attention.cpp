// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Composite.h"
#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Emission/ScalarExpr.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cmath>
#include <limits>

using namespace corten;
using namespace mlir;

/// True where query i may look at key j: j <= i, counted from the first query
/// and the first key.
static Value causalMask(Emitter &emit, const DimExpr &queries,
                        const DimExpr &keys) {
  Value row = emit.expandDims(countUp(emit, queries), {1});
  Value column = emit.expandDims(countUp(emit, keys), {0});
  return emit.logicalNot(emit.greater(column, row));
}

//===----------------------------------------------------------------------===//
// Bringing operands to [B, H, T, D]
//===----------------------------------------------------------------------===//

namespace {
/// Brings operands, which have any number of batch axes and broadcast against
/// each other, to [B, H, T, D], and the result back.
class HeadLayout {
public:
  /// Where heads are grouped, the third-last axis is one of heads even if there
  /// is none in front of it.
  HeadLayout(Emitter &emit, RankedTensorType result, ArrayRef<Value> operands,
             bool isGrouped)
      : emit(emit), result(result), operands(operands), isGrouped(isGrouped) {}

  /// A mask, which may have any number of axes up to that of the result. What
  /// comes back broadcasts to [B, H, Tq, Tk].
  Value enterMask(Value mask) const {
    int64_t rank = result.getRank(), own = emit.type(mask).getRank();
    // Without heads, the third-last axis is the batch.
    if (rank == 3 && own == 3 && !isGrouped)
      return emit.expandDims(mask, {1});
    return rank > 4 && own > 3 ? mergeBatch(mask) : mask;
  }

  Value enter(Value x) const {
    x = enterMask(x);
    int64_t missing = 4 - emit.type(x).getRank();
    return emit.expandDims(x, llvm::to_vector(llvm::seq<int64_t>(0, missing)));
  }

  Value leave(Value x) const {
    int64_t rank = result.getRank();
    if (rank == 4)
      return x;
    if (rank == 3)
      return emit.shrinkDims(x, {isGrouped ? 0 : 1});
    if (rank == 2)
      return emit.shrinkDims(x, {0, 1});
    SmallVector<DimExpr> shape;
    for (int64_t axis = 0; axis < rank - 3; ++axis)
      shape.push_back(batchExtent(axis));
    for (int64_t axis = 1; axis < 4; ++axis)
      shape.push_back(DimExpr(emit, x, axis));
    return emit.reshape(x, joinDims(emit, shape), result);
  }

private:
  /// All axes in front of the heads as one. Where they are not those of the
  /// result, they are repeated, unless all of them are to be.
  Value mergeBatch(Value x) const {
    int64_t rank = result.getRank(), batchAxes = rank - 3;
    int64_t missing = rank - emit.type(x).getRank();
    x = emit.expandDims(x, llvm::to_vector(llvm::seq<int64_t>(0, missing)));
    ArrayRef<int64_t> own = emit.type(x).getShape();
    if (!llvm::all_of(own.take_front(batchAxes),
                      [](int64_t extent) { return extent == 1; })) {
      SmallVector<int64_t> shape(result.getShape().take_front(batchAxes));
      llvm::append_range(shape, own.drop_front(batchAxes));
      x = emit.broadcast(x, emit.type(x).clone(shape), [&](int64_t axis) {
        return batchExtent(axis).vector();
      });
    }
    return emit.mergeAxes(x, 0, batchAxes);
  }

  /// Extent of a batch axis of the result, from an operand that is not
  /// broadcast along it.
  DimExpr batchExtent(int64_t axis) const {
    for (Value operand : operands) {
      RankedTensorType type = emit.type(operand);
      int64_t own = axis - (result.getRank() - type.getRank());
      if (own >= 0 && type.getDimSize(own) != 1)
        return {emit, operand, own};
    }
    return {emit, 1};
  }

  Emitter &emit;
  RankedTensorType result;
  ArrayRef<Value> operands;
  bool isGrouped;
};
} // namespace

//===----------------------------------------------------------------------===//
// The composite
//===----------------------------------------------------------------------===//

/// Repeats each of the heads of [B, H, T, D] in place, up to `heads` of them.
static FailureOr<Value> repeatHeads(const AtenNode &node, Emitter &emit,
                                    Value x, int64_t heads) {
  RankedTensorType type = emit.type(x);
  int64_t own = type.getDimSize(1);
  if (own == heads)
    return x;
  if (ShapedType::isDynamic(own) || ShapedType::isDynamic(heads) || own == 0 ||
      heads % own != 0)
    return emit.error(node) << "grouped-query attention with " << heads
                            << " query heads and " << own << " key heads";
  Value tiled = emit.create<coreai::TileOp>(
      {emit.expandDims(x, {2}),
       emit.indices({1, 1, heads / own, 1, 1}, IndexKind::Unsigned)});
  SmallVector<DimExpr> shape;
  for (int64_t axis = 0; axis < 4; ++axis)
    shape.push_back(axis == 1 ? DimExpr(emit, heads) : DimExpr(emit, x, axis));
  SmallVector<int64_t> extents(type.getShape());
  extents[1] = heads;
  return emit.reshape(tiled, joinDims(emit, shape),
                      RankedTensorType::get(extents, type.getElementType()));
}

/// query * scale, or query / sqrt(D) when there is none.
static Value scaleQuery(Emitter &emit, Value query,
                        std::optional<double> scale) {
  Type element = getElementTypeOrSelf(query);
  DimExpr width(emit, query, 3);
  if (!scale && width.isStatic())
    scale = 1.0 / std::sqrt(static_cast<double>(width.extent()));
  if (scale)
    return emit.scaleBy(query, *scale);
  Value factor =
      emit.create<coreai::RsqrtOp>({emit.cast(width.scalar(), emit.f32())});
  return emit.mul(query, emit.cast(factor, element));
}

/// softmax(scores) with a mask. A query that may look at nothing gets weights
/// of zero, as in torch, where the plain formula gives NaN.
static Value maskedSoftmax(Emitter &emit, Value scores, Value mask) {
  Type element = getElementTypeOrSelf(scores);
  auto softmax = [&](Value x) {
    return emit.create<coreai::SoftmaxOp>({x, emit.index(3)});
  };
  if (!mask)
    return softmax(scores);
  emit.depart(Departure::ClosedRows);
  Value zero = emit.scalar(0.0, element);
  Value closed = emit.scalar(-std::numeric_limits<double>::infinity(), element);
  if (getElementTypeOrSelf(mask).isInteger(1)) {
    Value weights = softmax(emit.where(mask, scores, closed));
    return emit.where(mask, weights, zero);
  }
  Value sum = emit.add(scores, emit.cast(mask, element));
  Value largest = emit.reduce<coreai::ReduceMaxOp>(sum, {3}, /*keepDims=*/true);
  return emit.where(emit.equal(largest, closed), zero, softmax(sum));
}

/// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p,
///                              is_causal, scale, enable_gqa)
///
///   softmax(query keyᵀ * scale + mask) value
///
/// Composite of the same name over [B, H, T, D]; D of the values may differ. A
/// causal mask becomes a boolean one, made outside of the composite, whose
/// attribute `is_causal` counts from the last query instead of the first.
/// Scores are f32: one of 100 in f16 is off by 3 % once it is an exponent.
/// Dropout is left out: programs are for inference.
static FailureOr<Value> lowerAttention(const AtenNode &node, Emitter &emit) {
  Value query = emit.tensor(node, "query");
  Value key = emit.tensor(node, "key");
  Value value = emit.tensor(node, "value");
  Value mask = emit.optionalTensor(node, "attn_mask");
  if (node.flag("is_causal")) {
    if (mask)
      return emit.error(node) << "attention with both a mask and is_causal";
    auto length = [&](Value x) -> DimExpr {
      return {emit, x, emit.type(x).getRank() - 2};
    };
    mask = causalMask(emit, length(query), length(key));
  }
  if (mask && emit.type(mask).getRank() < 2)
    mask = emit.expandDims(mask, llvm::to_vector(llvm::seq<int64_t>(
                                     0, 2 - emit.type(mask).getRank())));
  bool isGrouped = node.has("enable_gqa") && node.flag("enable_gqa");
  std::optional<double> scale;
  if (node.has("scale")) {
    // The composite has a number; any other goes into the query.
    ScalarExpr given(node, emit, "scale");
    scale = given.known().value_or(1.0);
    if (!given.isKnown())
      query = given.times(query);
  }

  CompositeSpec spec{"scaled_dot_product_attention",
                     mask ? "sdpa" : "sdpa_maskless",
                     {"q", "k", "v"},
                     {{"is_causal", false}, {"window_size", int64_t(0)}},
                     {"query", "key", "value"}};
  if (scale)
    spec.attributes.push_back({"scale", *scale});
  Value given[] = {query, key, value};
  HeadLayout layout(emit, emit.typeOf(node), given, isGrouped);
  SmallVector<Value> operands = llvm::map_to_vector(
      given, [&](Value operand) { return layout.enter(operand); });
  if (mask) {
    spec.arguments.push_back("m");
    spec.inputs.push_back("attn_mask");
    operands.push_back(layout.enterMask(mask));
  }

  if (isHalf(query))
    emit.depart(Departure::HalfScores);
  auto wide = [&](Value x) { return emit.cast(x, emit.f32()); };
  FailureOr<Value> attended = emit.composite(
      spec, operands, [&](ValueRange arguments) -> FailureOr<Value> {
        FailureOr<Value> keys = arguments[1], values = arguments[2];
        if (isGrouped) {
          int64_t heads = emit.type(arguments[0]).getDimSize(1);
          keys = repeatHeads(node, emit, arguments[1], heads);
          values = repeatHeads(node, emit, arguments[2], heads);
          if (failed(keys) || failed(values))
            return failure();
        }
        Value scores = emit.matmul(scaleQuery(emit, wide(arguments[0]), scale),
                                   emit.transpose(wide(*keys), {0, 1, 3, 2}));
        Value weights = maskedSoftmax(
            emit, scores, arguments.size() == 4 ? arguments[3] : Value());
        return emit.matmul(emit.cast(weights, getElementTypeOrSelf(*values)),
                           *values);
      });
  if (failed(attended))
    return failure();
  return layout.leave(*attended);
}

/// _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p,
///                                             is_causal, attn_mask, scale)
///
/// What the export makes of attention when a table of its own decomposes it.
/// The second result, for the backward pass, is not available.
static FailureOr<Results> lowerFlashAttention(const AtenNode &node,
                                              Emitter &emit) {
  if (emit.isUsed(node, 1))
    return emit.error(node) << "the log-sum-exp of attention is not available";
  FailureOr<Value> attended = lowerAttention(node, emit);
  if (failed(attended))
    return failure();
  return Results{*attended, Value()};
}

llvm::ArrayRef<TableEntry> corten::loweringsAttention() {
#define IN_Attention ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
