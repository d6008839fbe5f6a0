// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decomposition.h"

#include "OpTable.h"
#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace corten;
using namespace mlir;
using Tensor = aicode::TensorType;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// How numbers of a type are written.
struct Element {
  /// Null for integers.
  const llvm::fltSemantics *semantics = nullptr;
  unsigned width = 0;
  bool isSigned = false;
};
} // namespace

template <typename TypeT>
static bool assign(Type type, Element value, Element &result) {
  if (!isa<TypeT>(type))
    return false;
  result = value;
  return true;
}

static Element elementOf(Type type) {
  using llvm::APFloat;
  Element result;
  auto real = [](const llvm::fltSemantics &semantics) {
    return Element{&semantics, APFloat::getSizeInBits(semantics), true};
  };
  auto natural = [](unsigned width) { return Element{nullptr, width, false}; };
  auto whole = [](unsigned width) { return Element{nullptr, width, true}; };
  bool isKnown =
      assign<aicode::BoolType>(type, natural(1), result) ||
      assign<aicode::Float64Type>(type, real(APFloat::IEEEdouble()), result) ||
      assign<aicode::Float32Type>(type, real(APFloat::IEEEsingle()), result) ||
      assign<aicode::Float16Type>(type, real(APFloat::IEEEhalf()), result) ||
      assign<aicode::BFloat16Type>(type, real(APFloat::BFloat()), result) ||
      assign<aicode::Float8E5M2Type>(type, real(APFloat::Float8E5M2()),
                                     result) ||
      assign<aicode::Float8E4M3FNType>(type, real(APFloat::Float8E4M3FN()),
                                       result) ||
      assign<aicode::SInt64Type>(type, whole(64), result) ||
      assign<aicode::SInt32Type>(type, whole(32), result) ||
      assign<aicode::SInt16Type>(type, whole(16), result) ||
      assign<aicode::SInt8Type>(type, whole(8), result) ||
      assign<aicode::SInt4Type>(type, whole(4), result) ||
      assign<aicode::SInt2Type>(type, whole(2), result) ||
      assign<aicode::UInt64Type>(type, natural(64), result) ||
      assign<aicode::UInt32Type>(type, natural(32), result) ||
      assign<aicode::UInt16Type>(type, natural(16), result) ||
      assign<aicode::UInt8Type>(type, natural(8), result) ||
      assign<aicode::UInt6Type>(type, natural(6), result) ||
      assign<aicode::UInt4Type>(type, natural(4), result) ||
      assign<aicode::UInt3Type>(type, natural(3), result) ||
      assign<aicode::UInt2Type>(type, natural(2), result) ||
      assign<aicode::UInt1Type>(type, natural(1), result);
  (void)isKnown;
  return result;
}

/// The bits of a number that every type has: 0, 1 or 2.
static APInt bitsOf(Element element, int value) {
  if (!element.semantics)
    return APInt(element.width, value);
  llvm::APFloat number(static_cast<double>(value));
  bool loses = false;
  number.convert(*element.semantics, llvm::APFloat::rmNearestTiesToEven,
                 &loses);
  return number.bitcastToAPInt();
}

/// The smallest or the largest finite number.
static APInt limitOf(Element element, bool isLargest) {
  if (element.semantics)
    return llvm::APFloat::getLargest(*element.semantics, !isLargest)
        .bitcastToAPInt();
  if (element.isSigned)
    return isLargest ? APInt::getSignedMaxValue(element.width)
                     : APInt::getSignedMinValue(element.width);
  return isLargest ? APInt::getMaxValue(element.width)
                   : APInt::getMinValue(element.width);
}

static void appendBytes(const APInt &bits, SmallVectorImpl<char> &bytes) {
  for (unsigned i = 0; i < bits.getBitWidth(); i += 8)
    bytes.push_back(static_cast<char>(
        bits.extractBitsAsZExtValue(std::min(8u, bits.getBitWidth() - i), i)));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
class Decomposer {
public:
  explicit Decomposer(Operation *op) : op(op), builder(op->getContext()) {}

  void run(ArrayRef<Location> places);

private:
  using Values = SmallVector<Value>;

  // The ops, by family. Each takes the arguments of the block.
  Value broadcastBinary(StringRef primitive, ValueRange args);
  Value broadcastWhere(ValueRange args);
  Value broadcastMatmul(ValueRange args);
  Value reduce(StringRef combiner, const APInt &start, ValueRange args);
  Value reduce(StringRef combiner, Value start, ValueRange args);
  Value argmax(ValueRange args);
  Value mean(ValueRange args);
  Value softmax(ValueRange args);
  Value sigmoid(Value input);
  Value sort(ValueRange args);
  Value tile(ValueRange args);
  Value dequantize(ValueRange args);
  Value quantize(ValueRange args);
  Value symmetricStatistics(ValueRange args);
  Values asymmetricStatistics(ValueRange args);
  Values body(StringRef code, ValueRange args);

  // Makers of ops. `code` is without the dialect.
  Value make(StringRef code, ValueRange operands, Type result);
  Operation *makeOp(StringRef code, ValueRange operands, TypeRange results);
  Value makeReduction(StringRef code, ValueRange operands, Type result,
                      llvm::function_ref<Value(Value, Value)> combine);
  Value constant(Tensor type, bool isSplat, ArrayRef<char> bytes);
  Value splat(const APInt &bits, Type element, ArrayRef<int64_t> shape = {});
  Value numbers(ArrayRef<int64_t> values, Type element);
  Value signedNumbers(ArrayRef<int64_t> values) {
    return numbers(values, aicode::SInt32Type::get(context()));
  }
  Value sizes(ArrayRef<int64_t> values) {
    return numbers(values, aicode::UInt32Type::get(context()));
  }
  Value scalar(int64_t value);
  Value number(int value, Type element, ArrayRef<int64_t> shape = {}) {
    return splat(bitsOf(elementOf(element), value), element, shape);
  }
  Value binary(StringRef code, Value lhs, Value rhs);
  Value shapeOf(Value value);
  Value broadcastShapes(Value lhs, Value rhs);
  Value broadcastTo(Value value, Value shape, ArrayRef<int64_t> result);
  Value castTo(Value value, Type element);

  // Steps that several ops share.
  Type accumulator(Type kind);
  Value perAxisShape(Value input, Value axis);
  Values quantizationParameters(ValueRange args);
  std::pair<Value, Value> limits(Type of, Type kind);
  Value otherAxes(Value input, Value axis);
  std::pair<Value, Value> ends(Value range);

  MLIRContext *context() { return op->getContext(); }
  Tensor tensor(ArrayRef<int64_t> shape, Type element) {
    return Tensor::get(context(), shape, element, Attribute());
  }
  static Tensor typeOf(Value value) { return cast<Tensor>(value.getType()); }
  static ArrayRef<int64_t> shape(Value value) {
    return typeOf(value).getShape();
  }
  static Type element(Value value) { return typeOf(value).getElementType(); }
  static bool isStatic(ArrayRef<int64_t> shape) {
    return !llvm::is_contained(shape, ShapedType::kDynamic);
  }
  static SmallVector<int64_t> dynamic(size_t rank) {
    return SmallVector<int64_t>(rank, ShapedType::kDynamic);
  }
  Tensor resultType() { return cast<Tensor>(op->getResult(0).getType()); }

  Operation *op;
  OpBuilder builder;
};
} // namespace

/// Extents that two shapes have in common when one is spread over the other.
static SmallVector<int64_t> broadcast(ArrayRef<int64_t> lhs,
                                      ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> result(lhs);
  size_t offset = lhs.size() - rhs.size();
  for (auto [i, extent] : llvm::enumerate(rhs)) {
    int64_t &known = result[offset + i];
    if (known == 1 || (ShapedType::isDynamic(known) && extent != 1))
      known = extent;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Makers
//===----------------------------------------------------------------------===//

static SmallVector<Location> placesOf(ValueRange values) {
  return llvm::map_to_vector(values,
                             [](Value value) { return value.getLoc(); });
}

Operation *Decomposer::makeOp(StringRef code, ValueRange operands,
                              TypeRange results) {
  std::string name = ("aicode." + code).str();
  OperationState state(op->getLoc(), name);
  state.addOperands(operands);
  state.addTypes(results);
  const AssetOpInfo *info = assetOpOfCode(name);
  assert(info && "an op that assets do not have");
  if (info->hasDecomposition)
    state.addRegion();
  Operation *made = builder.create(state);
  if (info->hasDecomposition)
    decompose(made, placesOf(operands));
  return made;
}

Value Decomposer::make(StringRef code, ValueRange operands, Type result) {
  return makeOp(code, operands, result)->getResult(0);
}

Value Decomposer::constant(Tensor type, bool isSplat, ArrayRef<char> bytes) {
  OperationState state(op->getLoc(), aicode::ConstantV1Op::getOperationName());
  state.addTypes(type);
  state.addAttribute("value",
                     aicode::BytesAttr::get(context(), isSplat, bytes));
  return builder.create(state)->getResult(0);
}

Value Decomposer::splat(const APInt &bits, Type element,
                        ArrayRef<int64_t> shape) {
  SmallVector<char> bytes;
  appendBytes(bits, bytes);
  return constant(tensor(shape, element), /*isSplat=*/true, bytes);
}

Value Decomposer::numbers(ArrayRef<int64_t> values, Type element) {
  Tensor type = tensor(static_cast<int64_t>(values.size()), element);
  bool isSplat = !values.empty() && llvm::all_equal(values);
  SmallVector<char> bytes;
  for (int64_t value : isSplat ? values.take_front() : values)
    appendBytes(APInt(32, value, /*isSigned=*/true, /*implicitTrunc=*/true),
                bytes);
  return constant(type, isSplat, bytes);
}

Value Decomposer::scalar(int64_t value) {
  return splat(APInt(32, value, /*isSigned=*/true),
               aicode::SInt32Type::get(context()));
}

Value Decomposer::binary(StringRef code, Value lhs, Value rhs) {
  Type result = element(lhs);
  if (code == "broadcasting_equal_v1")
    result = aicode::BoolType::get(context());
  return make(code, {lhs, rhs},
              tensor(broadcast(shape(lhs), shape(rhs)), result));
}

Value Decomposer::shapeOf(Value value) {
  ArrayRef<int64_t> extents = shape(value);
  if (isStatic(extents))
    return sizes(extents);
  return make("primitive.get_shape_v2", value,
              tensor(static_cast<int64_t>(extents.size()),
                     aicode::UInt32Type::get(context())));
}

Value Decomposer::broadcastShapes(Value lhs, Value rhs) {
  int64_t left = shape(lhs).front(), right = shape(rhs).front();
  // The shape of a scalar changes nothing.
  if (left == 0)
    return rhs;
  if (right == 0)
    return lhs;
  return make("primitive.broadcast_shapes_v1", {lhs, rhs},
              tensor(std::max(left, right), element(lhs)));
}

Value Decomposer::broadcastTo(Value value, Value shape,
                              ArrayRef<int64_t> result) {
  return make("primitive.broadcast_to_v1", {value, shape},
              tensor(result, element(value)));
}

Value Decomposer::castTo(Value value, Type element) {
  return make("primitive.cast_v1", value, tensor(shape(value), element));
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

Value Decomposer::broadcastBinary(StringRef primitive, ValueRange args) {
  SmallVector<int64_t> result = broadcast(shape(args[0]), shape(args[1]));
  SmallVector<Value> operands(args);
  bool areStatic = isStatic(shape(args[0])) && isStatic(shape(args[1]));
  if (areStatic) {
    for (Value &operand : operands) {
      size_t missing = result.size() - shape(operand).size();
      if (missing > 0) {
        SmallVector<int64_t> full(missing, 1);
        llvm::append_range(full, shape(operand));
        operand = make("primitive.reshape_v2", {operand, signedNumbers(full)},
                       tensor(full, element(operand)));
      }
      SmallVector<int64_t> extents, axes;
      for (auto [axis, extent] : llvm::enumerate(shape(operand)))
        if (extent != result[axis]) {
          extents.push_back(result[axis]);
          axes.push_back(static_cast<int64_t>(axis));
        }
      if (!axes.empty()) {
        Value spread = sizes(extents);
        operand = make("primitive.broadcast_in_dims_v1",
                       {operand, spread, signedNumbers(axes)},
                       tensor(result, element(operand)));
      }
    }
  } else if (isStatic(result)) {
    Value target = sizes(result);
    for (Value &operand : operands)
      if (shape(operand) != ArrayRef(result))
        operand = broadcastTo(operand, target, result);
  } else {
    Value left = shapeOf(args[0]);
    Value right = shapeOf(args[1]);
    Value target = broadcastShapes(left, right);
    for (Value &operand : operands)
      operand = broadcastTo(operand, target, result);
  }
  return make(primitive, operands,
              tensor(result, resultType().getElementType()));
}

Value Decomposer::broadcastWhere(ValueRange args) {
  ArrayRef<int64_t> result = resultType().getShape();
  Value condition = shapeOf(args[0]);
  Value left = shapeOf(args[1]);
  Value right = shapeOf(args[2]);
  SmallVector<int64_t> both = broadcast(shape(args[0]), shape(args[1]));
  bool hasScalar = shape(args[0]).empty() || shape(args[1]).empty();
  Value target = isStatic(both) && !hasScalar
                     ? sizes(both)
                     : broadcastShapes(condition, left);
  target = broadcastShapes(target, right);
  SmallVector<Value> operands;
  for (Value operand : args)
    operands.push_back(isStatic(result) && shape(operand) == result
                           ? operand
                           : broadcastTo(operand, target, result));
  return make("primitive.where_v1", operands, resultType());
}

/// All but the last two extents are spread over each other.
Value Decomposer::broadcastMatmul(ValueRange args) {
  auto rankOf = [&](unsigned i) {
    return static_cast<int64_t>(shape(args[i]).size());
  };
  if (rankOf(0) == 2 && rankOf(1) == 2)
    return make("primitive.batch_matmul_v1", args, resultType());
  Type size = aicode::UInt32Type::get(context());
  Value axis = scalar(0);
  Value first = signedNumbers(0);
  Value step = signedNumbers(1);
  Value middle[2], last[2], whole[2], batch[2], matrix[2];
  for (unsigned i = 0; i < 2; ++i)
    if (rankOf(i) > 2) {
      middle[i] = signedNumbers(rankOf(i) - 2);
      last[i] = signedNumbers(rankOf(i));
    }
  llvm::transform(args, whole, [&](Value value) { return shapeOf(value); });
  for (unsigned i = 0; i < 2; ++i) {
    if (rankOf(i) == 2) {
      matrix[i] = whole[i];
      continue;
    }
    batch[i] = make("primitive.slice_v1", {whole[i], first, middle[i], step},
                    tensor(rankOf(i) - 2, size));
    matrix[i] = make("primitive.slice_v1", {whole[i], middle[i], last[i], step},
                     tensor(int64_t(2), size));
  }
  Value common = !batch[0]   ? batch[1]
                 : !batch[1] ? batch[0]
                             : broadcastShapes(batch[0], batch[1]);
  SmallVector<int64_t> extents =
      broadcast(shape(args[0]).drop_back(2), shape(args[1]).drop_back(2));
  SmallVector<Value> operands(args), targets;
  for (Value extent : matrix)
    targets.push_back(
        make("primitive.concat_v1", {axis, common, extent},
             tensor(shape(common).front() + shape(extent).front(), size)));
  for (unsigned i = 0; i < 2; ++i) {
    SmallVector<int64_t> result(extents);
    llvm::append_range(result, shape(args[i]).take_back(2));
    // A matrix without a batch changes nothing about the other one.
    bool isRight = !batch[1 - i] ||
                   (isStatic(result) && shape(args[i]) == ArrayRef(result));
    if (!isRight)
      operands[i] = broadcastTo(args[i], targets[i], result);
  }
  return make("primitive.batch_matmul_v1", operands, resultType());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// An op with a body of two numbers: what was found so far, which begins with
/// the third operand, and the next one.
Value Decomposer::makeReduction(
    StringRef code, ValueRange operands, Type result,
    llvm::function_ref<Value(Value, Value)> combine) {
  OperationState state(op->getLoc(), ("aicode." + code).str());
  state.addOperands(operands);
  state.addTypes(tensor(dynamic(shape(operands[0]).size()), result));
  state.addRegion();
  Operation *made = builder.create(state);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(
      &made->getRegion(0), {},
      {operands[2].getType(), tensor({}, element(operands[0]))},
      {op->getLoc(), op->getLoc()});
  Value combined = combine(block->getArgument(0), block->getArgument(1));
  makeOp("dataflow.yield_v1", combined, {});
  return made->getResult(0);
}

Value Decomposer::reduce(StringRef combiner, const APInt &start,
                         ValueRange args) {
  return reduce(combiner, splat(start, element(args[0])), args);
}

Value Decomposer::reduce(StringRef combiner, Value start, ValueRange args) {
  return makeReduction("primitive.reduce_v1", {args[0], args[1], start},
                       element(args[0]), [&](Value found, Value next) {
                         if (next.getType() != found.getType())
                           next = castTo(next, element(found));
                         return make(combiner, {found, next}, found.getType());
                       });
}

/// The type that sums and products are formed in.
Type Decomposer::accumulator(Type kind) {
  Element info = elementOf(kind);
  if (info.semantics)
    return info.width < 32 ? Type(aicode::Float32Type::get(context())) : kind;
  return info.isSigned ? Type(aicode::SInt64Type::get(context()))
                       : Type(aicode::UInt64Type::get(context()));
}

Value Decomposer::argmax(ValueRange args) {
  Type kind = element(args[0]);
  Type index = element(op->getResult(0));
  Value lowest = splat(limitOf(elementOf(kind), /*isLargest=*/false), kind);
  Value start = number(0, index);
  return makeReduction(
      "primitive.reduce_index_v1", {args[0], args[1], lowest, start}, index,
      [&](Value best, Value next) {
        return make("primitive.greater_v1", {next, best},
                    tensor({}, aicode::BoolType::get(context())));
      });
}

/// The sum over the axes by the product of their extents.
Value Decomposer::mean(ValueRange args) {
  Type narrow = element(args[0]);
  Type kind = accumulator(narrow);
  Type wide = aicode::UInt64Type::get(context());
  size_t rank = shape(args[0]).size();
  Value sum = make("reduce_sum_v1", {castTo(args[0], kind), args[1]},
                   tensor(dynamic(rank), kind));
  Value extents = shapeOf(args[0]);
  int64_t count = shape(args[1]).front();
  Value column =
      make("primitive.reshape_v2", {args[1], signedNumbers({count, 1})},
           tensor({count, 1}, element(args[1])));
  Value reduced = make("primitive.gather_nd_v1", {extents, column},
                       tensor(count, element(extents)));
  Value axis = signedNumbers(0);
  Value product = make("reduce_product_v1", {castTo(reduced, wide), axis},
                       tensor(int64_t(1), wide));
  Value result = binary("broadcasting_divide_v1", sum, castTo(product, kind));
  return castTo(result, narrow);
}

Value Decomposer::softmax(ValueRange args) {
  Value axis = make("primitive.reshape_v2", {args[1], signedNumbers(1)},
                    tensor(int64_t(1), element(args[1])));
  Value raised = make("primitive.exp_v1", args[0], args[0].getType());
  Value sum = make("reduce_sum_v1", {raised, axis}, args[0].getType());
  return binary("broadcasting_divide_v1", raised, sum);
}

/// 1 / (1 + exp(0 - x)); all of it has the type of x, even if that is a scalar.
Value Decomposer::sigmoid(Value input) {
  Type type = input.getType();
  // A cast to bfloat16 is one that coreai-core leaves.
  auto literal = [&](int value) {
    return isa<aicode::BFloat16Type>(element(input))
               ? castTo(signedNumbers(value), element(input))
               : number(value, element(input), int64_t(1));
  };
  Value zero = literal(0);
  Value one = literal(1);
  Value negated = make("broadcasting_sub_v1", {zero, input}, type);
  Value raised = make("primitive.exp_v1", negated, type);
  Value sum = make("broadcasting_add_v1", {one, raised}, type);
  return make("broadcasting_divide_v1", {one, sum}, type);
}

//===----------------------------------------------------------------------===//
// Order and shape
//===----------------------------------------------------------------------===//

Value Decomposer::sort(ValueRange args) {
  Value order = make("primitive.argsort_v1", args,
                     tensor(shape(args[0]), element(args[1])));
  return make("primitive.gather_along_axis_v1", {args[0], order, args[1]},
              args[0].getType());
}

/// Each extent gets one in front of it, which is spread and then merged.
Value Decomposer::tile(ValueRange args) {
  Type size = element(args[1]);
  ArrayRef<int64_t> extents = shape(args[0]);
  int64_t rank = static_cast<int64_t>(extents.size());
  SmallVector<int64_t> axes, interleaved, spread;
  for (int64_t i = 0; i < rank; ++i) {
    axes.push_back(2 * i);
    interleaved.append({1, extents[i]});
    spread.append({ShapedType::kDynamic, extents[i]});
  }
  Value places = signedNumbers(axes);
  Value expanded = make("primitive.expand_dims_v1", {args[0], places},
                        tensor(interleaved, element(args[0])));
  Value none = numbers({}, size);
  Value counts = make("primitive.concat_v1", {scalar(0), none, args[1]},
                      tensor(rank, size));
  Value repeated =
      make("primitive.broadcast_in_dims_v1", {expanded, counts, places},
           tensor(spread, element(args[0])));
  Value before = shapeOf(args[0]);
  Value after = make("primitive.mul_v1", {before, counts}, tensor(rank, size));
  return make("primitive.reshape_v2", {repeated, after},
              tensor(dynamic(rank), element(args[0])));
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

SmallVector<Value> Decomposer::body(StringRef code, ValueRange args) {
  auto element = [&] { return elementOf(Decomposer::element(args[0])); };
  // The cast of a constant of these types is one that coreai-core leaves.
  auto start = [&](int value) {
    Type kind = Decomposer::element(args[0]);
    Type wide = accumulator(kind);
    bool isCast = isa<aicode::BFloat16Type>(kind) ||
                  (!element().semantics && !element().isSigned);
    return isCast ? castTo(number(value, kind), wide) : number(value, wide);
  };
  if (code == "broadcasting_where_v1")
    return {broadcastWhere(args)};
  if (code == "broadcasting_batch_matmul_v1")
    return {broadcastMatmul(args)};
  if (StringRef name = code; name.consume_front("broadcasting_"))
    return {broadcastBinary(("primitive." + name).str(), args)};
  if (code == "reduce_sum_v1")
    return {reduce("primitive.add_v1", start(0), args)};
  if (code == "reduce_product_v1")
    return {reduce("primitive.mul_v1", start(1), args)};
  if (code == "reduce_max_v1")
    return {reduce("primitive.maximum_v1", limitOf(element(), false), args)};
  if (code == "reduce_min_v1")
    return {reduce("primitive.minimum_v1", limitOf(element(), true), args)};
  if (code == "all_v1")
    return {reduce("primitive.bitwise_and_v1", APInt(1, 1), args)};
  if (code == "any_v1")
    return {reduce("primitive.bitwise_or_v1", APInt(1, 0), args)};
  if (code == "reduce_mean_v1")
    return {mean(args)};
  if (code == "argmax_v1")
    return {argmax(args)};
  if (code == "softmax_v1")
    return {softmax(args)};
  if (code == "relu_v1")
    return {binary("broadcasting_maximum_v1", args[0],
                   number(0, Decomposer::element(args[0])))};
  if (code == "sigmoid_v1")
    return {sigmoid(args[0])};
  if (code == "silu_v1")
    return {binary("broadcasting_mul_v1", args[0], sigmoid(args[0]))};
  if (code == "sort_v1")
    return {sort(args)};
  if (code == "tile_v2")
    return {tile(args)};
  if (code == "dequantize_v2")
    return {dequantize(args)};
  if (code == "quantize_v2")
    return {quantize(args)};
  if (code == "symmetric_quantization_statistics_v1")
    return {symmetricStatistics(args)};
  assert(code == "asymmetric_quantization_statistics_v1" &&
         "an op with a decomposition that is not known");
  return asymmetricStatistics(args);
}

void Decomposer::run(ArrayRef<Location> places) {
  Region &region = op->getRegion(0);
  Block *block =
      builder.createBlock(&region, {}, op->getOperandTypes(), places);
  StringRef code = op->getName().getStringRef();
  code.consume_front("aicode.");
  SmallVector<Value> results = body(code, block->getArguments());
  makeOp("dataflow.yield_v1", results, {});
  // What was folded or not needed.
  for (Operation *made = block->getTerminator()->getPrevNode(); made;) {
    Operation *before = made->getPrevNode();
    // A cast to the same type: the arguments of regions that take it keep its
    // place, as the official ones do.
    if (isa<aicode::CastV1Op>(made) &&
        made->getOperand(0).getType() == made->getResult(0).getType())
      made->getResult(0).replaceAllUsesWith(made->getOperand(0));
    if (made->use_empty())
      made->erase();
    made = before;
  }
  // In the order of the block again: any other would have to be in the file.
  region.walk<WalkOrder::PreOrder>([](Operation *user) {
    user->setOperands(llvm::to_vector(user->getOperands()));
  });
}

void corten::decompose(Operation *op, ArrayRef<Location> places) {
  Decomposer(op).run(places);
}
