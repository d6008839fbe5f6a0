// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over calls, and what becomes of each.

#include "Functionalizer.h"
#include "Views.h"

#include "corten/Program/Arguments.h"
#include "corten/Program/Axis.h"
#include "corten/Program/Outline.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

bool corten::isRegion(const Operator &op) {
  return op.nameSpace == "higher_order" &&
         llvm::is_contained(
             {"wrap_with_set_grad_enabled", "wrap_with_autocast"}, op.name);
}

bool corten::isDecomposed(
    ProgramBuilder &builder,
    llvm::function_ref<bool(const Operator &)> hasLowering) {
  llvm::DenseMap<const Operator *, bool> known;
  auto isLeft = [&](const Operator &op) {
    auto [entry, isNew] = known.try_emplace(&op, false);
    if (isNew)
      entry->second = !op.mutates && !isRegion(op) && hasLowering(op);
    return entry->second;
  };
  auto isPlain = [&](const Node *node) {
    return node->kind != Node::Kind::Call ||
           (isLeft(*node->callee) &&
            (!node->sharesMemory || isLeftByDecomposition(*node->callee)));
  };
  return llvm::all_of(builder.mainGraph().nodes, isPlain) &&
         llvm::all_of(builder.subgraphs(), [&](const Graph &graph) {
           return llvm::all_of(graph.nodes, isPlain);
         });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

std::optional<Obstacle> Functionalizer::run() {
  std::vector<const Node *> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (const Node *node : nodes)
    names.insert(node->name);
  if (!rewrite(nodes))
    return obstacle;
  for (Argument &output : graph.outputs)
    output = currentOf(output);
  if (isMain) {
    for (OutputSpec &output : builder.outputs())
      output.value = currentOf(output.value);
    writeOutputs();
  } else {
    for (const Memory &memory : memories)
      if (memory.placeholder && memory.version != 0) {
        fail(*memory.value, "a branch or loop body writes to its input");
        return obstacle;
      }
  }
  graph.nodes = std::move(rewritten);
  dropDead();
  return obstacle;
}

/// Whether a call may be there for its effect. Marked modules may have had one,
/// and outlining finds out. Of a user's operator that a file calls nothing is
/// known but its name: it may write to what it is given.
static bool mayHaveEffect(const Node &node) {
  const Operator &op = *node.callee;
  if (op.nameSpace == kMarkNamespace)
    return true;
  constexpr StringRef kOwn[] = {"aten", "prims", "higher_order", "_operator"};
  return op.parameters.empty() && !node.arguments.empty() &&
         !llvm::is_contained(kOwn, op.nameSpace);
}

/// Without writes, what no output needs has no effect. A decomposition drops it
/// too, such as random numbers that only training would use.
void Functionalizer::dropDead() {
  size_t numOutputs = graph.outputs.size();
  for (const Node *node : graph.nodes)
    if (node->kind == Node::Kind::Call && mayHaveEffect(*node))
      graph.outputs.push_back(Argument::node(node));
  llvm::DenseSet<const Node *> live = liveNodes(graph);
  graph.outputs.resize(numOutputs);
  llvm::erase_if(graph.nodes, [&](const Node *node) {
    return node->kind == Node::Kind::Call && !live.contains(node);
  });
}

bool Functionalizer::rewrite(ArrayRef<const Node *> nodes) {
  return llvm::all_of(nodes, [&](const Node *node) {
    if (node->kind == Node::Kind::Call)
      return rewriteCall(node);
    rewritten.push_back(node);
    return true;
  });
}

static bool isFalse(const Argument &argument) {
  return argument.kind() == Argument::Kind::Bool && !argument.asBool();
}

bool Functionalizer::rewriteCall(const Node *node) {
  const Operator &op = *node->callee;
  if (isRegion(op))
    return dissolve(node);
  if (isPick(*node))
    return rewriteGetitem(node);
  if (!rewriteSubgraphs(*node))
    return false;
  if (op.name == "batch_norm.default" && op.nameSpace == "aten" &&
      !isFalse(node->argument("training")) &&
      node->argument("running_mean").isValue())
    return rewriteBatchNorm(node);

  bool isSometimes = isSometimesView(op);
  if (viewKindOf(op) != ViewKind::None && (!isSometimes || node->sharesMemory))
    return rewriteView(node);
  if (op.mutates)
    return rewriteInPlace(node);
  if (op.returnsView && !isSometimes)
    return rewriteUnknownView(node);
  updateArguments(node);
  rewritten.push_back(node);
  return true;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// True for a call that returns its operand, not another view of it: torch may
/// take the one for the other anywhere in a program.
static bool returnsItself(const Node &node) {
  const Operator &op = *node.callee;
  if (op.mutates) // detach_, requires_grad_
    return true;
  return node.sharesMemory &&
         (op.name.starts_with("to.") || op.name == "contiguous.default" ||
          op.name == "type_as.default");
}

bool Functionalizer::rewriteView(const Node *node) {
  Argument operand = resolve(node->arguments[0]);
  if (!isTensor(operand))
    return rewriteUnknownView(node);
  unsigned base = placeOf(operand.asNode());
  if (returnsItself(*node)) {
    substitutes[node] = operand;
    return true;
  }
  updateArguments(node);
  rewritten.push_back(node);
  if (node->returnsTuple)
    viewsOfNode[node] = {base, memories[places[base].memory].version};
  else
    placeOfNode[node] = addView(base, node, 0, node);
  return true;
}

/// A view of its operands that this file cannot express: fine as long as
/// nothing is written to them or to it.
bool Functionalizer::rewriteUnknownView(const Node *node) {
  auto note = [&](const Argument &argument) {
    Argument tensor = resolve(argument);
    if (isTensor(tensor))
      memories[places[placeOf(tensor.asNode())].memory].unknownView = node;
  };
  for (const Argument &argument : node->arguments) {
    if (argument.isList())
      llvm::for_each(argument.asList(), note);
    else
      note(argument);
  }
  updateArguments(node);
  rewritten.push_back(node);
  if (node->returnsTuple)
    viewsOfNode[node] = {};
  else
    memories[places[placeOf(node)].memory].unknownView = node;
  return true;
}

bool Functionalizer::rewriteGetitem(const Node *node) {
  const Node *tuple = node->arguments[0].asNode();
  int64_t number = node->arguments[1].asInt();
  auto failToFind = [&] {
    return fail(*node, "is a result that '" + tuple->name + "' (" +
                           tuple->callee->printedName() + ") lacks");
  };
  if (auto found = dissolvedResults.find(tuple);
      found != dissolvedResults.end()) {
    std::optional<size_t> piece = positionOf(number, found->second.size());
    if (!piece)
      return failToFind();
    substitutes[node] = found->second[*piece];
    return true;
  }
  rewritten.push_back(node);
  auto views = viewsOfNode.find(tuple);
  if (views == viewsOfNode.end())
    return true;
  if (!views->second.base) {
    memories[places[placeOf(node)].memory].unknownView = tuple;
    return true;
  }
  std::optional<size_t> piece = positionOf(number, tuple->results.size());
  if (!piece)
    return failToFind();
  unsigned place = addView(*views->second.base, tuple, *piece, node);
  // Writes may have come between the tuple and this.
  places[place].version = views->second.version;
  placeOfNode[node] = place;
  return true;
}

bool Functionalizer::rewriteInPlace(const Node *node) {
  const Operator &op = *node->callee;
  std::optional<std::string> functional = functionalName(op.name);
  Argument target =
      node->arguments.empty() ? Argument() : resolve(node->arguments[0]);
  if (op.nameSpace != "aten" || !functional || !target.isValue())
    return fail(*node, "(" + op.printedName() +
                           ") writes to an argument other than its first");
  if (isIrregular(op.name))
    return fail(*node, "(" + op.printedName() +
                           ") changes more than the values of a tensor");
  if (!isTensor(target) || !isTensor(*node))
    return fail(*node, "(" + op.printedName() +
                           ") writes something else than a tensor to one");
  unsigned place = placeOf(target.asNode());
  // How torch says that a buffer got a new value that was written in place.
  if (op.name == "copy_.default")
    if (Argument source = resolve(node->argument("src"));
        source.isValue() && placeOfNode.contains(source.asNode()) &&
        placeOf(source.asNode()) == place) {
      substitutes[node] = target;
      return true;
    }

  updateArguments(node);
  Node &call = builder.edit(node);
  const Operator *&callee = operators[*functional];
  if (!callee)
    callee = builder.addOperator("aten", *functional, op.parameters);
  call.callee = callee;
  call.isStored = true;
  rewritten.push_back(node);
  if (!write(node, target.asNode(), node))
    return false;
  placeOfNode[node] = place;
  return true;
}

/// batch_norm(input, weight, bias, running_mean, running_var, training=True,
///            momentum, eps, cudnn_enabled)
///
/// In training it updates the running statistics, which its schema does not
/// say.
bool Functionalizer::rewriteBatchNorm(const Node *node) {
  Argument mean = resolve(node->argument("running_mean"));
  Argument variance = resolve(node->argument("running_var"));
  if (!isTensor(mean) || !isTensor(variance))
    return fail(*node, "(" + node->callee->printedName() +
                           ") has no tensor for each of its running "
                           "statistics");
  ValueInfo result = node->info(), statistics = mean.asNode()->info();
  SmallVector<std::pair<StringRef, Argument>> arguments;
  for (StringRef parameter : {"input", "weight", "bias", "running_mean",
                              "running_var", "training", "momentum", "eps"})
    arguments.push_back({parameter, currentOf(node->argument(parameter))});
  Node &tuple = create(
      *node, "_native_batch_norm_legit_functional.default", arguments,
      {result, statistics, statistics, statistics, variance.asNode()->info()});
  tuple.returnsTuple = true;
  substitutes[node] = Argument::node(&createGetitem(*node, tuple, 0));
  return write(node, mean.asNode(), &createGetitem(*node, tuple, 3)) &&
         write(node, variance.asNode(), &createGetitem(*node, tuple, 4));
}

/// wrap_with_set_grad_enabled(enabled, graph, operands...)
/// wrap_with_autocast(device, dtype, enabled, cache, graph, operands...)
///
/// Gradients are of no concern here, so the region's nodes join the graph. One
/// that computes in another type than its nodes say cannot.
bool Functionalizer::dissolve(const Node *node) {
  bool isAutocast = node->callee->name == "wrap_with_autocast";
  unsigned position = isAutocast ? 4 : 1;
  if (node->arguments.size() <= position ||
      node->arguments[position].kind() != Argument::Kind::Graph)
    return fail(*node, "has no region to run");
  if (isAutocast && !isFalse(node->arguments[2]))
    return fail(*node, "casts automatically");
  const Graph *region = node->arguments[position].asGraph();
  if (!dissolved.insert(region).second)
    return fail(*node, "runs a region for the second time");
  ArrayRef<Argument> operands = node->arguments.drop_front(position + 1);
  size_t numInputs = llvm::count_if(region->nodes, [](const Node *inner) {
    return inner->kind == Node::Kind::Placeholder;
  });
  if (operands.size() != numInputs)
    return fail(*node, "does not fit the region that it runs");
  std::vector<const Node *> body;
  for (const Node *inner : region->nodes) {
    if (inner->kind == Node::Kind::Placeholder) {
      substitutes[inner] = resolve(operands.front());
      operands = operands.drop_front();
      continue;
    }
    if (names.contains(inner->name))
      builder.edit(inner).name = uniqueName(inner->name);
    names.insert(inner->name);
    body.push_back(inner);
  }
  if (!rewrite(body))
    return false;
  dissolvedResults[node] = region->outputs;
  return true;
}

bool Functionalizer::rewriteSubgraphs(const Node &node) {
  for (const Argument &argument : node.arguments) {
    if (argument.kind() != Argument::Kind::Graph)
      continue;
    Functionalizer inner(builder, builder.edit(argument.asGraph()), false);
    obstacle = inner.run();
    if (obstacle)
      return false;
  }
  return true;
}

/// What was written to the program's inputs becomes its first outputs:
/// parameters, buffers, then the user's own.
void Functionalizer::writeOutputs() {
  std::vector<OutputSpec> states;
  auto add = [&](InputSpec::Kind from, OutputSpec::Kind to) {
    for (const InputSpec &input : builder.inputs()) {
      auto place = placeOfNode.find(input.node);
      if (input.kind != from || place == placeOfNode.end() ||
          memories[places[place->second].memory].version == 0)
        continue;
      OutputSpec output;
      output.kind = to;
      output.value = Argument::node(current(place->second));
      output.mutated = input.node;
      states.push_back(output);
    }
  };
  add(InputSpec::Kind::Parameter, OutputSpec::Kind::ParameterMutation);
  add(InputSpec::Kind::Buffer, OutputSpec::Kind::BufferMutation);
  add(InputSpec::Kind::UserInput, OutputSpec::Kind::UserInputMutation);

  bool isStated = llvm::any_of(
      builder.outputs(), [](const OutputSpec &spec) { return spec.mutated; });
  for (const Memory &memory : memories) {
    if (!memory.placeholder || memory.version == 0)
      continue;
    bool isState = llvm::any_of(states, [&](const OutputSpec &state) {
      return state.mutated == memory.placeholder;
    });
    if (isState && !isStated)
      continue;
    StringRef name = userName(builder.inputs(), *memory.placeholder);
    fail(*memory.value,
         "writes to '" + name +
             (isState
                  ? "' besides the new values that the signature lists"
                  : "', which is no buffer (register_buffer makes it one)"));
    return;
  }
  SmallVector<Argument> values;
  for (const OutputSpec &state : states)
    values.push_back(state.value);
  graph.outputs.insert(graph.outputs.begin(), values.begin(), values.end());
  std::vector<OutputSpec> &outputs = builder.outputs();
  outputs.insert(outputs.begin(), states.begin(), states.end());
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The argument with nodes that stand for another replaced by that.
Argument Functionalizer::resolve(Argument argument) const {
  while (argument.isValue()) {
    auto found = substitutes.find(argument.asNode());
    if (found == substitutes.end())
      break;
    argument = found->second;
  }
  return argument;
}

/// The argument with every tensor in it replaced by its current value.
Argument Functionalizer::currentOf(const Argument &argument) {
  if (argument.isList()) {
    SmallVector<Argument> elements;
    for (const Argument &element : argument.asList())
      elements.push_back(currentOf(element));
    return Argument::list(builder.save(elements));
  }
  Argument resolved = resolve(argument);
  if (!resolved.isValue())
    return resolved;
  auto place = placeOfNode.find(resolved.asNode());
  if (place == placeOfNode.end())
    return resolved;
  return Argument::node(current(place->second));
}

void Functionalizer::updateArguments(const Node *node) {
  SmallVector<Argument> arguments;
  for (const Argument &argument : node->arguments)
    arguments.push_back(currentOf(argument));
  builder.edit(node).arguments = builder.save(arguments);
}

std::optional<Obstacle> corten::functionalize(ProgramBuilder &builder) {
  return Functionalizer(builder, builder.mainGraph(), /*isMain=*/true).run();
}
