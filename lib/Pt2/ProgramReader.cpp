// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form is that of torch/_export/serde/schema.py. A value of a union is an
// object with one member, named for the alternative.

#include "ProgramReader.h"

#include "corten/Program/Functionalize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
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
  if (!hasFailed())
    problem = (context.empty() ? what : context + ": " + what).str();
}

std::string ProgramReader::textOf(JsonValue json, StringRef what) {
  std::optional<std::string> text = json.string();
  if (!text)
    fail("no " + what);
  return text.value_or("");
}

/// The alternative of a union and its value; nothing for what is no union.
static std::pair<std::string, JsonValue> alternativeOf(JsonValue json) {
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
// Calls
//===----------------------------------------------------------------------===//

/// Namespace and name of "torch.ops.aten.add.Tensor", "_operator.mul",
/// "math.trunc", "torch.sym_max".
static std::pair<StringRef, StringRef> splitTarget(StringRef target) {
  if (target.consume_front("torch.ops."))
    return target.split('.');
  auto [module, name] = target.rsplit('.');
  if (name.empty())
    return {"", target};
  if (module == "torch" || module == "math" || module == "builtins")
    module = "_operator";
  return {module, name};
}

const ProgramReader::Callee &ProgramReader::callee(StringRef target) {
  auto [known, isNew] = callees.try_emplace(target);
  Callee &callee = known->second;
  if (!isNew)
    return callee;
  auto [nameSpace, name] = splitTarget(target);
  StringRef text = findSchema(nameSpace, name);
  if (text.empty()) {
    // Without a schema the name is all there is to go by.
    bool mutates = nameSpace == "aten" && functionalName(name);
    callee.op = builder.addOperator(nameSpace, name, {}, mutates);
    return callee;
  }
  OperatorSchema schema = parseSchema(text, builder);
  callee.op = builder.addOperator(nameSpace, name, schema.parameters,
                                  schema.mutates, schema.returnsView);
  callee.types = std::move(schema.types);
  callee.hasSchema = true;
  callee.numResults = schema.numResults;
  callee.returnsList = schema.returnsList;
  return callee;
}

/// Which arguments a higher-order operator has, by position: g a graph, l a
/// list, b a bool, * anything. More may follow.
static StringRef formOf(StringRef higherOrder) {
  return llvm::StringSwitch<StringRef>(higherOrder)
      .Case("cond", "*ggl")
      .Case("while_loop", "ggll")
      .Case("scan", "glll")
      .Case("associative_scan", "gl")
      .Case("map_impl", "gll")
      .Case("wrap_with_set_grad_enabled", "*g")
      .Case("wrap_with_autocast", "**b*g")
      .Default("");
}

static bool hasForm(StringRef form, ArrayRef<Argument> arguments) {
  if (arguments.size() < form.size())
    return false;
  return llvm::all_of(llvm::zip(form, arguments), [](auto pair) {
    auto [wanted, argument] = pair;
    switch (wanted) {
    case 'g':
      return argument.kind() == Argument::Kind::Graph;
    case 'l':
      return argument.isList();
    case 'b':
      return argument.kind() == Argument::Kind::Bool;
    default:
      return true;
    }
  });
}

static bool isUnary(StringRef name) {
  return name.starts_with("_sym_") ||
         llvm::is_contained({"abs", "ceil", "floor", "neg", "not_", "pos",
                             "round", "sym_float", "sym_int", "sym_not",
                             "sym_sqrt", "trunc"},
                            name);
}

/// Whether an operator of Python's takes these numbers.
static bool areNumbers(StringRef name, ArrayRef<Argument> arguments) {
  if (name == "sym_sum" && arguments.size() == 1 && arguments[0].isList())
    arguments = arguments[0].asList();
  else if (arguments.size() != (isUnary(name) ? 1 : name == "sym_ite" ? 3 : 2))
    return false;
  return llvm::all_of(arguments, [](const Argument &argument) {
    return argument.isNumber() ||
           (argument.isValue() && !argument.asNode()->returnsTuple);
  });
}

void ProgramReader::checkArgument(const Callee &callee, size_t parameter,
                                  const Argument &argument) {
  if (!callee.types[parameter].accepts(argument))
    fail("the argument '" + callee.op->parameters[parameter].name + "' of " +
         callee.op->printedName() + " is of the wrong type");
}

/// Axes must be some of the tensor that the operator is about.
void ProgramReader::checkAxes(const Callee &callee,
                              ArrayRef<Argument> arguments) {
  const Operator &op = *callee.op;
  const auto *self =
      llvm::find_if(op.parameters, [](const Parameter &parameter) {
        return parameter.name == "self" || parameter.name == "input";
      });
  if (self == op.parameters.end())
    return;
  const Argument &operand = arguments[self - op.parameters.begin()];
  if (!operand.isValue() || !operand.asNode()->info().isTensor())
    return;
  // A tensor without axes may be treated as if it had one.
  int64_t rank = std::max<int64_t>(operand.asNode()->info().sizes.size(), 1) +
                 (op.name.starts_with("unsqueeze") ? 1 : 0);
  auto isAxis = [&](const Argument &argument) {
    return !argument.isInt() ||
           (argument.asInt() >= -rank && argument.asInt() < rank);
  };
  for (auto [parameter, argument] : llvm::zip(op.parameters, arguments)) {
    if (!llvm::is_contained({"axis", "axis0", "axis1", "dim", "dim0", "dim1",
                             "dim2", "dims", "end_dim", "start_dim"},
                            parameter.name))
      continue;
    if (argument.isList() ? !llvm::all_of(argument.asList(), isAxis)
                          : !isAxis(argument))
      fail("'" + parameter.name + "' of " + op.printedName() +
           " is no axis of '" + operand.asNode()->name + "'");
  }
}

/// The arguments of a call but for the first `numHidden`: one for each
/// parameter of the schema, or those given where there is none.
ArrayRef<Argument> ProgramReader::readArguments(JsonValue inputs,
                                                const Callee &callee,
                                                size_t numHidden) {
  ArrayRef<Parameter> parameters = callee.op->parameters;
  SmallVector<Argument> arguments;
  SmallVector<bool> isGiven(parameters.size(), false);
  for (const Parameter &parameter : parameters)
    arguments.push_back(parameter.defaultValue);
  for (JsonValue input : llvm::drop_begin(inputs.elements(), numHidden)) {
    Argument argument = readArgument(input["arg"]);
    if (hasFailed())
      return {};
    if (!callee.hasSchema) {
      arguments.push_back(argument);
      continue;
    }
    std::string name = textOf(input["name"], "name of an argument");
    const auto *parameter =
        llvm::find_if(parameters, [&](const Parameter &candidate) {
          return candidate.name == name;
        });
    if (parameter == parameters.end()) {
      fail(callee.op->printedName() + " has no parameter '" + name + "'");
      return {};
    }
    size_t position = parameter - parameters.begin();
    checkArgument(callee, position, argument);
    arguments[position] = argument;
    isGiven[position] = true;
  }
  for (auto [parameter, given] : llvm::zip_equal(parameters, isGiven))
    if (!given && !parameter.hasDefault)
      fail("the argument '" + parameter.name + "' of " +
           callee.op->printedName() + " is missing");
  if (!hasFailed() && callee.hasSchema)
    checkAxes(callee, arguments);
  bool isPython = callee.op->nameSpace == "_operator";
  if ((isPython && !areNumbers(callee.op->name, arguments)) ||
      (callee.op->nameSpace == "higher_order" &&
       !hasForm(formOf(callee.op->name), arguments)))
    fail("the arguments of " + callee.op->printedName() +
         " are of the wrong types");
  return builder.save(arguments);
}

/// A node that picks a result of a call.
void ProgramReader::addGetItem(Node &producer, unsigned index,
                               const std::string &name,
                               ArrayRef<ValueInfo> infos, bool isTuple) {
  // torch made up a name for what nobody uses.
  if (name == (producer.name + "_unused_" + Twine(index)).str())
    return;
  if (!getItem)
    getItem = builder.addOperator("_operator", "getitem", {});
  Node &node = builder.addNode(*scope->graph, Node::Kind::Call, name);
  node.callee = getItem;
  node.arguments =
      builder.save({Argument::node(&producer), Argument::integer(index)});
  node.results = infos;
  node.returnsTuple = isTuple;
  node.stackTrace = producer.stackTrace;
  node.module = producer.module;
  if (!scope->values.try_emplace(name, &node).second)
    fail("there are two values called '" + name + "'");
}

/// A result that is itself a list of tensors.
void ProgramReader::addListItem(Node &producer, unsigned index,
                                JsonValue list) {
  SmallVector<ValueInfo> infos;
  SmallVector<std::string> names;
  for (JsonValue tensor : list.elements()) {
    names.push_back(textOf(tensor["name"], "name"));
    auto found = scope->tensors.find(names.back());
    infos.push_back(tensorInfo(found == scope->tensors.end() ? JsonValue()
                                                             : found->second));
  }
  std::string name = (producer.name + "_" + Twine(index)).str();
  addGetItem(producer, index, name, builder.save(infos), /*isTuple=*/true);
  if (hasFailed())
    return;
  Node &item = builder.edit(scope->values.lookup(name));
  for (auto [position, element] : llvm::enumerate(names))
    addGetItem(item, position, element, builder.save(infos[position]),
               /*isTuple=*/false);
}

/// The results of a call but for the first `numHidden`.
void ProgramReader::readResults(JsonValue json, Node &node,
                                const Callee &callee, unsigned numHidden) {
  SmallVector<JsonValue> outputs(
      llvm::drop_begin(json["outputs"].elements(), numHidden));
  bool isHigherOrder = callee.op->nameSpace == "higher_order" || numHidden != 0;
  if (callee.hasSchema && !numHidden && outputs.size() != callee.numResults) {
    fail(callee.op->printedName() + " returns " + Twine(callee.numResults) +
         " values, and not " + Twine(outputs.size()));
    return;
  }
  bool isList = outputs.size() == 1 && outputs[0]["as_tensors"];
  if (callee.hasSchema && isList != callee.returnsList) {
    fail(callee.op->printedName() + " returns something else");
    return;
  }
  SmallVector<ValueInfo> infos;
  SmallVector<std::string> names;
  if (isList) {
    // Its elements are the results.
    for (JsonValue tensor : outputs[0]["as_tensors"].elements()) {
      names.push_back(textOf(tensor["name"], "name"));
      auto found = scope->tensors.find(names.back());
      infos.push_back(tensorInfo(
          found == scope->tensors.end() ? JsonValue() : found->second));
    }
  } else {
    for (JsonValue output : outputs) {
      names.emplace_back();
      if (output["as_tensors"]) {
        infos.emplace_back().kind = ValueInfo::Kind::Other;
        continue;
      }
      infos.push_back(infoOf(output, names.back()));
    }
  }
  if (hasFailed())
    return;

  // A call of a higher-order operator says whether one result is a tuple.
  bool isSingle = !isList && outputs.size() <= 1;
  if (isHigherOrder && outputs.size() == 1)
    isSingle = isSingle && numHidden == 0 &&
               (names[0] == node.name || names[0].empty() ||
                (!json["name"].isString() &&
                 json["is_hop_single_tensor_return"].boolean().value_or(true)));
  if (isSingle) {
    if (infos.empty())
      infos.emplace_back();
    node.results = builder.save(infos);
    const std::string &name =
        names.empty() || names[0].empty() ? node.name.str() : names[0];
    if (!scope->values.try_emplace(name, &node).second)
      fail("there are two values called '" + name + "'");
    return;
  }
  node.returnsTuple = true;
  node.results = builder.save(infos);
  for (auto [position, name] : llvm::enumerate(names)) {
    if (!isList && outputs[position]["as_tensors"])
      addListItem(node, position, outputs[position]["as_tensors"]);
    else if (!name.empty())
      addGetItem(node, position, name, builder.save(infos[position]),
                 /*isTuple=*/false);
    if (hasFailed())
      return;
  }
}

/// "instance,path,class;...", outermost first. A class may have arguments with
/// commas in brackets.
const ModuleFrame *ProgramReader::readModuleStack(StringRef text) {
  auto [known, isNew] = moduleStacks.try_emplace(text, nullptr);
  if (!isNew)
    return known->second;
  const ModuleFrame *frame = nullptr;
  while (!text.empty()) {
    StringRef entry;
    std::tie(entry, text) = text.split(';');
    auto [instance, rest] = entry.split(',');
    auto [path, className] = rest.split(',');
    // What torch writes where it knows of no module.
    if (!instance.starts_with("_empty_"))
      frame = builder.addModule(frame, instance, path, className);
  }
  return known->second = frame;
}

void ProgramReader::readMetadata(JsonValue metadata, Node &node) {
  if (std::optional<std::string> trace = metadata["stack_trace"].string()) {
    auto [known, isNew] = stackTraces.try_emplace(*trace);
    if (isNew)
      known->second = builder.save(*trace);
    node.stackTrace = known->second;
  }
  if (std::optional<std::string> stack = metadata["nn_module_stack"].string())
    node.module = readModuleStack(*stack);
}

/// What torch calls a call that has no name: split_tensor_1.
static std::string generateName(StringRef target,
                                llvm::StringMap<unsigned> &generated) {
  std::string name;
  for (char c : splitTarget(target).second) {
    if (llvm::isUpper(c) && !name.empty() && llvm::isLower(name.back()))
      name += '_';
    bool isWord = llvm::isAlnum(c) || c == '_';
    name += isWord ? llvm::toLower(c) : '_';
  }
  unsigned count = generated[name]++;
  return count ? name + "_" + std::to_string(count) : name;
}

/// Releases before 2.12 leave out the names of calls. The result of a call with
/// only one has the same.
static std::string nameOfCall(JsonValue json, StringRef target,
                              llvm::StringMap<unsigned> &generated) {
  if (std::optional<std::string> name = json["name"].string();
      name && !name->empty())
    return *name;
  SmallVector<JsonValue> outputs(json["outputs"].elements());
  if (outputs.size() == 1 &&
      json["is_hop_single_tensor_return"].boolean().value_or(true)) {
    auto [kind, value] = alternativeOf(outputs[0]);
    StringRef member = kind == "as_tensor" ? "name" : "as_name";
    if (std::optional<std::string> name = value[member].string())
      return *name;
  }
  return generateName(target, generated);
}

void ProgramReader::readNode(JsonValue json) {
  std::string target = textOf(json["target"], "operator");
  std::string name = nameOfCall(json, target, generatedNames);
  llvm::SaveAndRestore here(context, "call '" + name + "'");
  JsonValue inputs = json["inputs"];
  if (!inputs.isArray() || !json["outputs"].isArray())
    fail("no arguments or results");

  // Calls of another operator: (token, op, *args) -> (token, *results) and
  // (op, **arguments) -> (*results, *new values).
  size_t hiddenArguments = 0, hiddenResults = 0;
  if (target == "torch.ops.higher_order.with_effects") {
    hiddenArguments = 2;
    hiddenResults = 1;
  } else if (StringRef(target).starts_with(
                 "torch.ops.higher_order.auto_functionalized")) {
    hiddenArguments = 1;
  }
  if (hiddenArguments) {
    SmallVector<JsonValue> list(inputs.elements());
    if (list.size() < hiddenArguments ||
        json["outputs"].size() < hiddenResults) {
      fail("no operator to call");
      return;
    }
    target = textOf(list[hiddenArguments - 1]["arg"]["as_operator"],
                    "operator to call");
  }
  if (hasFailed())
    return;

  const Callee &known = callee(target);
  ArrayRef<Argument> arguments = readArguments(inputs, known, hiddenArguments);
  if (hasFailed())
    return;
  Node &node = builder.addNode(*scope->graph, Node::Kind::Call, name);
  node.callee = known.op;
  node.arguments = arguments;
  readMetadata(json["metadata"], node);
  readResults(json, node, known, hiddenResults);
  if (hasFailed())
    return;
  checkStorageView(node);
  if (sharesMemory(node))
    views.push_back(&node);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TensorLayout ProgramReader::layoutOf(const std::string &name) {
  auto found = scope->tensors.find(name);
  return TensorLayout::read(found == scope->tensors.end() ? JsonValue()
                                                          : found->second);
}

/// Refuses a view of memory whose layout the values of a program lack.
void ProgramReader::checkStorageView(const Node &node) {
  if (node.callee->nameSpace != "aten" ||
      !llvm::is_contained({"as_strided.default", "as_strided_copy.default",
                           "as_strided_scatter.default"},
                          node.callee->name))
    return;
  const Argument &self = node.argument("self");
  if (!self.isValue())
    return;
  TensorLayout source = layoutOf(self.asNode()->name.str());
  bool hasOffset = !node.argument("storage_offset").isNone();
  if (!source.isContiguous() || (hasOffset && !source.offset.isZero()))
    fail(node.callee->printedName() +
         " of a tensor that is itself a view; call contiguous() on it first");
}

/// Whether a call that returns its operand, or a view of it, where it can did
/// so.
bool ProgramReader::sharesMemory(const Node &node) {
  if (node.callee->nameSpace != "aten" ||
      !llvm::is_contained({"contiguous.default", "flatten.using_ints",
                           "ravel.default", "reshape.default",
                           "reshape_as.default", "to.device", "to.dtype",
                           "to.dtype_layout", "to.other", "type_as.default"},
                          node.callee->name))
    return false;
  const Argument &self = node.argument("self");
  const Argument *copy = node.findArgument("copy");
  if (!self.isValue() ||
      (copy && copy->kind() == Argument::Kind::Bool && copy->asBool()))
    return false;
  TensorLayout source = layoutOf(self.asNode()->name.str());
  TensorLayout result = layoutOf(node.name.str());
  if (source.dtype != result.dtype || source.device != result.device)
    return false;
  if (source.isContiguous())
    return true;
  if (node.callee->name == "contiguous.default" ||
      node.callee->name == "ravel.default")
    return false;
  if (llvm::equal(source.shape, result.shape))
    return llvm::equal(source.strides, result.strides);
  return source.isViewableAs(result.shape);
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
    llvm::SaveAndRestore here(context,
                              "an output of graph '" + graph.name.str() + "'");
    graph.outputs.push_back(readArgument(output));
  }
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

/// The index of a weight, which must be as the graph says.
int ProgramReader::weightOf(const SavedTensor *tensor, StringRef target,
                            const Node *node) {
  if (!tensor) {
    fail("the archive has no tensor '" + target + "'");
    return -1;
  }
  const ValueInfo &info = node->info();
  bool isSame =
      info.isTensor() && info.dtype == tensor->dtype &&
      llvm::equal(info.sizes, tensor->shape, [](Size size, int64_t extent) {
        return !size.isDynamic() && size.get() == extent;
      });
  if (!isSame) {
    fail("the tensor '" + target + "' has another shape or type than the " +
         "program says");
    return -1;
  }
  llvm::Expected<int> weight = addWeight(builder, *tensor);
  if (!weight) {
    fail("the tensor '" + target + "' " + llvm::toString(weight.takeError()));
    return -1;
  }
  return *weight;
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
  if (kind == "user_input") {
    Argument argument = readArgument(arg);
    if (argument.isValue())
      spec.node = argument.asNode();
  } else if (kind == "parameter") {
    owner("parameter_name", InputSpec::Kind::Parameter);
    if (!hasFailed())
      spec.weight = weightOf(weights.find(spec.target), spec.target, spec.node);
    owned[spec.target] = spec.node;
  } else if (kind == "buffer") {
    owner("buffer_name", InputSpec::Kind::Buffer);
    bool isPersistent = value["persistent"].boolean().value_or(true);
    if (!hasFailed())
      spec.weight =
          weightOf((isPersistent ? weights : constants).find(spec.target),
                   spec.target, spec.node);
    owned[spec.target] = spec.node;
  } else if (kind == "tensor_constant") {
    owner("tensor_constant_name", InputSpec::Kind::Constant);
    if (!hasFailed())
      spec.weight =
          weightOf(constants.find(spec.target), spec.target, spec.node);
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

/// The signature has one entry for each output of the graph. New values of
/// state come first: parameters, buffers, then inputs. The pairing of state
/// names with values rests on it.
void ProgramReader::checkOutputs() {
  using Kind = OutputSpec::Kind;
  auto rank = [](const OutputSpec &output) {
    switch (output.kind) {
    case Kind::ParameterMutation:
      return 0;
    case Kind::BufferMutation:
      return 1;
    case Kind::UserInputMutation:
      return 2;
    default:
      return 3;
    }
  };
  auto outputs =
      llvm::make_filter_range(builder.outputs(), [](const OutputSpec &output) {
        return output.kind != Kind::Token;
      });
  ArrayRef<Argument> returned = scope->graph->outputs;
  if (returned.size() != size_t(llvm::range_size(outputs))) {
    fail("the graph has " + Twine(returned.size()) +
         " outputs, its signature " + Twine(llvm::range_size(outputs)));
    return;
  }
  llvm::DenseSet<const Node *> mutated;
  int last = 0;
  for (auto [output, value] : llvm::zip_equal(outputs, returned)) {
    if (output.value.isValue() != value.isValue() ||
        (value.isValue() && output.value.asNode() != value.asNode()))
      fail("the graph returns another value than its signature says");
    if (rank(output) < last)
      fail("new values of state come in another order than buffers, inputs, "
           "returned values");
    last = rank(output);
    if (output.mutated && !mutated.insert(output.mutated).second)
      fail("'" + output.mutated->name + "' has two new values");
  }
}

void ProgramReader::readSignature(JsonValue signature) {
  if (!signature["input_specs"].isArray() ||
      !signature["output_specs"].isArray()) {
    fail("a program without a signature");
    return;
  }
  llvm::StringMap<const Node *> owned;
  llvm::DenseSet<const Node *> described;
  for (JsonValue spec : signature["input_specs"].elements()) {
    readInput(spec, owned);
    if (hasFailed())
      return;
    const Node *node = builder.inputs().back().node;
    if (node && (node->kind != Node::Kind::Placeholder ||
                 !described.insert(node).second))
      fail("'" + node->name + "' is no input, or one that stands twice");
  }
  size_t numInputs = llvm::count_if(scope->graph->nodes, [](const Node *node) {
    return node->kind == Node::Kind::Placeholder;
  });
  if (builder.inputs().size() != numInputs)
    fail("the graph has " + Twine(numInputs) + " inputs, its signature " +
         Twine(builder.inputs().size()));
  for (JsonValue spec : signature["output_specs"].elements()) {
    readOutput(spec, owned);
    if (hasFailed())
      return;
  }
  checkOutputs();
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
  if (hasFailed())
    return llvm::createStringError(problem);

  bool isDecomposed = llvm::all_of(callees, [&](const auto &entry) {
    return isFunctional(*entry.second.op);
  });
  if (!isDecomposed) {
    for (Node *view : views)
      view->sharesMemory = true;
    builder.setIsDecomposed(false);
    if (std::optional<Obstacle> obstacle = functionalize(builder))
      return llvm::createStringError(
          "'" + obstacle->node->name + "' " + obstacle->reason +
          ": only torch can decompose this program; call "
          "run_decompositions() before saving it");
  }
  return builder.finish();
}
