// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Composite.h"
#include "Emission/DerivedOps.h"
#include "Emission/ScalarExpr.h"
#include "Table.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIAttributes.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

/// The operand in the type of the result.
static Value activated(const AtenNode &node, Emitter &emit) {
  return emit.cast(emit.tensor(node, "self"),
                   emit.elementType(node.result().dtype));
}

/// relu(self). The interpreter's relu does not take tensors without elements.
static Value lowerRelu(const AtenNode &node, Emitter &emit) {
  Value x = activated(node, emit);
  if (!emit.mayBeEmpty)
    return emit.create<coreai::ReluOp>({x});
  emit.depart(Departure::EmptyTensors);
  return emit.maximum(x, emit.scalar(0, getElementTypeOrSelf(x)));
}

/// sigmoid, silu, tanh (self)
template <typename Op>
static Value lowerActivation(const AtenNode &node, Emitter &emit) {
  return emit.create<Op>({activated(node, emit)});
}

/// gelu(self, approximate), approximate being "none" or "tanh".
static FailureOr<Value> lowerGelu(const AtenNode &node, Emitter &emit) {
  std::optional<coreai::Approximate> formula =
      coreai::symbolizeApproximate(node.string("approximate"));
  if (!formula)
    return emit.error(node)
           << "gelu: unknown formula '" << node.string("approximate") << "'";
  return emit.create<coreai::GeluOp>(
      {emit.tensor(node, "self")},
      {emit.attribute(
          "approximate",
          coreai::ApproximateAttr::get(emit.builder.getContext(), *formula))});
}

/// max(x, 0) + slope * min(x, 0)
static Value leakyRelu(Emitter &emit, Value x, const ScalarExpr &slope) {
  Value zero = numberLike(emit, 0.0, x), factor = slope.like(x);
  Value above = emit.maximum(x, zero);
  return emit.add(above, emit.mul(emit.minimum(x, zero), factor));
}

/// leaky_relu(self, negative_slope)
static Value lowerLeakyRelu(const AtenNode &node, Emitter &emit) {
  return leakyRelu(emit, emit.tensor(node, "self"),
                   ScalarExpr(node, emit, "negative_slope"));
}

/// rrelu_with_noise_functional(self, noise, lower, upper, training, …)
///
/// Outside of training the slope is the middle of the range; the noise is
/// passed on. Training draws random slopes, and Core AI has no random source.
static FailureOr<Results> lowerRrelu(const AtenNode &node, Emitter &emit) {
  if (node.flag("training"))
    return emit.error(node) << "rrelu in training mode needs random numbers; "
                               "export the model in eval mode";
  ScalarExpr slope =
      (ScalarExpr(node, emit, "lower") + ScalarExpr(node, emit, "upper")) /
      ScalarExpr(emit, 2.0);
  return Results{leakyRelu(emit, emit.tensor(node, "self"), slope),
                 emit.tensor(node, "noise")};
}

/// hardtanh(self, min_val, max_val); relu6 arrives as this.
static Value lowerHardtanh(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  Value low = ScalarExpr(node, emit, "min_val").like(x);
  Value high = ScalarExpr(node, emit, "max_val").like(x);
  return emit.minimum(emit.maximum(x, low), high);
}

/// min(max(x + 3, 0), 6) / 6, as the composite `hard_sigmoid`.
static FailureOr<Value> hardSigmoid(Emitter &emit, Value x) {
  CompositeSpec spec;
  spec.name = spec.symbol = "hard_sigmoid";
  spec.arguments = {"input"};
  return emit.composite(spec, x, [&](ValueRange arguments) -> FailureOr<Value> {
    Value input = arguments.front();
    Value three = numberLike(emit, 3.0, input);
    Value zero = numberLike(emit, 0.0, input);
    Value six = numberLike(emit, 6.0, input);
    Value above = emit.maximum(emit.add(input, three), zero);
    return emit.divide(emit.minimum(above, six), six);
  });
}

static FailureOr<Value> lowerHardsigmoid(const AtenNode &node, Emitter &emit) {
  return hardSigmoid(emit, emit.tensor(node, "self"));
}

/// hardswish(self) = self * hardsigmoid(self)
static FailureOr<Value> lowerHardswish(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  FailureOr<Value> gate = hardSigmoid(emit, x);
  if (failed(gate))
    return failure();
  return emit.mul(x, *gate);
}

/// elu(self, alpha, scale, input_scale)
///
///   x > 0 : scale * x
///   else  : scale * alpha * (exp(input_scale * x) - 1)
///
/// exp() is only given the non-positive lanes: in f16 it overflows above 11.09,
/// and a backend that turns where into a masked multiply would make that
/// inf * 0. NaN fails the comparison and so survives through the exp branch.
static Value lowerElu(const AtenNode &node, Emitter &emit) {
  Value x = activated(node, emit);
  ScalarExpr alpha(node, emit, "alpha"), scale(node, emit, "scale");
  ScalarExpr inputScale(node, emit, "input_scale");
  Value zero = numberLike(emit, 0.0, x);
  Value positive = emit.greater(x, zero);
  Value safe = inputScale.times(emit.where(positive, zero, x));
  Value tail = (scale * alpha).times(expMinusOne(emit, safe));
  return emit.where(positive, scale.times(x), tail);
}

llvm::ArrayRef<TableEntry> corten::loweringsActivation() {
#define IN_Activation ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
