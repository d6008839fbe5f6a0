// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tensor of the program is a place: either memory of its own, or a view
// of another place. Memory has a value and a version, which a write increases.
// A view remembers its value and the version that this belongs to; when it is
// read at a later version, the view operator is applied again to the current
// value of what it is a view of. A write to a view is a write to the place
// below, of that place's value with the written part replaced.

#include "corten/Program/Functionalize.h"

#include "Views.h"

#include "corten/Program/Arguments.h"
#include "corten/Program/Axis.h"
#include "corten/Program/Outline.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace corten;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

std::optional<std::string> corten::functionalName(StringRef name) {
  auto [base, overload] = name.split('.');
  std::string suffix = overload.empty() ? "" : ("." + overload).str();
  if (base.starts_with("__i") && base.ends_with("__"))
    return ("__" + base.drop_front(3)).str() + suffix;
  if (base.ends_with("__") || !base.consume_back("_"))
    return std::nullopt;
  // Their functional forms name the kinds of both operands, or of none.
  if (base == "pow" || base == "float_power")
    return (base + ".Tensor_" + overload).str();
  if (base == "floor_divide" && overload == "Tensor")
    return (base + ".default").str();
  return base.str() + suffix;
}

bool corten::writesNothing(StringRef name) {
  Operator op;
  op.nameSpace = "aten";
  op.name = name;
  return viewKindOf(op) == ViewKind::Whole;
}

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

namespace {

/// Rewrites one graph; the regions that dissolve into it are part of it.
class Functionalizer {
public:
  Functionalizer(ProgramBuilder &builder, Graph &graph, bool isMain)
      : builder(builder), graph(graph), isMain(isMain) {}

  std::optional<Obstacle> run();

private:
  struct Memory {
    const Node *value;
    unsigned version = 0;
    /// The placeholder that it belongs to, if any.
    const Node *placeholder = nullptr;
    /// An operator that made a view of it, or made it a view, in a way that is
    /// not known: it must not be written to.
    const Node *unknownView = nullptr;
  };
  struct Place {
    unsigned memory;
    /// The place that this is a view of, by which operator, and which of its
    /// results.
    std::optional<unsigned> base;
    const Node *view = nullptr;
    size_t piece = 0;
    const Node *value = nullptr;
    unsigned version = 0;
  };
  /// Several views of one place, at the version that they were made of; without
  /// a base their relation to it is not known.
  struct Views {
    std::optional<unsigned> base;
    unsigned version = 0;
  };
  /// False once there is an obstacle.
  using Status = bool;

  Status fail(const Node &node, const Twine &reason) {
    obstacle = Obstacle{&node, reason.str()};
    return false;
  }

  // The walk.
  Status rewrite(ArrayRef<const Node *> nodes);
  Status rewriteCall(const Node *node);
  Status rewriteView(const Node *node);
  Status rewriteUnknownView(const Node *node);
  Status rewriteGetitem(const Node *node);
  Status rewriteInPlace(const Node *node);
  Status rewriteBatchNorm(const Node *node);
  Status dissolve(const Node *node);
  Status rewriteSubgraphs(const Node &node);
  void writeOutputs();
  void dropDead();

  // Places.
  unsigned placeOf(const Node *node);
  unsigned addView(unsigned base, const Node *view, size_t piece,
                   const Node *value);
  const Node *current(unsigned place);
  Status write(const Node *by, const Node *target, const Node *value);
  const Node *replacePart(const Node *by, const Place &part, const Node *whole,
                          const Node *value);

  // Arguments and nodes.
  Argument resolve(Argument argument) const;
  Argument currentOf(const Argument &argument);
  void updateArguments(const Node *node);
  Node &create(const Node &like, StringRef name,
               ArrayRef<std::pair<StringRef, Argument>> arguments,
               ArrayRef<ValueInfo> results);
  Node &createGetitem(const Node &like, const Node &tuple, size_t piece);
  Node &applyAgain(const Place &place, const Node *operand);
  llvm::ArrayRef<Argument> integers(ArrayRef<int64_t> values);
  StringRef uniqueName(StringRef base);

  ProgramBuilder &builder;
  Graph &graph;
  bool isMain;
  std::vector<const Node *> rewritten;
  std::vector<Memory> memories;
  std::vector<Place> places;
  llvm::DenseMap<const Node *, unsigned> placeOfNode;
  llvm::DenseMap<const Node *, Views> viewsOfNode;
  /// Nodes that stand for something else: placeholders of a dissolved region,
  /// and the results picked from it.
  llvm::DenseMap<const Node *, Argument> substitutes;
  llvm::DenseMap<const Node *, std::vector<Argument>> dissolvedResults;
  llvm::DenseSet<const Graph *> dissolved;
  llvm::StringMap<const Operator *> operators;
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> lastSuffix;
  std::optional<Obstacle> obstacle;
};

} // namespace

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
// Places
//===----------------------------------------------------------------------===//

/// The place of a tensor; the first question for one makes it memory of its
/// own.
unsigned Functionalizer::placeOf(const Node *node) {
  auto [entry, isNew] = placeOfNode.try_emplace(node, places.size());
  if (isNew) {
    Memory memory;
    memory.value = node;
    if (node->kind == Node::Kind::Placeholder)
      memory.placeholder = node;
    Place place;
    place.memory = memories.size();
    place.value = node;
    memories.push_back(memory);
    places.push_back(place);
  }
  return entry->second;
}

unsigned Functionalizer::addView(unsigned base, const Node *view, size_t piece,
                                 const Node *value) {
  Place place;
  place.memory = places[base].memory;
  place.base = base;
  place.view = view;
  place.piece = piece;
  place.value = value;
  place.version = memories[place.memory].version;
  places.push_back(place);
  return places.size() - 1;
}

/// The value of a place after all writes so far.
const Node *Functionalizer::current(unsigned index) {
  const Memory &memory = memories[places[index].memory];
  // From the view down to what is known; a loop, since there may be many.
  SmallVector<unsigned> outdated;
  std::optional<unsigned> place = index;
  for (; place && places[*place].version != memory.version;
       place = places[*place].base)
    outdated.push_back(*place);
  const Node *value = place ? places[*place].value : memory.value;
  for (unsigned each : llvm::reverse(outdated)) {
    if (places[each].base)
      value = &applyAgain(places[each], value);
    places[each].value = value;
    places[each].version = memory.version;
  }
  return value;
}

/// Writes `value` to the place of `target`.
bool Functionalizer::write(const Node *by, const Node *target,
                           const Node *value) {
  unsigned index = placeOf(target);
  Memory &memory = memories[places[index].memory];
  if (memory.unknownView)
    return fail(*by, "writes to memory that '" + memory.unknownView->name +
                         "' (" + memory.unknownView->callee->printedName() +
                         ") also refers to");
  unsigned version = memory.version + 1;
  // The wholes are read before the version changes.
  SmallVector<std::pair<unsigned, const Node *>> written = {{index, value}};
  while (places[index].base) {
    unsigned base = *places[index].base;
    Place part = places[index];
    value = replacePart(by, part, current(base), value);
    if (!value)
      return false;
    index = base;
    written.push_back({index, value});
  }
  memory.value = value;
  memory.version = version;
  for (auto [place, newValue] : written) {
    places[place].value = newValue;
    places[place].version = version;
  }
  return true;
}

/// The value of `part`'s base, `whole`, with the part replaced by `value`; null
/// with the obstacle set if that cannot be expressed.
const Node *Functionalizer::replacePart(const Node *by, const Place &part,
                                        const Node *whole, const Node *value) {
  const Node &view = *part.view;
  const ValueInfo &info = whole->info();
  int64_t rank = info.sizes.size();
  Argument self = Argument::node(whole), source = Argument::node(value);
  auto number = [](int64_t value) { return Argument::integer(value); };
  auto scatterSlice = [&](Argument dim, Argument start, Argument end,
                          Argument step) -> const Node * {
    return &create(*by, "slice_scatter.default",
                   {{"self", self},
                    {"src", source},
                    {"dim", dim},
                    {"start", start},
                    {"end", end},
                    {"step", step}},
                   info);
  };
  auto scatterSelected = [&](Argument index) -> const Node * {
    return &create(*by, "select_scatter.default",
                   {{"self", self},
                    {"src", source},
                    {"dim", view.argument("dim")},
                    {"index", index}},
                   info);
  };
  auto refuse = [&](const Twine &reason) -> const Node * {
    fail(*by, "writes through '" + view.name + "' (" +
                  view.callee->printedName() + ")" + reason);
    return nullptr;
  };

  switch (viewKindOf(*view.callee)) {
  case ViewKind::Whole:
    return value;
  case ViewKind::Reshape:
    return &create(*by, "reshape_as.default",
                   {{"self", source}, {"other", self}}, info);
  case ViewKind::Permute: {
    std::optional<SmallVector<int64_t>> order = permutationOf(view, rank);
    if (!order)
      return refuse(", which permutes no tensor of rank " + Twine(rank));
    SmallVector<int64_t> inverse(rank);
    for (auto [to, from] : llvm::enumerate(*order))
      inverse[from] = static_cast<int64_t>(to);
    return &create(
        *by, "permute.default",
        {{"self", source}, {"dims", Argument::list(integers(inverse))}}, info);
  }
  case ViewKind::Slice:
    return scatterSlice(view.argument("dim"), view.argument("start"),
                        view.argument("end"), view.argument("step"));
  case ViewKind::Narrow: {
    const Argument &start = view.argument("start");
    const Argument &length = view.argument("length");
    if (!start.isInt() || !length.isInt() || start.asInt() < 0)
      return refuse(" at a symbolic place");
    int64_t end = 0;
    if (llvm::AddOverflow(start.asInt(), length.asInt(), end))
      return refuse(" beyond all memory");
    return scatterSlice(view.argument("dim"), start, number(end), number(1));
  }
  case ViewKind::Select:
    return scatterSelected(view.argument("index"));
  case ViewKind::Unbind:
    return scatterSelected(number(static_cast<int64_t>(part.piece)));
  case ViewKind::Split: {
    const Argument &dim = view.argument("dim");
    if (!dim.isInt())
      return refuse(" along a symbolic axis");
    std::optional<size_t> axis = positionOf(dim.asInt(), info.sizes.size());
    int64_t start = 0, end = 0;
    for (const ValueInfo &piece : view.results.take_front(part.piece + 1)) {
      if (!axis || piece.sizes.size() != info.sizes.size())
        return refuse(" into parts of another rank");
      if (piece.sizes[*axis].isDynamic())
        return refuse(" into parts of symbolic size");
      start = end;
      if (llvm::AddOverflow(start, piece.sizes[*axis].get(), end))
        return refuse(" beyond all memory");
    }
    return scatterSlice(number(static_cast<int64_t>(*axis)), number(start),
                        number(end), number(1));
  }
  case ViewKind::Diagonal:
    return &create(*by, "diagonal_scatter.default",
                   {{"self", self},
                    {"src", source},
                    {"offset", view.argument("offset")},
                    {"dim1", view.argument("dim1")},
                    {"dim2", view.argument("dim2")}},
                   info);
  case ViewKind::RealPairs:
    return &create(*by, "view_as_complex.default", {{"self", source}}, info);
  case ViewKind::ComplexPairs:
    return &create(*by, "view_as_real.default", {{"self", source}}, info);
  case ViewKind::ReadOnly:
  case ViewKind::None:
    break;
  }
  return refuse("");
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
// Arguments and nodes
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

/// A call of an ATen operator on behalf of `like`.
Node &Functionalizer::create(const Node &like, StringRef name,
                             ArrayRef<std::pair<StringRef, Argument>> arguments,
                             ArrayRef<ValueInfo> results) {
  const Operator *&callee = operators[name];
  SmallVector<Argument> values;
  SmallVector<Parameter> parameters;
  for (const auto &[parameter, value] : arguments) {
    values.push_back(value);
    if (!callee)
      parameters.push_back({builder.save(parameter), false, {}});
  }
  if (!callee)
    callee = builder.addOperator("aten", name, parameters);
  Node &node = builder.addNode(graph, Node::Kind::Call,
                               uniqueName(name.split('.').first));
  node.callee = callee;
  node.arguments = builder.save(values);
  node.results = builder.save(results);
  node.stackTrace = like.stackTrace;
  node.module = like.module;
  rewritten.push_back(&node);
  return node;
}

Node &Functionalizer::createGetitem(const Node &like, const Node &tuple,
                                    size_t piece) {
  const Operator *&callee = operators["getitem"];
  if (!callee)
    callee = builder.addOperator("_operator", "getitem", {});
  Node &node = builder.addNode(graph, Node::Kind::Call, uniqueName("getitem"));
  node.callee = callee;
  node.arguments = builder.save(
      {Argument::node(&tuple), Argument::integer(static_cast<int64_t>(piece))});
  node.results = builder.save(tuple.results[piece]);
  node.stackTrace = like.stackTrace;
  node.module = like.module;
  rewritten.push_back(&node);
  return node;
}

/// The view operator of `place` on a new value of what it is a view of.
Node &Functionalizer::applyAgain(const Place &place, const Node *operand) {
  const Node &view = *place.view;
  SmallVector<Argument> arguments(view.arguments);
  arguments[0] = Argument::node(operand);
  Node &again = builder.addNode(graph, Node::Kind::Call,
                                uniqueName(view.callee->name.split('.').first));
  again.callee = view.callee;
  again.arguments = builder.save(arguments);
  again.results = view.results;
  again.returnsTuple = view.returnsTuple;
  again.stackTrace = view.stackTrace;
  again.module = view.module;
  rewritten.push_back(&again);
  return view.returnsTuple ? createGetitem(view, again, place.piece) : again;
}

ArrayRef<Argument> Functionalizer::integers(ArrayRef<int64_t> values) {
  SmallVector<Argument> arguments;
  for (int64_t value : values)
    arguments.push_back(Argument::integer(value));
  return builder.save(arguments);
}

StringRef Functionalizer::uniqueName(StringRef base) {
  // Names are never given back, so that none before the last is free.
  unsigned &suffix = lastSuffix[base];
  std::string name = base.str();
  while (!names.insert(name).second)
    name = (base + "_" + Twine(++suffix)).str();
  return builder.save(StringRef(name));
}

std::optional<Obstacle> corten::functionalize(ProgramBuilder &builder) {
  return Functionalizer(builder, builder.mainGraph(), /*isMain=*/true).run();
}
