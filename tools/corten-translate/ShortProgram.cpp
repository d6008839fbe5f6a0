// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShortProgram.h"

#include "Json.h"
#include "Payload.h"
#include "SchemaTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;
using namespace corten::pt2;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Types and sizes
//===----------------------------------------------------------------------===//

/// The number of an element type in files: of "f32", or of torch's name.
static std::optional<int64_t> typeNumber(StringRef text) {
  std::string name = text.str();
  if (text == "b8")
    name = "bool";
  else if (text == "bf16")
    name = "bfloat16";
  else if (text.size() > 1 && llvm::all_of(text.drop_front(), llvm::isDigit))
    name =
        llvm::StringMap<StringRef>{
            {"f", "float"}, {"i", "int"}, {"u", "uint"}, {"c", "complex"}}
            .lookup(text.take_front())
            .str() +
        text.drop_front().str();
  std::optional<ScalarType> type = scalarTypeFromName(name);
  constexpr int64_t kNumTypes = 64;
  for (int64_t number = 0; type && number < kNumTypes; ++number)
    if (scalarTypeFromSchema(number) == type)
      return number;
  return std::nullopt;
}

static json::Value sizeOf(StringRef text) {
  int64_t extent = 0;
  if (!text.getAsInteger(10, extent))
    return json::Object{{"as_int", extent}};
  return json::Object{{"as_expr", json::Object{{"expr_str", text.str()}}}};
}

/// Splits at the commas that are in no bracket.
static llvm::SmallVector<StringRef> splitList(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  int depth = 0;
  size_t begin = 0;
  for (auto [at, c] : llvm::enumerate(text)) {
    depth += c == '[' || c == '(';
    depth -= c == ']' || c == ')';
    if (c == ',' && depth == 0) {
      parts.push_back(text.slice(begin, at).trim());
      begin = at + 1;
    }
  }
  if (!text.trim().empty())
    parts.push_back(text.drop_front(begin).trim());
  return parts;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {
class Speller {
public:
  llvm::Expected<WrittenProgram> run(JsonValue program);

private:
  /// What a name stands for, as the alternatives of arguments are called.
  enum class Kind : uint8_t { Tensor, Int, Float, Bool };

  void fail(const Twine &what) {
    if (problem.empty())
      problem = what.str();
  }
  std::string textOf(JsonValue value, StringRef what);
  json::Object tensorMeta(StringRef text);
  /// Declares "f32[2]" or "int" and gives its reference.
  json::Value declare(StringRef name, StringRef type);
  json::Value reference(StringRef name);
  /// "y: f32[2]".
  json::Value result(StringRef text);
  void addCall(JsonValue call);
  json::Value argument(JsonValue value, const ParameterType &type);
  json::Value element(JsonValue value, const ParameterType &type);
  json::Value untyped(JsonValue value);
  void addInputs(JsonValue members, StringRef kind);

  std::string problem;
  llvm::StringMap<Kind> kinds;
  json::Object tensors, ints, floats, bools;
  json::Array inputs, inputSpecs, nodes;
};
} // namespace

std::string Speller::textOf(JsonValue value, StringRef what) {
  std::optional<std::string> text = value.string();
  if (!text)
    fail(what + " must be a text");
  return text.value_or("");
}

json::Object Speller::tensorMeta(StringRef text) {
  auto [typeName, rest] = text.split('[');
  std::optional<int64_t> type = typeNumber(typeName);
  if (!type || !rest.consume_back("]"))
    fail("'" + text + "' is no type of a tensor");
  json::Array sizes, strides;
  llvm::SmallVector<StringRef> extents = splitList(rest);
  int64_t stride = 1;
  std::string symbols;
  for (StringRef extent : llvm::reverse(extents)) {
    sizes.insert(sizes.begin(), sizeOf(extent));
    strides.insert(strides.begin(), sizeOf((Twine(stride) + symbols).str()));
    int64_t number = 0;
    if (!extent.getAsInteger(10, number))
      stride *= std::max<int64_t>(number, 1);
    else
      symbols += ("*(" + extent + ")").str();
  }
  return json::Object{
      {"dtype", type.value_or(0)},
      {"sizes", std::move(sizes)},
      {"strides", std::move(strides)},
      {"storage_offset", json::Object{{"as_int", 0}}},
      {"device", json::Object{{"type", "cpu"}, {"index", nullptr}}}};
}

json::Value Speller::reference(StringRef name) {
  auto found = kinds.find(name);
  if (found == kinds.end()) {
    fail("nothing is called '" + name + "'");
    return nullptr;
  }
  switch (found->second) {
  case Kind::Tensor:
    return json::Object{{"as_tensor", json::Object{{"name", name.str()}}}};
  case Kind::Int:
    return json::Object{{"as_sym_int", json::Object{{"as_name", name.str()}}}};
  case Kind::Float:
    return json::Object{
        {"as_sym_float", json::Object{{"as_name", name.str()}}}};
  case Kind::Bool:
    return json::Object{{"as_sym_bool", json::Object{{"as_name", name.str()}}}};
  }
  llvm_unreachable("covered switch");
}

json::Value Speller::declare(StringRef name, StringRef type) {
  auto [head, expression] = type.split(' ');
  json::Value size = sizeOf(expression.empty() ? name : expression.trim());
  Kind kind = Kind::Tensor;
  if (head == "int") {
    kind = Kind::Int;
    ints[name.str()] = std::move(size);
  } else if (head == "float") {
    kind = Kind::Float;
    floats[name.str()] = std::move(size);
  } else if (head == "bool") {
    kind = Kind::Bool;
    bools[name.str()] = std::move(size);
  } else {
    tensors[name.str()] = tensorMeta(type);
  }
  if (!kinds.try_emplace(name, kind).second)
    fail("two values are called '" + name + "'");
  return reference(name);
}

json::Value Speller::result(StringRef text) {
  if (text == "none")
    return json::Object{{"as_none", true}};
  if (text.consume_front("[")) {
    json::Array list;
    if (!text.consume_back("]"))
      fail("a list of results does not end");
    for (StringRef part : splitList(text)) {
      json::Value one = result(part);
      if (json::Object *object = one.getAsObject())
        if (json::Value *tensor = object->get("as_tensor"))
          list.push_back(std::move(*tensor));
    }
    return json::Object{{"as_tensors", std::move(list)}};
  }
  auto [name, type] = text.split(':');
  return declare(name.trim(), type.trim());
}

/// A value of which no schema says anything.
json::Value Speller::untyped(JsonValue value) {
  if (std::optional<bool> flag = value.boolean())
    return json::Object{{"as_bool", *flag}};
  if (std::optional<int64_t> integer = value.integer())
    return json::Object{{"as_int", *integer}};
  if (std::optional<std::string> name = value.string())
    return reference(*name);
  if (std::optional<double> number = value.number())
    return json::Object{{"as_float", *number}};
  return json::Object{{"as_none", true}};
}

json::Value Speller::element(JsonValue value, const ParameterType &type) {
  using Base = ParameterType::Base;
  if (value.isNull())
    return json::Object{{"as_none", true}};
  std::optional<std::string> text = value.string();
  switch (type.base) {
  case Base::String:
    return json::Object{{"as_string", textOf(value, "an argument")}};
  case Base::DType: {
    std::optional<int64_t> number = typeNumber(text.value_or(""));
    if (!number)
      fail("'" + text.value_or("") + "' is no element type");
    return json::Object{{"as_scalar_type", number.value_or(0)}};
  }
  case Base::Opaque:
    fail("devices, layouts and memory formats have no short form");
    return nullptr;
  case Base::Float:
  case Base::Scalar:
    // torch writes these as texts as well.
    if (text && !kinds.contains(*text) && value.number())
      return json::Object{{"as_float", *text}};
    if (std::optional<double> number = value.number();
        number && !text && (type.base == Base::Float || !value.integer()))
      return json::Object{{"as_float", *number}};
    [[fallthrough]];
  default:
    return untyped(value);
  }
}

json::Value Speller::argument(JsonValue value, const ParameterType &type) {
  if (!value.isArray())
    return element(value, type);
  json::Array list;
  StringRef alternative;
  bool isMixed = false;
  for (JsonValue item : value.elements()) {
    json::Value one = element(item, type);
    json::Object *object = one.getAsObject();
    if (!object)
      return nullptr;
    StringRef kind = object->begin()->first;
    isMixed |= !alternative.empty() && alternative != kind;
    if (alternative.empty() || kind.starts_with("as_sym"))
      alternative = kind;
    list.push_back(std::move(one));
  }
  bool isTensors = type.base == ParameterType::Base::Tensor;
  if (isTensors && (isMixed || type.hasOptionalElements))
    return json::Object{{"as_optional_tensors", std::move(list)}};
  if (alternative.empty())
    alternative = isTensors                                 ? "as_tensor"
                  : type.base == ParameterType::Base::Float ? "as_float"
                                                            : "as_int";
  if (alternative.starts_with("as_sym")) {
    // Each says for itself whether it is a number or a name.
    for (json::Value &item : list) {
      json::Object &object = *item.getAsObject();
      if (StringRef(object.begin()->first).starts_with("as_sym")) {
        json::Value inner = std::move(object.begin()->second);
        item = std::move(inner);
      }
    }
  } else {
    for (json::Value &item : list) {
      json::Value inner = std::move(item.getAsObject()->begin()->second);
      item = std::move(inner);
    }
  }
  return json::Object{{(alternative + "s").str(), std::move(list)}};
}

void Speller::addCall(JsonValue call) {
  llvm::SmallVector<JsonValue> parts(call.elements());
  if (parts.size() < 2)
    return fail("a call has results and an operator");
  std::string target = textOf(parts[1], "an operator");
  auto [nameSpace, name] = StringRef(target).split('.');
  StringRef text = findSchema(nameSpace, name);
  ProgramBuilder builder;
  OperatorSchema schema;
  if (!text.empty())
    schema = parseSchema(text, builder);
  else if (nameSpace != "_operator" && nameSpace != "math")
    return fail("there is no operator '" + target + "'");

  json::Array arguments;
  for (auto [position, value] : llvm::enumerate(llvm::drop_begin(parts, 2))) {
    if (value.isObject()) {
      for (const auto &[key, named] : value.members()) {
        auto parameter =
            llvm::find_if(schema.parameters,
                          [&, wanted = StringRef(key)](const Parameter &one) {
                            return one.name == wanted;
                          });
        if (parameter == schema.parameters.end())
          return fail(target + " has no parameter '" + key + "'");
        const ParameterType &type =
            schema.types[parameter - schema.parameters.begin()];
        arguments.push_back(
            json::Object{{"name", key}, {"arg", argument(named, type)}});
      }
      continue;
    }
    if (text.empty()) {
      static constexpr StringRef kNames[] = {"a", "b", "c"};
      arguments.push_back(
          json::Object{{"name", kNames[std::min<size_t>(position, 2)]},
                       {"arg", untyped(value)}});
    } else if (position < schema.parameters.size()) {
      arguments.push_back(
          json::Object{{"name", schema.parameters[position].name.str()},
                       {"arg", argument(value, schema.types[position])}});
    } else {
      return fail(target + " has fewer parameters");
    }
  }

  json::Array results;
  std::string declared = textOf(parts[0], "the results of a call");
  for (StringRef part : splitList(declared))
    results.push_back(result(part));
  nodes.push_back(
      json::Object{{"target", (text.empty() ? "" : "torch.ops.") + target},
                   {"inputs", std::move(arguments)},
                   {"outputs", std::move(results)},
                   {"metadata", json::Object()}});
}

void Speller::addInputs(JsonValue members, StringRef kind) {
  for (const auto &[name, type] : members.members()) {
    json::Value declared = declare(name, textOf(type, "a type"));
    inputs.push_back(declared);
    if (kind == "user_input") {
      inputSpecs.push_back(
          json::Object{{kind, json::Object{{"arg", std::move(declared)}}}});
      continue;
    }
    json::Object spec{{"arg", json::Object{{"name", name}}},
                      {(kind + "_name").str(), name}};
    if (kind == "buffer")
      spec["persistent"] = true;
    inputSpecs.push_back(json::Object{{kind, std::move(spec)}});
  }
}

llvm::Expected<WrittenProgram> Speller::run(JsonValue program) {
  WrittenProgram written;
  for (const auto &[member, value] : program.members())
    if (!llvm::is_contained({"name", "sizes", "inputs", "weights", "states",
                             "calls", "outputs", "writes"},
                            StringRef(member)))
      fail("a program has no '" + member + "'");
  if (std::optional<std::string> name = program["name"].string())
    written.name = *name;
  addInputs(program["weights"], "parameter");
  addInputs(program["states"], "buffer");
  addInputs(program["inputs"], "user_input");
  for (JsonValue call : program["calls"].elements())
    addCall(call);

  json::Array outputs, outputSpecs;
  for (const auto &[state, value] : program["writes"].members()) {
    std::string name = textOf(value, "the value of a state");
    outputs.push_back(reference(name));
    outputSpecs.push_back(json::Object{
        {"buffer_mutation", json::Object{{"arg", json::Object{{"name", name}}},
                                         {"buffer_name", state}}}});
  }
  for (JsonValue output : program["outputs"].elements()) {
    json::Value value = reference(textOf(output, "an output"));
    outputs.push_back(value);
    outputSpecs.push_back(
        json::Object{{"user_output", json::Object{{"arg", std::move(value)}}}});
  }
  json::Object ranges;
  for (const auto &[symbol, bounds] : program["sizes"].members()) {
    llvm::SmallVector<JsonValue> pair(bounds.elements());
    if (pair.size() != 2 || !pair[0].integer()) {
      fail("the bounds of '" + symbol + "' are [least, most or null]");
      continue;
    }
    json::Value most = nullptr;
    if (std::optional<int64_t> known = pair[1].integer())
      most = *known;
    ranges[symbol] = json::Object{{"min_val", *pair[0].integer()},
                                  {"max_val", std::move(most)}};
  }
  if (!problem.empty())
    return llvm::createStringError(problem);

  json::Object graph{{"inputs", std::move(inputs)},
                     {"outputs", std::move(outputs)},
                     {"nodes", std::move(nodes)},
                     {"tensor_values", std::move(tensors)},
                     {"sym_int_values", std::move(ints)},
                     {"sym_float_values", std::move(floats)},
                     {"sym_bool_values", std::move(bools)}};
  json::Object signature{{"input_specs", std::move(inputSpecs)},
                         {"output_specs", std::move(outputSpecs)}};
  json::Object root{
      {"graph_module", json::Object{{"graph", std::move(graph)},
                                    {"signature", std::move(signature)}}},
      {"range_constraints", std::move(ranges)},
      {"schema_version", json::Object{{"major", 8}, {"minor", 20}}}};
  llvm::raw_string_ostream(written.json) << json::Value(std::move(root));
  return written;
}

llvm::Expected<WrittenProgram> corten::spellOut(StringRef text) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(text);
  if (!document)
    return document.takeError();
  if (document->root()["graph_module"])
    return WrittenProgram{text.str()};
  return Speller().run(document->root());
}
