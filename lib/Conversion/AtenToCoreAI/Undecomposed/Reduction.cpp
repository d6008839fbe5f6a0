// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions in the forms that users call; a decomposition brings each to one
// with all options.

#include "Emission/DerivedOps.h"
#include "Undecomposed/Call.h"
#include "Undecomposed/SameAs.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

static Value inResultType(const AtenNode &node, Emitter &emit) {
  return emit.convert(emit.tensor(node, "self"),
                      emit.elementType(node.result().dtype));
}

/// softmax(self, dim, dtype)
static FailureOr<Value> lowerSoftmax(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "_softmax.default",
              {{"self", inResultType(node, emit)},
               {"dim", node["dim"]},
               {"half_to_float", false}});
}

/// log_softmax(self, dim, dtype)
static FailureOr<Value> lowerLogSoftmax(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "_log_softmax.default",
              {{"self", inResultType(node, emit)},
               {"dim", node["dim"]},
               {"half_to_float", false}});
}

/// logsumexp(self, dim, keepdim) = max + ln(sum(exp(self - max)))
///
/// An infinite maximum is not subtracted: inf - inf is NaN. 16-bit floats are
/// summed in f32.
static Value lowerLogsumexp(const AtenNode &node, Emitter &emit) {
  Value x = inResultType(node, emit);
  Type element = getElementTypeOrSelf(x);
  x = emit.cast(x, emit.accumulationType(element));
  if (emit.type(x).getRank() == 0)
    return emit.cast(x, element);
  SmallVector<int64_t> axes = node.axesOrAll("dim", emit.type(x).getRank());
  Value largest = emit.reduce<coreai::ReduceMaxOp>(x, axes, true);
  Value shift = emit.where(isInfinite(emit, largest),
                           numberLike(emit, 0.0, largest), largest);
  Value sum = emit.reduce<coreai::ReduceSumOp>(
      emit.create<coreai::ExpOp>({emit.sub(x, shift)}), axes, true);
  Value result = emit.add(emit.create<coreai::LogOp>({sum}), shift);
  if (!node.flag("keepdim"))
    result = emit.shrinkDims(result, axes);
  return emit.cast(result, element);
}

//===----------------------------------------------------------------------===//
// Spread
//===----------------------------------------------------------------------===//

/// var_mean in one of its forms: over all axes or some, with a correction or a
/// flag for the usual one.
static FailureOr<Results> moments(const AtenNode &node, Emitter &emit,
                                  const ValueInfo &info) {
  Argument correction;
  if (node.get().findArgument("unbiased"))
    correction = Argument::integer(node.flag("unbiased") ? 1 : 0);
  else if (node.get().findArgument("correction"))
    correction = node["correction"];
  bool isOverSome = node.get().findArgument("dim") != nullptr;
  ValueInfo infos[] = {info, info};
  return call(node, emit, "var_mean.correction",
              {{"self", node["self"]},
               {"dim", isOverSome ? node["dim"] : Argument()},
               {"correction", correction},
               {"keepdim", isOverSome && node.flag("keepdim")}},
              infos);
}

/// var(self, …), the default and the dim form.
static FailureOr<Value> lowerVar(const AtenNode &node, Emitter &emit) {
  FailureOr<Results> both = moments(node, emit, node.result());
  if (failed(both))
    return failure();
  return both->front();
}

/// std(self, …) = sqrt(var(self, …))
///
/// The variance of 16-bit floats is rounded before the root, as in a
/// decomposed program.
static FailureOr<Value> lowerStd(const AtenNode &node, Emitter &emit) {
  FailureOr<Value> variance = lowerVar(node, emit);
  if (failed(variance))
    return failure();
  return emit.create<coreai::SqrtOp>({*variance});
}

/// var_mean(self, …), the default and the dim form.
static FailureOr<Results> lowerVarMean(const AtenNode &node, Emitter &emit) {
  return moments(node, emit, node.result());
}

/// std_mean(self, …)
static FailureOr<Results> lowerStdMean(const AtenNode &node, Emitter &emit) {
  FailureOr<Results> both = moments(node, emit, node.result());
  if (failed(both))
    return failure();
  return Results{emit.create<coreai::SqrtOp>({(*both)[0]}), (*both)[1]};
}

//===----------------------------------------------------------------------===//
// Norms and order
//===----------------------------------------------------------------------===//

/// norm(self, p, dim, keepdim), frobenius_norm(self, dim, keepdim): 2 where
/// there is no p.
static FailureOr<Value> lowerNorm(const AtenNode &node, Emitter &emit) {
  auto given = [&](StringRef parameter, const Argument &standard) {
    return node.has(parameter) ? node[parameter] : standard;
  };
  return call(node, emit, "linalg_vector_norm.default",
              {{"self", node["self"]},
               {"ord", given("p", Argument::integer(2))},
               {"dim", given("dim", Argument())},
               {"keepdim", given("keepdim", Argument::boolean(false))},
               {"dtype", Argument()}});
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedReduction() {
#define IN_UndecomposedReduction ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
