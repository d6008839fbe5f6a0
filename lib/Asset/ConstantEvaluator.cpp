// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What coreai-core computes when it saves a program. Which operations of which
// types those are is written down here; the arithmetic is the runtime's.

#include "ConstantEvaluator.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Runtime/Kernel.h"
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

#include <optional>

using namespace corten;
using namespace mlir;
using runtime::PortableKernel;
using runtime::Tensor;

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

/// The type that the runtime has for one of these kinds.
static runtime::ElementType elementOf(unsigned kind) {
  using runtime::ElementType;
  switch (kind) {
  case kFloat16:
    return ElementType::F16;
  case kFloat32:
    return ElementType::F32;
  case kFloat64:
    return ElementType::F64;
  case kBool:
    return ElementType::Bool;
  case kSInt8:
    return ElementType::SI8;
  case kSInt16:
    return ElementType::SI16;
  case kSInt32:
    return ElementType::SI32;
  case kSInt64:
    return ElementType::SI64;
  case kUInt8:
    return ElementType::UI8;
  case kUInt16:
    return ElementType::UI16;
  case kUInt32:
    return ElementType::UI32;
  default:
    return ElementType::UI64;
  }
}

/// Whether a kernel did what it was asked for.
static bool runs(PortableKernel kernel, ArrayRef<Tensor> inputs,
                 Tensor output) {
  runtime::Error error =
      call(kernel, {{inputs.data(), inputs.size()}, {&output, 1}, {}});
  return !error;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a constant.
class Elements {
public:
  /// None if the value is no constant whose elements lie there as they are.
  static std::optional<Elements> of(Value value);

  bool isSplat() const { return isUniform; }
  RankedTensorType type() const { return shaped; }
  ArrayRef<int64_t> shape() const { return shaped.getShape(); }
  int64_t size() const { return shaped.getNumElements(); }
  /// As the runtime sees them: a view that repeats if all are the same.
  Tensor tensor() const;
  /// All of them, as indices.
  SmallVector<int64_t> indices() const;

private:
  RankedTensorType shaped;
  ArrayRef<char> shared;
  /// Of truth values, which lie there in another way, and of what is not
  /// aligned.
  SmallVector<char, 8> owned;
  bool isUniform = false;
};

/// What is to be computed.
class Result {
public:
  Result(RankedTensorType type, bool isSplat);

  RankedTensorType type() const { return shaped; }
  ArrayRef<int64_t> shape() const { return shaped.getShape(); }
  /// Whether all elements are the first one, and only that is computed.
  bool isSplat() const { return isUniform; }
  /// The memory of the elements; without axes if all are the same.
  Tensor tensor();
  DenseElementsAttr constant() const;

private:
  RankedTensorType shaped;
  bool isUniform;
  SmallVector<uint64_t> memory;
};
} // namespace

std::optional<Elements> Elements::of(Value value) {
  auto constant = value.getDefiningOp<coreai::ConstantOp>();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!constant || !type || !type.hasStaticShape() || type.getEncoding() ||
      type.getRank() > runtime::kMaxRank || !kindOf(type.getElementType()))
    return std::nullopt;
  std::optional<Elements> result(std::in_place);
  result->shaped = type;
  unsigned kind = kindOf(type.getElementType());
  size_t width = runtime::byteSize(elementOf(kind));
  if (auto weight =
          dyn_cast<DenseResourceElementsAttr>(constant.getValueAttr())) {
    AsmResourceBlob *blob = weight.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != type.getNumElements() * width)
      return std::nullopt;
    result->shared = blob->getData();
  } else if (auto dense =
                 dyn_cast<DenseElementsAttr>(constant.getValueAttr())) {
    result->isUniform = dense.isSplat();
    result->shared = dense.getRawData();
    if (kind == kBool)
      for (bool flag : dense.getValues<bool>()) {
        result->owned.push_back(static_cast<char>(flag));
        if (result->isUniform)
          break;
      }
  } else {
    return std::nullopt;
  }
  if (reinterpret_cast<uintptr_t>(result->shared.data()) % width != 0)
    result->owned.assign(result->shared.begin(), result->shared.end());
  return result;
}

Tensor Elements::tensor() const {
  const char *data = owned.empty() ? shared.data() : owned.data();
  Tensor tensor(elementOf(kindOf(shaped.getElementType())),
                const_cast<char *>(data), shape());
  if (isUniform)
    tensor.steps.fill(0);
  return tensor;
}

SmallVector<int64_t> Elements::indices() const {
  SmallVector<int64_t> result(size());
  Tensor whole(runtime::ElementType::SI64, result.data(), shape());
  // Whole numbers of every kind can be converted.
  if (!runs(PortableKernel::Cast, tensor(), whole))
    result.clear();
  return result;
}

Result::Result(RankedTensorType type, bool isSplat)
    : shaped(type), isUniform(isSplat) {
  size_t width = runtime::byteSize(elementOf(kindOf(type.getElementType())));
  size_t count = isSplat ? 1 : type.getNumElements();
  memory.resize(llvm::divideCeil(count * width, sizeof(uint64_t)));
}

Tensor Result::tensor() {
  return Tensor(elementOf(kindOf(shaped.getElementType())), memory.data(),
                isUniform ? ArrayRef<int64_t>() : shape());
}

DenseElementsAttr Result::constant() const {
  size_t count = isUniform ? 1 : shaped.getNumElements();
  unsigned kind = kindOf(shaped.getElementType());
  const char *bytes = reinterpret_cast<const char *>(memory.data());
  if (kind == kBool)
    return DenseElementsAttr::get(
        shaped, ArrayRef(reinterpret_cast<const bool *>(bytes), count));
  return DenseElementsAttr::getFromRawBuffer(
      shaped, ArrayRef(bytes, count * runtime::byteSize(elementOf(kind))));
}

/// The constant that a kernel makes of its inputs; none if it cannot.
static DenseElementsAttr run(PortableKernel kernel, ArrayRef<Tensor> inputs,
                             Result &result) {
  if (!runs(kernel, inputs, result.tensor()))
    return {};
  return result.constant();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// `elements` spread over `shape`, as operands of arithmetic are.
static std::optional<Tensor> spread(const Elements &elements,
                                    ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = elements.shape();
  if (own.size() > shape.size())
    return std::nullopt;
  Tensor tensor = elements.tensor();
  SmallVector<int64_t> strides(shape.size(), 0);
  size_t offset = shape.size() - own.size();
  for (auto [axis, extent] : llvm::enumerate(own)) {
    if (extent != 1 && extent != shape[offset + axis])
      return std::nullopt;
    strides[offset + axis] = extent == 1 ? 0 : tensor.steps[axis];
  }
  return tensor.view(shape, strides);
}

/// The constant of what is seen through a view. Verifiers do not hold the types
/// of all results against their operands, so the view may not fit.
static DenseElementsAttr copy(const Tensor &view, Result &result) {
  return run(PortableKernel::Copy, view, result);
}

/// The first element, where all are the same.
static Tensor firstOf(const Elements &elements) {
  return elements.tensor().view({}, {});
}

static DenseElementsAttr evaluateTile(const Elements &input, Result &result) {
  Tensor tensor = input.tensor();
  // Each axis is one of repetitions and one of elements.
  SmallVector<int64_t> shape, strides;
  if (result.shape().size() != input.shape().size() ||
      result.shape().size() * 2 > runtime::kMaxRank)
    return {};
  for (auto [axis, extent] : llvm::enumerate(input.shape())) {
    if (result.shape()[axis] % extent != 0)
      return {};
    shape.append({result.shape()[axis] / extent, extent});
    strides.append({0, tensor.steps[axis]});
  }
  Tensor whole = result.tensor();
  Tensor output(whole.type, whole.data, shape);
  if (!runs(PortableKernel::Copy, tensor.view(shape, strides), output))
    return {};
  return result.constant();
}

static DenseElementsAttr evaluateTranspose(ArrayRef<Elements> operands,
                                           Result &result) {
  Tensor tensor = operands[0].tensor();
  SmallVector<int64_t> permutation = operands[1].indices();
  SmallVector<int64_t> shape, strides;
  for (int64_t axis : permutation) {
    axis += axis < 0 ? static_cast<int64_t>(permutation.size()) : 0;
    if (axis < 0 || axis >= tensor.rank)
      return {};
    shape.push_back(tensor.extents[axis]);
    strides.push_back(tensor.steps[axis]);
  }
  return copy(tensor.view(shape, strides), result);
}

static DenseElementsAttr evaluateSlice(ArrayRef<Elements> operands,
                                       Result &result) {
  Tensor tensor = operands[0].tensor();
  SmallVector<int64_t> starts = operands[1].indices();
  SmallVector<int64_t> steps = operands[3].indices();
  if (starts.size() != tensor.rank || steps.size() != tensor.rank ||
      result.shape().size() != tensor.rank)
    return {};
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  for (auto [axis, start] : llvm::enumerate(starts)) {
    int64_t extent = tensor.extents[axis];
    start = std::clamp<int64_t>(start < 0 ? start + extent : start, 0, extent);
    int64_t last = start + (result.shape()[axis] - 1) * steps[axis];
    if (steps[axis] <= 0 || last >= extent)
      return {};
    offset += start * tensor.steps[axis];
    strides.push_back(steps[axis] * tensor.steps[axis]);
  }
  return copy(tensor.view(result.shape(), strides, offset), result);
}

static DenseElementsAttr evaluateConcat(ArrayRef<Elements> operands,
                                        Result &result) {
  Tensor whole = result.tensor();
  int64_t axis = operands[0].indices().front();
  axis += axis < 0 ? whole.rank : 0;
  if (axis < 0 || axis >= whole.rank)
    return {};
  int64_t place = 0;
  for (const Elements &input : operands.drop_front()) {
    Tensor part =
        whole.view(input.shape(), whole.strides(), place * whole.steps[axis]);
    place += input.shape().empty() ? 1 : input.shape()[axis];
    if (place > whole.extents[axis])
      return {};
    if (!runs(PortableKernel::Copy, input.tensor(), part))
      return {};
  }
  return result.constant();
}

static DenseElementsAttr evaluateGather(ArrayRef<Elements> operands,
                                        Result &result) {
  if (operands[1].shape().empty() || operands[1].shape().back() == 0)
    return {};
  return run(PortableKernel::GatherNd,
             {operands[0].tensor(), operands[1].tensor()}, result);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static std::optional<PortableKernel> kernelOf(StringRef name) {
  using Kernel = PortableKernel;
  return llvm::StringSwitch<std::optional<PortableKernel>>(name)
      .Case("add", Kernel::Add)
      .Case("sub", Kernel::Sub)
      .Case("mul", Kernel::Mul)
      .Case("divide", Kernel::Divide)
      .Case("floor_divide", Kernel::FloorDivide)
      .Case("modulo", Kernel::Modulo)
      .Case("pow", Kernel::Pow)
      .Case("maximum", Kernel::Maximum)
      .Case("minimum", Kernel::Minimum)
      .Case("equal", Kernel::Equal)
      .Case("not_equal", Kernel::NotEqual)
      .Case("greater", Kernel::Greater)
      .Case("and", Kernel::BitwiseAnd)
      .Case("or", Kernel::BitwiseOr)
      .Case("xor", Kernel::BitwiseXor)
      .Case("not", Kernel::Not)
      .Case("where", Kernel::Where)
      .Case("abs", Kernel::Abs)
      .Case("relu", Kernel::Relu)
      .Case("sqrt", Kernel::Sqrt)
      .Case("rsqrt", Kernel::Rsqrt)
      .Case("exp", Kernel::Exp)
      .Case("log", Kernel::Log)
      .Case("sin", Kernel::Sin)
      .Case("cos", Kernel::Cos)
      .Case("tan", Kernel::Tan)
      .Case("sinh", Kernel::Sinh)
      .Case("cosh", Kernel::Cosh)
      .Case("tanh", Kernel::Tanh)
      .Case("asin", Kernel::Asin)
      .Case("acos", Kernel::Acos)
      .Case("atan", Kernel::Atan)
      .Case("asinh", Kernel::Asinh)
      .Case("acosh", Kernel::Acosh)
      .Case("atanh", Kernel::Atanh)
      .Case("erf", Kernel::Erf)
      .Default(std::nullopt);
}

/// Whether one of the elements is not a number.
static bool hasNaN(const Elements &elements) {
  SmallVector<char> flags(elements.size());
  Tensor tensor = elements.tensor();
  Tensor isNumber(runtime::ElementType::Bool, flags.data(), elements.shape());
  return !runs(PortableKernel::Equal, {tensor, tensor}, isNumber) ||
         llvm::is_contained(flags, 0);
}

/// Whether coreai-core leaves an op alone that the runtime computes: which of
/// two that are not ordered is the larger one, the quotient that overflows,
/// powers with odd exponents.
static bool isLeftAlone(StringRef name, ArrayRef<Elements> operands) {
  unsigned kind = kindOf(operands.back().type().getElementType());
  if (name == "maximum" || name == "minimum")
    return (kind & kFloats) && llvm::any_of(operands, hasNaN);
  if (kind & kFloats)
    return false;
  if (name == "pow")
    return !llvm::all_of(operands[1].indices(), [](int64_t exponent) {
      return exponent >= 0 && exponent < 64;
    });
  if (name == "divide" || name == "floor_divide" || name == "modulo")
    return kind == kSInt32 && llvm::is_contained(operands[1].indices(), -1) &&
           llvm::is_contained(operands[0].indices(),
                              std::numeric_limits<int32_t>::min());
  return false;
}

/// Elementwise ops; operands are spread over the result.
static DenseElementsAttr evaluateElementwise(StringRef name,
                                             ArrayRef<Elements> operands,
                                             Result &result) {
  std::optional<PortableKernel> kernel = kernelOf(name);
  if (!kernel || isLeftAlone(name, operands))
    return {};
  SmallVector<Tensor, 3> inputs;
  for (const Elements &operand : operands) {
    std::optional<Tensor> view = spread(operand, result.shape());
    if (!view)
      return {};
    inputs.push_back(result.isSplat() ? firstOf(operand) : *view);
  }
  return run(*kernel, inputs, result);
}

/// In the arithmetic of the type: `start + i * step`.
static DenseElementsAttr evaluateRange(ArrayRef<Elements> operands,
                                       Result &result) {
  Tensor output = result.tensor();
  SmallVector<int64_t> places =
      llvm::to_vector(llvm::seq<int64_t>(result.type().getNumElements()));
  Tensor counted(runtime::ElementType::SI64, places.data(), result.shape());
  std::optional<Tensor> start = spread(operands[0], result.shape());
  std::optional<Tensor> step = spread(operands[2], result.shape());
  if (!start || !step || !runs(PortableKernel::Cast, counted, output) ||
      !runs(PortableKernel::Mul, {output, *step}, output) ||
      !runs(PortableKernel::Add, {*start, output}, output))
    return {};
  return result.constant();
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
    return llvm::all_of(
        elements.getValues<APFloat>(), [&](const APFloat &number) {
          APSInt whole(width, !isSigned);
          bool isExact = false;
          return number.convertToInteger(whole, APFloat::rmTowardZero,
                                         &isExact) != APFloat::opInvalidOp;
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
      type.getNumElements() == 0 || type.getRank() > runtime::kMaxRank ||
      !kindOf(type.getElementType()) || isKept(op))
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
  bool isSplat = givesSplat(op, operands);
  if (!(kinds & kindOf(subject.type().getElementType())) ||
      (type.getNumElements() >= kWeightElements && !isSplat))
    return {};
  Result result(type, isSplat);
  if (kinds == kMovable && isSplat)
    return copy(firstOf(subject), result);
  return llvm::TypeSwitch<Operation *, DenseElementsAttr>(&op)
      .Case<coreai::ReshapeOp, coreai::ExpandDimsOp, coreai::ShrinkDimsOp>(
          [&](auto) -> DenseElementsAttr {
            if (subject.size() != type.getNumElements())
              return {};
            Tensor flat = subject.tensor();
            return copy(Tensor(flat.type, flat.data, result.shape()), result);
          })
      .Case<coreai::BroadcastToOp, coreai::BroadcastInDimsOp>(
          [&](auto) -> DenseElementsAttr {
            std::optional<Tensor> view = spread(subject, result.shape());
            return view ? copy(*view, result) : DenseElementsAttr();
          })
      .Case([&](coreai::TileOp) { return evaluateTile(subject, result); })
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
