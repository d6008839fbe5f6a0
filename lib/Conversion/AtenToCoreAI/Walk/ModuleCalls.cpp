// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of modules that stay graphs of their own: each becomes a graph, private
// and declared as a composite or public and plain, and an invocation of it.

#include "LoweredNodes.h"
#include "Walk/DebugRecorder.h"
#include "Walk/Declaration.h"
#include "Walk/GraphBuilder.h"
#include "Walk/ProgramEmitter.h"

#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace corten;
using namespace mlir;

/// Eight hexadecimal digits that follow from `content` alone.
static std::string suffix(StringRef content) {
  auto hash = static_cast<uint32_t>(llvm::xxh3_64bits(content));
  return llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/8);
}

/// The inputs of the body: its placeholders, without the weights.
static SmallVector<const Node *> inputsOf(const ModuleCall &call) {
  SmallVector<const Node *> inputs;
  for (const Node *node : call.body->nodes)
    if (node->kind == Node::Kind::Placeholder)
      inputs.push_back(node);
  inputs.pop_back_n(call.weights.size());
  return inputs;
}

/// What the module declares, with the names of this call.
static CompositeDeclaration declare(const CompositeDeclaration &declared,
                                    const ModuleCall &call,
                                    ArrayRef<GraphInput> inputs,
                                    ArrayRef<std::string> results) {
  CompositeDeclaration declaration = declared;
  for (const GraphInput &input : inputs)
    declaration.inputNames.push_back(input.name);
  for (unsigned i = 0; i < call.numResults; ++i)
    declaration.outputNames.push_back(
        call.numResults == 1 ? "output" : "output_" + std::to_string(i));
  for (const std::string &result : results.drop_front(call.numResults))
    declaration.outputNames.push_back(result);
  return declaration;
}

LogicalResult ProgramEmitter::emitModuleGraph(const Program &program,
                                              const ModuleCall &call) {
  const ExternalModule &external = program.modules[call.module];
  GraphSignature signature;
  SmallVector<const Node *> inputs = inputsOf(call);
  // A changed type, place or declaration gives another symbol.
  std::string content;
  llvm::raw_string_ostream seed(content);
  seed << entryName << '\0' << external.path << '\0' << call.ordinal;
  llvm::StringSet<> taken;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    RankedTensorType type = typeOf(input->info());
    if (!type)
      return error(*input) << "'" << input->name << "' has the type "
                           << scalarTypeName(input->info().dtype)
                           << ", which Core AI cannot express";
    StringRef name =
        i < call.argumentNames.size() ? call.argumentNames[i] : input->name;
    signature.inputs.push_back({type, distinctName(name, taken), {}, {}});
    seed << '\0' << type;
  }
  taken.clear();
  SmallVector<std::string> resultNames;
  for (const Argument &output : call.body->outputs) {
    // An argument that is returned keeps its name.
    auto *input = llvm::find(inputs, output.asNode());
    StringRef name = input == inputs.end()
                         ? nameAsOutput(*output.asNode())
                         : signature.inputs[input - inputs.begin()].name;
    resultNames.push_back(distinctName(name, taken));
  }
  coreai::CompositeDeclarationAttr declaration;
  if (external.composite) {
    declaration = attributeOf(builder, declare(*external.composite, call,
                                               signature.inputs, resultNames));
    seed << '\0' << declaration;
  }
  do {
    signature.symbol = external.symbol + "_" + suffix(content);
    seed << '\0';
  } while (!symbols.try_emplace(signature.symbol).second);

  builder.setInsertionPointToEnd(module.getBody());
  coreai::GraphOp graph = createGraph(builder, location, signature);
  graph.setNoInline(true);
  if (declaration) {
    graph.setPriv(true);
    graph.setCompositeDeclAttr(declaration);
  }
  Block &block = graph.getBodyRegion().front();
  builder.setInsertionPointToStart(&block);
  debug->beginGraph(*call.body, loweredNodes(*call.body, options.assertions),
                    signature.symbol);
  if (mlir::failed(planWeights(program, *call.body, call.weights)))
    return failure();
  DenseMap<int, Value> weights;
  for (auto [node, weight] : call.weights)
    if (mlir::failed(emitWeight(program, *node, weight, weights)))
      return failure();
  for (auto [node, argument] : llvm::zip_equal(inputs, block.getArguments()))
    setResults(*node, {argument});
  if (mlir::failed(emitNodes(*call.body)))
    return failure();

  SmallVector<GraphResult> results;
  for (auto [output, name] : llvm::zip_equal(call.body->outputs, resultNames)) {
    const Node *node = output.asNode();
    currentNode = node;
    results.push_back({withType(value(output), typeOf(node->info())), name});
  }
  currentNode = nullptr;
  finishGraph(builder, location, graph, results);
  debug->recordGraph(graph);
  moduleGraphs[call.body] = graph;
  return success();
}

LogicalResult ProgramEmitter::emitModuleCall(const Node &node) {
  auto graph = cast<coreai::GraphOp>(
      moduleGraphs.lookup(node.arguments.front().asGraph()));
  SmallVector<Value> operands;
  for (auto [argument, wanted] :
       llvm::zip_equal(node.arguments.drop_front(),
                       graph.getBodyRegion().getArgumentTypes()))
    operands.push_back(
        withType(value(argument), cast<RankedTensorType>(wanted)));
  setResults(node, Results(createInvoke(builder, location, graph, operands)));
  return success();
}

void ProgramEmitter::sortModuleGraphs(const Program &program,
                                      Operation *entry) {
  SmallVector<const ModuleCall *> calls;
  for (const ModuleCall &call : program.moduleCalls)
    calls.push_back(&call);
  auto rank = [&](const ModuleCall *call) {
    StringRef path = program.modules[call->module].path;
    int64_t depth = path.empty() ? -1 : path.count('.');
    return std::tuple(-depth, call->module, call->position);
  };
  llvm::sort(calls, [&](const ModuleCall *lhs, const ModuleCall *rhs) {
    return rank(lhs) < rank(rhs);
  });
  for (const ModuleCall *call : calls)
    moduleGraphs.lookup(call->body)->moveBefore(entry);
}
