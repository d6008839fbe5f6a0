// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms. Statistics of 16-bit floats are formed in f32; the results of the
// norms are those of the composites that compilers recognise by name.

#include "Emission/Composite.h"
#include "Emission/DimExpr.h"
#include "Emission/ScalarExpr.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

static Value mean(Emitter &emit, Value x, ArrayRef<int64_t> axes) {
  return emit.reduce<coreai::ReduceMeanOp>(x, axes, /*keepDims=*/true);
}

namespace {
/// Mean and variance over some axes, which stay as 1.
struct Statistics {
  Value mean, centered, variance;

  Statistics(Emitter &emit, Value x, ArrayRef<int64_t> axes)
      : mean(::mean(emit, x, axes)), centered(emit.sub(x, mean)),
        variance(::mean(emit, emit.mul(centered, centered), axes)) {}

  /// 1 / sqrt(variance + eps)
  Value inverseDeviation(Emitter &emit, const ScalarExpr &eps) const {
    return emit.create<coreai::RsqrtOp>(
        {emit.add(variance, eps.like(variance))});
  }
};
} // namespace

static Value wide(Emitter &emit, Value x) {
  return emit.cast(x, emit.accumulationType(getElementTypeOrSelf(x)));
}

/// A norm's weight or bias over some axes of `x`, or what leaves values as they
/// are.
static Value parameterOr(const AtenNode &node, Emitter &emit,
                         StringRef parameter, double standard, Value x,
                         ArrayRef<int64_t> axes) {
  if (Value given = emit.optionalTensor(node, parameter))
    return given;
  auto type = RankedTensorType::get(
      llvm::map_to_vector(
          axes, [&](int64_t axis) { return emit.type(x).getDimSize(axis); }),
      emit.f32());
  if (type.hasStaticShape())
    return emit.splat(standard, type);
  return emit.broadcast(
      emit.scalar(standard, emit.f32()), type,
      [&](int64_t index) { return emit.dim(x, axes[index]); });
}

/// x * scale + shift in x's type.
static Value affine(Emitter &emit, Value x, Value scale, Value shift) {
  Type element = getElementTypeOrSelf(x);
  return emit.add(emit.mul(x, emit.cast(scale, element)),
                  emit.cast(shift, element));
}

/// The body of a norm of input, scale and shift over some axes of the input.
static Value normalize(Emitter &emit, ValueRange arguments,
                       ArrayRef<int64_t> axes, const ScalarExpr &eps) {
  Statistics statistics(emit, wide(emit, arguments[0]), axes);
  Value standard =
      emit.mul(statistics.centered, statistics.inverseDeviation(emit, eps));
  return affine(emit, emit.cast(standard, getElementTypeOrSelf(arguments[0])),
                arguments[1], arguments[2]);
}

/// A norm that compilers recognise by name, and its body alone where the export
/// does not know eps: a composite has it as an attribute.
static FailureOr<Value>
norm(Emitter &emit, CompositeSpec spec, const ScalarExpr &eps,
     ValueRange operands,
     llvm::function_ref<FailureOr<Value>(ValueRange)> body) {
  if (!eps.isKnown())
    return body(operands);
  spec.attributes.emplace_back("eps", *eps.known());
  return emit.composite(spec, operands, body);
}

/// A vector over the channels shaped so that it meets axis 1 of a tensor of
/// the given rank: [C, 1, …].
static Value overChannels(Emitter &emit, Value vector, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] =
      emit.type(vector).isDynamicDim(0) ? -1 : emit.type(vector).getDimSize(0);
  return emit.reshape(vector, shape);
}

//===----------------------------------------------------------------------===//
// Layer and group norm
//===----------------------------------------------------------------------===//

/// native_layer_norm(input, normalized_shape, weight, bias, eps)
///
/// Composite layer_norm over the trailing axes: (x - mean) * rsqrt(var + eps),
/// rounded to the input's type, times weight plus bias. Results 1 and 2, mean
/// and rsqrt(var + eps), are made outside of it where something uses them.
static FailureOr<Results> lowerLayerNorm(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "input");
  ScalarExpr eps(node, emit, "eps");
  int64_t rank = emit.type(x).getRank();
  int64_t first = rank - node.list("normalized_shape").size();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq(first, rank));

  FailureOr<Value> normalized =
      norm(emit,
           {"layer_norm",
            "layer_norm",
            {"input", "gamma", "beta"},
            {{"axes", axes}}},
           eps,
           {x, parameterOr(node, emit, "weight", 1.0, x, axes),
            parameterOr(node, emit, "bias", 0.0, x, axes)},
           [&](ValueRange arguments) -> FailureOr<Value> {
             return normalize(emit, arguments, axes, eps);
           });
  if (failed(normalized))
    return failure();

  Results results{*normalized, Value(), Value()};
  if (emit.isUsed(node, 1) || emit.isUsed(node, 2)) {
    Statistics statistics(emit, wide(emit, x), axes);
    results[1] =
        emit.cast(statistics.mean, emit.elementType(node.result(1).dtype));
    results[2] = emit.cast(statistics.inverseDeviation(emit, eps),
                           emit.elementType(node.result(2).dtype));
  }
  return results;
}

/// `x` as [N, groups, C / groups, rest].
static Value splitGroups(Emitter &emit, Value x, int64_t groups) {
  RankedTensorType type = emit.type(x);
  int64_t rest = 1;
  for (int64_t extent : type.getShape().drop_front(2))
    rest = ShapedType::isDynamic(extent) || ShapedType::isDynamic(rest)
               ? ShapedType::kDynamic
               : rest * extent;
  int64_t perGroup = type.getDimSize(1) / groups;
  Value shape =
      joinDims(emit, {DimExpr(emit, x, 0), DimExpr(emit, groups),
                      DimExpr(emit, perGroup),
                      DimExpr(emit, ShapedType::isDynamic(rest) ? -1 : rest)});
  return emit.reshape(
      x, shape,
      RankedTensorType::get({type.getDimSize(0), groups, perGroup, rest},
                            type.getElementType()));
}

/// native_group_norm(input, weight, bias, N, C, HxW, group, eps)
///
/// Composite group_norm: as layer norm, over the channels of a group and all
/// spatial axes. Results 1 and 2 are [N, groups].
static FailureOr<Results> lowerGroupNorm(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "input");
  RankedTensorType type = emit.type(x);
  ScalarExpr eps(node, emit, "eps");
  int64_t groups = node.integer("group");
  if (type.isDynamicDim(1))
    return emit.error(node) << "group norm of a dynamic number of channels";
  int64_t channels = type.getDimSize(1);

  FailureOr<Value> normalized = norm(
      emit,
      {"group_norm",
       "group_norm",
       {"input", "weight", "bias"},
       {{"num_channels", channels}, {"num_groups", groups}}},
      eps,
      {x, parameterOr(node, emit, "weight", 1.0, x, {1}),
       parameterOr(node, emit, "bias", 0.0, x, {1})},
      [&](ValueRange arguments) -> FailureOr<Value> {
        Value input = wide(emit, arguments[0]);
        Statistics statistics(emit, splitGroups(emit, input, groups), {2, 3});
        Value standard = emit.mul(statistics.centered,
                                  statistics.inverseDeviation(emit, eps));
        standard = emit.reshape(standard, emit.shape(input), emit.type(input));
        int64_t rank = type.getRank();
        return affine(emit, emit.cast(standard, type.getElementType()),
                      overChannels(emit, arguments[1], rank),
                      overChannels(emit, arguments[2], rank));
      });
  if (failed(normalized))
    return failure();

  Results results{*normalized, Value(), Value()};
  if (emit.isUsed(node, 1) || emit.isUsed(node, 2)) {
    Statistics statistics(emit, splitGroups(emit, wide(emit, x), groups),
                          {2, 3});
    auto result = [&](unsigned index, Value value) {
      return emit.cast(emit.shrinkDims(value, {2, 3}),
                       emit.elementType(node.result(index).dtype));
    };
    results[1] = result(1, statistics.mean);
    results[2] = result(2, statistics.inverseDeviation(emit, eps));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Batch and instance norm
//===----------------------------------------------------------------------===//

/// Composite batch_norm with the given statistics:
///
///   (x - mean) / sqrt(variance + eps) * gamma + beta
///
/// in f32 for 16-bit floats, rounded once.
static FailureOr<Value> batchNorm(const AtenNode &node, Emitter &emit,
                                  Value mean, Value variance) {
  Value x = emit.tensor(node, "input");
  RankedTensorType type = emit.type(x);
  if (type.getRank() < 2 || type.getRank() > 5)
    return emit.error(node) << "batch norm of a tensor with " << type.getRank()
                            << " axes, want 2 to 5";
  if (type.isDynamicDim(1))
    return emit.error(node) << "batch norm of a dynamic number of channels";
  ScalarExpr eps(node, emit, "eps");
  int64_t channels = type.getDimSize(1);
  return norm(emit,
              {"batch_norm",
               "batch_norm",
               {"input", "gamma", "beta", "mean", "variance"}},
              eps,
              {x, parameterOr(node, emit, "weight", 1.0, x, {1}),
               parameterOr(node, emit, "bias", 0.0, x, {1}), mean, variance},
              [&](ValueRange arguments) -> FailureOr<Value> {
                Value input = wide(emit, arguments[0]);
                Type element = getElementTypeOrSelf(input);
                SmallVector<int64_t> shape(type.getRank(), 1);
                shape[1] = channels;
                auto shaped = [&](Value vector) {
                  return emit.cast(emit.reshape(vector, shape), element);
                };
                Value gamma = shaped(arguments[1]), beta = shaped(arguments[2]);
                Value center = shaped(arguments[3]),
                      variance = shaped(arguments[4]);
                Value deviation = emit.create<coreai::SqrtOp>(
                    {emit.add(variance, eps.like(variance))});
                Value standard =
                    emit.divide(emit.sub(input, center), deviation);
                return emit.cast(affine(emit, standard, gamma, beta),
                                 type.getElementType());
              });
}

/// The empty tensors that batch norm returns as saved statistics when it does
/// not compute any.
static Value noStatistics(const AtenNode &node, Emitter &emit,
                          unsigned result) {
  return emit.isUsed(node, result) ? emit.splat(0.0, emit.typeOf(node, result))
                                   : Value();
}

/// _native_batch_norm_legit_no_training(input, weight, bias, running_mean,
///                                      running_var, momentum, eps)
static FailureOr<Results> lowerBatchNormInference(const AtenNode &node,
                                                  Emitter &emit) {
  FailureOr<Value> result =
      batchNorm(node, emit, emit.tensor(node, "running_mean"),
                emit.tensor(node, "running_var"));
  if (failed(result))
    return failure();
  return Results{*result, noStatistics(node, emit, 1),
                 noStatistics(node, emit, 2)};
}

/// Statistics over everything but the channels, and the batch norm with them.
static FailureOr<Value> batchNormTraining(const AtenNode &node, Emitter &emit,
                                          Value &mean, Value &variance) {
  Value x = emit.tensor(node, "input");
  SmallVector<int64_t> axes = {0};
  for (int64_t axis = 2; axis < emit.type(x).getRank(); ++axis)
    axes.push_back(axis);
  Statistics statistics(emit, wide(emit, x), axes);
  mean = emit.shrinkDims(statistics.mean, axes);
  variance = emit.shrinkDims(statistics.variance, axes);
  return batchNorm(node, emit, mean, variance);
}

static Value inverseDeviation(const AtenNode &node, Emitter &emit,
                              Value variance) {
  return emit.create<coreai::RsqrtOp>(
      {emit.add(variance, ScalarExpr(node, emit, "eps").like(variance))});
}

static Value asResult(const AtenNode &node, Emitter &emit, Value x,
                      unsigned result) {
  return emit.cast(x, emit.elementType(node.result(result).dtype));
}

/// _native_batch_norm_legit.no_stats(input, weight, bias, training, momentum,
///                                   eps)
///
/// Always with the statistics of the batch; results 1 and 2 are the mean and
/// 1 / sqrt(var + eps).
static FailureOr<Results> lowerBatchNormNoStats(const AtenNode &node,
                                                Emitter &emit) {
  Value mean, variance;
  FailureOr<Value> result = batchNormTraining(node, emit, mean, variance);
  if (failed(result))
    return failure();
  return Results{
      *result, asResult(node, emit, mean, 1),
      asResult(node, emit, inverseDeviation(node, emit, variance), 2)};
}

/// _native_batch_norm_legit_functional(input, weight, bias, running_mean,
///                                     running_var, training, momentum, eps)
///
/// Results 3 and 4 are the new running statistics:
///
///   running + momentum * (batch - running)
///
/// where the variance of the batch is the unbiased one, n / (n - 1) times that
/// which normalizes.
///
/// _batch_norm_with_update_functional is the same, always in training.
static FailureOr<Results> lowerBatchNormFunctional(const AtenNode &node,
                                                   Emitter &emit) {
  Value runningMean = emit.tensor(node, "running_mean");
  Value runningVariance = emit.tensor(node, "running_var");
  if (node.has("training") && !node.flag("training")) {
    FailureOr<Value> result =
        batchNorm(node, emit, runningMean, runningVariance);
    if (failed(result))
      return failure();
    return Results{*result, noStatistics(node, emit, 1),
                   noStatistics(node, emit, 2),
                   asResult(node, emit, runningMean, 3),
                   asResult(node, emit, runningVariance, 4)};
  }
  Value mean, variance;
  FailureOr<Value> result = batchNormTraining(node, emit, mean, variance);
  if (failed(result))
    return failure();

  Value x = emit.tensor(node, "input");
  Type element = getElementTypeOrSelf(variance);
  Value count;
  for (int64_t axis = 0; axis < emit.type(x).getRank(); ++axis) {
    if (axis == 1)
      continue;
    Value extent = emit.cast(DimExpr(emit, x, axis).scalar(), element);
    count = count ? emit.mul(count, extent) : extent;
  }
  Value correction =
      emit.divide(count, emit.sub(count, emit.scalar(1.0, element)));
  auto updated = [&](Value running, Value batch, unsigned index) {
    Value old = emit.cast(running, element);
    Value moved = emit.add(
        old, ScalarExpr(node, emit, "momentum").times(emit.sub(batch, old)));
    return asResult(node, emit, moved, index);
  };
  Results results = {
      *result, asResult(node, emit, mean, 1),
      asResult(node, emit, inverseDeviation(node, emit, variance), 2)};
  // _batch_norm_with_update also has a buffer for a backward pass, empty here.
  if (node.numResults() == 6)
    results.push_back(emit.splat(0.0, emit.typeOf(node, 3)));
  unsigned next = results.size();
  results.push_back(updated(runningMean, mean, next));
  results.push_back(
      updated(runningVariance, emit.mul(variance, correction), next + 1));
  return results;
}

/// instance_norm(input, weight, bias, running_mean, running_var,
///               use_input_stats, momentum, eps, cudnn_enabled)
///
/// With the input's statistics, over the spatial axes, the composite
/// instance_norm, whose gamma and beta are [C, 1, …]; with running ones
///
///   (x - mean) * rsqrt(var + eps) * weight + bias
static FailureOr<Value> lowerInstanceNorm(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "input");
  RankedTensorType type = emit.type(x);
  Type element = type.getElementType();
  int64_t rank = type.getRank();
  ScalarExpr eps(node, emit, "eps");
  if (rank < 3)
    return emit.error(node) << "instance norm needs spatial axes";
  auto parameter = [&](StringRef name, double standard) {
    return overChannels(emit, parameterOr(node, emit, name, standard, x, {1}),
                        rank);
  };
  Value gamma = parameter("weight", 1.0), beta = parameter("bias", 0.0);

  if (!node.flag("use_input_stats")) {
    Value input = wide(emit, x);
    Type wideElement = getElementTypeOrSelf(input);
    auto statistic = [&](StringRef name) {
      return emit.cast(overChannels(emit, emit.tensor(node, name), rank),
                       wideElement);
    };
    Value inverse = inverseDeviation(node, emit, statistic("running_var"));
    Value standard =
        emit.mul(emit.sub(input, statistic("running_mean")), inverse);
    return emit.cast(affine(emit, standard, gamma, beta), element);
  }

  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  return norm(emit,
              {"instance_norm", "instance_norm", {"input", "gamma", "beta"}},
              eps, {x, emit.cast(gamma, element), emit.cast(beta, element)},
              [&](ValueRange arguments) -> FailureOr<Value> {
                return normalize(emit, arguments, axes, eps);
              });
}

llvm::ArrayRef<TableEntry> corten::loweringsNormalization() {
#define IN_Normalization ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
