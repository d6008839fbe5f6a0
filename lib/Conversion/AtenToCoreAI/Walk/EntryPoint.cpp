// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One exported program as one public graph: which placeholders are inputs,
// weights and state, and what it returns.

#include "LoweredNodes.h"
#include "Walk/DebugRecorder.h"
#include "Walk/GraphBuilder.h"
#include "Walk/Interface.h"
#include "Walk/ProgramEmitter.h"

#include "corten/Program/Outline.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

ProgramEmitter::ProgramEmitter(ConvertedModule &result,
                               const ConversionOptions &options)
    : Emitter(result.context.get(), result.departures), result(result),
      module(*result.module), options(options),
      debug(std::make_unique<DebugRecorder>(result.context.get(), options,
                                            result.counters)),
      forms(window, options.assertions) {}

ProgramEmitter::~ProgramEmitter() = default;

void ProgramEmitter::finish() {
  result.locations = debug->recordModule(module);
}

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
      if (argument.isValue() && !argument.asNode()->results.empty() &&
          argument.asNode()->info().isTensor())
        return true;
      visit(argument);
      if (argument.isList())
        llvm::for_each(argument.asList(), visit);
    }
  }
  return false;
}

FailureOr<GraphSignature>
ProgramEmitter::signatureOf(const EntryPoint &entry,
                            const GraphInterface &interface) {
  GraphSignature signature;
  signature.symbol = entry.name;
  for (const GraphInterface::Input &input : interface.inputs) {
    currentNode = input.spec->node;
    RankedTensorType type = inputType(*this, currentNode->info());
    if (!type)
      return error(*currentNode)
             << (input.spec->isMutated ? "state '" : "input '")
             << userName(entry.program->inputs, *currentNode)
             << "' has the type " << scalarTypeName(currentNode->info().dtype)
             << ", which Core AI cannot express";
    signature.inputs.push_back({type, input.name,
                                input.spec->isMutated ? input.name : "",
                                rangesOf(currentNode->info(), *entry.program)});
  }
  currentNode = nullptr;
  return signature;
}

LogicalResult ProgramEmitter::emitWeights(const Program &program,
                                          const DenseSet<const Node *> &live) {
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
  return success();
}

LogicalResult ProgramEmitter::emitEntryPoint(const EntryPoint &entry) {
  const Program &program = *entry.program;
  entryName = entry.name;
  forgetAll();
  moduleGraphs.clear();
  this->program = &program;
  findOpenSymbols(program);
  symbols.try_emplace(entry.name);
  currentNode = nullptr;
  FailureOr<GraphInterface> interface = nameInterface(entry, location);
  if (mlir::failed(interface))
    return failure();
  FailureOr<GraphSignature> signature = signatureOf(entry, *interface);
  if (mlir::failed(signature))
    return failure();
  for (const GraphInterface::Input &input : interface->inputs)
    if (input.spec->isMutated)
      result.states.push_back(
          {entry.name, input.name, input.spec->target.str()});

  for (const ModuleCall &call : program.moduleCalls)
    if (mlir::failed(emitModuleGraph(program, call)))
      return failure();
  builder.setInsertionPointToEnd(module.getBody());
  coreai::GraphOp graph = createGraph(builder, location, *signature);
  Block &block = graph.getBodyRegion().front();
  builder.setInsertionPointToStart(&block);
  DenseSet<const Node *> live = loweredNodes(program.main, options.assertions);
  debug->beginGraph(program.main, live, entry.name);
  // Weights first: whoever attaches their data looks at the top of the graph.
  if (mlir::failed(emitWeights(program, live)))
    return failure();
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
  for (const GraphInterface::Output &output : interface->outputs) {
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
