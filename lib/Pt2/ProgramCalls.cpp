// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of a graph: whom they call, with what, and what comes out.

#include "ProgramReader.h"

#include "corten/Program/Axis.h"
#include "corten/Program/Functionalize.h"
#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace corten;
using namespace corten::pt2;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

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
  callee.schema = parseSchema(text, builder);
  callee.op =
      builder.addOperator(nameSpace, name, callee.schema->parameters,
                          callee.schema->mutates, callee.schema->returnsView);
  return callee;
}

/// Which arguments a higher-order operator has, by position: g a graph, l a
/// list, b a bool, * anything. More may follow.
static StringRef formOf(StringRef higherOrder) {
  return llvm::StringSwitch<StringRef>(higherOrder)
      .Case("cond", "*ggl")
      .Case("while_loop", "ggll")
      .Case("scan", "glll")
      .Case("associative_scan", "gll")
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

/// What a call gives but for the first `numHidden`.
std::vector<GivenArgument> ProgramReader::readArguments(JsonValue inputs,
                                                        size_t numHidden) {
  std::vector<GivenArgument> given;
  for (JsonValue input : llvm::drop_begin(inputs.elements(), numHidden)) {
    Argument value = readArgument(input["arg"]);
    // Under `with_effects` some stand in the order of the parameters.
    std::string name = input["name"].string().value_or("");
    given.push_back({argumentNames.insert(name).first->getKey(), value});
    if (hasFailed())
      break;
  }
  return given;
}

/// Whether a call picks a result that there is.
static bool isResult(const Node &call) {
  if (!isPick(call))
    return false;
  const Node &tuple = *call.arguments[0].asNode();
  return tuple.returnsTuple &&
         positionOf(call.arguments[1].asInt(), tuple.results.size());
}

/// Refuses calls of operators without a schema that are of no known form.
void ProgramReader::checkForm(const Node &call) {
  const Operator &op = *call.callee;
  if (op.name == "getitem" && !isResult(call))
    fail("a result that there is not");
  if ((op.nameSpace == "_operator" && op.name != "getitem" &&
       !areNumbers(op.name, call.arguments)) ||
      (op.nameSpace == "higher_order" &&
       !hasForm(formOf(op.name), call.arguments)))
    fail("the arguments of " + op.printedName() + " are of the wrong types");
}

/// A node that picks a result of a call.
void ProgramReader::addGetItem(Node &producer, unsigned index,
                               const std::string &name,
                               ArrayRef<ValueInfo> infos, bool isTuple,
                               unsigned numHidden) {
  // torch made up a name for what nobody uses.
  if (name == (producer.name + "_unused_" + Twine(index + numHidden)).str())
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
  SmallVector<JsonValue> outputs(json["outputs"].elements());
  for (JsonValue token : ArrayRef(outputs).take_front(numHidden))
    scope->tokens.insert(token["as_tensor"]["name"].string().value_or(""));
  outputs.erase(outputs.begin(), outputs.begin() + numHidden);
  bool isHigherOrder = callee.op->nameSpace == "higher_order" || numHidden != 0;
  if (callee.schema && !numHidden &&
      outputs.size() != callee.schema->numResults) {
    fail(callee.op->printedName() + " returns " +
         Twine(callee.schema->numResults) + " values, and not " +
         Twine(outputs.size()));
    return;
  }
  bool isList = outputs.size() == 1 && outputs[0]["as_tensors"];
  if (callee.schema && isList != callee.schema->returnsList) {
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
  if (callee.schema && !numHidden && !isList)
    for (auto [type, info] : llvm::zip(callee.schema->results, infos))
      if (!type.isResult(info))
        fail(callee.op->printedName() + " returns something else");
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
                 /*isTuple=*/false, numHidden);
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
  std::vector<GivenArgument> given = readArguments(inputs, hiddenArguments);
  if (hasFailed())
    return;
  Node &node = builder.addNode(*scope->graph, Node::Kind::Call, name);
  node.callee = known.op;
  if (llvm::Error error = setArguments(
          builder, node, known.schema ? &*known.schema : nullptr, given))
    fail(std::move(error));
  checkForm(node);
  if (hasFailed())
    return;
  readMetadata(json["metadata"], node);
  readResults(json, node, known, hiddenResults);
  if (hasFailed())
    return;
  if (llvm::Error error = resolveMemory(
          node, [&](const Node &tensor) { return layoutOf(tensor); }))
    fail(std::move(error));
  hasViews |= node.sharesMemory && node.callee->name != "type_as.default";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static SizeExpression readExpression(JsonValue json) {
  if (std::optional<int64_t> value = json["as_int"].integer())
    return {*value};
  return SizeExpression::parse(
      json["as_expr"]["expr_str"].string().value_or(""));
}

/// From the description of a tensor; incomplete ones have no axes.
MemoryLayout ProgramReader::layoutOf(const Node &tensor) {
  auto found = scope->tensors.find(tensor.name);
  JsonValue meta = found == scope->tensors.end() ? JsonValue() : found->second;
  MemoryLayout layout;
  JsonValue device = meta["device"];
  layout.device = device["type"].string().value_or("") + ":" +
                  std::to_string(device["index"].integer().value_or(0));
  for (JsonValue size : meta["sizes"].elements())
    layout.shape.push_back(readExpression(size));
  for (JsonValue stride : meta["strides"].elements())
    layout.strides.push_back(readExpression(stride));
  layout.strides.resize(layout.shape.size());
  layout.offset = readExpression(meta["storage_offset"]);
  return layout;
}
