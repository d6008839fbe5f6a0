// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Second names of elementwise operators, activations, and choices.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Undecomposed/Call.h"
#include "Undecomposed/SameAs.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

/// to(self, …), type_as(self, other): in the type of the result.
static Value lowerConvert(const AtenNode &node, Emitter &emit) {
  return emit.convert(emit.tensor(node, "self"),
                      emit.elementType(node.result().dtype));
}

/// dropout(input, p, train) and its kin: outside of training all is kept. The
/// in-place form calls its operand self.
static FailureOr<Value> lowerDropout(const AtenNode &node, Emitter &emit) {
  if (node.flag("train") && node.number("p") != 0)
    return emit.error(node) << "dropout in training mode needs random numbers; "
                               "export the model in eval mode";
  return emit.value(node[0u]);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// The operand in the type of the result.
static Value operandOf(const AtenNode &node, Emitter &emit) {
  return emit.cast(emit.tensor(node, "self"),
                   emit.elementType(node.result().dtype));
}

/// relu6(self) = hardtanh(self, 0, 6)
static FailureOr<Value> lowerRelu6(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "hardtanh.default",
              {{"self", node["self"]}, {"min_val", 0.0}, {"max_val", 6.0}});
}

static FailureOr<Value> elu(const AtenNode &node, Emitter &emit,
                            const ScalarExpr &alpha, double scale,
                            const ScalarExpr &inputScale) {
  return call(node, emit, "elu.default",
              {{"self", node["self"]},
               {"alpha", alpha},
               {"scale", scale},
               {"input_scale", inputScale}});
}

/// selu(self): elu with the constants that keep mean 0 and variance 1.
static FailureOr<Value> lowerSelu(const AtenNode &node, Emitter &emit) {
  return elu(node, emit, {emit, 1.6732632423543772848170429916717},
             1.0507009873554804934193349852946, {emit, 1.0});
}

/// celu(self, alpha) = max(0, x) + min(0, alpha (exp(x / alpha) - 1))
static FailureOr<Value> lowerCelu(const AtenNode &node, Emitter &emit) {
  ScalarExpr alpha(node, emit, "alpha");
  return elu(node, emit, alpha, 1.0, ScalarExpr(emit, 1.0) / alpha);
}

/// rrelu(self, lower, upper, training): outside of training the slope is the
/// middle of the range.
static FailureOr<Value> lowerRrelu(const AtenNode &node, Emitter &emit) {
  if (node.flag("training"))
    return emit.error(node) << "rrelu in training mode needs random numbers; "
                               "export the model in eval mode";
  ScalarExpr slope =
      (ScalarExpr(node, emit, "lower") + ScalarExpr(node, emit, "upper")) /
      ScalarExpr(emit, 2.0);
  return call(node, emit, "leaky_relu.default",
              {{"self", node["self"]}, {"negative_slope", slope}});
}

/// ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)), which overflows nowhere.
static Value softplus(Emitter &emit, Value x) {
  Value tail = logOnePlus(
      emit, emit.create<coreai::ExpOp>({emit.negate(absolute(emit, x))}));
  return emit.add(emit.maximum(x, numberLike(emit, 0.0, x)), tail);
}

/// softplus(self, beta, threshold) = ln(1 + exp(beta x)) / beta, and x itself
/// where beta x exceeds the threshold.
static Value lowerSoftplus(const AtenNode &node, Emitter &emit) {
  Value x = operandOf(node, emit);
  ScalarExpr beta(node, emit, "beta");
  Value scaled = beta.times(x);
  Value isLinear =
      emit.greater(scaled, ScalarExpr(node, emit, "threshold").like(x));
  Value smooth = softplus(emit, scaled);
  if (!beta.is(1))
    smooth = emit.divide(smooth, beta.like(x));
  return emit.where(isLinear, x, smooth);
}

/// mish(self) = x tanh(ln(1 + exp(x)))
static Value lowerMish(const AtenNode &node, Emitter &emit) {
  Value x = operandOf(node, emit);
  return emit.mul(x, emit.create<coreai::TanhOp>({softplus(emit, x)}));
}

/// log_sigmoid(self) = min(x, 0) - ln(1 + exp(-|x|))
static Value lowerLogSigmoid(const AtenNode &node, Emitter &emit) {
  Value x = operandOf(node, emit);
  return emit.negate(softplus(emit, emit.negate(x)));
}

/// hardshrink(self, lambd): 0 within [-lambd, lambd].
static Value lowerHardshrink(const AtenNode &node, Emitter &emit) {
  Value x = operandOf(node, emit);
  Value bound = ScalarExpr(node, emit, "lambd").like(x);
  Value isInside = emit.logicalNot(emit.logicalOr(
      emit.greater(x, bound), emit.greater(emit.negate(x), bound)));
  // NaN compares false to both bounds but is not inside.
  isInside = emit.logicalAnd(isInside, emit.logicalNot(isNan(emit, x)));
  return emit.where(isInside, numberLike(emit, 0.0, x), x);
}

/// softshrink(self, lambd): x moved towards 0 by lambd, at most to it.
static Value lowerSoftshrink(const AtenNode &node, Emitter &emit) {
  Value x = operandOf(node, emit);
  Value bound = ScalarExpr(node, emit, "lambd").like(x);
  return emit.sub(x, emit.minimum(emit.maximum(x, emit.negate(bound)), bound));
}

/// threshold(self, threshold, value): self where it exceeds the threshold. NaN
/// stays.
static FailureOr<Value> lowerThreshold(const AtenNode &node, Emitter &emit) {
  Value x = operandOf(node, emit);
  Type element = getElementTypeOrSelf(x);
  FailureOr<Value> bound = emit.operand(node, "threshold", element);
  FailureOr<Value> value = emit.operand(node, "value", element);
  if (failed(bound) || failed(value))
    return failure();
  Value isBelow = greaterEqual(emit, *bound, x);
  return emit.where(isBelow, *value, x);
}

/// prelu(self, weight): max(x, 0) + weight min(x, 0), one weight for all or one
/// per channel, which is axis 1.
static Value lowerPrelu(const AtenNode &node, Emitter &emit) {
  Value x = operandOf(node, emit);
  int64_t rank = emit.type(x).getRank();
  Value weight =
      emit.cast(emit.refined(node, "weight"), getElementTypeOrSelf(x));
  if (emit.type(weight).getRank() == 1) {
    SmallVector<int64_t> shape(rank, 1);
    if (rank >= 2)
      shape[1] = emit.type(weight).isDynamicDim(0)
                     ? -1
                     : emit.type(weight).getDimSize(0);
    weight = emit.reshape(weight, shape);
  }
  Value zero = numberLike(emit, 0.0, x);
  return emit.where(emit.greater(x, zero), x, emit.mul(weight, x));
}

/// glu(self, dim): the first half times the sigmoid of the second.
static Value lowerGlu(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  int64_t axis = node.axis("dim", emit.type(x).getRank());
  DimExpr extent(emit, x, axis), half = extent.floorDiv(2);
  Value first = sliceAxis(emit, x, axis, DimExpr(emit, 0), half);
  Value second = sliceAxis(emit, x, axis, half, extent);
  return emit.refine(emit.mul(first, emit.create<coreai::SigmoidOp>({second})),
                     emit.typeOf(node));
}

//===----------------------------------------------------------------------===//
// Choices and sums of products
//===----------------------------------------------------------------------===//

/// masked_fill(self, mask, value)
static FailureOr<Value> lowerMaskedFill(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "where.self",
              {{"condition", node["mask"]},
               {"self", node["value"]},
               {"other", node["self"]}});
}

/// fill(self, value): what fill_ writes.
static FailureOr<Value> lowerFill(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "full_like.default",
              {{"self", node["self"]}, {"fill_value", node["value"]}});
}

/// self + value * (tensor1 op tensor2)
template <Value (Emitter::*Combine)(Value, Value)>
static FailureOr<Value> lowerAddCombined(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  FailureOr<Value> self = emit.operand(node, "self", element);
  FailureOr<Value> first = emit.operand(node, "tensor1", element);
  FailureOr<Value> second = emit.operand(node, "tensor2", element);
  if (failed(self) || failed(first) || failed(second))
    return failure();
  Value term = (emit.*Combine)(*first, *second);
  return emit.add(*self, ScalarExpr(node, emit, "value").times(term));
}

/// lerp(self, end, weight) = self + weight (end - self)
static FailureOr<Value> lowerLerp(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  FailureOr<Value> start = emit.operand(node, "self", element);
  FailureOr<Value> end = emit.operand(node, "end", element);
  FailureOr<Value> weight = emit.operand(node, "weight", element);
  if (failed(start) || failed(end) || failed(weight))
    return failure();
  return emit.add(*start, emit.mul(*weight, emit.sub(*end, *start)));
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedElementwise() {
#define IN_UndecomposedElementwise ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
