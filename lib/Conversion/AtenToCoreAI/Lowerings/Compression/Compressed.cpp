// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compressed weights and quantized activations: the ops that compressors leave
// in a program. Data that is a weight is packed already when it gets here.

#include "Lowerings/Compression/Compressed.h"

#include "Table.h"
#include "Weights/PackedWeights.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// Adds `[a, b]` to a message.
static void append(InFlightDiagnostic &message, ArrayRef<int64_t> shape) {
  message << "[";
  llvm::interleaveComma(shape, message);
  message << "]";
}

/// The extents of `blocks` divide those of `extents`.
static LogicalResult checkDivides(const AtenNode &node, Emitter &emit,
                                  StringRef name, ArrayRef<int64_t> blocks,
                                  ArrayRef<int64_t> extents) {
  bool divides = blocks.size() == extents.size() &&
                 llvm::all_of(llvm::zip(extents, blocks), [](auto pair) {
                   auto [extent, count] = pair;
                   return count > 0 && (extent < 0 || extent % count == 0);
                 });
  if (divides)
    return success();
  InFlightDiagnostic message = emit.error(node);
  message << name << " of the shape ";
  append(message, blocks);
  message << " must divide the data, which is ";
  append(message, extents);
  return message;
}

//===----------------------------------------------------------------------===//
// Lookup tables
//===----------------------------------------------------------------------===//

/// lut_to_dense(indices, lut, axis)
///
/// The table is [blocks..., P, V] with P = 2^bits entries of V elements; those
/// of an index come right after each other along `axis`. There are no indices
/// of 5 and 7 bits: their tables are filled up to those of 6 and 8.
static FailureOr<Value> lowerLutToDense(const AtenNode &node, Emitter &emit) {
  std::optional<ScalarType> indexType = paletteIndexType(node);
  ArrayRef<int64_t> table = emit.type(emit.tensor(node, "lut")).getShape();
  if (!indexType)
    return emit.error(node)
           << "the table must have 2, 4, ... or 256 entries, not "
           << (table.size() < 2 ? 0 : table.drop_back().back());
  Value indices = emit.compressed(node, "indices");
  RankedTensorType type = emit.type(indices);
  int64_t rank = type.getRank();
  if (!isa<IntegerType>(type.getElementType()))
    return emit.error(node)
           << "indices must be integers, got " << type.getElementType();
  if (static_cast<int64_t>(table.size()) != rank + 2)
    return emit.error(node) << "the table must have two axes more than the "
                            << rank << " of the indices, not " << table.size();
  if (failed(
          checkDivides(node, emit, "lut", table.drop_back(2), type.getShape())))
    return failure();
  int64_t axis = node.integer("axis");
  if (axis < -rank || axis >= std::max<int64_t>(rank, 1))
    return emit.error(node) << "axis " << axis
                            << " is out of range for indices of rank " << rank;

  Value lut = emit.cast(emit.tensor(node, "lut"),
                        emit.elementType(node.result().dtype));
  int64_t entries = int64_t(1) << scalarTypeBits(*indexType);
  if (int64_t given = table.drop_back().back(); given != entries) {
    SmallVector<int64_t> rest(table);
    rest[rank] = entries - given;
    lut = emit.concat({lut, emit.splat(0, emit.type(lut).clone(rest))}, rank);
  }
  return emit.create<coreai::LutToDenseOp>(
      {emit.cast(indices, emit.elementType(*indexType)), lut,
       emit.scalar(Emitter::axis(axis, rank),
                   emit.builder.getIntegerType(16, true))});
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value corten::quantizationParameter(const AtenNode &node, Emitter &emit,
                                    StringRef name, Type element,
                                    ArrayRef<int64_t> shape) {
  const Argument &argument = node[name];
  if (argument.isNumber())
    return emit.splat(argument.asDouble(),
                      RankedTensorType::get(shape, element));
  return emit.reshape(emit.cast(emit.compressed(node, name), element), shape);
}

/// The operand has as many elements as there are blocks.
static LogicalResult checkCount(const AtenNode &node, Emitter &emit,
                                StringRef name, ArrayRef<int64_t> blocks) {
  if (name.empty() || !node.has(name) || node[name].isNumber())
    return success();
  RankedTensorType type = emit.type(emit.compressed(node, name));
  if (type.hasStaticShape() && type.getNumElements() == product(blocks))
    return success();
  InFlightDiagnostic message = emit.error(node);
  message << name << " must have an element for each of the blocks ";
  append(message, blocks);
  message << ", got the shape ";
  append(message, type.getShape());
  return message;
}

/// Integers that numbers are quantized to.
static bool isNarrowInteger(Type element) {
  auto integer = dyn_cast_if_present<IntegerType>(element);
  return integer && integer.getWidth() <= 8 && !integer.isSignless();
}

static LogicalResult checkBlocks(const AtenNode &node, Emitter &emit,
                                 const BlockwiseCall &call, Value data) {
  RankedTensorType type = emit.type(data);
  Type element = type.getElementType();
  bool hasMinval = !call.minval.empty() && node.has(call.minval);
  if (node.has(call.zeroPoint) && hasMinval)
    return emit.error(node) << "zero_point and minval exclude each other";
  if (!isNarrowInteger(element) && !isa<FloatType>(element))
    return emit.error(node) << "data must be integers of up to eight bits or "
                            << "floats, got " << element;
  if (isa<FloatType>(element) && (node.has(call.zeroPoint) || hasMinval))
    return emit.error(node) << "float data has no offsets";
  if (failed(checkDivides(node, emit, "scale", call.blocks, type.getShape())) ||
      failed(checkCount(node, emit, call.scale, call.blocks)) ||
      failed(checkCount(node, emit, call.zeroPoint, call.blocks)) ||
      failed(checkCount(node, emit, call.minval, call.blocks)))
    return failure();
  if (!node[call.scale].isNumber() &&
      !isa<FloatType>(getElementTypeOrSelf(emit.compressed(node, call.scale))))
    return emit.error(node) << "scale must be of floats";
  if (hasMinval && !call.declared)
    return emit.error(node) << "minval needs input_dtype, whose least value it "
                            << "stands for";
  if (node.has(call.zeroPoint) && !node[call.zeroPoint].isNumber() &&
      !isa<IntegerType>(
          getElementTypeOrSelf(emit.compressed(node, call.zeroPoint))))
    return emit.error(node)
           << "zero_point must be of the type of the data, " << element;
  return success();
}

FailureOr<Value> corten::dequantizeBlocks(const AtenNode &node, Emitter &emit,
                                          const BlockwiseCall &call) {
  Value data = emit.compressed(node, call.data);
  if (failed(checkBlocks(node, emit, call, data)))
    return failure();
  Type element = getElementTypeOrSelf(data);
  Type result = emit.elementType(node.result().dtype);
  auto parameterType = [&](Type each) {
    return RankedTensorType::get(call.blocks, each);
  };
  bool hasMinval = !call.minval.empty() && node.has(call.minval);
  Type scaleType =
      node[call.scale].isNumber()
          ? emit.f32()
          : getElementTypeOrSelf(emit.compressed(node, call.scale));
  Value scale =
      quantizationParameter(node, emit, call.scale, scaleType, call.blocks);
  Value shift =
      node.has(call.zeroPoint)
          ? quantizationParameter(node, emit, call.zeroPoint, element,
                                  call.blocks)
          : emit.splat(hasMinval
                           ? static_cast<double>(limitsOf(*call.declared).first)
                           : 0.0,
                       parameterType(element));
  Value base = hasMinval ? quantizationParameter(node, emit, call.minval,
                                                 result, call.blocks)
                         : emit.splat(0.0, parameterType(result));
  return emit.createTyped<coreai::BlockwiseShiftScaleOp>(
      emit.type(data).clone(result), {data, scale, shift, base});
}

/// constexpr_blockwise_shift_scale(input, scale, zero_point, minval,
///                                 input_dtype, output_dtype)
static FailureOr<Value> lowerBlockwise(const AtenNode &node, Emitter &emit) {
  std::optional<BlockwiseCall> call = asBlockwiseCall(node);
  if (!call)
    return emit.error(node) << "the data or a parameter is no tensor that "
                               "blocks can be made of";
  return dequantizeBlocks(node, emit, *call);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
struct ActivationParameters {
  Value scale;
  Value zeroPoint;
  Value minval;
  Value axis;
};
} // namespace

/// Scale and offsets as scalars, or as vectors along the axis.
static FailureOr<ActivationParameters>
activationParameters(const AtenNode &node, Emitter &emit, RankedTensorType data,
                     Type quantized, Type offset, ScalarType logical) {
  SmallVector<int64_t> shape = parameterShape(node);
  int64_t rank = data.getRank(), axis = node.axis("axis", rank);
  if (!shape.empty() && (rank == 0 || (!data.isDynamicDim(axis) &&
                                       data.getDimSize(axis) != shape[0])))
    return emit.error(node)
           << "scale has " << shape[0] << " elements for an axis of "
           << (rank ? data.getDimSize(axis) : 1);
  for (StringRef name : {"zero_point", "minval"})
    if (failed(checkCount(node, emit, name, shape)))
      return failure();
  if (node.has("zero_point") && node.has("minval"))
    return emit.error(node) << "zero_point and minval exclude each other";
  if (isa<FloatType>(quantized) &&
      (node.has("zero_point") || node.has("minval")))
    return emit.error(node) << "float data has no offsets";
  if (node.has("zero_point") && !isa<IntegerType>(getElementTypeOrSelf(
                                    emit.compressed(node, "zero_point"))))
    return emit.error(node) << "zero_point must be of integers";

  auto type = [&](Type element) {
    return RankedTensorType::get(shape, element);
  };
  ActivationParameters result;
  result.scale = quantizationParameter(
      node, emit, "scale", getElementTypeOrSelf(emit.compressed(node, "scale")),
      shape);
  double least = node.has("minval") && isIntegerOrBool(logical)
                     ? static_cast<double>(limitsOf(logical).first)
                     : 0.0;
  result.zeroPoint =
      node.has("zero_point")
          ? quantizationParameter(node, emit, "zero_point", quantized, shape)
          : emit.splat(least, type(quantized));
  result.minval =
      node.has("minval")
          ? quantizationParameter(node, emit, "minval", offset, shape)
          : emit.splat(0.0, type(offset));
  result.axis = emit.index(axis);
  return result;
}

/// quantize(input, scale, output_dtype, zero_point, minval, axis)
///
/// clip(round((x - minval) / scale) + zero point), ties to even; floats are
/// clipped to what the type can hold. torch keeps integers of fewer than eight
/// bits in a byte; where what follows knows, they are narrow here. There are no
/// two-bit results: those are clipped in eight.
static FailureOr<Value> lowerQuantize(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "input");
  RankedTensorType type = emit.type(x);
  ScalarType logical = node.dtype("output_dtype");
  bool isNarrow = emit.staysNarrow(node);
  Type quantized = emit.elementType(isNarrow ? logical : node.result().dtype);
  if (!isa<FloatType>(type.getElementType()))
    return emit.error(node)
           << "only floats can be quantized, not " << type.getElementType();
  bool isFloat8 = isa_and_present<Float8E4M3FNType, Float8E5M2Type>(quantized);
  if (!isFloat8 && !isNarrowInteger(quantized))
    return emit.error(node) << "cannot quantize to " << scalarTypeName(logical);
  FailureOr<ActivationParameters> parameters = activationParameters(
      node, emit, type, quantized, type.getElementType(), logical);
  if (failed(parameters))
    return failure();
  Value result = emit.createTyped<coreai::QuantizeOp>(
      type.clone(quantized), {x, parameters->scale, parameters->zeroPoint,
                              parameters->minval, parameters->axis});
  if (isNarrow || !isSubByte(logical))
    return result;
  auto [low, high] = limitsOf(logical);
  return emit.minimum(emit.maximum(result, emit.scalar(low, quantized)),
                      emit.scalar(high, quantized));
}

/// dequantize(input, scale, zero_point, minval, axis, input_dtype,
///            output_dtype)
static FailureOr<Value> lowerDequantize(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "input");
  RankedTensorType type = emit.type(x);
  Type element = type.getElementType();
  Type result = emit.elementType(node.result().dtype);
  // Only these are quantized numbers to the dialect.
  if (!isNarrowInteger(element) &&
      !isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return emit.error(node) << "cannot dequantize data of " << element;
  ScalarType logical =
      node.has("input_dtype") ? node.dtype("input_dtype") : ScalarType::Float32;
  if (node.has("minval") && !node.has("input_dtype"))
    return emit.error(node) << "minval needs input_dtype, whose least value it "
                            << "stands for";
  FailureOr<ActivationParameters> parameters =
      activationParameters(node, emit, type, element, result, logical);
  if (failed(parameters))
    return failure();
  return emit.createTyped<coreai::DequantizeOp>(
      type.clone(result), {x, parameters->scale, parameters->zeroPoint,
                           parameters->minval, parameters->axis});
}

//===----------------------------------------------------------------------===//
// Sparse weights
//===----------------------------------------------------------------------===//

/// sparse_to_dense(nonzero_data, mask)
static FailureOr<Value> lowerSparseToDense(const AtenNode &node,
                                           Emitter &emit) {
  Value values = emit.compressed(node, "nonzero_data");
  Value mask = emit.compressed(node, "mask");
  if (emit.type(values).getRank() != 1)
    return emit.error(node) << "nonzero_data must be a vector, not of rank "
                            << emit.type(values).getRank();
  if (!isa<IntegerType>(getElementTypeOrSelf(mask)))
    return emit.error(node) << "mask must be of integers or booleans, got "
                            << getElementTypeOrSelf(mask);
  Value sparse = emit.create<coreai::BuildSparseWithBitmaskOp>(
      {values, emit.cast(mask, emit.builder.getIntegerType(1, false))});
  return emit.create<coreai::SparseWithBitmaskToDenseOp>({sparse});
}

llvm::ArrayRef<TableEntry> corten::loweringsCompressed() {
#define IN_Compressed ,
#define LOWER_WITH lowerWithSchema
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
