// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form is that of torch/_export/serde/schema.py. A value of a union is an
// object with one member, named for the alternative.

#include "ProgramReader.h"

#include "corten/Program/Finish.h"
#include "corten/Program/Functionalize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

#include <limits>

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
  if (std::optional<int64_t> value = json["as_int"].integer()) {
    if (*value < 0)
      fail("a negative size");
    // Core AI counts in 32 bits.
    if (*value > std::numeric_limits<int32_t>::max())
      fail("a size of " + Twine(*value));
    return {*value};
  }
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
  // Products of some of the extents of a tensor never overflow.
  constexpr int64_t kMaxElements = int64_t{1} << 48;
  int64_t count = 1;
  for (Size size : sizes)
    if (!size.isDynamic() && size.get() != 0 &&
        (llvm::MulOverflow(count, size.get(), count) || count > kMaxElements))
      fail("a tensor that is larger than any memory");
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
  for (JsonValue output : json["outputs"].elements()) {
    if (inner.tokens.contains(
            output["as_tensor"]["name"].string().value_or("")))
      continue;
    llvm::SaveAndRestore here(context,
                              "an output of graph '" + graph.name.str() + "'");
    graph.outputs.push_back(readArgument(output));
  }
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

/// The same for a weight that comes from elsewhere. What is wrong with it is
/// told when all of them are known.
llvm::Expected<int> ProgramReader::namedWeight(StringRef target,
                                               const Node *node, bool isState) {
  const ValueInfo &info = node->info();
  if (!info.isTensor() ||
      llvm::any_of(info.sizes, [](Size size) { return size.isDynamic(); }))
    return llvm::createStringError("'" + target +
                                   "' is no weight: its shape is not known");
  auto shape =
      llvm::map_to_vector(info.sizes, [](Size size) { return size.get(); });
  return named->add(builder, target, info.dtype, shape, isState);
}

/// Names of one tensor: where the file has its data, it says so.
static bool isSame(const SavedTensor &a, const SavedTensor &b) {
  return a.hasData && b.hasData && !a.storage.data.empty() &&
         a.storage.data.data() == b.storage.data.data() &&
         std::tie(a.dtype, a.offset, a.shape, a.strides) ==
             std::tie(b.dtype, b.offset, b.shape, b.strides);
}

/// Lets a weight that the folder lacks be one that it is tied to.
void ProgramReader::tieAsSaved(const Payload &payload, StringRef target) {
  const SavedTensor *tensor = payload.find(target);
  if (!tensor || named->has(target))
    return;
  std::optional<StringRef> first;
  for (StringRef other : payload.names())
    if (named->has(other) && isSame(*tensor, *payload.find(other)) &&
        (!first || other < *first))
      first = other;
  if (first)
    named->tie(target, *first);
}

/// The index of a weight, which must be as the graph says, or -1 if its data is
/// neither there nor needed. Parameters and buffers that are `isState` are in
/// every checkpoint of the model.
llvm::Expected<int> ProgramReader::weightOf(const Payload &payload,
                                            StringRef target, const Node *node,
                                            bool isState) {
  const SavedTensor *tensor = payload.find(target);
  if (named && isState)
    tieAsSaved(payload, target);
  if (named && (isState || named->has(target) || !tensor || !tensor->hasData))
    return namedWeight(target, node, isState);
  if (!tensor)
    return llvm::createStringError("the archive has no tensor '" + target +
                                   "'");
  if (!tensor->hasData) {
    if (!needsData)
      return -1;
    return llvm::createStringError(
        "the weight '" + target + "' has no data: the model was on the meta " +
        "device.\nFix: name the folder of safetensors that has the weights: " +
        "--weights FOLDER, or weights= in Python");
  }
  const ValueInfo &info = node->info();
  bool isSame =
      info.isTensor() && info.dtype == tensor->dtype &&
      llvm::equal(info.sizes, tensor->shape, [](Size size, int64_t extent) {
        return !size.isDynamic() && size.get() == extent;
      });
  if (!isSame)
    return llvm::createStringError("the tensor '" + target +
                                   "' has another shape or type than the " +
                                   "program says");
  llvm::Expected<int> weight = addWeight(builder, *tensor);
  if (!weight)
    return llvm::createStringError("the tensor '" + target + "' " +
                                   llvm::toString(weight.takeError()));
  return weight;
}

void ProgramReader::readInput(JsonValue json,
                              llvm::StringMap<const Node *> &owned) {
  auto [kind, value] = alternativeOf(json);
  llvm::SaveAndRestore here(context,
                            "input " + Twine(builder.inputs().size()).str());
  InputSpec spec;
  JsonValue arg = value["arg"];
  auto owner = [&](StringRef member, InputSpec::Kind specKind) {
    spec.kind = specKind;
    spec.target = builder.save(textOf(value[member], "name of a tensor"));
    spec.node =
        valueOf(arg["name"]).isNone() ? nullptr : valueOf(arg["name"]).asNode();
  };
  auto addWeight = [&](const Payload &payload, bool isState) {
    if (hasFailed())
      return;
    llvm::Expected<int> weight =
        weightOf(payload, spec.target, spec.node, isState);
    if (weight)
      spec.weight = *weight;
    else
      fail(Twine(llvm::toString(weight.takeError())));
  };
  if (kind == "user_input") {
    Argument argument = readArgument(arg);
    if (argument.isValue())
      spec.node = argument.asNode();
  } else if (kind == "parameter") {
    owner("parameter_name", InputSpec::Kind::Parameter);
    addWeight(weights, /*isState=*/true);
    owned[spec.target] = spec.node;
  } else if (kind == "buffer") {
    owner("buffer_name", InputSpec::Kind::Buffer);
    bool isPersistent = value["persistent"].boolean().value_or(true);
    addWeight(isPersistent ? weights : constants, /*isState=*/isPersistent);
    owned[spec.target] = spec.node;
  } else if (kind == "tensor_constant") {
    owner("tensor_constant_name", InputSpec::Kind::Constant);
    addWeight(constants, /*isState=*/false);
  } else if (kind == "custom_obj") {
    owner("custom_obj_name", InputSpec::Kind::CustomObject);
  } else if (kind == "token") {
    spec.kind = InputSpec::Kind::Token;
    spec.node = scope->values.lookup(arg["name"].string().value_or(""));
  } else if (kind != "constant_input") {
    // A constant is burnt into the graph: it has no node.
    fail("an input of the unknown kind '" + kind + "'");
  }
  builder.addInput(spec);
}

void ProgramReader::readOutput(JsonValue json,
                               const llvm::StringMap<const Node *> &owned) {
  auto [kind, value] = alternativeOf(json);
  llvm::SaveAndRestore here(context,
                            "output " + Twine(builder.outputs().size()).str());
  OutputSpec spec;
  JsonValue arg = value["arg"];
  auto state = [&](StringRef member, OutputSpec::Kind specKind,
                   const llvm::StringMap<const Node *> &table) {
    spec.kind = specKind;
    spec.value = valueOf(arg["name"]);
    std::string target = textOf(value[member], "name of a state");
    spec.mutated = table.lookup(target);
    if (!spec.mutated || spec.mutated->kind != Node::Kind::Placeholder)
      fail("'" + target + "' is no state");
  };
  if (kind == "user_output") {
    // Python values are burnt into the graph.
    Argument argument = readArgument(arg);
    if (argument.isValue())
      spec.value = argument;
  } else if (kind == "loss_output") {
    spec.value = valueOf(arg["name"]);
  } else if (kind == "buffer_mutation") {
    state("buffer_name", OutputSpec::Kind::BufferMutation, owned);
  } else if (kind == "parameter_mutation") {
    state("parameter_name", OutputSpec::Kind::ParameterMutation, owned);
  } else if (kind == "user_input_mutation") {
    state("user_input_name", OutputSpec::Kind::UserInputMutation,
          scope->values);
  } else if (kind == "token") {
    spec.kind = OutputSpec::Kind::Token;
  } else if (StringRef(kind).starts_with("gradient_")) {
    fail("a gradient: only programs for inference can be converted");
  } else {
    fail("an output of the unknown kind '" + kind + "'");
  }
  builder.addOutput(spec);
}

void ProgramReader::readSignature(JsonValue signature) {
  if (!signature["input_specs"].isArray() ||
      !signature["output_specs"].isArray()) {
    fail("a program without a signature");
    return;
  }
  llvm::StringMap<const Node *> owned;
  for (JsonValue spec : signature["input_specs"].elements()) {
    readInput(spec, owned);
    if (hasFailed())
      return;
  }
  if (named) {
    llvm::for_each(weights.names(), [&](StringRef name) { named->know(name); });
    llvm::for_each(constants.names(),
                   [&](StringRef name) { named->know(name); });
    if (llvm::Error error = named->check()) {
      fail(std::move(error));
      return;
    }
  }
  for (JsonValue spec : signature["output_specs"].elements()) {
    readOutput(spec, owned);
    if (hasFailed())
      return;
  }
  // What comes before the program is finished relies on it.
  if (llvm::Error error = checkSignature(builder.building()))
    fail(std::move(error));
}

/// Refuses calls with an object of a class of the user's, also those whose
/// results nobody needs: what they do to the object would be lost.
void ProgramReader::checkObjects() {
  llvm::DenseMap<const Node *, StringRef> objects;
  for (const InputSpec &input : builder.inputs())
    if (input.kind == InputSpec::Kind::CustomObject)
      objects[input.node] = input.target;
  for (const Node *node : builder.mainGraph().nodes)
    forEachOperand(node->arguments, [&](const Node *operand) {
      if (auto object = objects.find(operand); object != objects.end())
        fail("call '" + node->name + "': " + node->callee->printedName() +
             " uses '" + object->second +
             "', an object of a class of its own, which has no form in an "
             "asset");
    });
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
                    llvm::function_ref<bool(const Operator &)> isFunctional) {
  checkVersion(root);
  JsonValue module = root["graph_module"];
  if (!hasFailed()) {
    // The signature speaks of values of the graph.
    JsonValue json = module["graph"], signature = module["signature"];
    Scope top;
    top.graph = &builder.mainGraph();
    readGraph(json, top, signature["input_specs"]);
    llvm::SaveAndRestore here(scope, &top);
    if (!hasFailed())
      readSignature(signature);
    readRanges(root["range_constraints"]);
  }
  if (llvm::Error error = problem.take())
    return error;
  if (!isFunctional)
    return builder.finish();
  checkObjects();
  if (llvm::Error error = problem.take())
    return error;

  // A decomposition leaves no regions without gradients or with automatic
  // casts, and no operators that may return what they are given, but for one.
  auto isLeft = [&](const Operator &op) {
    return isFunctional(op) && !(op.nameSpace == "higher_order" &&
                                 op.name.starts_with("wrap_with_"));
  };
  bool isDecomposed = llvm::all_of(callees,
                                   [&](const auto &entry) {
                                     return isLeft(*entry.second.op);
                                   }) &&
                      !hasViews;
  if (!isDecomposed) {
    builder.setIsDecomposed(false);
    if (std::optional<Obstacle> obstacle = functionalize(builder))
      return llvm::createStringError(
          "'" + obstacle->node->name + "' " + obstacle->reason +
          ": only torch can decompose this program; call "
          "run_decompositions() before saving it");
  }
  return builder.finish();
}
