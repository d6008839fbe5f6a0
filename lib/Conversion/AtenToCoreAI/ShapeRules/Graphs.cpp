// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of what calls of graphs return. What the graphs take, and how much
// they return, is for the lowerings to say, which know their operands.

#include "ShapeRules/CheckedCall.h"

using namespace corten;
using namespace corten::shapes;
using llvm::ArrayRef;
using llvm::Twine;

/// The results from `first` on have the shapes that the graph returns, behind
/// `numLeading` axes of their own.
static void checkReturned(CheckedCall &call, const Graph &graph,
                          size_t first = 0, size_t numLeading = 0) {
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(graph.outputs, call.node.results))) {
    auto [output, result] = pair;
    if (i < first || !result.isTensor() || !output.isValue() ||
        output.asNode()->results.empty() || !output.asNode()->info().isTensor())
      continue;
    ArrayRef<Size> returned = output.asNode()->info().sizes;
    call.require(result.sizes.size() >= numLeading &&
                     fits(returned, result.sizes.drop_front(numLeading)),
                 "result " + Twine(i) + " has the shape " +
                     print(result.sizes) + ", where graph '" + graph.name +
                     "' returns " + print(returned));
  }
}

static const Graph *graphAt(CheckedCall &call, size_t position) {
  ArrayRef<Argument> arguments = call.node.arguments;
  if (position < arguments.size() &&
      arguments[position].kind() == Argument::Kind::Graph)
    return arguments[position].asGraph();
  call.fail("argument " + Twine(position) + " is no graph");
  return nullptr;
}

/// cond(pred, true_graph, false_graph, operands)
void shapes::checkBranches(CheckedCall &call) {
  for (size_t position : {1, 2})
    if (const Graph *graph = graphAt(call, position))
      checkReturned(call, *graph);
}

/// while_loop(cond_graph, body_graph, carried, additional)
void shapes::checkLoop(CheckedCall &call) {
  graphAt(call, 0);
  if (const Graph *body = graphAt(call, 1))
    checkReturned(call, *body);
}

/// scan(combine_graph, init, xs, additional), and those that carry nothing.
void shapes::checkSteps(CheckedCall &call) {
  const Graph *graph = graphAt(call, 0);
  if (!graph)
    return;
  ArrayRef<Argument> arguments = call.node.arguments;
  size_t numCarried = 0;
  if (call.node.callee->name == "scan" && arguments.size() > 1 &&
      arguments[1].isList())
    numCarried = arguments[1].asList().size();
  checkReturned(call, *graph, numCarried, /*numLeading=*/1);
}

/// The first graph among the arguments is called once.
void shapes::checkGraphCall(CheckedCall &call) {
  for (const Argument &argument : call.node.arguments)
    if (argument.kind() == Argument::Kind::Graph)
      return checkReturned(call, *argument.asGraph());
}
