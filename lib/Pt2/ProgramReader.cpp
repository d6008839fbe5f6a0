// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form is that of torch/_export/serde/schema.py. A value of a union is an
// object with one member, named for the alternative.

#include "ProgramReader.h"

#include "corten/Program/Functionalize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace corten;
using namespace corten::pt2;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

/// Of the schema, which has been compatible since 2.5. Minor versions add
/// members and alternatives.
static constexpr int64_t kMajorVersion = 8;

void ProgramReader::fail(const Twine &what) {
  problem.fail(context.empty() ? what : context + ": " + what);
}

void ProgramReader::fail(llvm::Error error) { problem.fail(std::move(error)); }

std::string ProgramReader::textOf(JsonValue json, StringRef what) {
  std::optional<std::string> text = json.string();
  if (!text)
    fail("no " + what);
  return text.value_or("");
}

std::pair<std::string, JsonValue> pt2::alternativeOf(JsonValue json) {
  auto members = json.members();
  if (members.empty())
    return {};
  return *members.begin();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Size ProgramReader::readSize(JsonValue json) {
  if (std::optional<int64_t> value = json["as_int"].integer())
    return {*value};
  std::string text = textOf(json["as_expr"]["expr_str"], "size");
  auto [known, isNew] = symbols.try_emplace(text);
  if (isNew)
    known->second = builder.symbol(shortForm(text));
  return Size::symbolic(known->second);
}

ValueInfo ProgramReader::tensorInfo(JsonValue meta) {
  ValueInfo info;
  info.kind = ValueInfo::Kind::Tensor;
  std::optional<int64_t> number = meta["dtype"].integer();
  std::optional<ScalarType> dtype =
      number ? scalarTypeFromSchema(*number) : std::nullopt;
  if (!dtype || !meta["sizes"].isArray()) {
    fail("a tensor without type or shape");
    return info;
  }
  info.dtype = *dtype;
  SmallVector<Size> sizes;
  for (JsonValue size : meta["sizes"].elements())
    sizes.push_back(readSize(size));
  info.sizes = builder.save(sizes);
  return info;
}

/// What is known of a result or an input, and what it is called.
ValueInfo ProgramReader::infoOf(JsonValue json, std::string &name) {
  auto [kind, value] = alternativeOf(json);
  ValueInfo info;
  auto named = [&](StringRef member, const llvm::StringMap<JsonValue> &table) {
    name = textOf(value[member], "name");
    auto found = table.find(name);
    return found == table.end() ? JsonValue() : found->second;
  };
  if (kind == "as_tensor")
    return tensorInfo(named("name", scope->tensors));
  if (kind == "as_sym_int") {
    info.kind = ValueInfo::Kind::SymInt;
    JsonValue size = named("as_name", scope->symInts);
    // A number has no sizes.
    if (size["as_expr"]) {
      Size symbol = readSize(size);
      info.sizes = builder.save(ArrayRef(symbol));
    }
  } else if (kind == "as_sym_float") {
    info.kind = ValueInfo::Kind::SymFloat;
    named("as_name", scope->symFloats);
  } else if (kind == "as_sym_bool") {
    info.kind = ValueInfo::Kind::SymBool;
    named("as_name", scope->symBools);
  } else if (kind == "as_int") {
    info.kind = ValueInfo::Kind::SymInt;
  } else if (kind == "as_float") {
    info.kind = ValueInfo::Kind::SymFloat;
  } else if (kind == "as_bool") {
    info.kind = ValueInfo::Kind::SymBool;
  } else if (kind == "as_custom_obj") {
    info.kind = ValueInfo::Kind::Other;
    name = textOf(value["name"], "name");
  } else if (kind == "as_string") {
    info.kind = ValueInfo::Kind::Other;
  } else if (kind != "as_none") {
    fail("a value of the unknown kind '" + kind + "'");
  }
  return info;
}

Argument ProgramReader::valueOf(JsonValue json) {
  std::string name = textOf(json, "name of a value");
  auto found = scope->values.find(name);
  if (found == scope->values.end()) {
    fail("nothing before it is called '" + name + "'");
    return {};
  }
  return Argument::node(found->second);
}

/// A name, or a number in its place.
Argument ProgramReader::readSymbolic(JsonValue json) {
  auto [kind, value] = alternativeOf(json);
  if (kind == "as_name")
    return valueOf(value);
  if (kind == "as_int" || kind == "as_float" || kind == "as_bool")
    return readArgument(json);
  fail("a number of the unknown kind '" + kind + "'");
  return {};
}

Argument ProgramReader::readList(JsonValue json,
                                 llvm::function_ref<Argument(JsonValue)> read) {
  if (!json.isArray())
    fail("a list expected");
  SmallVector<Argument> elements;
  for (JsonValue item : json.elements())
    elements.push_back(read(item));
  return Argument::list(builder.save(elements));
}

/// As torch prints them; only for messages.
static std::string printDevice(JsonValue json) {
  std::string text = json["type"].string().value_or("");
  if (std::optional<int64_t> index = json["index"].integer())
    text += ":" + std::to_string(*index);
  return text;
}
static std::string printLayout(JsonValue json) {
  static constexpr StringRef kLayouts[] = {
      "unknown",    "sparse_coo", "sparse_csr", "sparse_csc",
      "sparse_bsr", "sparse_bsc", "_mkldnn",    "strided"};
  uint64_t layout = json.integer().value_or(0);
  return ("torch." + kLayouts[layout < std::size(kLayouts) ? layout : 0]).str();
}
static std::string printMemoryFormat(JsonValue json) {
  static constexpr StringRef kFormats[] = {"unknown", "contiguous_format",
                                           "channels_last", "channels_last_3d",
                                           "preserve_format"};
  uint64_t format = json.integer().value_or(0);
  return ("torch." + kFormats[format < std::size(kFormats) ? format : 0]).str();
}

Argument ProgramReader::readGraphArgument(JsonValue json) {
  std::string name = textOf(json["name"], "name of a graph");
  Scope inner;
  inner.graph = &builder.addSubgraph(name);
  readGraph(json["graph"], inner, {});
  builder.addNode(*scope->graph, Node::Kind::Attribute, name);
  return Argument::graph(inner.graph);
}

Argument ProgramReader::readArgument(JsonValue json) {
  auto [kind, value] = alternativeOf(json);
  auto integer = [&](JsonValue item) {
    std::optional<int64_t> number = item.integer();
    if (!number)
      fail("an integer of 64 bits expected");
    return Argument::integer(number.value_or(0));
  };
  auto floating = [&](JsonValue item) {
    std::optional<double> number = item.number();
    if (!number)
      fail("a number expected");
    return Argument::floating(number.value_or(0));
  };
  auto boolean = [&](JsonValue item) {
    std::optional<bool> truth = item.boolean();
    if (!truth)
      fail("true or false expected");
    return Argument::boolean(truth.value_or(false));
  };
  auto string = [&](JsonValue item) {
    return Argument::string(builder.save(textOf(item, "text")));
  };
  auto tensor = [&](JsonValue item) { return valueOf(item["name"]); };
  auto optionalTensor = [&](JsonValue item) {
    return item["as_tensor"] ? tensor(item["as_tensor"]) : Argument();
  };
  auto symbolic = [&](JsonValue item) { return readSymbolic(item); };
  auto opaque = [&](const std::string &text) {
    return Argument::opaque(builder.save(text));
  };
  auto scalarType = [&](JsonValue item) {
    std::optional<int64_t> number = item.integer();
    std::optional<ScalarType> type =
        number ? scalarTypeFromSchema(*number) : std::nullopt;
    if (!type)
      fail("an unknown element type");
    return Argument::dtype(type.value_or(ScalarType::Float32));
  };

  enum class Form : uint8_t {
    Unknown,
#define ALTERNATIVE(Name, ...) Name,
#include "Arguments.def"
  };
  switch (llvm::StringSwitch<Form>(kind)
#define ALTERNATIVE(Name, Spelling, ...) .Case(Spelling, Form::Name)
#include "Arguments.def"
              .Default(Form::Unknown)) {
#define ALTERNATIVE(Name, Spelling, ...)                                       \
  case Form::Name:                                                             \
    return __VA_ARGS__;
#include "Arguments.def"
  case Form::Unknown:
    break;
  }
  fail(kind.empty() ? Twine("an argument without a value")
                    : "an argument of the unknown kind '" + kind + "'");
  return {};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void ProgramReader::readPlaceholder(JsonValue json, StringRef constantName) {
  std::string name;
  ValueInfo info = infoOf(json, name);
  if (name.empty())
    name = constantName.str();
  Node &node = builder.addNode(*scope->graph, Node::Kind::Placeholder, name);
  node.results = builder.save(ArrayRef(info));
  if (!scope->values.try_emplace(name, &node).second)
    fail("there are two values called '" + name + "'");
}

static void collect(JsonValue json, llvm::StringMap<JsonValue> &table) {
  for (const auto &[name, value] : json.members())
    table.try_emplace(name, value);
}

/// The name of an input, for those that are plain values and have none.
static std::string nameOfInput(JsonValue spec) {
  auto [kind, value] = alternativeOf(spec);
  if (kind == "constant_input")
    return value["name"].string().value_or("");
  return value["arg"]["name"].string().value_or("");
}

void ProgramReader::readGraph(JsonValue json, Scope &inner,
                              JsonValue inputSpecs) {
  Graph &graph = *inner.graph;
  llvm::SaveAndRestore outer(scope, &inner);
  if (!json["inputs"].isArray() || !json["nodes"].isArray() ||
      !json["outputs"].isArray()) {
    fail("a graph without inputs, calls or outputs");
    return;
  }
  collect(json["tensor_values"], inner.tensors);
  collect(json["sym_int_values"], inner.symInts);
  collect(json["sym_float_values"], inner.symFloats);
  collect(json["sym_bool_values"], inner.symBools);

  SmallVector<JsonValue> specs(inputSpecs.elements());
  for (auto [position, input] : llvm::enumerate(json["inputs"].elements())) {
    std::string name =
        position < specs.size() ? nameOfInput(specs[position]) : std::string();
    readPlaceholder(input,
                    name.empty() ? ("arg" + Twine(position)).str() : name);
    if (hasFailed())
      return;
  }
  for (JsonValue node : json["nodes"].elements()) {
    readNode(node);
    if (hasFailed())
      return;
  }
  SmallVector<Argument> outputs;
  for (JsonValue output : json["outputs"].elements()) {
    llvm::SaveAndRestore here(context,
                              "an output of graph '" + graph.name.str() + "'");
    outputs.push_back(readArgument(output));
  }
  calls.setOutputs(graph, outputs);
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

static TensorIdentity identityOf(const SavedTensor &tensor) {
  bool isKnown = tensor.hasData && !tensor.storage.data.empty();
  return {isKnown ? tensor.storage.data.data() : nullptr, tensor.dtype,
          tensor.offset, tensor.shape, tensor.strides};
}

/// Inputs that the program owns go by a name, in a member called after them.
static bool hasName(StringRef kind) {
  return llvm::is_contained(
      {"parameter", "buffer", "tensor_constant", "custom_obj"}, kind);
}

void ProgramReader::readInput(JsonValue json) {
  auto [kind, value] = alternativeOf(json);
  llvm::SaveAndRestore here(context,
                            "input " + Twine(builder.inputs().size()).str());
  RecordedInput input;
  input.kind = kind;
  JsonValue arg = value["arg"];
  std::string target;
  const SavedTensor *saved = nullptr;
  if (kind == "user_input") {
    Argument argument = readArgument(arg);
    if (argument.isValue())
      input.node = argument.asNode();
  } else if (kind == "token") {
    input.node = scope->values.lookup(arg["name"].string().value_or(""));
  } else if (hasName(kind)) {
    input.target = target = textOf(value[kind + "_name"], "name of a tensor");
    Argument argument = valueOf(arg["name"]);
    if (argument.isValue())
      input.node = argument.asNode();
    input.isPersistent = value["persistent"].boolean().value_or(true);
    bool isConstant = kind == "tensor_constant" || !input.isPersistent;
    saved = (isConstant ? constants : weights).find(target);
  }
  if (hasFailed())
    return;
  auto memory = [&]() -> llvm::Expected<StridedMemory> {
    return memoryOf(*saved);
  };
  ProgramTensor tensor;
  if (saved) {
    tensor = {saved->dtype, saved->shape, saved->hasData, memory};
    input.tensor = &tensor;
  }
  if (llvm::Error error = signature.addInput(input))
    fail(std::move(error));
}

void ProgramReader::readOutput(JsonValue json) {
  auto [kind, value] = alternativeOf(json);
  llvm::SaveAndRestore here(context,
                            "output " + Twine(builder.outputs().size()).str());
  RecordedOutput output;
  output.kind = kind;
  JsonValue arg = value["arg"];
  std::string target;
  if (kind == "user_output") {
    output.value = readArgument(arg);
  } else if (arg["name"].isString()) {
    output.value = valueOf(arg["name"]);
    // "buffer_mutation" has a "buffer_name".
    std::string owner = StringRef(kind).rsplit('_').first.str();
    output.target = target = value[owner + "_name"].string().value_or("");
  }
  if (hasFailed())
    return;
  if (llvm::Error error = signature.addOutput(output))
    fail(std::move(error));
}

void ProgramReader::readSignature(JsonValue json, Purpose purpose) {
  if (!json["input_specs"].isArray() || !json["output_specs"].isArray()) {
    fail("a program without a signature");
    return;
  }
  for (const Payload *payload : {&weights, &constants})
    for (StringRef name : payload->names())
      chosen.know(name, identityOf(*payload->find(name)));
  for (JsonValue spec : json["input_specs"].elements()) {
    readInput(spec);
    if (hasFailed())
      return;
  }
  for (JsonValue spec : json["output_specs"].elements()) {
    readOutput(spec);
    if (hasFailed())
      return;
  }
  // What comes before the program is finished relies on it.
  if (llvm::Error error = signature.finish(purpose))
    fail(std::move(error));
}

void ProgramReader::readRanges(JsonValue ranges) {
  for (const auto &[expression, range] : ranges.members())
    builder.setRange(builder.symbol(expression), range["min_val"].integer(),
                     range["max_val"].integer());
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void ProgramReader::checkVersion(JsonValue root) {
  JsonValue version = root["schema_version"];
  std::optional<int64_t> major = version["major"].integer();
  if (!major)
    fail("the program does not say which version of the schema it has");
  else if (*major != kMajorVersion)
    fail("the program has version " + Twine(*major) + "." +
         Twine(version["minor"].integer().value_or(0)) +
         " of torch's schema (torch " +
         root["torch_version"].string().value_or("unknown") +
         "); this reads version " + Twine(kMajorVersion));
}

llvm::Expected<std::unique_ptr<Program>>
ProgramReader::read(JsonValue root,
                    llvm::function_ref<bool(const Operator &)> hasLowering) {
  checkVersion(root);
  auto purpose = hasLowering ? Purpose::Conversion : Purpose::Looking;
  JsonValue module = root["graph_module"];
  if (!hasFailed()) {
    // The signature speaks of values of the graph.
    JsonValue json = module["graph"], specs = module["signature"];
    Scope top;
    top.graph = &builder.mainGraph();
    readGraph(json, top, specs["input_specs"]);
    llvm::SaveAndRestore here(scope, &top);
    if (!hasFailed())
      readSignature(specs, purpose);
    readRanges(root["range_constraints"]);
  }
  if (llvm::Error error = problem.take())
    return error;
  if (hasLowering && !isDecomposed(builder, hasLowering)) {
    builder.setIsDecomposed(false);
    if (std::optional<Obstacle> obstacle = functionalize(builder))
      return llvm::createStringError(
          "'" + obstacle->node->name + "' " + obstacle->reason +
          ": only torch can decompose this program; call "
          "run_decompositions() before saving it");
  }
  return builder.finish();
}
