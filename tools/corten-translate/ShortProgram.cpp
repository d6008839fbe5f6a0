// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShortProgram.h"

#include "Json.h"
#include "Payload.h"
#include "SchemaTable.h"

#include "corten/Support/FirstError.h"

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
// Graphs
//===----------------------------------------------------------------------===//

namespace {
/// Spells out a graph: that of the program, or one that a call takes.
class GraphSpeller {
public:
  /// `graphs` are those that calls may name.
  GraphSpeller(FirstError &problem, const json::Object &graphs)
      : problem(problem), graphs(graphs) {}

  /// Declares the members as inputs; `use` gets each name and its reference.
  void addInputs(JsonValue members,
                 llvm::function_ref<void(StringRef, const json::Value &)> use);
  void addCall(JsonValue call);
  /// An output, of which messages speak as `what`, and its reference.
  json::Value addOutput(JsonValue name, StringRef what);
  json::Object take();

private:
  /// What a name stands for, as the alternatives of arguments are called.
  enum class Kind : uint8_t { Tensor, Int, Float, Bool };

  void fail(const Twine &what) { problem.fail(what); }
  std::string textOf(JsonValue value, StringRef what);
  json::Object tensorMeta(StringRef text);
  /// Declares "f32[2]" or "int" and gives its reference.
  json::Value declare(StringRef name, StringRef type);
  json::Value reference(StringRef name);
  /// "y: f32[2]".
  json::Value result(StringRef text);
  json::Array arguments(StringRef target, llvm::ArrayRef<JsonValue> values,
                        const OperatorSchema &schema);
  json::Array untypedArguments(llvm::ArrayRef<JsonValue> values);
  json::Value argument(JsonValue value, const ParameterType &type);
  json::Value element(JsonValue value, const ParameterType &type);
  json::Value list(JsonValue value, const ParameterType &type);
  json::Value untyped(JsonValue value);

  FirstError &problem;
  const json::Object &graphs;
  llvm::StringMap<Kind> kinds;
  json::Object tensors, ints, floats, bools;
  json::Array inputs, nodes, outputs;
};
} // namespace

std::string GraphSpeller::textOf(JsonValue value, StringRef what) {
  std::optional<std::string> text = value.string();
  if (!text)
    fail(what + " must be a text");
  return text.value_or("");
}

json::Object GraphSpeller::tensorMeta(StringRef text) {
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

json::Value GraphSpeller::reference(StringRef name) {
  if (const json::Value *graph = graphs.get(name))
    return json::Object{
        {"as_graph", json::Object{{"name", name.str()}, {"graph", *graph}}}};
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

json::Value GraphSpeller::declare(StringRef name, StringRef type) {
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

json::Value GraphSpeller::result(StringRef text) {
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
json::Value GraphSpeller::untyped(JsonValue value) {
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

json::Value GraphSpeller::element(JsonValue value, const ParameterType &type) {
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

/// The element of a list as it stands in one of a single kind.
static json::Value unwrapped(json::Value element) {
  return std::move(element.getAsObject()->begin()->second);
}

json::Value GraphSpeller::list(JsonValue value, const ParameterType &type) {
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
  // Among symbolic numbers each says for itself whether it is one or a name.
  bool isSymbolic = alternative.starts_with("as_sym");
  for (json::Value &item : list)
    if (StringRef kind = item.getAsObject()->begin()->first;
        !isSymbolic || kind.starts_with("as_sym"))
      item = unwrapped(std::move(item));
  return json::Object{{(alternative + "s").str(), std::move(list)}};
}

json::Value GraphSpeller::argument(JsonValue value, const ParameterType &type) {
  return value.isArray() ? list(value, type) : element(value, type);
}

/// The arguments of an operator that has a schema.
json::Array GraphSpeller::arguments(StringRef target,
                                    llvm::ArrayRef<JsonValue> values,
                                    const OperatorSchema &schema) {
  json::Array arguments;
  auto add = [&](const Parameter &parameter, JsonValue value) {
    const ParameterType &type =
        schema.types[&parameter - schema.parameters.data()];
    arguments.push_back(json::Object{{"name", parameter.name.str()},
                                     {"arg", argument(value, type)}});
  };
  for (auto [position, value] : llvm::enumerate(values)) {
    if (!value.isObject()) {
      if (position < schema.parameters.size())
        add(schema.parameters[position], value);
      else
        fail(target + " has fewer parameters");
      continue;
    }
    for (const auto &[key, named] : value.members()) {
      auto parameter = llvm::find_if(
          schema.parameters, [wanted = StringRef(key)](const Parameter &one) {
            return one.name == wanted;
          });
      if (parameter != schema.parameters.end())
        add(*parameter, named);
      else
        fail(target + " has no parameter '" + key + "'");
    }
  }
  return arguments;
}

/// Those of an operator of Python's, or of one that takes graphs.
json::Array GraphSpeller::untypedArguments(llvm::ArrayRef<JsonValue> values) {
  json::Array arguments;
  for (auto [position, value] : llvm::enumerate(values)) {
    static constexpr StringRef kNames[] = {"a", "b", "c"};
    arguments.push_back(
        json::Object{{"name", kNames[std::min<size_t>(position, 2)]},
                     {"arg", argument(value, ParameterType())}});
  }
  return arguments;
}

void GraphSpeller::addCall(JsonValue call) {
  llvm::SmallVector<JsonValue> parts(call.elements());
  if (parts.size() < 2)
    return fail("a call has results and an operator");
  std::string target = textOf(parts[1], "an operator");
  llvm::ArrayRef<JsonValue> values = llvm::ArrayRef(parts).drop_front(2);
  auto [nameSpace, name] = StringRef(target).split('.');
  StringRef text = findSchema(nameSpace, name);
  ProgramBuilder builder;
  json::Array given;
  if (!text.empty())
    given = arguments(target, values, parseSchema(text, builder));
  else if (llvm::is_contained({"_operator", "math", "torch", "higher_order"},
                              nameSpace))
    given = untypedArguments(values);
  else
    return fail("there is no operator '" + target + "'");

  json::Array results;
  std::string declared = textOf(parts[0], "the results of a call");
  for (StringRef part : splitList(declared))
    results.push_back(result(part));
  bool isOfPython = text.empty() && nameSpace != "higher_order";
  nodes.push_back(
      json::Object{{"target", (isOfPython ? "" : "torch.ops.") + target},
                   {"inputs", std::move(given)},
                   {"outputs", std::move(results)},
                   {"metadata", json::Object()}});
}

void GraphSpeller::addInputs(
    JsonValue members,
    llvm::function_ref<void(StringRef, const json::Value &)> use) {
  for (const auto &[name, type] : members.members()) {
    json::Value declared = declare(name, textOf(type, "a type"));
    inputs.push_back(declared);
    use(name, declared);
  }
}

json::Value GraphSpeller::addOutput(JsonValue name, StringRef what) {
  json::Value value = reference(textOf(name, what));
  outputs.push_back(value);
  return value;
}

json::Object GraphSpeller::take() {
  return json::Object{{"inputs", std::move(inputs)},
                      {"outputs", std::move(outputs)},
                      {"nodes", std::move(nodes)},
                      {"tensor_values", std::move(tensors)},
                      {"sym_int_values", std::move(ints)},
                      {"sym_float_values", std::move(floats)},
                      {"sym_bool_values", std::move(bools)}};
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Refuses members that are none of `known`.
static void checkMembers(JsonValue object, StringRef what,
                         llvm::ArrayRef<StringRef> known, FirstError &problem) {
  for (const auto &[member, value] : object.members())
    if (!llvm::is_contained(known, StringRef(member)))
      problem.fail(what + " has no '" + member + "'");
}

/// The graphs that calls take. Each may use those before it.
static json::Object spellGraphs(JsonValue members, FirstError &problem) {
  json::Object graphs;
  for (const auto &[name, written] : members.members()) {
    checkMembers(written, "a graph", {"inputs", "calls", "outputs"}, problem);
    GraphSpeller graph(problem, graphs);
    graph.addInputs(written["inputs"], [](StringRef, const json::Value &) {});
    for (JsonValue call : written["calls"].elements())
      graph.addCall(call);
    for (JsonValue output : written["outputs"].elements())
      graph.addOutput(output, "an output");
    graphs[name] = graph.take();
  }
  return graphs;
}

static json::Object spellRanges(JsonValue sizes, FirstError &problem) {
  json::Object ranges;
  for (const auto &[symbol, bounds] : sizes.members()) {
    llvm::SmallVector<JsonValue> pair(bounds.elements());
    if (pair.size() != 2 || !pair[0].integer()) {
      problem.fail("the bounds of '" + symbol + "' are [least, most or null]");
      continue;
    }
    json::Value most = nullptr;
    if (std::optional<int64_t> known = pair[1].integer())
      most = *known;
    ranges[symbol] = json::Object{{"min_val", *pair[0].integer()},
                                  {"max_val", std::move(most)}};
  }
  return ranges;
}

/// The inputs of the program and what each is.
static json::Array spellInputs(JsonValue program, GraphSpeller &graph) {
  json::Array specs;
  auto addOwned = [&](StringRef members, StringRef kind) {
    graph.addInputs(program[members], [&](StringRef name, const json::Value &) {
      json::Object spec{{"arg", json::Object{{"name", name.str()}}},
                        {(kind + "_name").str(), name.str()}};
      if (kind == "buffer")
        spec["persistent"] = true;
      specs.push_back(json::Object{{kind, std::move(spec)}});
    });
  };
  addOwned("weights", "parameter");
  addOwned("states", "buffer");
  graph.addInputs(program["inputs"], [&](StringRef, const json::Value &input) {
    specs.push_back(json::Object{{"user_input", json::Object{{"arg", input}}}});
  });
  return specs;
}

/// Its outputs, of which the new values of states come first.
static json::Array spellOutputs(JsonValue program, GraphSpeller &graph) {
  json::Array specs;
  for (const auto &[state, value] : program["writes"].members()) {
    graph.addOutput(value, "the value of a state");
    specs.push_back(json::Object{
        {"buffer_mutation",
         json::Object{
             {"arg", json::Object{{"name", value.string().value_or("")}}},
             {"buffer_name", state}}}});
  }
  for (JsonValue output : program["outputs"].elements())
    specs.push_back(json::Object{
        {"user_output",
         json::Object{{"arg", graph.addOutput(output, "an output")}}}});
  return specs;
}

static llvm::Expected<WrittenProgram> spellProgram(JsonValue program) {
  FirstError problem;
  checkMembers(program, "a program",
               {"name", "sizes", "inputs", "weights", "states", "graphs",
                "calls", "outputs", "writes"},
               problem);
  WrittenProgram written;
  if (std::optional<std::string> name = program["name"].string())
    written.name = *name;
  json::Object graphs = spellGraphs(program["graphs"], problem);
  GraphSpeller graph(problem, graphs);
  json::Array inputs = spellInputs(program, graph);
  for (JsonValue call : program["calls"].elements())
    graph.addCall(call);
  json::Array outputs = spellOutputs(program, graph);
  json::Object ranges = spellRanges(program["sizes"], problem);
  if (llvm::Error error = problem.take())
    return error;

  json::Object signature{{"input_specs", std::move(inputs)},
                         {"output_specs", std::move(outputs)}};
  json::Object root{
      {"graph_module", json::Object{{"graph", graph.take()},
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
  return spellProgram(document->root());
}
