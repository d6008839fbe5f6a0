// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompositions of quantization and its statistics.

#include "Decomposer.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace corten;
using namespace mlir;

/// The extent of `input` along `axis` and 1 along the others.
Value Decomposer::perAxisShape(Value input, Value axis) {
  int64_t rank = static_cast<int64_t>(shape(input).size());
  Type size = aicode::UInt32Type::get(context());
  Value extents = shapeOf(input);
  Value axes = signedNumbers(llvm::to_vector(llvm::seq<int64_t>(rank)));
  Value isAxis = binary("broadcasting_equal_v1", axes, axis);
  Value isOther = make("primitive.not_v1", isAxis, isAxis.getType());
  Value chosen = castTo(isAxis, size);
  Value others = castTo(isOther, size);
  Value ones = sizes(SmallVector<int64_t>(rank, 1));
  Value kept = binary("broadcasting_mul_v1", chosen, extents);
  Value flat = binary("broadcasting_mul_v1", others, ones);
  return binary("broadcasting_add_v1", kept, flat);
}

/// The scale and the offsets of a quantization, in the order of their use, with
/// the rank of `args[0]`. One number for everything stays one.
Decomposer::Values Decomposer::quantizationParameters(ValueRange args) {
  Value scale = args[1], zero = args[2], offset = args[3];
  if (shape(scale).empty())
    return {zero, scale, offset};
  Value target = perAxisShape(args[0], args[4]);
  return llvm::map_to_vector(ArrayRef{zero, scale, offset}, [&](Value value) {
    return make("primitive.reshape_v2", {value, target},
                tensor(dynamic(shape(args[0]).size()), element(value)));
  });
}

Value Decomposer::dequantize(ValueRange args) {
  Type narrow = element(args[1]);
  Type kind = accumulator(narrow);
  Values parameters = quantizationParameters(args);
  Value input = castTo(args[0], kind);
  Value zero = castTo(parameters[0], kind);
  Value scale = castTo(parameters[1], kind);
  Value centered = binary("broadcasting_sub_v1", input, zero);
  Value scaled = binary("broadcasting_mul_v1", centered, scale);
  return binary("broadcasting_add_v1", castTo(scaled, narrow), parameters[2]);
}

Value Decomposer::quantize(ValueRange args) {
  Type kind = accumulator(element(args[0]));
  Type coarse = resultType().getElementType();
  Values parameters = quantizationParameters(args);
  Value input = castTo(args[0], kind);
  Value centered =
      binary("broadcasting_sub_v1", input, castTo(parameters[2], kind));
  Value scaled =
      binary("broadcasting_divide_v1", centered, castTo(parameters[1], kind));
  if (!elementOf(coarse).semantics)
    scaled = make("primitive.round_v1", scaled, scaled.getType());
  Value moved =
      binary("broadcasting_add_v1", scaled, castTo(parameters[0], kind));
  auto [lowest, highest] = limits(coarse, kind);
  Value above = binary("broadcasting_maximum_v1", moved, lowest);
  Value within = binary("broadcasting_minimum_v1", above, highest);
  return castTo(within, coarse);
}

/// The limits of a type as numbers of another one, which is a float.
std::pair<Value, Value> Decomposer::limits(Type of, Type kind) {
  Element from = elementOf(of);
  APInt lowest = limitOf(from, /*isLargest=*/false);
  APInt highest = limitOf(from, /*isLargest=*/true);
  // The cast of a constant of these types is one that coreai-core leaves.
  if (from.semantics || from.width < 8) {
    Value low = splat(lowest, of);
    Value high = splat(highest, of);
    low = castTo(low, kind);
    return {low, castTo(high, kind)};
  }
  auto literal = [&](const APInt &bits) {
    llvm::APFloat number(*elementOf(kind).semantics);
    number.convertFromAPInt(bits, from.isSigned,
                            llvm::APFloat::rmNearestTiesToEven);
    return splat(number.bitcastToAPInt(), kind);
  };
  Value low = literal(lowest);
  return {low, literal(highest)};
}

/// The two ends of a range.
std::pair<Value, Value> Decomposer::ends(Value range) {
  Value zero = signedNumbers(0);
  Value one = signedNumbers(1);
  Value two = signedNumbers(2);
  Type end = tensor(int64_t(1), element(range));
  Value low = make("primitive.slice_v1", {range, zero, one, one}, end);
  Value high = make("primitive.slice_v1", {range, one, two, one}, end);
  return {low, high};
}

/// All axes of `input` but one.
Value Decomposer::otherAxes(Value input, Value axis) {
  int64_t rank = static_cast<int64_t>(shape(input).size());
  Type index = element(axis);
  Value zero = signedNumbers(0);
  Value step = signedNumbers(1);
  Value axes = signedNumbers(llvm::to_vector(llvm::seq<int64_t>(rank)));
  Type some = tensor(ShapedType::kDynamic, index);
  Value end =
      make("primitive.expand_dims_v1", {axis, zero}, tensor(int64_t(1), index));
  Value before = make("primitive.slice_v1", {axes, zero, end, step}, some);
  Value next = make("primitive.add_v1", {axis, scalar(1)}, tensor({}, index));
  Value start =
      make("primitive.expand_dims_v1", {next, zero}, tensor(int64_t(1), index));
  Value last = signedNumbers(rank);
  Value after = make("primitive.slice_v1", {axes, start, last, step}, some);
  return make("primitive.concat_v1", {zero, before, after}, some);
}

Value Decomposer::symmetricStatistics(ValueRange args) {
  Type kind = element(args[0]);
  auto [low, high] = ends(args[1]);
  Value axes = otherAxes(args[0], args[2]);
  Type many = tensor(dynamic(shape(args[0]).size()), kind);
  Value least = make("reduce_min_v1", {args[0], axes}, many);
  Value most = make("reduce_max_v1", {args[0], axes}, many);
  Value below = make("primitive.abs_v1", least, many);
  Value above = make("primitive.abs_v1", most, many);
  Value furthest = make("primitive.maximum_v1", {below, above}, many);
  Value width = make("primitive.sub_v1", {high, low}, low.getType());
  width = castTo(width, kind);
  Value two = number(2, kind, int64_t(1));
  Value doubled = binary("broadcasting_mul_v1", furthest, two);
  Value scale = binary("broadcasting_divide_v1", doubled, width);
  return make("primitive.shrink_dims_v1", {scale, axes},
              tensor(ShapedType::kDynamic, kind));
}

SmallVector<Value> Decomposer::asymmetricStatistics(ValueRange args) {
  Type kind = element(args[0]);
  Type coarse = element(args[1]);
  auto [low, high] = ends(args[1]);
  Value axes = otherAxes(args[0], args[2]);
  SmallVector<int64_t> extents = dynamic(shape(args[0]).size());
  Type many = tensor(extents, kind);
  Value least = make("reduce_min_v1", {args[0], axes}, many);
  Value most = make("reduce_max_v1", {args[0], axes}, many);
  Value zero = number(0, kind);
  Value nothing = broadcastTo(zero, shapeOf(least), extents);
  Value floor = make("primitive.minimum_v1", {least, nothing}, many);
  Value ceiling = make("primitive.maximum_v1", {most, nothing}, many);
  Value span = make("primitive.sub_v1", {ceiling, floor}, many);
  Value width = make("primitive.sub_v1", {high, low}, low.getType());
  Value scale = binary("broadcasting_divide_v1", span, castTo(width, kind));
  Value steps = make("primitive.divide_v1", {floor, scale}, many);
  Value rounded = make("primitive.round_v1", steps, many);
  Value lowest = castTo(low, kind);
  Value highest = castTo(high, kind);
  Value moved = binary("broadcasting_sub_v1", lowest, rounded);
  Value below = binary("broadcasting_minimum_v1", moved, highest);
  Value within = binary("broadcasting_maximum_v1", below, lowest);
  Value offset = castTo(within, coarse);
  auto shrink = [&](Value value) {
    return make("primitive.shrink_dims_v1", {value, axes},
                tensor(ShapedType::kDynamic, element(value)));
  };
  Value scales = shrink(scale);
  return {scales, shrink(offset)};
}
