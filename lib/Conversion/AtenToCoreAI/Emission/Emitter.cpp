// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Emitter.h"

#include "Emission/Broadcast.h"
#include "Emission/ValueFacts.h"
#include "Walk/DebugRecorder.h"

#include "corten/Conversion/AtenToCoreAI/Departures.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

Emitter::Emitter(ConvertedModule &result, const ConversionOptions &options)
    : builder(result.context.get()), location(builder.getUnknownLoc()),
      result(result), module(*result.module), options(options),
      debug(std::make_unique<DebugRecorder>(result.context.get(), options,
                                            result.counters)) {}

Emitter::~Emitter() = default;

InFlightDiagnostic Emitter::error(const Node &node) {
  // Whoever collects the messages says where the node stands.
  currentNode = &node;
  return emitError(location);
}

void Emitter::depart(Departure departure) {
  auto place = static_cast<size_t>(departure);
  if (departed.size() <= place) {
    departed.resize(place + 1);
    result.departures.resize(place + 1);
  }
  if (departed[place] == currentNode)
    return;
  departed[place] = currentNode;
  ++result.departures[place];
}

Operation *Emitter::inferAndCreate(OperationState &state, InferFn infer) {
  if (mayBeEmpty)
    alignOpenExtents(state);
  // The builders that ODS generates end the process when inference fails.
  MLIRContext *context = builder.getContext();
  if (succeeded(infer(context, state.location, state.operands,
                      state.attributes.getDictionary(context),
                      state.getRawProperties(), state.regions, state.types)))
    return builder.create(state);
  failed = true;
  InFlightDiagnostic diagnostic = emitError(state.location);
  diagnostic << "'" << state.name.getStringRef()
             << "' does not accept operands of type ";
  llvm::interleaveComma(ValueRange(state.operands).getTypes(), diagnostic);
  diagnostic.report();
  RankedTensorType standIn = currentNode && !currentNode->results.empty()
                                 ? typeOf(currentNode->results.front())
                                 : RankedTensorType();
  if (!standIn)
    standIn = RankedTensorType::get({}, f32());
  return UnrealizedConversionCastOp::create(builder, state.location, standIn,
                                            ValueRange());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Emitter::elementType(ScalarType type) {
  auto integer = [&](unsigned bits, bool isSigned) -> Type {
    return builder.getIntegerType(bits, isSigned);
  };
  switch (type) {
  case ScalarType::Bool:
    return builder.getI1Type();
  case ScalarType::UInt8:
    return integer(8, false);
  case ScalarType::Int8:
    return integer(8, true);
  case ScalarType::UInt16:
    return integer(16, false);
  case ScalarType::Int16:
    return integer(16, true);
  case ScalarType::UInt32:
    return integer(32, false);
  case ScalarType::Int32:
  case ScalarType::Int64: // Core AI's index type; runtimes take int32 arrays.
    return integer(32, true);
  case ScalarType::Float16:
    return builder.getF16Type();
  case ScalarType::BFloat16:
    return builder.getBF16Type();
  case ScalarType::Float32:
  case ScalarType::Float64:
    return builder.getF32Type();
  case ScalarType::Complex64:
  case ScalarType::Complex128:
    return ComplexType::get(builder.getF32Type());
  case ScalarType::Float8E4M3FN:
    return builder.getType<Float8E4M3FNType>();
  case ScalarType::Float8E5M2:
    return builder.getType<Float8E5M2Type>();
  case ScalarType::Float8E8M0FNU:
    return builder.getType<Float8E8M0FNUType>();
  case ScalarType::Float4E2M1FNx2:
    return builder.getType<Float4E2M1FNType>();
  case ScalarType::UInt1:
    return integer(1, false);
  case ScalarType::UInt2:
    return integer(2, false);
  case ScalarType::UInt3:
    return integer(3, false);
  case ScalarType::UInt4:
    return integer(4, false);
  case ScalarType::UInt6:
    return integer(6, false);
  case ScalarType::Int2:
    return integer(2, true);
  case ScalarType::Int4:
    return integer(4, true);
  case ScalarType::UInt64:
  case ScalarType::Complex32:
  case ScalarType::Float8E4M3FNUZ:
  case ScalarType::Float8E5M2FNUZ:
    return {};
  }
  return {};
}

ScalarType Emitter::scalarType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isSigned = integer.isSigned();
    switch (integer.getWidth()) {
    case 1:
      return integer.isSignless() ? ScalarType::Bool : ScalarType::UInt1;
    case 8:
      return isSigned ? ScalarType::Int8 : ScalarType::UInt8;
    case 16:
      return isSigned ? ScalarType::Int16 : ScalarType::UInt16;
    case 64:
      return isSigned ? ScalarType::Int64 : ScalarType::UInt64;
    default:
      return isSigned ? ScalarType::Int32 : ScalarType::UInt32;
    }
  }
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF16() ? ScalarType::Complex32
                                            : ScalarType::Complex64;
  if (element.isF16())
    return ScalarType::Float16;
  if (element.isBF16())
    return ScalarType::BFloat16;
  if (element.isF64())
    return ScalarType::Float64;
  return ScalarType::Float32;
}

RankedTensorType Emitter::typeOf(const ValueInfo &info) {
  switch (info.kind) {
  case ValueInfo::Kind::Tensor:
    break;
  case ValueInfo::Kind::SymInt:
    return RankedTensorType::get({1}, si32());
  case ValueInfo::Kind::SymFloat:
    return RankedTensorType::get({1}, f32());
  case ValueInfo::Kind::SymBool:
    return RankedTensorType::get({1}, i1());
  case ValueInfo::Kind::None:
  case ValueInfo::Kind::Other:
    return {};
  }
  Type element = elementType(info.dtype);
  if (!element)
    return {};
  SmallVector<int64_t> shape;
  for (Size size : info.sizes)
    shape.push_back(size.isDynamic() ? ShapedType::kDynamic : size.get());
  // Two 4-bit floats share a byte; the logical extent is twice the stored one.
  if (info.dtype == ScalarType::Float4E2M1FNx2 && !shape.empty() &&
      !ShapedType::isDynamic(shape.back()))
    shape.back() *= 2;
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ArrayRef<Value> Emitter::results(const Node &node) const {
  auto found = values.find(&node);
  return found == values.end() ? ArrayRef<Value>() : found->second;
}

void Emitter::setResults(const Node &node, Results results) {
  values[&node] = std::move(results);
}

Value Emitter::value(const Argument &argument) {
  // Traced programs may hold a number where the schema has a tensor.
  if (argument.kind() == Argument::Kind::Bool)
    return scalar(argument.asBool());
  if (argument.isInt())
    return scalar(argument.asInt(), si32());
  if (argument.kind() == Argument::Kind::Float)
    return scalar(argument.asDouble(), f32());
  ArrayRef<Value> found = results(*argument.asNode());
  assert(!found.empty() && "operand has not been lowered");
  return found.front();
}

LogicalResult Emitter::checkNumber(const AtenNode &node,
                                   const Argument &argument, Type element) {
  // torch wraps a number into an 8- or 16-bit tensor's type; a 64-bit number
  // in 32-bit arithmetic would be another number.
  if (!argument.isNumber() || !element.isInteger(32))
    return success();
  double largest = element.isUnsignedInteger() ? UINT32_MAX : INT32_MAX;
  double number = argument.asDouble();
  if (number >= INT32_MIN && number <= largest)
    return success();
  InFlightDiagnostic message = error(node) << "the number ";
  if (argument.isInt())
    message << argument.asInt();
  else
    message << number;
  return message << " does not fit into 32 bits";
}

FailureOr<Value> Emitter::operand(const AtenNode &node,
                                  const Argument &argument, Type element) {
  if (argument.isValue()) {
    Value found = value(argument);
    // Symbolic numbers are one-element vectors; as operands they are scalars.
    if (!argument.asNode()->info().isTensor() &&
        cast<RankedTensorType>(found.getType()).getRank() == 1)
      found = reshape(found, ArrayRef<int64_t>());
    return convert(found, element);
  }
  if (argument.kind() == Argument::Kind::Complex && isa<ComplexType>(element)) {
    Type part = cast<ComplexType>(element).getElementType();
    return create<coreai::CreateComplexOp>(
        {scalar(argument.asComplex().real(), part),
         scalar(argument.asComplex().imag(), part)});
  }
  if (mlir::failed(checkNumber(node, argument, element)))
    return failure();
  if (argument.kind() == Argument::Kind::Float ||
      (argument.isNumber() && !isa<IntegerType>(element)))
    return scalar(argument.asDouble(), element);
  if (argument.isNumber())
    return scalar(argument.asInt(), element);
  return error(node) << "an argument is neither a tensor nor a number";
}

std::optional<ScalarType> Emitter::commonType(ArrayRef<Argument> arguments) {
  std::optional<ScalarType> dimensioned, scalars, numbers;
  bool promotable = true;
  auto join = [&](std::optional<ScalarType> &into, ScalarType type) {
    if (!into) {
      into = type;
      return;
    }
    into = promoteTypes(*into, type);
    promotable &= into.has_value();
    if (!into)
      into = type;
  };
  for (const Argument &argument : arguments) {
    switch (argument.kind()) {
    case Argument::Kind::Bool:
      join(numbers, ScalarType::Bool);
      break;
    case Argument::Kind::Int:
      join(numbers, ScalarType::Int64);
      break;
    case Argument::Kind::Float:
      join(numbers, ScalarType::Float32);
      break;
    case Argument::Kind::Complex:
      join(numbers, ScalarType::Complex64);
      break;
    case Argument::Kind::Value: {
      const ValueInfo &info = argument.asNode()->info();
      if (info.isTensor())
        join(info.sizes.empty() ? scalars : dimensioned, info.dtype);
      else if (info.kind == ValueInfo::Kind::SymFloat)
        join(numbers, ScalarType::Float32);
      else if (info.kind == ValueInfo::Kind::SymBool)
        join(numbers, ScalarType::Bool);
      else
        join(numbers, ScalarType::Int64);
      break;
    }
    default:
      break;
    }
  }
  if (!promotable)
    return std::nullopt;
  // A lower-ranked group only matters if it is of a higher category.
  auto combine =
      [](std::optional<ScalarType> higher,
         std::optional<ScalarType> lower) -> std::optional<ScalarType> {
    if (!higher)
      return lower;
    if (!lower || scalarCategory(*lower) <= scalarCategory(*higher))
      return higher;
    return promoteTypes(*higher, *lower);
  };
  return combine(combine(dimensioned, scalars), numbers);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Value Emitter::size(const Argument &argument) {
  if (!argument.isValue())
    return indices({argument.asInt()});
  // A size read from data (`.item()`) is a rank-0 value of any integer type.
  Value found = cast(value(argument), si32());
  return cast<RankedTensorType>(found.getType()).getRank() == 0
             ? reshape(found, {1})
             : found;
}

Value Emitter::sizeScalar(const Argument &argument) {
  return argument.isValue() ? reshape(size(argument), ArrayRef<int64_t>())
                            : index(argument.asInt());
}

Value Emitter::sizes(ArrayRef<Argument> arguments, IndexKind kind) {
  if (llvm::all_of(arguments, [](const Argument &a) { return !a.isValue(); })) {
    SmallVector<int64_t> literals;
    for (const Argument &argument : arguments)
      literals.push_back(argument.asInt());
    return indices(literals, kind);
  }
  SmallVector<Value> pieces;
  for (const Argument &argument : arguments)
    pieces.push_back(size(argument));
  return joinSizes(pieces, kind);
}

Value Emitter::joinSizes(ArrayRef<Value> pieces, IndexKind kind) {
  SmallVector<int64_t> literals;
  bool isConstant = llvm::all_of(pieces, [&](Value piece) {
    std::optional<SmallVector<int64_t>> entries = constantIndices(piece);
    if (entries)
      llvm::append_range(literals, *entries);
    return entries.has_value();
  });
  if (isConstant)
    return indices(literals, kind);
  Value joined = pieces.size() == 1 ? pieces.front() : concat(pieces, 0);
  return cast(joined, kind == IndexKind::Signed ? si32() : ui32());
}

Value Emitter::shape(Value x, IndexKind kind) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.hasStaticShape())
    return indices(type.getShape(), kind);
  Value extents = create<coreai::GetShapeOp>({x});
  return cast(extents, kind == IndexKind::Signed ? si32() : ui32());
}

Value Emitter::dim(Value x, int64_t axis, IndexKind kind) {
  auto type = cast<RankedTensorType>(x.getType());
  if (!type.isDynamicDim(axis))
    return indices({type.getDimSize(axis)}, kind);
  return slice(shape(x, kind), {axis}, {axis + 1}, {1});
}

/// Product of extents; open if one of them is.
static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent))
      return extent;
    result *= extent;
  }
  return result;
}

Value Emitter::numElements(Value x, int64_t from, int64_t to) {
  int64_t known = product(type(x).getShape().slice(from, to - from));
  if (!ShapedType::isDynamic(known))
    return indices({known});
  Value count;
  for (int64_t axis = from; axis < to; ++axis)
    count = count ? mul(count, dim(x, axis)) : dim(x, axis);
  return count;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value Emitter::cast(Value x, Type element) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getElementType() == element)
    return x;
  return createTyped<coreai::CastOp>(type.clone(element), x);
}

/// Every number of the integer type `from` is one of `to`.
static bool contains(IntegerType to, IntegerType from) {
  if (to.isUnsigned() == from.isUnsigned())
    return to.getWidth() >= from.getWidth();
  return from.isUnsigned() && to.getWidth() > from.getWidth();
}

Value Emitter::convert(Value x, Type element) {
  Type from = getElementTypeOrSelf(x);
  if (isa<ComplexType>(from) && element.isInteger(1)) {
    auto differsFromZero = [&](Value part) {
      return notEqual(part, scalar(0, getElementTypeOrSelf(part)));
    };
    return logicalOr(differsFromZero(create<coreai::RealPartOp>({x})),
                     differsFromZero(create<coreai::ImaginaryPartOp>({x})));
  }
  auto source = dyn_cast<IntegerType>(from);
  auto target = dyn_cast<IntegerType>(element);
  if (!source || !target || source.getWidth() < 8 || target.getWidth() < 8 ||
      contains(target, source))
    return cast(x, element);
  // Places among elements are never negative.
  std::optional<int64_t> extent = extentOfPlaces(x);
  if (extent && *extent <= int64_t(1)
                               << (target.getWidth() - target.isSigned()))
    return cast(x, element);

  depart(Departure::IntegerWrap);
  // The 32 bits as si32, then what the target keeps of them. Values are masked
  // before each cast, so that none saturates.
  auto masked = [&](Value bits, int64_t mask) {
    return create<coreai::BroadcastingBitwiseAndOp>(
        {bits, scalar(mask, getElementTypeOrSelf(bits))});
  };
  auto withTopBit = [&](Value low, Value isSet) {
    Type type = getElementTypeOrSelf(low);
    return create<coreai::BroadcastingBitwiseOrOp>(
        {low, where(isSet, scalar(int64_t(INT32_MIN), type), scalar(0, type))});
  };
  Value bits = x;
  if (from == ui32())
    bits = withTopBit(cast(masked(x, INT32_MAX), si32()),
                      greater(x, scalar(int64_t(INT32_MAX), from)));
  else
    bits = cast(x, si32());
  if (target.getWidth() == 32)
    return target.isUnsigned()
               ? withTopBit(cast(masked(bits, INT32_MAX), element),
                            greater(scalar(0, si32()), bits))
               : bits;
  bits = masked(bits, (int64_t(1) << target.getWidth()) - 1);
  if (target.isUnsigned())
    return cast(bits, element);
  Value top = scalar(int64_t(1) << (target.getWidth() - 1), si32());
  return cast(sub(create<coreai::BroadcastingBitwiseXorOp>({bits, top}), top),
              element);
}

static bool isBoolean(Value x) {
  return getElementTypeOrSelf(x.getType()).isInteger(1);
}

// The runtime has no i1 kernels for arithmetic and order; on booleans they are
// logic.
Value Emitter::add(Value x, Value y) {
  if (isBoolean(x))
    return create<coreai::BroadcastingOrOp>({x, y});
  // The difference with the negated operand is the same number, bit for bit.
  if (isSumMisread(x, y))
    return isBroadcast(y, x) ? sub(x, negate(y)) : sub(y, negate(x));
  return create<coreai::BroadcastingAddOp>({x, y});
}
Value Emitter::mul(Value x, Value y) {
  return isBoolean(x) ? create<coreai::BroadcastingAndOp>({x, y})
                      : create<coreai::BroadcastingMulOp>({x, y});
}
Value Emitter::sub(Value x, Value y) {
  return create<coreai::BroadcastingSubOp>({x, y});
}
Value Emitter::divide(Value x, Value y) {
  return create<coreai::BroadcastingDivideOp>({x, y});
}
Value Emitter::floorDivide(Value x, Value y) {
  return create<coreai::BroadcastingFloorDivideOp>({x, y});
}
Value Emitter::modulo(Value x, Value y) {
  return create<coreai::BroadcastingModuloOp>({x, y});
}
Value Emitter::pow(Value x, Value y) {
  return create<coreai::BroadcastingPowOp>({x, y});
}
Value Emitter::maximum(Value x, Value y) {
  return isBoolean(x) ? logicalOr(x, y)
                      : create<coreai::BroadcastingMaximumOp>({x, y});
}
Value Emitter::minimum(Value x, Value y) {
  return isBoolean(x) ? logicalAnd(x, y)
                      : create<coreai::BroadcastingMinimumOp>({x, y});
}
Value Emitter::matmul(Value x, Value y) {
  // The interpreter ends the process on a sum of no products.
  RankedTensorType left = type(x), right = type(y);
  if (left.getShape().back() == 0 && left.getRank() == right.getRank() &&
      left.hasStaticShape() && right.hasStaticShape()) {
    SmallVector<int64_t> shape(left.getShape());
    shape.back() = right.getShape().back();
    return splat(0.0, left.clone(shape));
  }
  return create<coreai::BroadcastingBatchMatmulOp>({x, y});
}
Value Emitter::equal(Value x, Value y) {
  return create<coreai::BroadcastingEqualOp>({x, y});
}
Value Emitter::notEqual(Value x, Value y) {
  return create<coreai::BroadcastingNotEqualOp>({x, y});
}
Value Emitter::greater(Value x, Value y) {
  return isBoolean(x) ? logicalAnd(x, logicalNot(y))
                      : create<coreai::BroadcastingGreaterOp>({x, y});
}
Value Emitter::logicalAnd(Value x, Value y) {
  return create<coreai::BroadcastingAndOp>({x, y});
}
Value Emitter::logicalOr(Value x, Value y) {
  return create<coreai::BroadcastingOrOp>({x, y});
}
Value Emitter::logicalNot(Value x) { return create<coreai::NotOp>({x}); }
Value Emitter::where(Value condition, Value x, Value y) {
  return create<coreai::BroadcastingWhereOp>({condition, x, y});
}

Value Emitter::scaleBy(Value x, double factor) {
  if (factor == 1.0)
    return x;
  return mul(x, scalar(factor, getElementTypeOrSelf(x)));
}

Value Emitter::negate(Value x) {
  return mul(x, scalar(-1, getElementTypeOrSelf(x)));
}

Value Emitter::reshape(Value x, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.hasStaticShape() && type.getShape() == shape)
    return x;
  // There and back again.
  if (auto before = x.getDefiningOp<coreai::ReshapeOp>()) {
    auto source = dyn_cast<RankedTensorType>(before->getOperand(0).getType());
    if (source && source.hasStaticShape() && source.getShape() == shape)
      return before->getOperand(0);
  }
  const int64_t *open = llvm::find(shape, -1);
  if (mayBeEmpty && !type.hasStaticShape() && open != shape.end()) {
    // An extent cannot be told from the number of elements if that is zero.
    int64_t others = -product(shape);
    SmallVector<int64_t> known(shape);
    known[open - shape.begin()] = ShapedType::kDynamic;
    SmallVector<Value> pieces;
    for (int64_t extent : shape)
      pieces.push_back(extent >= 0
                           ? indices({extent})
                           : floorDivide(numElements(x, 0, type.getRank()),
                                         indices({others})));
    return reshape(x, joinSizes(pieces), type.clone(known));
  }
  return create<coreai::ReshapeOp>({x, indices(shape)});
}

Value Emitter::reshape(Value x, Value shape, RankedTensorType type) {
  return createTyped<coreai::ReshapeOp>(type, {x, shape});
}

Value Emitter::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  return create<coreai::TransposeOp>(
      {x, indices(permutation, IndexKind::Unsigned)});
}

Value Emitter::expandDims(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : create<coreai::ExpandDimsOp>({x, indices(axes)});
}

Value Emitter::shrinkDims(Value x, ArrayRef<int64_t> axes) {
  return axes.empty() ? x : create<coreai::ShrinkDimsOp>({x, indices(axes)});
}

Value Emitter::concat(ArrayRef<Value> values, int64_t axis) {
  SmallVector<Value> operands = {index(axis)};
  llvm::append_range(operands, values);
  return create<coreai::ConcatOp>(operands);
}

Value Emitter::slice(Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> ends,
                     ArrayRef<int64_t> strides, RankedTensorType type) {
  Value start = indices(starts), end = indices(ends), stride = indices(strides);
  if (type)
    return createTyped<coreai::SliceOp>(type, {x, start, end, stride});
  return create<coreai::SliceOp>({x, start, end, stride});
}

Value Emitter::pad(Value x, Value padding, Value fill, RankedTensorType type) {
  NamedAttribute mode = attribute(
      "padding_mode", coreai::PaddingModeAttr::get(
                          builder.getContext(), coreai::PaddingMode::Constant));
  if (type)
    return createTyped<coreai::PadOp>(type, {x, padding, fill}, mode);
  return create<coreai::PadOp>({x, padding, fill}, mode);
}

Value Emitter::slice(Value x, int64_t axis, Value start, Value end,
                     int64_t stride, RankedTensorType type) {
  int64_t rank = type.getRank();
  auto along = [&](Value piece, int64_t elsewhere) {
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < rank; ++i)
      pieces.push_back(i == axis ? piece : indices({elsewhere}));
    return joinSizes(pieces);
  };
  Value starts = along(start, 0), ends = along(end, INT32_MAX);
  SmallVector<int64_t> strides(rank, 1);
  strides[axis] = stride;
  return createTyped<coreai::SliceOp>(type,
                                      {x, starts, ends, indices(strides)});
}

Value Emitter::mergeAxes(Value x, int64_t from, int64_t to) {
  RankedTensorType known = type(x);
  ArrayRef<int64_t> extents = known.getShape();
  if (to - from == 1)
    return x;
  SmallVector<int64_t> shape(extents.take_front(from));
  shape.push_back(product(extents.slice(from, to - from)));
  llvm::append_range(shape, extents.drop_front(to));
  if (known.hasStaticShape())
    return reshape(x, shape);
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < from; ++axis)
    sizes.push_back(dim(x, axis));
  sizes.push_back(numElements(x, from, to));
  for (int64_t axis = to; axis < known.getRank(); ++axis)
    sizes.push_back(dim(x, axis));
  return reshape(x, joinSizes(sizes), known.clone(shape));
}

Value Emitter::gather(Value x, Value index, int64_t axis) {
  // The runtime has no complex gather along an axis.
  if (isa<ComplexType>(type(x).getElementType())) {
    Value real = gather(create<coreai::RealPartOp>({x}), index, axis);
    Value imaginary = gather(create<coreai::ImaginaryPartOp>({x}), index, axis);
    return create<coreai::CreateComplexOp>({real, imaginary});
  }
  return create<coreai::GatherAlongAxisOp>({x, index, this->index(axis)});
}

Value Emitter::take(Value x, Value index, int64_t axis) {
  SmallVector<int64_t> others, extents(type(x).getShape());
  for (int64_t other = 0; other < type(x).getRank(); ++other)
    if (other != axis)
      others.push_back(other);
  extents[axis] = type(index).getDimSize(0);
  if (type(index).hasStaticShape()) {
    SmallVector<int64_t> shape(extents.size(), 1);
    shape[axis] = extents[axis];
    index = reshape(index, shape);
  } else {
    index = expandDims(index, others);
  }
  auto extentOf = [&](int64_t other) {
    return dim(x, other, IndexKind::Unsigned);
  };
  index = broadcast(index, RankedTensorType::get(extents, si32()), extentOf);
  return gather(x, index, axis);
}

Value Emitter::withType(Value x, RankedTensorType type) {
  if (x.getType() == type)
    return x;
  if (Emitter::type(x).getRank() != type.getRank())
    return reshape(x, type.getShape());
  return reshape(x, shape(x), type);
}

Value Emitter::refine(Value x, RankedTensorType type) {
  auto known = cast<RankedTensorType>(x.getType());
  if (known.getRank() != type.getRank()) {
    failed = true;
    emitError(location) << "a value of type " << known << " cannot be of type "
                        << type;
    return x;
  }
  SmallVector<int64_t> extents(known.getShape());
  for (auto [extent, stated] : llvm::zip_equal(extents, type.getShape()))
    if (ShapedType::isDynamic(extent))
      extent = stated;
  RankedTensorType refined = known.clone(extents);
  return refined == known ? x : createTyped<coreai::CastOp>(refined, x);
}

Value Emitter::broadcast(Value x, RankedTensorType type,
                         llvm::function_ref<Value(int64_t)> extent) {
  auto known = cast<RankedTensorType>(x.getType());
  int64_t missing = type.getRank() - known.getRank();
  x = expandDims(x, llvm::to_vector(llvm::seq<int64_t>(0, missing)));
  known = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> axes, shape(known.getShape());
  SmallVector<Value> extents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (known.getDimSize(axis) != 1 || type.getDimSize(axis) == 1)
      continue;
    axes.push_back(axis);
    extents.push_back(extent(axis));
    shape[axis] = type.getDimSize(axis);
  }
  if (axes.empty())
    return x;
  // A single extent comes before its axis; several are joined behind theirs.
  Value places = axes.size() > 1 ? indices(axes) : Value();
  Value joined = joinSizes(extents, IndexKind::Unsigned);
  if (!places)
    places = indices(axes);
  return createTyped<coreai::BroadcastInDimsOp>(known.clone(shape),
                                                {x, joined, places});
}

Value Emitter::broadcastTo(Value x, Value shape, RankedTensorType type) {
  if (x.getType() == type && type.hasStaticShape())
    return x;
  return createTyped<coreai::BroadcastToOp>(type, {x, shape});
}

SmallVector<int64_t> Emitter::axesOrAll(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> axes;
  if (dims.empty())
    axes.assign(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  // A 0-d tensor accepts dim 0 and -1 but has no axis to name.
  else if (rank > 0)
    for (int64_t dim : dims)
      axes.push_back(axis(dim, rank));
  return axes;
}
