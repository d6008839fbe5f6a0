// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch's own quantized programs: what PT2E leaves in a program
// (quantized_decomposed) and what the layers of torchao export to.

#include "Emission/ScalarExpr.h"
#include "Lowerings/Compression/Compressed.h"
#include "Table.h"
#include "Weights/PackedWeights.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

/// Types that the dialect quantizes to.
static bool isQuantizedType(Type element) {
  auto integer = dyn_cast_if_present<IntegerType>(element);
  return integer && integer.getWidth() == 8;
}

/// The shape of one set of parameters, or of one per element of an axis.
static SmallVector<int64_t> axisShape(const AtenNode &node, Emitter &emit) {
  if (!node.get().findArgument("axis"))
    return {};
  RankedTensorType type = emit.type(emit.tensor(node, "input"));
  return {type.getDimSize(node.axis("axis", type.getRank()))};
}

static Value axisOf(const AtenNode &node, Emitter &emit) {
  int64_t rank = emit.type(emit.tensor(node, "input")).getRank();
  return emit.index(node.get().findArgument("axis") ? node.axis("axis", rank)
                                                    : 0);
}

/// Operators for channels name their parameters in the plural.
static StringRef nameOf(const AtenNode &node, StringRef one, StringRef many) {
  return node.get().findArgument(one) ? one : many;
}

/// A parameter that broadcasts against the input along the axis.
static Value alongAxis(const AtenNode &node, Emitter &emit, StringRef name,
                       Type element) {
  RankedTensorType type = emit.type(emit.tensor(node, "input"));
  SmallVector<int64_t> shape;
  if (node.get().findArgument("axis")) {
    shape.assign(type.getRank(), 1);
    int64_t axis = node.axis("axis", type.getRank());
    shape[axis] = type.getDimSize(axis);
  }
  return quantizationParameter(node, emit, name, element, shape);
}

/// clip(round(x / scale) + zero point), in the type of the result. Where that
/// is one of eight bits and clips to its range, it is the dialect's own op.
///
/// Both round to even, but torch multiplies with 1 / scale: a number half way
/// between two may come out one lower or higher.
static FailureOr<Value> quantized(const AtenNode &node, Emitter &emit, Value x,
                                  Value scale, Value zeroPoint) {
  Type element = emit.elementType(node.result().dtype);
  int64_t low = node.integer("quant_min"), high = node.integer("quant_max");
  Value rounded = emit.create<coreai::RoundOp>({emit.divide(x, scale)});
  Value shifted = emit.add(rounded, zeroPoint);
  Value clipped = emit.minimum(
      emit.maximum(shifted, emit.scalar(static_cast<double>(low), emit.f32())),
      emit.scalar(static_cast<double>(high), emit.f32()));
  return emit.cast(clipped, element);
}

/// quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype),
/// quantize_per_channel(input, scales, zero_points, axis, …)
static FailureOr<Value> lowerQuantizeNumbers(const AtenNode &node,
                                             Emitter &emit) {
  Value x = emit.cast(emit.tensor(node, "input"), emit.f32());
  Type element = emit.elementType(node.result().dtype);
  StringRef scale = nameOf(node, "scale", "scales");
  StringRef zero = nameOf(node, "zero_point", "zero_points");
  if (node.get().findArgument("axis")) {
    int64_t rank = emit.type(x).getRank(), axis = node.integer("axis");
    if (axis < -rank || axis >= rank ||
        emit.type(x).isDynamicDim(Emitter::axis(axis, rank)))
      return emit.error(node) << "axis " << axis
                              << " must be one of a known extent, of " << rank;
  }
  if (!isQuantizedType(element) ||
      limitsOf(node.result().dtype) !=
          std::pair(node.integer("quant_min"), node.integer("quant_max")))
    return quantized(node, emit, x, alongAxis(node, emit, scale, emit.f32()),
                     alongAxis(node, emit, zero, emit.f32()));
  SmallVector<int64_t> shape = axisShape(node, emit);
  return emit.createTyped<coreai::QuantizeOp>(
      emit.type(x).clone(element),
      {x, quantizationParameter(node, emit, scale, emit.f32(), shape),
       quantizationParameter(node, emit, zero, element, shape),
       emit.splat(0.0, RankedTensorType::get(shape, emit.f32())),
       axisOf(node, emit)});
}

/// dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype,
///                       out_dtype),
/// dequantize_per_channel(input, scales, zero_points, axis, …),
/// dequantize_per_channel_group(input, scales, zero_points, …, group_size, …),
/// torchao's dequantize_affine(input, block_size, scale, zero_point, …)
///
/// A weight is dequantized by blocks, as compressed weights are; what a program
/// computes along an axis.
static FailureOr<Value> lowerDequantizeBlocks(const AtenNode &node,
                                              Emitter &emit) {
  std::optional<BlockwiseCall> call = asBlockwiseCall(node);
  if (!call)
    return emit.error(node) << "the data must be a tensor";
  bool isGrouped = !node.get().findArgument("axis") &&
                   !StringRef(node.op()).starts_with("dequantize_per_tensor");
  bool isWide = scalarTypeBits(node.info(call->data).dtype) > 8;
  if (isGrouped || (emit.isWeight(node, call->data) && !isWide))
    return dequantizeBlocks(node, emit, *call);
  Value x = emit.tensor(node, call->data);
  RankedTensorType type = emit.type(x);
  Type element = type.getElementType();
  Type result = emit.elementType(node.result().dtype);
  if (!isQuantizedType(element)) {
    Value scale = alongAxis(node, emit, call->scale, emit.f32());
    Value number = emit.cast(x, emit.f32());
    if (node.has(call->zeroPoint))
      number =
          emit.sub(number, alongAxis(node, emit, call->zeroPoint, emit.f32()));
    return emit.cast(emit.mul(number, scale), result);
  }
  SmallVector<int64_t> shape = axisShape(node, emit);
  Value zero =
      node.has(call->zeroPoint)
          ? quantizationParameter(node, emit, call->zeroPoint, element, shape)
          : emit.splat(0.0, RankedTensorType::get(shape, element));
  return emit.createTyped<coreai::DequantizeOp>(
      type.clone(result),
      {x, quantizationParameter(node, emit, call->scale, emit.f32(), shape),
       zero, emit.splat(0.0, RankedTensorType::get(shape, result)),
       axisOf(node, emit)});
}

/// quantize_per_token(input, scales, zero_points, quant_min, quant_max, dtype)
///
/// The parameters have a last axis of one: a set for each row.
static FailureOr<Value> lowerQuantizePerToken(const AtenNode &node,
                                              Emitter &emit) {
  return quantized(node, emit,
                   emit.cast(emit.tensor(node, "input"), emit.f32()),
                   emit.cast(emit.tensor(node, "scales"), emit.f32()),
                   emit.cast(emit.tensor(node, "zero_points"), emit.f32()));
}

/// dequantize_per_token(input, scales, zero_points, …, output_dtype)
static Value lowerDequantizePerToken(const AtenNode &node, Emitter &emit) {
  Value number =
      emit.sub(emit.cast(emit.tensor(node, "input"), emit.f32()),
               emit.cast(emit.tensor(node, "zero_points"), emit.f32()));
  Value scaled =
      emit.mul(number, emit.cast(emit.tensor(node, "scales"), emit.f32()));
  return emit.cast(scaled, emit.elementType(node.result().dtype));
}

/// choose_qparams(input, quant_min, quant_max, eps, dtype)
///
/// Of the least and the greatest element l <= 0 <= g:
///   scale = max((g - l) / (quant_max - quant_min), eps)
///   zero point = clip(quant_min - round(l / scale))
/// The symmetric one widens the range to [-m, m], m the greater of -l and g;
/// its zero point is the middle of the type.
static FailureOr<Results> lowerChooseParameters(const AtenNode &node,
                                                Emitter &emit) {
  Value x = emit.cast(emit.tensor(node, "input"), emit.f32());
  auto low = static_cast<double>(node.integer("quant_min"));
  auto high = static_cast<double>(node.integer("quant_max"));
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, emit.type(x).getRank()));
  auto number = [&](double value) { return emit.scalar(value, emit.f32()); };
  auto reduced = [&](Value y) { return emit.reshape(y, ArrayRef<int64_t>()); };
  Value least = emit.minimum(
      reduced(emit.reduce<coreai::ReduceMinOp>(x, axes, true)), number(0));
  Value greatest = emit.maximum(
      reduced(emit.reduce<coreai::ReduceMaxOp>(x, axes, true)), number(0));
  bool isSymmetric = node.op().starts_with("choose_qparams_symmetric");
  if (isSymmetric) {
    greatest = emit.maximum(greatest, emit.negate(least));
    least = emit.negate(greatest);
  }
  Value scale = emit.scaleBy(emit.sub(greatest, least), 1.0 / (high - low));
  scale = emit.maximum(scale, ScalarExpr(node, emit, "eps").like(scale));
  auto zeroPoint = [&] {
    if (isSymmetric)
      return number(node.dtype("dtype") == ScalarType::UInt8 ? 128 : 0);
    Value zero = emit.sub(
        number(low), emit.create<coreai::RoundOp>({emit.divide(least, scale)}));
    return emit.minimum(emit.maximum(zero, number(low)), number(high));
  };
  auto shaped = [&](Value y, unsigned result) {
    return emit.cast(emit.reshape(y, {1}),
                     emit.elementType(node.result(result).dtype));
  };
  return Results{shaped(scale, 0), shaped(zeroPoint(), 1)};
}

/// convert_element_type(input, dtype)
static Value lowerConvertType(const AtenNode &node, Emitter &emit) {
  return emit.convert(emit.tensor(node, "input"),
                      emit.elementType(node.result().dtype));
}

llvm::ArrayRef<TableEntry> corten::loweringsQuantized() {
#define IN_Quantized ,
#define LOWER_WITH lowerWithSchema
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
