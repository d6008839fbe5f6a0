// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace corten::param;

static ParseResult parseParameterName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printParameterName(AsmPrinter &printer, StringAttr name) {
  printer.printKeywordOrString(name);
}

static ParseResult parseDeclarations(AsmParser &parser,
                                     SmallVectorImpl<DeclAttr> &declarations) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        return parser.parseCustomAttributeWithFallback(
            declarations.emplace_back());
      });
}

static void printDeclarations(AsmPrinter &printer,
                              ArrayRef<DeclAttr> declarations) {
  printer << '[';
  llvm::interleaveComma(declarations, printer, [&](DeclAttr declaration) {
    printer.printStrippedAttrOrType(declaration);
  });
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/Param/IR/ParamAttributes.cpp.inc"

void ParamDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "corten/Dialect/Param/IR/ParamAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// DeclAttr
//===----------------------------------------------------------------------===//

static FailureOr<DeclAttr> parseDeclaration(AsmParser &parser) {
  StringAttr name;
  Type type;
  if (parseParameterName(parser, name) || parser.parseColonType(type))
    return failure();
  TypedAttr defaultValue;
  if (succeeded(parser.parseOptionalEqual()) &&
      parser.parseAttribute(defaultValue, type))
    return failure();
  return DeclAttr::get(parser.getContext(), name, type, defaultValue);
}

static void printDeclaration(AsmPrinter &printer, DeclAttr declaration) {
  printParameterName(printer, declaration.getName());
  printer << ": " << declaration.getType();
  if (TypedAttr value = declaration.getDefaultValue()) {
    printer << " = ";
    printer.printAttributeWithoutType(value);
  }
}

Attribute DeclAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DeclAttr> declaration = parseDeclaration(parser);
  if (failed(declaration) || parser.parseGreater())
    return {};
  return *declaration;
}

void DeclAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDeclaration(printer, *this);
  printer << '>';
}

ParseResult corten::param::parseParameterList(AsmParser &parser,
                                              DeclArrayAttr &declarations) {
  SmallVector<DeclAttr> list;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<DeclAttr> declaration = parseDeclaration(parser);
    if (failed(declaration))
      return failure();
    list.push_back(*declaration);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater,
                                     parseOne))
    return failure();
  declarations = DeclArrayAttr::get(parser.getContext(), list);
  return success();
}

void corten::param::printParameterList(AsmPrinter &printer,
                                       DeclArrayAttr declarations) {
  if (declarations.getValue().empty())
    return;
  printer << '<';
  llvm::interleaveComma(
      declarations.getValue(), printer,
      [&](DeclAttr declaration) { printDeclaration(printer, declaration); });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// ConstantAttr
//===----------------------------------------------------------------------===//

ConstantAttr ConstantAttr::get(Attribute value) {
  MLIRContext *context = value.getContext();
  Type type = NoneType::get(context);
  if (isa<SymbolRefAttr>(value))
    type = SymbolType::get(context);
  else if (isa<mlir::TypeAttr>(value))
    type = TypeType::get(context);
  else if (auto typed = dyn_cast<TypedAttr>(value))
    type = typed.getType();
  return Base::get(context, type, value);
}

Attribute ConstantAttr::parse(AsmParser &parser, Type type) {
  llvm::SMLoc loc;
  Attribute value;
  // The value prints without its type, so the type after the brackets is the
  // only place where the width of a number is recorded.
  if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
      parser.parseAttribute(value, type))
    return {};
  Type valueType;
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(valueType))
    return {};
  if (parser.parseGreater())
    return {};
  if (!isa<SymbolRefAttr, mlir::TypeAttr, TypedAttr, UnitAttr>(value)) {
    parser.emitError(loc) << "constant must be a symbol, a type or a typed "
                             "value, not "
                          << value;
    return {};
  }
  ConstantAttr constant = get(value);
  for (Type spelled : {type, valueType}) {
    if (spelled && spelled != constant.getType()) {
      parser.emitError(loc) << "value of type " << constant.getType()
                            << " in a constant of type " << spelled;
      return {};
    }
  }
  return constant;
}

void ConstantAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printAttributeWithoutType(getValue());
  printer << '>';
}

ConstantAttr corten::param::getSymbolConstant(MLIRContext *context,
                                              StringRef name) {
  return ConstantAttr::get(FlatSymbolRefAttr::get(context, name));
}

//===----------------------------------------------------------------------===//
// BindAttr and symbol expressions
//===----------------------------------------------------------------------===//

SymbolRefAttr corten::param::getReferencedSymbol(Attribute expression) {
  while (auto bind = dyn_cast_if_present<BindAttr>(expression))
    expression = bind.getSymbol();
  if (auto constant = dyn_cast_if_present<ConstantAttr>(expression))
    return dyn_cast<SymbolRefAttr>(constant.getValue());
  return {};
}

/// Arguments in the one form that they have inside a `BindAttr`.
static ArrayAttr unwrapConstants(ArrayAttr arguments) {
  auto plain =
      llvm::map_to_vector(arguments, [](Attribute argument) -> Attribute {
        if (auto constant = dyn_cast<ConstantAttr>(argument))
          return constant.getValue();
        return argument;
      });
  return ArrayAttr::get(arguments.getContext(), plain);
}

static TypedAttr bindArguments(Type type, TypedAttr symbol,
                               ArrayAttr arguments) {
  if (arguments.empty())
    return symbol;
  return BindAttr::get(symbol.getContext(), type, symbol,
                       unwrapConstants(arguments));
}

/// Wraps a bare symbol, so that every symbol has a type to be checked.
static TypedAttr asExpression(Attribute attribute) {
  if (isa<SymbolRefAttr>(attribute))
    return ConstantAttr::get(attribute);
  return dyn_cast<TypedAttr>(attribute);
}

Attribute BindAttr::parse(AsmParser &parser, Type type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (!type)
    return parser.emitError(loc, "bound symbol needs a type after it"), nullptr;
  Attribute symbol;
  ArrayAttr arguments;
  // Nested expressions print without a type; theirs is that of a symbol.
  if (parser.parseLess() ||
      parser.parseAttribute(symbol, SymbolType::get(parser.getContext())) ||
      parser.parseComma() || parser.parseAttribute(arguments) ||
      parser.parseGreater())
    return {};
  TypedAttr expression = asExpression(symbol);
  if (!expression || !isa<SymbolType>(expression.getType()))
    return parser.emitError(loc, "arguments can only be bound to a symbol"),
           nullptr;
  return bindArguments(type, expression, arguments);
}

void BindAttr::print(AsmPrinter &printer) const {
  printer << '<';
  if (auto constant = dyn_cast<ConstantAttr>(getSymbol()))
    printer << constant.getValue();
  else
    printer.printAttributeWithoutType(getSymbol());
  // Each in full: an array would leave out the type of a 64-bit integer.
  printer << ", [";
  llvm::interleaveComma(getArguments(), printer);
  printer << "]>";
}

ParseResult corten::param::parseSymbolExpression(AsmParser &parser,
                                                 TypedAttr &expression) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  bool bracketed = succeeded(parser.parseOptionalLess());
  Attribute attribute;
  if (parser.parseAttribute(attribute) || (bracketed && parser.parseGreater()))
    return failure();
  expression = asExpression(attribute);
  if (!expression || !isa<SymbolType>(expression.getType()))
    return parser.emitError(loc, "expected a symbol or a parameter expression "
                                 "of type '!param.symbol'");
  SmallVector<Attribute> arguments;
  if (isa<SymbolRefAttr>(attribute) &&
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::OptionalLessGreater,
          [&] { return parser.parseAttribute(arguments.emplace_back()); }))
    return failure();
  expression = bindArguments(expression.getType(), expression,
                             parser.getBuilder().getArrayAttr(arguments));
  return success();
}

void corten::param::printSymbolExpression(AsmPrinter &printer,
                                          TypedAttr expression) {
  if (auto constant = dyn_cast<ConstantAttr>(expression)) {
    printer << constant.getValue();
    return;
  }
  auto bind = dyn_cast<BindAttr>(expression);
  if (!bind) {
    printer << expression;
    return;
  }
  auto callee = dyn_cast<ConstantAttr>(bind.getSymbol());
  if (!callee) {
    printer << '<' << expression << '>';
    return;
  }
  printer << callee.getValue() << '<';
  llvm::interleaveComma(bind.getArguments(), printer);
  printer << '>';
}

FailureOr<FunctionType>
corten::param::bindParameters(FunctionType type, DeclArrayAttr declarations,
                              ArrayRef<Attribute> arguments) {
  if (arguments.size() > declarations.getValue().size())
    return failure();
  llvm::DenseMap<StringAttr, Attribute> values;
  for (auto [index, declaration] : llvm::enumerate(declarations.getValue())) {
    Attribute value = index < arguments.size()
                          ? arguments[index]
                          : Attribute(declaration.getDefaultValue());
    if (!value)
      return failure();
    if (index < arguments.size() &&
        ConstantAttr::get(value).getType() != declaration.getType())
      return failure();
    values[declaration.getName()] = value;
  }

  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ParamRefType reference) -> std::optional<Type> {
    auto name = dyn_cast<RefAttr>(reference.getParam());
    if (!name)
      return std::nullopt;
    auto bound =
        dyn_cast_if_present<mlir::TypeAttr>(values.lookup(name.getName()));
    return bound ? bound.getValue() : Type(reference);
  });
  replacer.addReplacement([&](RefAttr reference) -> std::optional<Attribute> {
    Attribute bound = values.lookup(reference.getName());
    return bound ? bound : Attribute(reference);
  });
  return cast<FunctionType>(replacer.replace(type));
}
