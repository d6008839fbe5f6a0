// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/OperatorSchema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using llvm::SmallVector;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Cuts off what stands before the next comma outside of brackets and quotes.
static StringRef takeItem(StringRef &rest) {
  unsigned depth = 0;
  bool isQuoted = false;
  size_t end = 0;
  for (; end < rest.size(); ++end) {
    char c = rest[end];
    if (c == '"')
      isQuoted = !isQuoted;
    if (isQuoted)
      continue;
    if (c == ',' && depth == 0)
      break;
    depth += c == '(' || c == '[';
    depth -= c == ')' || c == ']';
  }
  StringRef item = rest.take_front(end).trim();
  rest = rest.drop_front(std::min(end + 1, rest.size()));
  return item;
}

/// What stands in the parentheses that the text begins with.
static StringRef takeParentheses(StringRef text) {
  unsigned depth = 0;
  bool isQuoted = false;
  for (auto [position, c] : llvm::enumerate(text)) {
    isQuoted ^= c == '"';
    depth += !isQuoted && c == '(';
    depth -= !isQuoted && c == ')';
    if (depth == 0)
      return text.slice(1, position);
  }
  llvm_unreachable("a schema without a closing parenthesis");
}

/// "Tensor(a!)?", "SymInt[2]", "Tensor?[]".
static ParameterType parseType(StringRef text) {
  ParameterType type;
  type.isOptional = text.ends_with("?");
  type.hasOptionalElements = text.contains("?[");
  type.isList = text.contains('[');
  text.split('[')
      .second.take_until([](char c) { return c == ']'; })
      .getAsInteger(10, type.length);
  type.isWritten = text.contains('!');
  type.isConstant = text.starts_with("int") || text.starts_with("bool");
  using Base = ParameterType::Base;
  type.base = llvm::StringSwitch<Base>(
                  text.take_while([](char c) { return llvm::isAlpha(c); }))
                  .Case("Tensor", Base::Tensor)
                  .Cases({"int", "SymInt"}, Base::Int)
                  .Case("float", Base::Float)
                  .Cases({"bool", "SymBool"}, Base::Bool)
                  .Case("Scalar", Base::Scalar)
                  .Case("str", Base::String)
                  .Case("ScalarType", Base::DType)
                  .Cases({"Layout", "Device", "MemoryFormat", "Generator",
                          "QScheme", "Stream", "Storage", "Dimname"},
                         Base::Opaque)
                  .Default(Base::Any);
  return type;
}

static Argument parseDefault(StringRef text, ParameterType::Base base,
                             ProgramBuilder &builder) {
  if (text == "None")
    return {};
  if (text == "True" || text == "False")
    return Argument::boolean(text == "True");
  if (text.consume_front("\"")) {
    text.consume_back("\"");
    return Argument::string(text);
  }
  if (text.consume_front("[")) {
    text.consume_back("]");
    SmallVector<Argument> elements;
    while (!text.empty())
      elements.push_back(parseDefault(takeItem(text), base, builder));
    return Argument::list(builder.save(elements));
  }
  int64_t integer = 0;
  if (base != ParameterType::Base::Float && !text.getAsInteger(10, integer))
    return Argument::integer(integer);
  double number = 0;
  [[maybe_unused]] bool failed = text.getAsDouble(number);
  assert(!failed && "unknown form of a default in the table of schemas");
  return Argument::floating(number);
}

/// `defaultOf` reads the default of the parameter at a place from its text.
static OperatorSchema
parse(StringRef text,
      llvm::function_ref<Argument(size_t, StringRef, const ParameterType &)>
          defaultOf) {
  OperatorSchema schema;
  StringRef rest = takeParentheses(text.drop_front(text.find('(')));
  StringRef results = text.drop_front(rest.end() - text.begin());
  results.consume_front(") -> ");
  while (!rest.empty()) {
    StringRef item = takeItem(rest);
    if (item == "*")
      continue;
    auto [declaration, value] = item.split('=');
    auto [typeText, name] = declaration.rsplit(' ');
    Parameter parameter;
    parameter.name = name;
    parameter.hasDefault = declaration.size() != item.size();
    ParameterType type = parseType(typeText);
    if (parameter.hasDefault)
      parameter.defaultValue = defaultOf(schema.parameters.size(), value, type);
    schema.parameters.push_back(parameter);
    schema.types.push_back(type);
    schema.mutates |= type.isWritten;
  }
  bool isTuple = results.consume_front("(") && results.consume_back(")");
  while (!results.empty()) {
    StringRef item = takeItem(results);
    ++schema.numResults;
    schema.results.push_back(parseType(item));
    schema.returnsView |= item.contains("Tensor(") && !item.contains('!');
    schema.returnsList = !isTuple && item.contains('[');
  }
  return schema;
}

OperatorSchema corten::parseSchema(StringRef text, ProgramBuilder &builder) {
  return parse(text, [&](size_t, StringRef value, const ParameterType &type) {
    return parseDefault(value, type.base, builder);
  });
}

OperatorSchema corten::parseSchema(StringRef text,
                                   llvm::ArrayRef<Argument> defaults,
                                   ProgramBuilder &builder) {
  OperatorSchema schema =
      parse(text, [&](size_t position, StringRef, const ParameterType &) {
        return position < defaults.size() ? defaults[position] : Argument();
      });
  for (Parameter &parameter : schema.parameters)
    parameter.name = builder.save(parameter.name);
  return schema;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool ParameterType::acceptsElement(const Argument &argument) const {
  using Kind = Argument::Kind;
  if (argument.isNone())
    return isList ? hasOptionalElements : isOptional;
  if (argument.isValue()) {
    const Node &node = *argument.asNode();
    if (node.returnsTuple || node.results.empty() ||
        node.info().kind == ValueInfo::Kind::None ||
        node.info().kind == ValueInfo::Kind::Other)
      return false;
    switch (base) {
    case Base::Tensor:
      return true;
    case Base::Int:
    case Base::Float:
    case Base::Bool:
    case Base::Scalar:
      if (isConstant)
        return false;
      return !node.info().isTensor() ||
             (node.info().sizes.empty() && base == Base::Scalar);
    default:
      return false;
    }
  }
  switch (base) {
  case Base::Tensor: // Numbers become tensors.
  case Base::Scalar:
    return argument.isNumber() || argument.kind() == Kind::Complex;
  case Base::Int:
    return argument.isInt() || argument.kind() == Kind::Bool;
  case Base::Float:
    return argument.isNumber();
  case Base::Bool:
    return argument.kind() == Kind::Bool;
  case Base::String:
    return argument.kind() == Kind::String;
  case Base::DType:
    return argument.kind() == Kind::DType;
  case Base::Opaque:
    return argument.kind() == Kind::Opaque;
  case Base::Any:
    return true;
  }
  llvm_unreachable("covered switch");
}

bool ParameterType::isResult(const ValueInfo &info) const {
  // What an operator did not compute is None, whatever its schema says.
  if (isList || base == Base::Opaque || base == Base::Any ||
      info.kind == ValueInfo::Kind::None)
    return true;
  return info.isTensor() == (base == Base::Tensor);
}

bool ParameterType::accepts(const Argument &argument) const {
  if (base == Base::Any)
    return true;
  if (argument.isNone())
    return isOptional;
  if (!argument.isList())
    return acceptsElement(argument) && (!isList || !argument.isValue());
  return isList && llvm::all_of(argument.asList(), [&](const Argument &item) {
           return !item.isList() && acceptsElement(item);
         });
}
