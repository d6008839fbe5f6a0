// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConstantEvaluator.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Support/Limits.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>
#include <optional>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Sets of types of elements.
enum Kind : unsigned {
  kFloat16 = 1 << 0,
  kFloat32 = 1 << 1,
  kFloat64 = 1 << 2,
  kBool = 1 << 3,
  kSInt8 = 1 << 4,
  kSInt16 = 1 << 5,
  kSInt32 = 1 << 6,
  kSInt64 = 1 << 7,
  kUInt8 = 1 << 8,
  kUInt16 = 1 << 9,
  kUInt32 = 1 << 10,
  kUInt64 = 1 << 11,
  kFloats = kFloat16 | kFloat32 | kFloat64,
  kNumbers = kFloats | kSInt32 | kUInt8 | kUInt16 | kUInt32,
  kCastable =
      kFloats | kBool | kSInt8 | kSInt16 | kSInt32 | kSInt64 | kUInt8 | kUInt32,
  kMovable = kCastable | kUInt16 | kUInt64,
};

/// None of them for a type that coreai-core computes nothing of.
static unsigned kindOf(Type type) {
  if (type.isF16())
    return kFloat16;
  if (type.isF32())
    return kFloat32;
  if (type.isF64())
    return kFloat64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return 0;
  unsigned width = integer.getWidth();
  if (integer.isSignless())
    return width == 1 ? kBool : 0;
  bool isSigned = integer.isSigned();
  switch (width) {
  case 8:
    return isSigned ? kSInt8 : kUInt8;
  case 16:
    return isSigned ? kSInt16 : kUInt16;
  case 32:
    return isSigned ? kSInt32 : kUInt32;
  case 64:
    return isSigned ? kSInt64 : kUInt64;
  default:
    return 0;
  }
}

/// The types of elements for which an op of this name is computed.
static unsigned kindsOf(StringRef name) {
  if (name.consume_front("decomposable.broadcasting_") && name == "modulo")
    return 0;
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"add", "sub", "mul", "divide", "floor_divide", "pow", "maximum",
              "minimum", "equal", "not_equal", "greater"},
             kNumbers)
      .Case("modulo", kNumbers & ~kFloat64)
      .Cases({"and", "or", "xor", "not"}, kBool)
      .Case("where", kFloat16 | kFloat32 | kSInt32 | kSInt64 | kBool)
      .Cases({"abs", "relu"}, kFloats | kSInt32)
      .Cases({"sqrt", "rsqrt", "exp", "log", "sin", "cos", "tan", "sinh",
              "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh",
              "erf"},
             kFloats)
      .Cases({"reshape", "expand_dims", "shrink_dims", "transpose",
              "broadcast_to", "broadcast_in_dims", "slice", "gather_nd",
              "tile"},
             kMovable)
      .Case("concat",
            kFloat16 | kFloat32 | kSInt32 | kSInt64 | kUInt16 | kUInt32 | kBool)
      .Case("range", kFloat16 | kFloat32 | kSInt32 | kSInt64)
      .Default(0);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a constant, as bits.
class Elements {
public:
  /// None if the value is no constant whose elements lie there as they are.
  static std::optional<Elements> of(Value value);

  uint64_t operator[](int64_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes().data() + (isUniform ? 0 : i * width), width);
    return bits;
  }
  /// Whether one stands for all.
  bool isSplat() const { return isUniform; }
  RankedTensorType type() const { return shaped; }
  ArrayRef<int64_t> shape() const { return shaped.getShape(); }
  int64_t size() const { return shaped.getNumElements(); }
  /// All of them, as indices.
  SmallVector<int64_t> indices() const {
    SmallVector<int64_t> result;
    bool isSigned = shaped.getElementType().isSignedInteger();
    for (int64_t i = 0; i < size(); ++i)
      result.push_back(isSigned ? llvm::SignExtend64((*this)[i], width * 8)
                                : static_cast<int64_t>((*this)[i]));
    return result;
  }

private:
  ArrayRef<char> bytes() const { return owned.empty() ? shared : owned; }

  RankedTensorType shaped;
  ArrayRef<char> shared;
  /// Of truth values, which lie there in another way.
  SmallVector<char> owned;
  bool isUniform = false;
  size_t width = 1;
};
} // namespace

std::optional<Elements> Elements::of(Value value) {
  auto constant = value.getDefiningOp<coreai::ConstantOp>();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!constant || !type || !type.hasStaticShape() || type.getEncoding() ||
      !kindOf(type.getElementType()))
    return std::nullopt;
  std::optional<Elements> result(std::in_place);
  result->shaped = type;
  bool isBool = kindOf(type.getElementType()) == kBool;
  result->width = isBool ? 1 : type.getElementTypeBitWidth() / 8;
  if (auto weight =
          dyn_cast<DenseResourceElementsAttr>(constant.getValueAttr())) {
    AsmResourceBlob *blob = weight.getRawHandle().getBlob();
    size_t size = type.getNumElements() * result->width;
    if (!blob || blob->getData().size() != size)
      return std::nullopt;
    result->shared = blob->getData();
    return result;
  }
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValueAttr());
  if (!dense)
    return std::nullopt;
  result->isUniform = dense.isSplat();
  result->shared = dense.getRawData();
  if (isBool) {
    for (bool flag : dense.getValues<bool>()) {
      result->owned.push_back(static_cast<char>(flag));
      if (result->isUniform)
        break;
    }
  }
  return result;
}

namespace {
/// What is to be computed.
struct Result {
  RankedTensorType type;
  /// Whether all elements are the first one.
  bool isSplat = false;

  ArrayRef<int64_t> shape() const { return type.getShape(); }
  /// The constant of elements that `bitsAt` gives.
  DenseElementsAttr make(llvm::function_ref<uint64_t(int64_t)> bitsAt) const;
};
} // namespace

DenseElementsAttr
Result::make(llvm::function_ref<uint64_t(int64_t)> bitsAt) const {
  int64_t count = isSplat ? 1 : type.getNumElements();
  if (kindOf(type.getElementType()) == kBool) {
    SmallVector<bool> flags;
    for (int64_t i = 0; i < count; ++i)
      flags.push_back(bitsAt(i) != 0);
    return DenseElementsAttr::get(type, ArrayRef<bool>(flags));
  }
  size_t width = type.getElementTypeBitWidth() / 8;
  SmallVector<char> bytes(count * width);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = bitsAt(i);
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

/// Calls `apply` with a conversion from bits to what is computed with, and with
/// the one back.
template <typename ApplyT>
static auto withNumbers(unsigned kind, ApplyT apply) {
  auto whole = [&]<typename NumberT>(NumberT) {
    return apply([](uint64_t bits) { return static_cast<NumberT>(bits); },
                 [](NumberT number) { return static_cast<uint64_t>(number); });
  };
  switch (kind) {
  case kFloat16:
    // In single precision, and rounded once.
    return apply(
        [](uint64_t bits) {
          llvm::APFloat half(llvm::APFloat::IEEEhalf(), APInt(16, bits));
          return half.convertToFloat();
        },
        [](float number) {
          llvm::APFloat half(number);
          bool loses = false;
          half.convert(llvm::APFloat::IEEEhalf(),
                       llvm::APFloat::rmNearestTiesToEven, &loses);
          return half.bitcastToAPInt().getZExtValue();
        });
  case kFloat32:
    return apply(
        [](uint64_t bits) {
          return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
        },
        [](float number) {
          return uint64_t(llvm::bit_cast<uint32_t>(number));
        });
  case kFloat64:
    return apply(
        [](uint64_t bits) { return llvm::bit_cast<double>(bits); },
        [](double number) { return llvm::bit_cast<uint64_t>(number); });
  case kUInt8:
    return whole(uint8_t());
  case kUInt16:
    return whole(uint16_t());
  case kUInt32:
    return whole(uint32_t());
  case kSInt64:
    return whole(int64_t());
  default:
    return whole(int32_t());
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> coordinates(int64_t index,
                                        ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    result[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return result;
}

static int64_t indexOf(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t result = 0;
  for (auto [coordinate, extent] : llvm::zip_equal(place, shape))
    result = result * extent + coordinate;
  return result;
}

/// Where the element `index` of `result` comes from when `shape` is spread over
/// it.
static int64_t spreadIndex(int64_t index, ArrayRef<int64_t> result,
                           ArrayRef<int64_t> shape) {
  if (result == shape)
    return index;
  SmallVector<int64_t> place = coordinates(index, result);
  place.erase(place.begin(),
              place.end() - static_cast<ptrdiff_t>(shape.size()));
  for (auto [coordinate, extent] : llvm::zip_equal(place, shape))
    if (extent == 1)
      coordinate = 0;
  return indexOf(place, shape);
}

/// Whether `shape` can be spread over `result`.
static bool spreadsOver(ArrayRef<int64_t> shape, ArrayRef<int64_t> result) {
  return shape.size() <= result.size() &&
         llvm::all_of(llvm::zip_equal(shape, result.take_back(shape.size())),
                      [](auto pair) {
                        auto [extent, target] = pair;
                        return extent == 1 || extent == target;
                      });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Signed overflow wraps.
template <typename NumberT> static auto wrapping(NumberT number) {
  if constexpr (std::is_integral_v<NumberT>)
    return static_cast<uint64_t>(number);
  else
    return number;
}

template <typename NumberT>
static std::optional<NumberT> power(NumberT base, NumberT exponent) {
  if constexpr (std::is_integral_v<NumberT>) {
    if (exponent < NumberT(0) || exponent >= NumberT(64))
      return std::nullopt;
    uint64_t result = 1;
    for (NumberT i = 0; i < exponent; ++i)
      result *= static_cast<uint64_t>(base);
    return static_cast<NumberT>(result);
  } else {
    return std::pow(static_cast<double>(base), exponent);
  }
}

template <typename NumberT>
static std::optional<NumberT> quotient(NumberT lhs, NumberT rhs, bool isFloor) {
  if constexpr (std::is_integral_v<NumberT>) {
    bool overflows = std::is_signed_v<NumberT> && rhs == NumberT(-1) &&
                     lhs == std::numeric_limits<NumberT>::min();
    if (rhs == 0 || overflows)
      return std::nullopt;
    NumberT result = lhs / rhs;
    if (isFloor && lhs % rhs != 0 && (lhs < 0) != (rhs < 0))
      --result;
    return result;
  } else {
    return isFloor ? std::floor(static_cast<double>(lhs) / rhs) : lhs / rhs;
  }
}

/// The remainder has the sign of the dividend.
template <typename NumberT>
static std::optional<NumberT> remainder(NumberT lhs, NumberT rhs) {
  if constexpr (std::is_integral_v<NumberT>) {
    if (!quotient(lhs, rhs, /*isFloor=*/false))
      return std::nullopt;
    return static_cast<NumberT>(lhs % rhs);
  } else {
    return std::fmod(lhs, rhs);
  }
}

/// None for what is not computed.
template <typename NumberT>
static std::optional<NumberT> binary(StringRef name, NumberT lhs, NumberT rhs) {
  if (name == "add")
    return static_cast<NumberT>(wrapping(lhs) + wrapping(rhs));
  if (name == "sub")
    return static_cast<NumberT>(wrapping(lhs) - wrapping(rhs));
  if (name == "mul")
    return static_cast<NumberT>(wrapping(lhs) * wrapping(rhs));
  if (name == "divide" || name == "floor_divide")
    return quotient(lhs, rhs, /*isFloor=*/name == "floor_divide");
  if (name == "modulo")
    return remainder(lhs, rhs);
  if (name == "pow")
    return power(lhs, rhs);
  // Which of two that are not ordered comes out is not known.
  if (!(lhs < rhs) && !(rhs < lhs) && wrapping(lhs) != wrapping(rhs))
    return std::nullopt;
  return name == "maximum" ? std::max(lhs, rhs) : std::min(lhs, rhs);
}

template <typename NumberT>
static bool compare(StringRef name, NumberT lhs, NumberT rhs) {
  return name == "greater" ? lhs > rhs : (lhs == rhs) == (name == "equal");
}

template <typename NumberT> static NumberT unary(StringRef name, NumberT x) {
  if (name == "abs") {
    if constexpr (std::is_floating_point_v<NumberT>)
      return std::abs(x);
    else
      return x < 0 ? static_cast<NumberT>(0 - wrapping(x)) : x;
  }
  if (name == "relu")
    return std::max(x, NumberT(0));
  if constexpr (std::is_floating_point_v<NumberT>) {
    if (name == "erf")
      return std::erf(x);
    // In double precision, and rounded once.
    using Function = double (*)(double);
    return llvm::StringSwitch<Function>(name)
        .Case("rsqrt", [](double x) { return 1 / std::sqrt(x); })
        .Case("sqrt", std::sqrt)
        .Case("exp", std::exp)
        .Case("log", std::log)
        .Case("sin", std::sin)
        .Case("cos", std::cos)
        .Case("tan", std::tan)
        .Case("sinh", std::sinh)
        .Case("cosh", std::cosh)
        .Case("tanh", std::tanh)
        .Case("asin", std::asin)
        .Case("acos", std::acos)
        .Case("atan", std::atan)
        .Case("asinh", std::asinh)
        .Case("acosh", std::acosh)
        .Case("atanh", std::atanh)(x);
  }
  return x;
}

/// Elementwise ops; operands are spread over the result.
static DenseElementsAttr evaluateElementwise(StringRef name,
                                             ArrayRef<Elements> operands,
                                             const Result &result) {
  ArrayRef<int64_t> shape = result.shape();
  for (const Elements &operand : operands)
    if (!spreadsOver(operand.shape(), shape))
      return {};
  auto at = [&](size_t operand, int64_t i) {
    const Elements &elements = operands[operand];
    return elements[spreadIndex(i, shape, elements.shape())];
  };
  unsigned kind = kindOf(operands.back().type().getElementType());
  if (name == "where")
    return result.make([&](int64_t i) { return at(at(0, i) ? 1 : 2, i); });
  if (kind == kBool)
    return result.make([&](int64_t i) -> uint64_t {
      bool lhs = at(0, i), rhs = at(operands.size() - 1, i);
      return name == "not"   ? !lhs
             : name == "and" ? lhs && rhs
             : name == "or"  ? lhs || rhs
                             : lhs != rhs;
    });
  return withNumbers(kind, [&](auto number, auto bits) {
    bool isKnown = true;
    bool isComparison = kindOf(result.type.getElementType()) == kBool;
    DenseElementsAttr computed = result.make([&](int64_t i) -> uint64_t {
      auto lhs = number(at(0, i));
      if (operands.size() == 1)
        return bits(unary(name, lhs));
      auto rhs = number(at(1, i));
      if (isComparison)
        return compare(name, lhs, rhs);
      auto number = binary(name, lhs, rhs);
      isKnown &= number.has_value();
      return number ? bits(*number) : 0;
    });
    return isKnown ? computed : DenseElementsAttr();
  });
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

static DenseElementsAttr evaluateSlice(ArrayRef<Elements> operands,
                                       const Result &result) {
  const Elements &input = operands[0];
  SmallVector<int64_t> starts = operands[1].indices();
  SmallVector<int64_t> steps = operands[3].indices();
  if (llvm::any_of(steps, [](int64_t step) { return step <= 0; }) ||
      starts.size() != input.shape().size() || steps.size() != starts.size())
    return {};
  for (auto [axis, start] : llvm::enumerate(starts)) {
    int64_t extent = input.shape()[axis];
    start = std::clamp<int64_t>(start < 0 ? start + extent : start, 0, extent);
    int64_t last = start + (result.shape()[axis] - 1) * steps[axis];
    if (result.shape()[axis] > 0 && last >= extent)
      return {};
  }
  return result.make([&](int64_t i) {
    SmallVector<int64_t> place = coordinates(i, result.shape());
    for (auto [coordinate, start, step] : llvm::zip_equal(place, starts, steps))
      coordinate = start + coordinate * step;
    return input[indexOf(place, input.shape())];
  });
}

static DenseElementsAttr evaluateConcat(ArrayRef<Elements> operands,
                                        const Result &result) {
  int64_t axis = operands[0].indices().front();
  if (axis < 0)
    axis += static_cast<int64_t>(result.shape().size());
  ArrayRef<Elements> inputs = operands.drop_front();
  return result.make([&](int64_t i) {
    SmallVector<int64_t> place = coordinates(i, result.shape());
    size_t which = 0;
    while (place[axis] >= inputs[which].shape()[axis])
      place[axis] -= inputs[which++].shape()[axis];
    return inputs[which][indexOf(place, inputs[which].shape())];
  });
}

static DenseElementsAttr evaluateTranspose(ArrayRef<Elements> operands,
                                           const Result &result) {
  SmallVector<int64_t> permutation = operands[1].indices();
  for (int64_t &axis : permutation)
    axis += axis < 0 ? static_cast<int64_t>(permutation.size()) : 0;
  return result.make([&](int64_t i) {
    SmallVector<int64_t> place = coordinates(i, result.shape());
    SmallVector<int64_t> source(place.size());
    for (auto [axis, coordinate] : llvm::zip_equal(permutation, place))
      source[axis] = coordinate;
    return operands[0][indexOf(source, operands[0].shape())];
  });
}

/// The last extent of the indices is how many coordinates each has; they name
/// an element, or a part of those axes that are left.
static DenseElementsAttr evaluateGather(ArrayRef<Elements> operands,
                                        const Result &result) {
  ArrayRef<int64_t> shape = operands[0].shape();
  SmallVector<int64_t> indices = operands[1].indices();
  if (operands[1].shape().empty())
    return {};
  size_t named = operands[1].shape().back();
  if (named == 0 || named > shape.size())
    return {};
  int64_t part = ShapedType::getNumElements(shape.drop_front(named));
  for (auto [i, index] : llvm::enumerate(indices)) {
    int64_t extent = shape[i % named];
    if (index < 0)
      index += extent;
    if (index < 0 || index >= extent)
      return {};
  }
  return result.make([&](int64_t i) {
    ArrayRef<int64_t> place = ArrayRef(indices).slice(i / part * named, named);
    return operands[0]
                   [indexOf(place, shape.take_front(named)) * part + i % part];
  });
}

static DenseElementsAttr evaluateRange(ArrayRef<Elements> operands,
                                       const Result &result) {
  unsigned kind = kindOf(result.type.getElementType());
  return withNumbers(kind, [&](auto number, auto bits) {
    auto start = wrapping(number(operands[0][0]));
    auto step = wrapping(number(operands[2][0]));
    return result.make([&](int64_t i) {
      return bits(start + static_cast<decltype(step)>(i) * step);
    });
  });
}

/// Whether an op is kept although its operands are constants: weights of a
/// product of matrices keep their form.
static bool isKept(Operation &op) {
  return isa<coreai::TransposeOp>(op) &&
         llvm::any_of(op.getUsers(), [](Operation *user) {
           return isa<coreai::BatchMatmulOp, coreai::BroadcastingBatchMatmulOp>(
               user);
         });
}

/// Whether a conversion to `type` keeps the whole part of every number. If not,
/// coreai-core writes another number than it computes when it runs the op.
static bool fits(DenseElementsAttr elements, IntegerType type) {
  bool isSigned = type.isSigned();
  unsigned width = type.getWidth();
  if (isa<FloatType>(elements.getElementType()))
    return llvm::all_of(elements.getValues<APFloat>(), [&](APFloat number) {
      APSInt whole(width, !isSigned);
      bool isExact = false;
      return number.convertToInteger(whole, APFloat::rmTowardZero, &isExact) !=
             APFloat::opInvalidOp;
    });
  bool wasUnsigned = !elements.getElementType().isSignedInteger();
  return llvm::all_of(elements.getValues<APInt>(), [&](const APInt &bits) {
    APSInt number(bits, wasUnsigned);
    return APSInt::compareValues(number,
                                 APSInt::getMinValue(width, !isSigned)) >= 0 &&
           APSInt::compareValues(number,
                                 APSInt::getMaxValue(width, !isSigned)) <= 0;
  });
}

/// A conversion of elements, which casts of programs fold to as well.
static DenseElementsAttr evaluateCast(coreai::CastOp op) {
  Type from = getElementTypeOrSelf(op.getInput().getType());
  Type to = getElementTypeOrSelf(op.getType());
  DenseElementsAttr elements;
  SmallVector<OpFoldResult> folded;
  if (!(kindOf(from) & kCastable) || !(kindOf(to) & kCastable) ||
      !matchPattern(op.getInput(), m_Constant(&elements)) ||
      failed(op->fold(folded)))
    return {};
  auto integer = dyn_cast<IntegerType>(to);
  if (integer && kindOf(to) != kBool && !fits(elements, integer))
    return {};
  return dyn_cast<DenseElementsAttr>(cast<Attribute>(folded.front()));
}

/// Whether all elements of the result of an op are the same because those of
/// its operands are.
static bool givesSplat(Operation &op, ArrayRef<Elements> operands) {
  if (isa<coreai::ConcatOp, coreai::RangeOp>(op))
    return false;
  // What follows the first operand says how its elements are moved.
  if (kindsOf(op.getName().stripDialect()) == kMovable)
    operands = operands.take_front();
  return llvm::all_of(operands, [](const Elements &e) { return e.isSplat(); });
}

DenseElementsAttr corten::evaluate(Operation &op) {
  if (auto cast = dyn_cast<coreai::CastOp>(op))
    return evaluateCast(cast);
  if (!isa<coreai::CoreAIDialect>(op.getDialect()) || op.getNumResults() != 1 ||
      op.getNumOperands() == 0)
    return {};
  StringRef name = op.getName().stripDialect();
  unsigned kinds = kindsOf(name);
  name.consume_front("decomposable.broadcasting_");
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (kinds == 0 || !type || !type.hasStaticShape() || type.getEncoding() ||
      type.getNumElements() == 0 || isKept(op))
    return {};
  SmallVector<Elements> operands;
  for (Value operand : op.getOperands()) {
    std::optional<Elements> elements = Elements::of(operand);
    if (!elements || elements->size() == 0)
      return {};
    operands.push_back(std::move(*elements));
  }
  // These have something else in front of what they compute with.
  bool isLast =
      isa<coreai::WhereOp, coreai::BroadcastingWhereOp, coreai::ConcatOp>(op);
  const Elements &subject = isLast ? operands.back() : operands.front();
  Result result{type, givesSplat(op, operands)};
  if (!(kinds & kindOf(subject.type().getElementType())) ||
      (type.getNumElements() >= kWeightElements && !result.isSplat))
    return {};

  // Verifiers do not hold the types of all of these results against their
  // operands.
  auto copy =
      [&](llvm::function_ref<int64_t(int64_t)> sourceOf) -> DenseElementsAttr {
    int64_t count = result.isSplat ? 1 : type.getNumElements();
    if (type.getElementType() != subject.type().getElementType() ||
        !llvm::all_of(llvm::seq<int64_t>(count), [&](int64_t i) {
          return sourceOf(i) >= 0 && sourceOf(i) < subject.size();
        }))
      return {};
    return result.make([&](int64_t i) { return subject[sourceOf(i)]; });
  };
  return llvm::TypeSwitch<Operation *, DenseElementsAttr>(&op)
      .Case<coreai::ReshapeOp, coreai::ExpandDimsOp, coreai::ShrinkDimsOp>(
          [&](auto) { return copy([](int64_t i) { return i; }); })
      .Case<coreai::BroadcastToOp, coreai::BroadcastInDimsOp>(
          [&](auto) -> DenseElementsAttr {
            if (!spreadsOver(subject.shape(), result.shape()))
              return {};
            return copy([&](int64_t i) {
              return spreadIndex(i, result.shape(), subject.shape());
            });
          })
      .Case([&](coreai::TileOp) -> DenseElementsAttr {
        if (result.shape().size() != subject.shape().size())
          return {};
        return copy([&](int64_t i) {
          SmallVector<int64_t> place = coordinates(i, result.shape());
          for (auto [coordinate, extent] :
               llvm::zip_equal(place, subject.shape()))
            coordinate %= extent;
          return indexOf(place, subject.shape());
        });
      })
      .Case([&](coreai::TransposeOp) {
        return evaluateTranspose(operands, result);
      })
      .Case([&](coreai::SliceOp) { return evaluateSlice(operands, result); })
      .Case([&](coreai::ConcatOp) { return evaluateConcat(operands, result); })
      .Case(
          [&](coreai::GatherNdOp) { return evaluateGather(operands, result); })
      .Case([&](coreai::RangeOp) { return evaluateRange(operands, result); })
      .Default([&](Operation *) {
        return evaluateElementwise(name, operands, result);
      });
}
