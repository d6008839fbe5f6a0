// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompositions: what those of all families are made with, and which op has
// which.

#include "Decomposition.h"

#include "Decomposer.h"
#include "OpTable.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace corten;
using namespace mlir;
using Tensor = aicode::TensorType;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename TypeT>
static bool assign(Type type, Element value, Element &result) {
  if (!isa<TypeT>(type))
    return false;
  result = value;
  return true;
}

Element corten::elementOf(Type type) {
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
      assign<aicode::Float8E8M0FNType>(type, real(APFloat::Float8E8M0FNU()),
                                       result) ||
      assign<aicode::Float4E2M1FNType>(type, real(APFloat::Float4E2M1FN()),
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

APInt corten::bitsOf(Element element, int value) {
  if (!element.semantics)
    return APInt(element.width, value);
  llvm::APFloat number(static_cast<double>(value));
  bool loses = false;
  number.convert(*element.semantics, llvm::APFloat::rmNearestTiesToEven,
                 &loses);
  return number.bitcastToAPInt();
}

APInt corten::limitOf(Element element, bool isLargest) {
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
// Makers
//===----------------------------------------------------------------------===//

SmallVector<int64_t> corten::broadcast(ArrayRef<int64_t> lhs,
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
