// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/Outline.h"

#include "OutputNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::DenseMap;
using llvm::SmallVector;
using llvm::StringRef;

static bool isMark(const Node &node, StringRef name) {
  return node.callee && node.callee->nameSpace == kMarkNamespace &&
         node.callee->name == name;
}
static bool isEnter(const Node &node) { return isMark(node, "enter.default"); }
static bool isExit(const Node &node) { return isMark(node, "exit.default"); }

static ArrayRef<Argument> marked(const Node &mark) {
  return mark.argument("xs").asList();
}
static const Node *enterOf(const Node &exit) {
  return exit.argument("token").asNode();
}

StringRef corten::nameAsOutput(const Node &node) {
  return node.outputName.empty() ? node.name : node.outputName;
}

bool corten::isGraphInput(const InputSpec &input) {
  if (!input.node || input.node->results.empty())
    return false;
  switch (input.node->info().kind) {
  case ValueInfo::Kind::Tensor:
    return input.kind == InputSpec::Kind::UserInput || input.isMutated;
  case ValueInfo::Kind::SymInt:
  case ValueInfo::Kind::SymFloat:
  case ValueInfo::Kind::SymBool:
    return input.kind == InputSpec::Kind::UserInput;
  case ValueInfo::Kind::None:
  case ValueInfo::Kind::Other:
    return false;
  }
  return false;
}

bool corten::isPick(const Node &node) {
  return node.callee && node.callee->name == "getitem" &&
         node.arguments.size() == 2 && node.arguments[0].isValue() &&
         node.arguments[1].isInt();
}

bool corten::isModuleCall(const Node &node) {
  return node.callee && node.callee->nameSpace == "corten" &&
         node.callee->name == "module_call";
}

namespace {

/// The nodes between two marks.
struct Region {
  const Node *enter = nullptr;
  const Node *exit = nullptr;
  unsigned parent = 0;
  unsigned depth = 0;
  /// Those of inner regions are not among them, their calls are.
  std::vector<const Node *> nodes;
  /// Values from here that something outside needs.
  llvm::SmallSetVector<const Node *, 4> escapes;
  /// Stand-ins here for values of other regions.
  DenseMap<const Node *, const Node *> known;

  // Of the graph that the region becomes.
  SmallVector<const Node *> arguments, weights, sizes;
  /// From around the region, in the order in which the body meets them.
  SmallVector<const Node *> captured, capturedInside;
  std::vector<std::pair<const Node *, int>> weightIndices;
};

/// Outlines the calls of one graph.
class Outliner {
public:
  Outliner(ProgramBuilder &builder, Graph &graph,
           const DenseMap<const Node *, int> &constants,
           const llvm::StringMap<unsigned> &modules,
           DenseMap<unsigned, unsigned> &calls)
      : builder(builder), graph(graph), constants(constants), modules(modules),
        calls(calls) {}

  llvm::Error run();

private:
  llvm::Error checkMarks() const;
  void forwardReturnedArguments();
  llvm::DenseSet<const Node *> neededNodes() const;
  llvm::Error findRegions();
  void findEscapes();
  void noteUse(const Node *value, unsigned region);
  bool encloses(unsigned outer, unsigned inner) const;
  llvm::Error outline(unsigned region);
  llvm::Error bindArguments(Region &region, size_t numNames);
  void returnEscapes(unsigned region, Graph &body,
                     llvm::SmallVectorImpl<ValueInfo> &infos);
  void makeCall(Region &region, const Graph &body, ArrayRef<ValueInfo> infos);
  std::vector<const Node *> rewritten(unsigned region);
  void resolveOutputs();

  const Node *resolve(const Node *value, unsigned region);
  const Node *rematerialize(const Node *value, Region &region);
  const Node *extentOfArgument(const Node *value, Region &region);
  Argument resolve(const Argument &argument, unsigned region);
  ArrayRef<Argument> resolve(ArrayRef<Argument> arguments, unsigned region);
  void rewrite(const Node &node, unsigned region);

  Node &placeholder(const Node &value);
  Node &pick(const Node &exit, size_t position, const Node &value);
  const Node *sizeFrom(const Region &region, const Node &size);
  const Node *sizeOf(const Node &tensor, unsigned axis, const Node &size);
  const Operator *findOrAdd(const Operator *&known, StringRef nameSpace,
                            StringRef name, ArrayRef<StringRef> parameters);

  ProgramBuilder &builder;
  Graph &graph;
  const DenseMap<const Node *, int> &constants;
  const llvm::StringMap<unsigned> &modules;
  /// How many calls of a module there are so far.
  DenseMap<unsigned, unsigned> &calls;
  /// The first is the graph itself; inner ones come behind outer ones.
  std::vector<Region> regions;
  DenseMap<const Node *, unsigned> regionOf;
  /// What has to stand behind a call.
  DenseMap<const Node *, SmallVector<const Node *>> behind;
  const Operator *moduleCall = nullptr, *getItem = nullptr, *symSize = nullptr;
};

} // namespace

//===----------------------------------------------------------------------===//
// Making nodes
//===----------------------------------------------------------------------===//

const Operator *Outliner::findOrAdd(const Operator *&known, StringRef nameSpace,
                                    StringRef name,
                                    ArrayRef<StringRef> parameters) {
  if (!known) {
    SmallVector<Parameter> schema;
    for (StringRef parameter : parameters)
      schema.push_back({builder.save(parameter), false, {}});
    known = builder.addOperator(nameSpace, name, schema);
  }
  return known;
}

/// Goes by the name of `value`: lowerings of the user's look for that.
Node &Outliner::placeholder(const Node &value) {
  Node &node = builder.createNode(Node::Kind::Placeholder, value.name);
  node.results = value.results;
  return node;
}

/// Result `position` of the call that `exit` becomes; `value` is what it has
/// inside.
Node &Outliner::pick(const Node &exit, size_t position, const Node &value) {
  Node &node = builder.createNode(Node::Kind::Call, value.name);
  node.callee = findOrAdd(getItem, "_operator", "getitem", {});
  node.arguments =
      builder.save({Argument::node(&exit),
                    Argument::integer(static_cast<int64_t>(position))});
  node.results = value.results;
  node.stackTrace = value.stackTrace;
  node.module = value.module;
  return node;
}

const Node *Outliner::sizeOf(const Node &tensor, unsigned axis,
                             const Node &size) {
  Node &node = builder.createNode(Node::Kind::Call, size.name);
  node.callee = findOrAdd(symSize, "aten", "sym_size.int", {"self", "dim"});
  node.arguments = builder.save(
      {Argument::node(&tensor), Argument::integer(static_cast<int>(axis))});
  node.results = size.results;
  node.stackTrace = size.stackTrace;
  node.module = size.module;
  return &node;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

static llvm::Error refuseMark(const Node &mark) {
  StringRef path = mark.argument("tag").asString();
  if (isEnter(mark))
    path = path.split('|').second;
  return llvm::createStringError(
      "the boundaries of module '" + path +
      "' are not where the export put them; convert the program as "
      "torch.export returned it");
}

/// The export marks tensors; the schema of a mark also takes numbers for them.
llvm::Error Outliner::checkMarks() const {
  auto isValue = [](const Argument &argument) { return argument.isValue(); };
  for (const Node *node : graph.nodes)
    if ((isEnter(*node) || isExit(*node)) &&
        (!llvm::all_of(marked(*node), isValue) ||
         (isExit(*node) && !isValue(node->argument("token")))))
      return refuseMark(*node);
  return llvm::Error::success();
}

/// A module that returns its argument itself gives the caller that very object
/// (who may write into it), so that nothing refers to the call. A value never
/// changes: what comes behind the call may just as well take it from there.
void Outliner::forwardReturnedArguments() {
  DenseMap<const Node *, unsigned> order;
  llvm::DenseSet<const Node *> picked;
  for (auto [i, node] : llvm::enumerate(graph.nodes)) {
    order[node] = i;
    if (isPick(*node))
      picked.insert(node->arguments.front().asNode());
  }
  DenseMap<const Node *, const Node *> &forward = regions.front().known;
  std::vector<const Node *> nodes;
  for (const Node *node : graph.nodes) {
    if (!forward.empty())
      rewrite(*node, 0);
    nodes.push_back(node);
    if (!isExit(*node) || picked.contains(node))
      continue;
    unsigned begin = order.lookup(enterOf(*node));
    for (auto [i, argument] : llvm::enumerate(marked(*node))) {
      const Node *value = argument.asNode();
      if (order.lookup(value) > begin || constants.contains(value))
        continue;
      const Node *result = &pick(*node, i, *value);
      order[result] = order.lookup(node);
      nodes.push_back(result);
      for (auto &entry : forward)
        if (entry.second == value)
          entry.second = result;
      forward[value] = result;
    }
  }
  graph.nodes = std::move(nodes);
  if (forward.empty())
    return;
  resolveOutputs();
  forward.clear();
}

/// The live nodes, and those of calls that are made for what they do to their
/// arguments or buffers rather than for what they return.
llvm::DenseSet<const Node *> Outliner::neededNodes() const {
  llvm::DenseSet<const Node *> needed = liveNodes(graph);
  auto mark = [&](const Node *node) { needed.insert(node); };
  for (bool changes = true; changes;) {
    changes = false;
    // How many needed tensors have been seen at each `enter`.
    DenseMap<const Node *, size_t> before;
    size_t count = 0;
    for (const Node *node : graph.nodes) {
      if (isEnter(*node)) {
        before[node] = count;
      } else if (isExit(*node)) {
        if (before.lookup(enterOf(*node)) != count)
          changes |= needed.insert(node).second;
      } else if (needed.contains(node) && !node->results.empty()) {
        count += node->info().isTensor();
      }
    }
    for (const Node *node : llvm::reverse(graph.nodes))
      if (needed.contains(node))
        forEachOperand(node->arguments, mark);
  }
  return needed;
}

llvm::Error Outliner::findRegions() {
  llvm::DenseSet<const Node *> needed = neededNodes();
  auto isNeeded = [&](const Node *node) {
    return node->kind != Node::Kind::Call || needed.contains(node);
  };
  SmallVector<unsigned> open = {0};
  for (const Node *node : graph.nodes) {
    if (!isNeeded(node))
      continue;
    if (isEnter(*node)) {
      Region &region = regions.emplace_back();
      region.enter = node;
      region.parent = open.back();
      region.depth = open.size();
      open.push_back(regions.size() - 1);
      continue;
    }
    if (isExit(*node)) {
      Region &region = regions[open.back()];
      if (region.enter != enterOf(*node))
        return refuseMark(*node);
      region.exit = node;
      open.pop_back();
    }
    unsigned home = open.back();
    if (isPick(*node)) {
      // A result belongs to what it is a result of, wherever it is picked.
      home = regionOf.lookup(node->arguments.front().asNode());
    }
    regionOf[node] = home;
    regions[home].nodes.push_back(node);
  }
  if (open.size() > 1)
    return refuseMark(*regions[open.back()].enter);
  return llvm::Error::success();
}

bool Outliner::encloses(unsigned outer, unsigned inner) const {
  while (regions[inner].depth > regions[outer].depth)
    inner = regions[inner].parent;
  return inner == outer;
}

/// A value that is used outside of its region must leave it, and all regions
/// around it that do not hold the use.
void Outliner::noteUse(const Node *value, unsigned user) {
  for (unsigned home = regionOf.lookup(value); !encloses(home, user);
       home = regions[home].parent)
    regions[home].escapes.insert(value);
}

void Outliner::findEscapes() {
  for (auto [i, region] : llvm::enumerate(regions)) {
    auto use = [&, user = static_cast<unsigned>(i)](const Node *value) {
      noteUse(value, user);
    };
    for (const Node *node : region.nodes)
      if (!isExit(*node))
        forEachOperand(node->arguments, use);
    if (i == 0) {
      forEachOperand(graph.outputs, use);
      continue;
    }
    forEachOperand(marked(*region.exit), use);
    forEachOperand(marked(*region.enter),
                   [&](const Node *value) { noteUse(value, region.parent); });
  }
}

//===----------------------------------------------------------------------===//
// Values across boundaries
//===----------------------------------------------------------------------===//

/// A size that the body needs, from the shapes of the call's arguments: sizes
/// are no operands of the user's.
const Node *Outliner::rematerialize(const Node *value, Region &region) {
  if (const Node *extent = extentOfArgument(value, region))
    return extent;
  // Arithmetic on sizes is done again.
  if (value->info().kind != ValueInfo::Kind::SymInt ||
      value->kind != Node::Kind::Call ||
      value->callee->nameSpace != "_operator" || isPick(*value))
    return nullptr;
  SmallVector<Argument> arguments;
  for (const Argument &argument : value->arguments) {
    if (!argument.isValue()) {
      arguments.push_back(argument);
      continue;
    }
    const Node *operand = argument.asNode();
    const Node *inside = region.known.lookup(operand);
    if (!inside)
      inside = rematerialize(operand, region);
    if (!inside)
      return nullptr;
    arguments.push_back(Argument::node(inside));
  }
  Node &copy = builder.createNode(Node::Kind::Call, value->name);
  copy.callee = value->callee;
  copy.arguments = builder.save(arguments);
  copy.results = value->results;
  copy.stackTrace = value->stackTrace;
  copy.module = value->module;
  region.sizes.push_back(&copy);
  return region.known[value] = &copy;
}

/// A size that is an extent of an argument; null if `value` is none.
const Node *Outliner::extentOfArgument(const Node *value, Region &region) {
  const ValueInfo &size = value->info();
  if (size.kind != ValueInfo::Kind::SymInt || size.sizes.empty())
    return nullptr;
  for (const Node *argument : region.arguments)
    if (argument->info().isTensor())
      for (auto [axis, extent] : llvm::enumerate(argument->info().sizes))
        if (extent == size.sizes.front()) {
          region.sizes.push_back(sizeOf(*argument, axis, *value));
          return region.known[value] = region.sizes.back();
        }
  return nullptr;
}

/// The node that stands for `value` in a region.
const Node *Outliner::resolve(const Node *value, unsigned index) {
  Region &region = regions[index];
  if (const Node *known = region.known.lookup(value))
    return known;
  auto home = regionOf.find(value);
  // Nodes that were made here are where they belong.
  if (index == 0 || home == regionOf.end() || home->second == index)
    return value;
  if (auto constant = constants.find(value); constant != constants.end()) {
    Node &weight = placeholder(*value);
    region.weights.push_back(&weight);
    region.weightIndices.emplace_back(&weight, constant->second);
    return region.known[value] = &weight;
  }
  if (const Node *size = rematerialize(value, region))
    return size;
  region.captured.push_back(value);
  region.capturedInside.push_back(&placeholder(*value));
  return region.known[value] = region.capturedInside.back();
}

Argument Outliner::resolve(const Argument &argument, unsigned region) {
  if (argument.isValue())
    return Argument::node(resolve(argument.asNode(), region));
  if (argument.isList())
    return Argument::list(resolve(argument.asList(), region));
  return argument;
}

ArrayRef<Argument> Outliner::resolve(ArrayRef<Argument> arguments,
                                     unsigned region) {
  SmallVector<Argument> resolved;
  for (const Argument &argument : arguments)
    resolved.push_back(resolve(argument, region));
  return builder.save(resolved);
}

void Outliner::rewrite(const Node &node, unsigned region) {
  bool changes = false;
  forEachOperand(node.arguments, [&](const Node *value) {
    changes |= resolve(value, region) != value;
  });
  if (changes)
    builder.edit(node).arguments = resolve(node.arguments, region);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// A size that was computed inside, outside: from the shape of an argument.
const Node *Outliner::sizeFrom(const Region &region, const Node &size) {
  const ValueInfo &info = size.info();
  if (info.kind != ValueInfo::Kind::SymInt || info.sizes.empty())
    return nullptr;
  for (const Argument &argument : marked(*region.enter)) {
    const Node &tensor = *argument.asNode();
    for (auto [axis, extent] : llvm::enumerate(tensor.info().sizes))
      if (extent == info.sizes.front())
        return sizeOf(tensor, axis, size);
  }
  return nullptr;
}

llvm::Error Outliner::bindArguments(Region &region, size_t numNames) {
  ArrayRef<Argument> given = marked(*region.enter);
  if (numNames != given.size())
    return llvm::createStringError("a mark names " + llvm::Twine(numNames) +
                                   " arguments, but has " +
                                   llvm::Twine(given.size()));
  for (const Argument &value : given) {
    Node &argument = placeholder(*value.asNode());
    region.arguments.push_back(&argument);
    // Of a value that is given twice, the body uses the first.
    region.known.try_emplace(value.asNode(), &argument);
  }
  return llvm::Error::success();
}

/// Adds what is used outside to the outputs of `body`, unless it is there
/// already, and has it stand behind the call.
void Outliner::returnEscapes(unsigned index, Graph &body,
                             llvm::SmallVectorImpl<ValueInfo> &infos) {
  Region &region = regions[index];
  ArrayRef<Argument> results = marked(*region.exit);
  for (const Node *value : region.escapes) {
    const Node *outside = sizeFrom(region, *value);
    if (!outside) {
      size_t position = llvm::find_if(results,
                                      [&](const Argument &result) {
                                        return result.asNode() == value;
                                      }) -
                        results.begin();
      if (position == results.size()) {
        position = infos.size();
        infos.push_back(value->info());
        body.outputs.push_back(Argument::node(resolve(value, index)));
      }
      outside = &pick(*region.exit, position, *value);
    }
    behind[region.exit].push_back(outside);
    regions[region.parent].known[value] = outside;
  }
}

/// Turns the mark into the call. Its operands are still the values that the
/// export recorded; the region around it finds its own for them.
void Outliner::makeCall(Region &region, const Graph &body,
                        ArrayRef<ValueInfo> infos) {
  Node &call = builder.edit(*region.exit);
  SmallVector<Argument> operands = {Argument::graph(&body)};
  llvm::append_range(operands, marked(*region.enter));
  for (const Node *value : region.captured)
    operands.push_back(Argument::node(value));
  call.callee = findOrAdd(moduleCall, "corten", "module_call", {});
  call.arguments = builder.save(operands);
  call.results = builder.save(infos);
}

llvm::Error Outliner::outline(unsigned index) {
  Region &region = regions[index];
  auto [names, path] = region.enter->argument("tag").asString().split('|');
  auto module = modules.find(path);
  if (module == modules.end())
    return llvm::createStringError("the program has marks of module '" + path +
                                   "', which is not to be externalized");
  SmallVector<StringRef> argumentNames;
  names.split(argumentNames, ',', -1, /*KeepEmpty=*/false);
  if (llvm::Error error = bindArguments(region, argumentNames.size()))
    return error;

  Graph &body = builder.addSubgraph(path);
  // What computes an extent of an argument would need sizes from outside.
  llvm::erase_if(region.nodes, [&](const Node *node) {
    return !node->results.empty() && extentOfArgument(node, region);
  });
  std::vector<const Node *> nodes = rewritten(index);
  for (const Argument &result : marked(*region.exit))
    body.outputs.push_back(resolve(result, index));
  SmallVector<ValueInfo> infos(region.exit->results);
  returnEscapes(index, body, infos);
  // Only now all that the body takes from around it is known.
  for (ArrayRef<const Node *> first :
       {ArrayRef(region.arguments), ArrayRef(region.capturedInside),
        ArrayRef(region.weights), ArrayRef(region.sizes), ArrayRef(nodes)})
    llvm::append_range(body.nodes, first);

  ModuleCall record;
  record.module = module->second;
  record.body = &body;
  record.argumentNames.assign(argumentNames.begin(), argumentNames.end());
  record.numResults = marked(*region.exit).size();
  record.weights = std::move(region.weightIndices);
  record.ordinal = calls[record.module]++;
  record.position = region.exit->index;
  builder.building().moduleCalls.push_back(std::move(record));
  makeCall(region, body, infos);
  return llvm::Error::success();
}

/// The nodes of a region with their operands in it.
std::vector<const Node *> Outliner::rewritten(unsigned index) {
  std::vector<const Node *> nodes;
  for (const Node *node : regions[index].nodes) {
    nodes.push_back(node);
    llvm::append_range(nodes, behind.lookup(node));
  }
  for (const Node *node : nodes)
    rewrite(*node, index);
  return nodes;
}

void Outliner::resolveOutputs() {
  ArrayRef<Argument> outputs = resolve(graph.outputs, 0);
  graph.outputs.assign(outputs.begin(), outputs.end());
  if (&graph == &builder.mainGraph())
    for (OutputSpec &output : builder.building().outputs)
      output.value = resolve(output.value, 0);
}

llvm::Error Outliner::run() {
  if (llvm::none_of(graph.nodes, [](const Node *node) {
        return isEnter(*node) || isExit(*node);
      }))
    return llvm::Error::success();
  if (llvm::Error error = checkMarks())
    return error;
  regions.emplace_back();
  forwardReturnedArguments();
  if (llvm::Error error = findRegions())
    return error;
  findEscapes();

  // Inner regions first: they are where values of outer ones come from.
  SmallVector<unsigned> order;
  for (unsigned i = 1; i < regions.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](unsigned lhs, unsigned rhs) {
    return regions[lhs].exit->index < regions[rhs].exit->index;
  });
  for (unsigned index : order)
    if (llvm::Error error = outline(index))
      return error;

  graph.nodes = rewritten(0);
  resolveOutputs();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Weights arrive in a branch as operands of the control flow. The last list of
/// a call is what all of its graphs see unchanged, as their last placeholders.
static void passWeightsOn(const Graph &graph,
                          DenseMap<const Node *, int> &constants) {
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call || node->arguments.empty() ||
        !node->arguments.back().isList())
      continue;
    ArrayRef<Argument> operands = node->arguments.back().asList();
    for (const Argument &argument : node->arguments) {
      if (argument.kind() != Argument::Kind::Graph)
        continue;
      const Graph &inner = *argument.asGraph();
      SmallVector<const Node *> placeholders;
      for (const Node *candidate : inner.nodes)
        if (candidate->kind == Node::Kind::Placeholder)
          placeholders.push_back(candidate);
      for (auto [operand, placeholder] :
           llvm::zip(llvm::reverse(operands), llvm::reverse(placeholders))) {
        if (!operand.isValue())
          continue;
        auto known = constants.find(operand.asNode());
        if (known != constants.end())
          constants.insert({placeholder, known->second});
      }
      passWeightsOn(inner, constants);
    }
  }
}

llvm::Error corten::outlineModules(ProgramBuilder &builder,
                                   std::vector<ExternalModule> modules) {
  Program &program = builder.building();
  llvm::StringMap<unsigned> indices;
  for (auto [i, module] : llvm::enumerate(modules))
    indices[module.path] = i;
  program.modules = std::move(modules);

  llvm::DenseSet<const Node *> mutated;
  for (const OutputSpec &output : program.outputs)
    mutated.insert(output.mutated);
  DenseMap<const Node *, int> constants;
  for (const InputSpec &input : program.inputs)
    if (input.node && input.weight >= 0 && !mutated.contains(input.node))
      constants[input.node] = input.weight;
  passWeightsOn(program.main, constants);

  // Branches before what they are branches of. Outlining adds graphs.
  SmallVector<Graph *> graphs = {&program.main};
  for (Graph &graph : builder.subgraphs())
    graphs.push_back(&graph);
  DenseMap<unsigned, unsigned> calls;
  for (Graph *graph : llvm::reverse(graphs))
    if (llvm::Error error =
            Outliner(builder, *graph, constants, indices, calls).run())
      return error;
  if (!program.modules.empty())
    nameOutputs(builder);
  return llvm::Error::success();
}
