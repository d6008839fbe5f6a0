// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emission/Emitter.h"

#include "Emission/ValueFacts.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace corten;
using namespace mlir;

Emitter::Emitter(MLIRContext *context, std::vector<size_t> &departures)
    : builder(context), location(builder.getUnknownLoc()),
      departures(departures) {}

InFlightDiagnostic Emitter::error(const Node &node) {
  // Whoever collects the messages says where the node stands.
  currentNode = &node;
  return emitError(location);
}

/// What came in place of an argument, for messages.
static std::string describe(const Argument &argument) {
  using Kind = Argument::Kind;
  switch (argument.kind()) {
  case Kind::None:
    return "None";
  case Kind::Bool:
    return argument.asBool() ? "True" : "False";
  case Kind::Int:
    return std::to_string(argument.asInt());
  case Kind::Float:
    return llvm::formatv("{0}", argument.asDouble());
  case Kind::Complex:
    return "a complex number";
  case Kind::String:
    return ("the string '" + argument.asString() + "'").str();
  case Kind::DType:
    return ("torch." + scalarTypeName(argument.asDType())).str();
  case Kind::Opaque:
    return ("'" + argument.asString() + "'").str();
  case Kind::List:
    return "a list";
  case Kind::Graph:
    return "a graph";
  case Kind::Value:
    break;
  }
  const Node &node = *argument.asNode();
  bool isTensor = !node.results.empty() && node.info().isTensor();
  return ((isTensor ? "the tensor '" : "the symbolic number '") + node.name +
          "'")
      .str();
}

/// The parameter that an argument, or the list it stands in, is for.
static StringRef parameterOf(const Node &node, const Argument &argument) {
  auto holds = [&](const Argument &candidate) {
    return &candidate == &argument ||
           (candidate.isList() &&
            llvm::any_of(candidate.asList(), [&](const Argument &element) {
              return &element == &argument;
            }));
  };
  for (auto [parameter, candidate] :
       llvm::zip(node.callee->parameters, node.arguments))
    if (holds(candidate))
      return parameter.name;
  return "";
}

void Emitter::wrongArgument(const Node &node, const Argument &argument,
                            const Twine &wanted) {
  if (failed)
    return;
  StringRef parameter = parameterOf(node, argument);
  InFlightDiagnostic message = error(node);
  message << node.callee->printedName() << ": ";
  if (parameter.empty())
    message << "an argument";
  else
    message << "'" << parameter << "'";
  message << " is " << describe(argument) << ", want " << wanted;
  if (argument.isValue())
    message << " that is known when the program is converted: export it with a "
               "constant there";
  else
    message << ": correct the call in the graph";
  message.report();
  failed = true;
}

void Emitter::missingArgument(const Node &node, StringRef parameter) {
  if (failed)
    return;
  (error(node) << node.callee->printedName() << " has no parameter '"
               << parameter
               << "': the program was exported by a release of torch whose "
                  "operator is another")
      .report();
  failed = true;
}

void Emitter::depart(Departure departure) {
  auto place = static_cast<size_t>(departure);
  if (departed.size() <= place) {
    departed.resize(place + 1);
    departures.resize(place + 1);
  }
  if (departed[place] == currentNode)
    return;
  departed[place] = currentNode;
  ++departures[place];
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
  InFlightDiagnostic diagnostic = emitError(state.location);
  diagnostic << "'" << state.name.getStringRef()
             << "' does not accept operands of type ";
  llvm::interleaveComma(ValueRange(state.operands).getTypes(), diagnostic);
  diagnostic.report();
  failed = true;
  return standIn();
}

Operation *Emitter::standIn() {
  RankedTensorType type = currentNode && !currentNode->results.empty()
                              ? typeOf(currentNode->results.front())
                              : RankedTensorType();
  if (!type)
    type = RankedTensorType::get({}, f32());
  return UnrealizedConversionCastOp::create(builder, location, type,
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
  ArrayRef<Value> found =
      argument.isValue() ? results(*argument.asNode()) : ArrayRef<Value>();
  if (!found.empty() && found.front())
    return found.front();
  wrongArgument(*currentNode, argument, "a tensor");
  return standIn()->getResult(0);
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
    if (!argument.asNode()->results.empty() &&
        !argument.asNode()->info().isTensor() &&
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
      if (argument.asNode()->results.empty())
        break;
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

int64_t Emitter::literalSize(const Argument &argument) {
  if (argument.isInt() || argument.kind() == Argument::Kind::Bool)
    return argument.asInt();
  wrongArgument(*currentNode, argument, "a size");
  return 1;
}

Value Emitter::size(const Argument &argument) {
  if (!argument.isValue())
    return indices({literalSize(argument)});
  // A size read from data (`.item()`) is a rank-0 value of any integer type.
  Value found = cast(value(argument), si32());
  return cast<RankedTensorType>(found.getType()).getRank() == 0
             ? reshape(found, {1})
             : found;
}

Value Emitter::sizeScalar(const Argument &argument) {
  return argument.isValue() ? reshape(size(argument), ArrayRef<int64_t>())
                            : index(literalSize(argument));
}

Value Emitter::sizes(ArrayRef<Argument> arguments, IndexKind kind) {
  if (llvm::all_of(arguments, [](const Argument &a) { return !a.isValue(); })) {
    SmallVector<int64_t> literals;
    for (const Argument &argument : arguments)
      literals.push_back(literalSize(argument));
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

Value Emitter::numElements(Value x, int64_t from, int64_t to) {
  int64_t known = productOf(type(x).getShape().slice(from, to - from));
  if (!ShapedType::isDynamic(known))
    return indices({known});
  Value count;
  for (int64_t axis = from; axis < to; ++axis)
    count = count ? mul(count, dim(x, axis)) : dim(x, axis);
  return count;
}
