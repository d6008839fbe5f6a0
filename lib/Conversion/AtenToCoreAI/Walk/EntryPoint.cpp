// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One exported program as one public graph: which placeholders are inputs,
// weights and state, what everything is called, and the pass over the nodes.

#include "Emission/Emitter.h"
#include "Emission/GraphBuilder.h"
#include "Lowerings/Control/MetalKernel.h"
#include "ShapeRules/CallShapes.h"
#include "Table.h"
#include "Walk/DebugRecorder.h"

#include "corten/Program/Outline.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Replaces `defaults` by the names that the user gave, if any.
static LogicalResult applyNames(SmallVectorImpl<std::string> &defaults,
                                ArrayRef<std::string> given, StringRef what,
                                StringRef entry, Location location) {
  if (given.empty())
    return success();
  if (given.size() != defaults.size()) {
    auto quoted = [](ArrayRef<std::string> names) {
      return names.empty() ? "[]" : "['" + llvm::join(names, "', '") + "']";
    };
    return emitError(location)
           << "entry point '" << entry << "' has " << defaults.size() << " "
           << what << " " << quoted(defaults) << ", but " << given.size()
           << " name(s) were given: " << quoted(given);
  }
  defaults.assign(given.begin(), given.end());
  return success();
}

static LogicalResult checkNames(ArrayRef<std::string> names, StringRef what,
                                StringRef entry, Location location) {
  llvm::StringSet<> seen;
  for (const std::string &name : names) {
    if (name.empty())
      return emitError(location)
             << "entry point '" << entry << "': an empty name among " << what;
    if (!seen.insert(name).second)
      return emitError(location) << "entry point '" << entry << "': the name '"
                                 << name << "' is used twice among " << what;
  }
  return success();
}

namespace {
/// The inputs and outputs of one graph, in order, with their final names.
struct Interface {
  struct Input {
    const InputSpec *spec;
    std::string name;
  };
  struct Output {
    const OutputSpec *spec;
    std::string name;
  };
  SmallVector<Input> inputs;
  SmallVector<Output> outputs;
};
} // namespace

static bool isGraphInput(const InputSpec &input) {
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

/// A size takes part in a number. As an output it is then a vector of one
/// element, as sizes are; an input or a number read out of a tensor is not.
static bool comesOfSize(const Node &number) {
  SmallVector<const Node *> open = {&number};
  DenseSet<const Node *> seen;
  auto visit = [&](const Argument &argument) {
    if (argument.isValue())
      open.push_back(argument.asNode());
  };
  while (!open.empty()) {
    const Node *node = open.pop_back_val();
    if (!seen.insert(node).second || node->kind != Node::Kind::Call ||
        node->callee->name == "_local_scalar_dense.default")
      continue;
    for (const Argument &argument : node->arguments) {
      if (argument.isValue() && argument.asNode()->info().isTensor())
        return true;
      visit(argument);
      if (argument.isList())
        llvm::for_each(argument.asList(), visit);
    }
  }
  return false;
}

static FailureOr<Interface> nameInterface(const EntryPoint &entry,
                                          Location location) {
  const Program &program = *entry.program;
  Interface interface;
  SmallVector<std::string> inputNames, outputNames, stateNames;

  for (const InputSpec &spec : program.inputs) {
    if (!isGraphInput(spec))
      continue;
    interface.inputs.push_back({&spec, {}});
    if (!spec.isMutated)
      inputNames.push_back(spec.node->name.str());
  }

  // State order: as the outputs list the mutations, buffers first.
  DenseMap<const Node *, unsigned> stateIndex;
  DenseSet<const Node *> stateValues;
  llvm::StringSet<> taken;
  for (const OutputSpec &spec : program.outputs) {
    if (!spec.mutated)
      continue;
    stateIndex[spec.mutated] = stateNames.size();
    stateNames.push_back(spec.mutated->name.str());
    taken.insert(spec.mutated->name);
    interface.outputs.push_back({&spec, {}});
    stateValues.insert(spec.value.asNode());
  }
  auto isReturned = [](const OutputSpec &spec) {
    return spec.kind == OutputSpec::Kind::UserOutput && spec.value.isValue();
  };
  // Whoever returns the new value of a state reads it there, unless there is a
  // name for it.
  bool areAllNamed =
      static_cast<size_t>(llvm::count_if(program.outputs, isReturned)) ==
      entry.outputNames.size();
  for (const OutputSpec &spec : program.outputs) {
    if (!isReturned(spec) ||
        (!areAllNamed && stateValues.contains(spec.value.asNode())))
      continue;
    interface.outputs.push_back({&spec, {}});
    // Outputs keep the name of the node that makes them; a node returned twice
    // gives two outputs with distinct names.
    outputNames.push_back(
        distinctName(nameAsOutput(*spec.value.asNode()), taken));
  }

  if (failed(applyNames(inputNames, entry.inputNames, "live inputs", entry.name,
                        location)) ||
      failed(applyNames(outputNames, entry.outputNames, "live outputs",
                        entry.name, location)) ||
      failed(applyNames(stateNames, entry.stateNames, "stateful inputs",
                        entry.name, location)))
    return failure();

  auto *nextInput = inputNames.begin();
  SmallVector<std::string> arguments, results;
  for (Interface::Input &input : interface.inputs) {
    input.name = input.spec->isMutated
                     ? stateNames[stateIndex.lookup(input.spec->node)]
                     : *nextInput++;
    arguments.push_back(input.name);
  }
  auto *nextOutput = outputNames.begin();
  for (Interface::Output &output : interface.outputs) {
    output.name = output.spec->mutated
                      ? stateNames[stateIndex.lookup(output.spec->mutated)]
                      : *nextOutput++;
    results.push_back(output.name);
  }
  if (failed(
          checkNames(arguments, "inputs and states", entry.name, location)) ||
      failed(checkNames(results, "outputs and states", entry.name, location)))
    return failure();
  return interface;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// A scalar of the user's (a dynamic int) arrives as rank 0; inside the graph
/// symbolic numbers are one-element vectors.
static RankedTensorType inputType(Emitter &emit, const ValueInfo &info) {
  RankedTensorType type = emit.typeOf(info);
  if (type && !info.isTensor())
    return RankedTensorType::get({}, type.getElementType());
  return type;
}

/// The extents of an input, if one that varies has a limit.
static SmallVector<AxisRange> rangesOf(const ValueInfo &info,
                                       const Program &program) {
  SmallVector<AxisRange> ranges;
  bool isBounded = false;
  for (Size size : info.sizes) {
    if (!size.isDynamic()) {
      ranges.push_back({size.get(), size.get()});
      continue;
    }
    const Symbol &symbol = program.symbols[size.symbol()];
    ranges.push_back({symbol.min.value_or(0), symbol.max});
    isBounded |= symbol.max.has_value();
  }
  return isBounded ? ranges : SmallVector<AxisRange>();
}

LogicalResult Emitter::emitEntryPoint(const EntryPoint &entry) {
  const Program &program = *entry.program;
  entryName = entry.name;
  values.clear();
  moduleGraphs.clear();
  findOpenSymbols(program);
  symbols.try_emplace(entry.name);
  currentNode = nullptr;
  FailureOr<Interface> interface = nameInterface(entry, location);
  if (mlir::failed(interface))
    return failure();

  GraphSignature signature;
  signature.symbol = entry.name;
  for (const Interface::Input &input : interface->inputs) {
    currentNode = input.spec->node;
    RankedTensorType type = inputType(*this, currentNode->info());
    if (!type)
      return error(*currentNode) << "input '" << input.name << "' has the type "
                                 << scalarTypeName(currentNode->info().dtype)
                                 << ", which Core AI cannot express";
    signature.inputs.push_back({type, input.name,
                                input.spec->isMutated ? input.name : "",
                                rangesOf(currentNode->info(), program)});
  }
  currentNode = nullptr;

  for (const ModuleCall &call : program.moduleCalls)
    if (mlir::failed(emitModuleGraph(program, call)))
      return failure();
  builder.setInsertionPointToEnd(module.getBody());
  coreai::GraphOp graph = createGraph(builder, location, signature);
  Block &block = graph.getBodyRegion().front();
  builder.setInsertionPointToStart(&block);
  // Weights first: whoever attaches their data looks at the top of the graph.
  DenseSet<const Node *> live = liveNodes(program.main);
  debug->beginGraph(program.main, live, entry.name);
  SmallVector<std::pair<const Node *, int>> weightNodes;
  for (const InputSpec &spec : program.inputs)
    if (!isGraphInput(spec) && spec.weight >= 0)
      weightNodes.emplace_back(spec.node, spec.weight);
  if (mlir::failed(planWeights(program, program.main, weightNodes)))
    return failure();
  DenseMap<int, Value> weights;
  for (const InputSpec &spec : program.inputs) {
    // Tokens only order effects in torch's own graphs.
    if (isGraphInput(spec) || spec.kind == InputSpec::Kind::Token)
      continue;
    // A constant of a branch or loop is no node of the main graph.
    bool isAttribute = spec.node && spec.node->kind == Node::Kind::Attribute;
    if (!isAttribute && !live.contains(spec.node))
      continue;
    currentNode = spec.node;
    if (spec.weight < 0)
      return error(*spec.node)
             << "Could not resolve placeholder op: " << spec.node->name;
    if (mlir::failed(emitWeight(program, *spec.node, spec.weight, weights)))
      return failure();
  }

  currentNode = nullptr;
  for (auto [input, argument] :
       llvm::zip_equal(interface->inputs, block.getArguments())) {
    Value value = argument;
    if (!input.spec->node->info().isTensor())
      value = reshape(value, {1});
    setResults(*input.spec->node, {value});
  }

  if (mlir::failed(emitNodes(program.main)))
    return failure();

  SmallVector<GraphResult> results;
  for (const Interface::Output &output : interface->outputs) {
    const Node *node = output.spec->value.asNode();
    currentNode = node;
    if (this->results(*node).empty() || !this->results(*node).front())
      return error(*node) << "the output '" << output.name << "' has no value";
    Value value = this->value(output.spec->value);
    if (!node->info().isTensor() && !comesOfSize(*node))
      value = reshape(value, ArrayRef<int64_t>());
    results.push_back({value, output.name});
  }
  currentNode = nullptr;
  finishGraph(builder, location, graph, results);
  debug->recordGraph(graph);
  sortModuleGraphs(program, graph);
  return success();
}

/// What the user calls the weight: its path, or else its node's name.
static std::string pathOf(const Program &program, const Node &node,
                          int weight) {
  for (const InputSpec &spec : program.inputs)
    if (spec.weight == weight && !spec.target.empty())
      return spec.target.str();
  return node.name.str();
}

/// A weight that was exchanged after the export may have become another one.
static bool hasShapeOf(const ValueInfo &info, const TensorView &view) {
  SmallVector<int64_t> shape = staticShape(info);
  return !info.isTensor() || ArrayRef(shape) == view.shape;
}

LogicalResult Emitter::emitWeight(const Program &program, const Node &node,
                                  int weight, DenseMap<int, Value> &known) {
  const TensorView &view = program.weights[weight];
  Value &shared = known[weight];
  if (!shared) {
    if (!hasShapeOf(node.info(), view)) {
      InFlightDiagnostic message = error(node);
      message << "weight '" << node.name << "' has the shape [";
      llvm::interleaveComma(view.shape, message);
      message << "], but was exported with [";
      llvm::interleaveComma(staticShape(node.info()), message);
      return message << "]";
    }
    std::string path = pathOf(program, node, weight);
    ArrayRef<WeightForm> wanted = forms.formsOf(weight);
    for (auto [i, form] : llvm::enumerate(wanted)) {
      FailureOr<Value> constant = this->weight(view, form, node.name);
      if (mlir::failed(constant))
        return failure();
      formedWeights[{weight, static_cast<unsigned>(i)}] = *constant;
      result.weightPaths[constant->getDefiningOp()] = path;
    }
    if (wanted.empty() || forms.isTakenAsIs(weight)) {
      FailureOr<Value> constant = this->weight(view, node.name);
      if (mlir::failed(constant))
        return failure();
      shared = *constant;
      result.weightPaths[constant->getDefiningOp()] = path;
    } else {
      // Graphs inside this one see it in the one form that they use.
      shared = formedWeights.lookup({weight, 0});
    }
  }
  setResults(node, {shared});
  return success();
}

LogicalResult
Emitter::planWeights(const Program &program, const Graph &graph,
                     ArrayRef<std::pair<const Node *, int>> weights) {
  formedWeights.clear();
  std::optional<WeightForms::Error> failure =
      forms.plan(program, graph, weights, [&](const Node &node) {
        return node.origin && !userLowering(*node.callee).empty();
      });
  if (!failure)
    return success();
  currentNode = failure->node;
  return error(*failure->node) << failure->message;
}

Value Emitter::compressed(const AtenNode &node, StringRef parameter) {
  if (const WeightForms::Use *use = forms.find(node, parameter))
    return formedWeights.lookup({use->weight, use->form});
  return tensor(node, parameter);
}

void Emitter::finish() { result.locations = debug->recordModule(module); }

/// Nodes between two reports of progress.
static constexpr size_t kProgressInterval = 64;

void Emitter::dropUnusedConstants(Block *block, Operation *last,
                                  ArrayRef<Value> results) {
  for (Operation *op = block->empty() ? nullptr : &block->back();
       op && op != last;) {
    Operation *before = op->getPrevNode();
    if (isa<coreai::ConstantOp>(op) && op->use_empty() &&
        !llvm::is_contained(results, op->getResult(0)))
      op->erase();
    op = before;
  }
}

/// Adds the matrices that something other than a view of a higher rank uses.
static void noteMatrices(const Graph &graph, const DenseSet<const Node *> &live,
                         DenseSet<const Node *> &used) {
  auto note = [&](const Node *operand) {
    if (operand->results.size() == 1 && operand->info().isTensor() &&
        operand->info().sizes.size() == 2)
      used.insert(operand);
  };
  for (const Node *node : graph.nodes) {
    if (!live.contains(node))
      continue;
    bool isSplit = node->callee && node->results.size() == 1 &&
                   llvm::is_contained({"view.default", "reshape.default",
                                       "_unsafe_view.default"},
                                      node->callee->name) &&
                   node->info().sizes.size() > 2;
    if (!isSplit)
      forEachOperand(node->arguments, note);
  }
  forEachOperand(graph.outputs, note);
}

LogicalResult Emitter::emitNodes(const Graph &graph) {
  // A branch is emitted while the node that owns it is being lowered.
  const Node *outerNode = currentNode;
  DenseSet<const Node *> live = liveNodes(graph);
  for (const Node *node : graph.nodes)
    if (live.contains(node) && node->callee &&
        node->callee->name == "getitem" && node->arguments[0].isValue())
      usedResults.insert({node->arguments[0].asNode(),
                          static_cast<unsigned>(node->arguments[1].asInt())});
  noteMatrices(graph, live, usedMatrices);
  llvm::SaveAndRestore outerScope(scope);
  beginScope(graph);
  for (const Node *node : graph.nodes) {
    if (node->kind != Node::Kind::Call || !live.contains(node))
      continue;
    currentNode = node;
    Block *block = builder.getInsertionBlock();
    Operation *last = block->empty() ? nullptr : &block->back();
    if (mlir::failed(emitNode(*node)))
      return failure();
    dropUnusedConstants(block, last, results(*node));
    noteValues(*node);
    debug->recordNode(*node, results(*node));
    if (++nodesLowered % kProgressInterval == 0 && options.progress)
      options.progress(nodesLowered);
  }
  // Kept on failure: it says where that was.
  currentNode = outerNode;
  return success();
}

/// All results are tensors that are known to have no elements.
static bool isEmpty(const Node &node) {
  return !node.results.empty() &&
         llvm::all_of(node.results, [](const ValueInfo &info) {
           return info.isTensor() &&
                  llvm::none_of(info.sizes,
                                [](Size size) { return size.isDynamic(); }) &&
                  llvm::is_contained(info.sizes, Size(0));
         });
}

/// Whether all operands of a call have values. Checks have none, nor have
/// results that are neither numbers nor tensors.
LogicalResult Emitter::checkOperands(const Node &node) {
  const Node *missing = nullptr;
  forEachOperand(node.arguments, [&](const Node *operand) {
    ArrayRef<Value> found = results(*operand);
    if (found.empty() || (!operand->returnsTuple && !found.front()))
      missing = operand;
  });
  if (!missing)
    return success();
  return error(node) << "the operand '" << missing->name << "' has no value";
}

/// Picks a result of a call, or an element of a list that stands in the graph.
LogicalResult Emitter::emitGetItem(const Node &node) {
  const Argument &from = node.arguments[0];
  SmallVector<Value> elements;
  if (from.isList())
    for (const Argument &element : from.asList())
      elements.push_back(value(element));
  else if (from.isValue())
    elements.assign(results(*from.asNode()).begin(),
                    results(*from.asNode()).end());
  else
    return error(node) << "what it picks from has no elements";
  int64_t count = elements.size(), position = node.arguments[1].asInt();
  if (position < 0)
    position += count;
  if (position < 0 || position >= count)
    return error(node) << "there is no element " << position << " of " << count;
  setResults(node, {elements[position]});
  return success();
}

LogicalResult Emitter::emitNode(const Node &node) {
  if (isAssertion(node.callee->name))
    return success();
  if (mlir::failed(checkOperands(node)))
    return failure();
  if (node.callee->name == "getitem")
    return emitGetItem(node);
  if (isModuleCall(node))
    return emitModuleCall(node);
  // Lowerings rely on every type having an equivalent.
  for (const ValueInfo &info : node.results)
    if (info.isTensor() && !elementType(info.dtype))
      return error(node) << "'" << node.name << "' has the type "
                         << scalarTypeName(info.dtype)
                         << ", which Core AI cannot express";
  // A node that was made here has nothing that a user's function could be
  // given.
  if (StringRef lowering = userLowering(*node.callee);
      node.origin && !lowering.empty())
    return emitUserCall(node, lowering);
  // Nothing can be computed about tensors without elements, and many ops of the
  // runtime do not take them.
  if (isEmpty(node)) {
    Results empty;
    for (const ValueInfo &info : node.results)
      empty.push_back(constant(
          DenseElementsAttr::get(typeOf(info), ArrayRef<Attribute>())));
    setResults(node, std::move(empty));
    return success();
  }
  if (node.callee->nameSpace == kKernelSizesNamespace) {
    setResults(node,
               {sizes(node.argument("values").asList(), IndexKind::Unsigned)});
    return success();
  }
  if (node.callee->nameSpace == kKernelNamespace) {
    auto kernel = options.kernels.find(node.callee->name);
    if (kernel == options.kernels.end())
      return error(node) << "unable to handle call function op: target: "
                         << node.callee->name
                         << ", namespace: " << kKernelNamespace;
    FailureOr<Results> lowered =
        lowerMetalKernel(kernel->second, AtenNode(node), *this);
    if (mlir::failed(lowered) || failed)
      return failure();
    setResults(node, *std::move(lowered));
    return success();
  }
  LoweringFn lower = findLowering(node.callee->nameSpace, node.callee->name);
  if (!lower)
    return error(node) << "Unsupported ATen op: " << node.callee->name
                       << "; add a lowering with register_torch_lowering()";
  if (std::string contradiction = findContradiction(
          node, isElementwise(node.callee->nameSpace, node.callee->name));
      !contradiction.empty())
    return error(node) << contradiction;
  // A branch of a conditional has nodes of its own.
  llvm::SaveAndRestore outerNode(mayBeEmpty, hasOpenExtents(node));
  FailureOr<Results> lowered = lower(AtenNode(node), *this);
  if (mlir::failed(lowered) || failed)
    return failure();
  if (node.isStored)
    lowered->front() =
        convert(lowered->front(), elementType(node.info().dtype));
  if (mlir::failed(checkResults(node, *lowered)))
    return failure();
  setResults(node, *std::move(lowered));
  return success();
}

LogicalResult Emitter::checkResults(const Node &node, ArrayRef<Value> lowered) {
  if (lowered.size() != node.results.size())
    return error(node) << node.name << ": " << lowered.size() << " results vs "
                       << node.results.size();
  for (auto [i, info, value] : llvm::enumerate(node.results, lowered)) {
    if (!info.isTensor() || !value)
      continue;
    auto mismatch = [&](StringRef what, auto have, auto want) {
      return error(node) << node.name << "[" << i << "]: " << what << " "
                         << have << " vs " << want;
    };
    auto type = dyn_cast<RankedTensorType>(value.getType());
    RankedTensorType expected = typeOf(info);
    if (!type)
      return error(node) << node.name << "[" << i << "]: not a ranked tensor";
    if (type.getRank() != expected.getRank())
      return mismatch("rank", type.getRank(), expected.getRank());
    if (type.getElementType() != expected.getElementType() &&
        !forms.staysNarrow(node))
      return mismatch("dtype", type.getElementType(),
                      expected.getElementType());
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      int64_t have = type.getDimSize(axis), want = expected.getDimSize(axis);
      if (have != want && !ShapedType::isDynamic(have) &&
          !ShapedType::isDynamic(want))
        return mismatch(("dim[" + Twine(axis) + "]").str(), have, want);
    }
  }
  return success();
}
