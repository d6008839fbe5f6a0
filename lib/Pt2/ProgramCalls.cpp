// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of a graph: whom they call, with what, and what comes out.

#include "ProgramReader.h"

#include "corten/Program/Axis.h"
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
  return {functionNamespace(module), name};
}

const Callee &ProgramReader::callee(StringRef target, const Wrapper &wrapper) {
  auto [known, isNew] = callees.try_emplace(
      {target.str(), wrapper.numTokens, wrapper.isFunctional});
  if (!isNew)
    return known->second;
  auto [nameSpace, name] = splitTarget(target);
  StringRef text = findSchema(nameSpace, name);
  std::optional<OperatorSchema> schema;
  if (!text.empty())
    schema = parseSchema(text, builder);
  return known->second =
             addCallee(builder, nameSpace, name, std::move(schema), wrapper);
}

/// What a call of `target` calls: that, or the operator that it is given. Null
/// if it is given none.
const Callee *ProgramReader::calledBy(StringRef target, JsonValue call) {
  auto [nameSpace, name] = splitTarget(target);
  Wrapper wrapper = wrapperOf(nameSpace, name);
  if (!wrapper.numArguments)
    return &callee(target, wrapper);
  SmallVector<JsonValue> inputs(call["inputs"].elements());
  if (inputs.size() < wrapper.numArguments ||
      call["outputs"].size() < wrapper.numTokens) {
    fail("no operator to call");
    return nullptr;
  }
  JsonValue inside = inputs[wrapper.numArguments - 1]["arg"]["as_operator"];
  std::string called = textOf(inside, "operator to call");
  return hasFailed() ? nullptr : &callee(called, wrapper);
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

void ProgramReader::setResults(Node &call, const Callee &callee,
                               ArrayRef<ValueInfo> results, bool returnsTuple) {
  if (llvm::Error error = calls.setResults(call, callee, results, returnsTuple))
    fail(std::move(error));
}

/// A node that picks a result of a call.
void ProgramReader::addGetItem(Node &producer, unsigned index,
                               const std::string &name,
                               ArrayRef<ValueInfo> infos, bool isTuple) {
  // torch made up a name for what nobody uses.
  if (name == (producer.name + "_unused_" + Twine(index)).str())
    return;
  if (!getItem.op)
    getItem = addCallee(builder, "_operator", "getitem");
  llvm::Expected<Node *> added = calls.add(
      *scope->graph, name, getItem,
      {{{}, Argument::node(&producer)}, {{}, Argument::integer(index)}});
  if (!added)
    return fail(added.takeError());
  Node &node = **added;
  setResults(node, getItem, infos, isTuple);
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

/// The results of a call. Those that torch counts begin with the tokens.
void ProgramReader::readResults(JsonValue json, Node &node,
                                const Callee &callee) {
  SmallVector<JsonValue> outputs(json["outputs"].elements());
  unsigned numTokens = callee.wrapper.numTokens;
  SmallVector<ValueInfo> infos(numTokens);
  SmallVector<std::string> names;
  for (JsonValue token : ArrayRef(outputs).take_front(numTokens))
    names.push_back(token["as_tensor"]["name"].string().value_or(""));
  ArrayRef<JsonValue> own = ArrayRef(outputs).drop_front(numTokens);
  bool isHigherOrder = callee.op->nameSpace == "higher_order" || numTokens != 0;
  bool isList = own.size() == 1 && own[0]["as_tensors"];
  if (isList) {
    // Its elements are the results.
    for (JsonValue tensor : own[0]["as_tensors"].elements()) {
      names.push_back(textOf(tensor["name"], "name"));
      auto found = scope->tensors.find(names.back());
      infos.push_back(tensorInfo(
          found == scope->tensors.end() ? JsonValue() : found->second));
    }
  } else {
    for (JsonValue output : own) {
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
    isSingle = isSingle && numTokens == 0 &&
               (names[0] == node.name || names[0].empty() ||
                (!json["name"].isString() &&
                 json["is_hop_single_tensor_return"].boolean().value_or(true)));
  setResults(node, callee, infos, /*returnsTuple=*/!isSingle);
  if (hasFailed())
    return;
  if (isSingle) {
    const std::string &name =
        names.empty() || names[0].empty() ? node.name.str() : names[0];
    if (!scope->values.try_emplace(name, &node).second)
      fail("there are two values called '" + name + "'");
    return;
  }
  for (auto [position, name] : llvm::enumerate(names)) {
    if (position >= numTokens && !isList && outputs[position]["as_tensors"])
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

  const Callee *known = hasFailed() ? nullptr : calledBy(target, json);
  if (!known)
    return;
  std::vector<GivenArgument> given =
      readArguments(inputs, known->wrapper.numArguments);
  if (hasFailed())
    return;
  llvm::Expected<Node *> added = calls.add(*scope->graph, name, *known, given);
  if (!added)
    return fail(added.takeError());
  Node &node = **added;
  readMetadata(json["metadata"], node);
  readResults(json, node, *known);
  if (hasFailed())
    return;
  if (llvm::Error error = resolveMemory(
          node, [&](const Node &tensor) { return layoutOf(tensor); }))
    fail(std::move(error));
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
