// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers of networks as users call them: convolutions, norms, pools, margins.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Undecomposed/Call.h"
#include "Undecomposed/SameAs.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <deque>
#include <limits>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The result's type with a batch of one in front.
static RankedTensorType batchOfOne(RankedTensorType type) {
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  return type.clone(shape);
}

/// convolution of `x`; without a batch, as a batch of one.
static FailureOr<Value> convolution(const AtenNode &node, Emitter &emit,
                                    Value x, const Argument &padding,
                                    bool transposed) {
  int64_t spatial = emit.type(emit.tensor(node, "weight")).getRank() - 2;
  bool isBatched = emit.type(x).getRank() == spatial + 2;
  RankedTensorType type = emit.typeOf(node);
  SmallVector<Argument> zero;
  Argument none = listOf({0}, zero);
  FailureOr<Value> result =
      call(node, emit, "convolution.default",
           {{"input", isBatched ? x : emit.expandDims(x, {0})},
            {"weight", node["weight"]},
            {"bias", node["bias"]},
            {"stride", node["stride"]},
            {"padding", padding},
            {"dilation", node["dilation"]},
            {"transposed", transposed},
            {"output_padding", transposed ? node["output_padding"] : none},
            {"groups", node["groups"]}},
           isBatched ? type : batchOfOne(type));
  if (failed(result) || isBatched)
    return result;
  return emit.shrinkDims(*result, {0});
}

/// conv1d, conv2d, conv3d(input, weight, bias, stride, padding, dilation,
///                        groups)
static FailureOr<Value> lowerConv(const AtenNode &node, Emitter &emit) {
  return convolution(node, emit, emit.tensor(node, "input"), node["padding"],
                     /*transposed=*/false);
}

/// conv_transpose1d, 2d, 3d(input, weight, bias, stride, padding,
///                          output_padding, groups, dilation)
static FailureOr<Value> lowerConvTranspose(const AtenNode &node,
                                           Emitter &emit) {
  return convolution(node, emit, emit.tensor(node, "input"), node["padding"],
                     /*transposed=*/true);
}

/// The same with padding "valid", which is none, or "same": dilation * (kernel
/// - 1) in all. What is left of half of it goes behind.
static FailureOr<Value> lowerConvNamedPadding(const AtenNode &node,
                                              Emitter &emit) {
  Value x = emit.refined(node, "input");
  RankedTensorType weight = emit.type(emit.refined(node, "weight"));
  int64_t spatial = weight.getRank() - 2;
  SmallVector<int64_t> padding(spatial, 0);
  if (node.string("padding") == "same") {
    SmallVector<int64_t> dilation = node.integers("dilation");
    SmallVector<DimExpr> behind(2 * emit.type(x).getRank(), DimExpr(emit, 0));
    bool isUneven = false;
    for (int64_t axis = 0; axis < spatial; ++axis) {
      int64_t step = dilation.size() == 1 ? dilation[0] : dilation[axis];
      int64_t total = step * (weight.getDimSize(axis + 2) - 1);
      padding[axis] = total / 2;
      if (total % 2 == 0)
        continue;
      isUneven = true;
      int64_t at = emit.type(x).getRank() - spatial + axis;
      behind[2 * at + 1] = DimExpr(emit, 1);
    }
    if (isUneven)
      x = padDims(emit, x, behind,
                  emit.scalar(0.0, emit.type(x).getElementType()));
  }
  SmallVector<Argument> storage;
  return convolution(node, emit, x, listOf(padding, storage),
                     /*transposed=*/false);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// layer_norm(input, normalized_shape, weight, bias, eps)
static FailureOr<Value> lowerLayerNorm(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "native_layer_norm.default",
              {{"input", node["input"]},
               {"normalized_shape", node["normalized_shape"]},
               {"weight", node["weight"]},
               {"bias", node["bias"]},
               {"eps", node["eps"]}});
}

/// group_norm(input, num_groups, weight, bias, eps)
static FailureOr<Value> lowerGroupNorm(const AtenNode &node, Emitter &emit) {
  return call(node, emit, "native_group_norm.default",
              {{"input", node["input"]},
               {"weight", node["weight"]},
               {"bias", node["bias"]},
               {"group", node["num_groups"]},
               {"eps", node["eps"]}});
}

/// batch_norm(input, weight, bias, running_mean, running_var, training,
///            momentum, eps)
///
/// Training with running statistics updates them; the program was rewritten to
/// say so before it came here.
static FailureOr<Value> lowerBatchNorm(const AtenNode &node, Emitter &emit) {
  CallArgument input("input", node["input"]), weight("weight", node["weight"]),
      bias("bias", node["bias"]), momentum("momentum", node["momentum"]),
      eps("eps", node["eps"]);
  RankedTensorType type = emit.typeOf(node);
  if (node.flag("training") || !node.has("running_mean"))
    return call(node, emit, "_native_batch_norm_legit.no_stats",
                {input, weight, bias, {"training", true}, momentum, eps}, type);
  return call(node, emit, "_native_batch_norm_legit_no_training.default",
              {input,
               weight,
               bias,
               {"running_mean", node["running_mean"]},
               {"running_var", node["running_var"]},
               momentum,
               eps},
              type);
}

/// rms_norm(input, normalized_shape, weight, eps)
///
///   input * rsqrt(mean(input²) + eps) * weight
///
/// in f32 for 16-bit floats, rounded once. Without eps it is the distance from
/// 1 to the next number of the type.
static FailureOr<Value> lowerRmsNorm(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "input");
  Type element = getElementTypeOrSelf(x);
  Value wide = emit.cast(x, emit.accumulationType(element));
  Type wideElement = getElementTypeOrSelf(wide);
  int64_t rank = emit.type(x).getRank();
  int64_t count = node.list("normalized_shape").size();
  ScalarExpr eps(emit, std::numeric_limits<float>::epsilon());
  if (node.has("eps"))
    eps = ScalarExpr(node, emit, "eps");
  else if (element.isF16())
    eps = ScalarExpr(emit, std::ldexp(1.0, -10));
  else if (element.isBF16())
    eps = ScalarExpr(emit, std::ldexp(1.0, -7));
  Value squares = emit.pow(wide, emit.scalar(2.0, wideElement));
  Value mean = emit.reduce<coreai::ReduceMeanOp>(
      squares, llvm::to_vector(llvm::seq<int64_t>(rank - count, rank)), true);
  Value inverse =
      emit.create<coreai::RsqrtOp>({emit.add(mean, eps.like(mean))});
  Value result = emit.mul(wide, inverse);
  if (Value weight = emit.optionalTensor(node, "weight"))
    result = emit.mul(result, emit.cast(weight, wideElement));
  return emit.cast(result, element);
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// max_pool2d, max_pool3d(self, kernel_size, stride, padding, dilation,
///                        ceil_mode)
template <OperatorName WithIndices>
static FailureOr<Value> lowerMaxPool(const AtenNode &node, Emitter &emit) {
  return call(node, emit, WithIndices.text,
              {{"self", node["self"]},
               {"kernel_size", node["kernel_size"]},
               {"stride", node["stride"]},
               {"padding", node["padding"]},
               {"dilation", node["dilation"]},
               {"ceil_mode", node["ceil_mode"]}},
              emit.typeOf(node));
}

/// Runs a pool over two axes on a tensor with one, which gets a unit axis in
/// front of it. The lists among the arguments get an entry for that axis.
namespace {
class PoolOfLine {
public:
  PoolOfLine(const AtenNode &node, Emitter &emit) : node(node), emit(emit) {}

  /// A list of one entry, with `unit` in front; an empty one stays.
  CallArgument list(StringRef parameter, int64_t unit) {
    SmallVector<Argument> &storage = lists.emplace_back();
    if (!node[parameter].isList()) {
      storage = {Argument::integer(unit), node[parameter]};
    } else if (!node.list(parameter).empty()) {
      storage = {Argument::integer(unit), node.list(parameter).front()};
    }
    return {parameter, Argument::list(storage)};
  }

  FailureOr<Value> run(StringRef op, SmallVector<CallArgument> arguments) {
    Value x = emit.tensor(node, "self");
    int64_t axis = emit.type(x).getRank() - 1;
    arguments.push_back({"self", emit.expandDims(x, {axis})});
    RankedTensorType type = emit.typeOf(node);
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin() + axis, 1);
    FailureOr<Value> pooled =
        call(node, emit, op, arguments, type.clone(shape));
    if (failed(pooled))
      return failure();
    return emit.shrinkDims(*pooled, {axis});
  }

private:
  const AtenNode &node;
  Emitter &emit;
  std::deque<SmallVector<Argument>> lists;
};
} // namespace

/// max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)
static FailureOr<Value> lowerMaxPool1d(const AtenNode &node, Emitter &emit) {
  PoolOfLine pool(node, emit);
  return pool.run("max_pool2d_with_indices.default",
                  {pool.list("kernel_size", 1),
                   pool.list("stride", 1),
                   pool.list("padding", 0),
                   pool.list("dilation", 1),
                   {"ceil_mode", node["ceil_mode"]}});
}

/// avg_pool1d(self, kernel_size, stride, padding, ceil_mode,
///            count_include_pad)
static FailureOr<Value> lowerAvgPool1d(const AtenNode &node, Emitter &emit) {
  PoolOfLine pool(node, emit);
  return pool.run("avg_pool2d.default",
                  {pool.list("kernel_size", 1),
                   pool.list("stride", 1),
                   pool.list("padding", 0),
                   {"ceil_mode", node["ceil_mode"]},
                   {"count_include_pad", node["count_include_pad"]},
                   {"divisor_override", Argument()}});
}

/// The mean over the last axes, if one element of each is asked for.
static std::optional<FailureOr<Value>>
meanIfOne(const AtenNode &node, Emitter &emit, ArrayRef<Argument> size) {
  if (!llvm::all_of(size, [](const Argument &extent) {
        return extent.isInt() && extent.asInt() == 1;
      }))
    return std::nullopt;
  SmallVector<Argument> storage;
  SmallVector<int64_t> axes;
  for (int64_t axis = -1; axis >= -static_cast<int64_t>(size.size()); --axis)
    axes.push_back(axis);
  return call(node, emit, "mean.dim",
              {{"self", node["self"]},
               {"dim", listOf(axes, storage)},
               {"keepdim", true},
               {"dtype", Argument()}});
}

/// adaptive_avg_pool1d(self, output_size): to one element it is the mean.
static FailureOr<Value> lowerAdaptiveAvgPool1d(const AtenNode &node,
                                               Emitter &emit) {
  if (auto mean = meanIfOne(node, emit, node.list("output_size")))
    return *mean;
  PoolOfLine pool(node, emit);
  return pool.run("_adaptive_avg_pool2d.default",
                  {pool.list("output_size", 1)});
}

/// adaptive_avg_pool2d, adaptive_avg_pool3d(self, output_size): to one element
/// it is the mean.
template <OperatorName General>
static FailureOr<Value> lowerAdaptiveAvgPool(const AtenNode &node,
                                             Emitter &emit) {
  if (auto mean = meanIfOne(node, emit, node.list("output_size")))
    return *mean;
  return call(node, emit, General.text,
              {{"self", node["self"]}, {"output_size", node["output_size"]}});
}

//===----------------------------------------------------------------------===//
// Margins
//===----------------------------------------------------------------------===//

/// Circular margins: the other end of each axis.
static FailureOr<Value> padCircular(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  SmallVector<int64_t> amounts = node.integers("pad");
  if (llvm::any_of(amounts, [](int64_t amount) { return amount < 0; }))
    return emit.error(node) << "circular padding by negative amounts";
  int64_t rank = emit.type(x).getRank();
  for (size_t i = 0; i + 1 < amounts.size(); i += 2) {
    int64_t axis = rank - 1 - static_cast<int64_t>(i / 2);
    int64_t before = amounts[i], after = amounts[i + 1];
    DimExpr extent(emit, x, axis);
    SmallVector<Value> pieces;
    if (before)
      pieces.push_back(sliceAxis(emit, x, axis, extent - before, extent));
    pieces.push_back(x);
    if (after)
      pieces.push_back(
          sliceAxis(emit, x, axis, DimExpr(emit, 0), DimExpr(emit, after)));
    if (pieces.size() > 1)
      x = emit.concat(pieces, axis);
  }
  return x;
}

/// pad(self, pad, mode, value)
static FailureOr<Value> lowerPad(const AtenNode &node, Emitter &emit) {
  StringRef mode = node.string("mode");
  if (mode == "constant")
    return call(
        node, emit, "constant_pad_nd.default",
        {{"self", node["self"]},
         {"pad", node["pad"]},
         {"value", node.has("value") ? node["value"] : Argument::integer(0)}});
  if (mode == "circular")
    return padCircular(node, emit);
  StringRef op = mode == "reflect" ? "reflection_pad1d.default"
                                   : "replication_pad1d.default";
  return call(node, emit, op,
              {{"self", node["self"]}, {"padding", node["pad"]}});
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedLayers() {
#define IN_UndecomposedLayers ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
