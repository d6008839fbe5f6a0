// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Higher-order operators: calls whose arguments are graphs. They have no
// schema, so their arguments are positional.

#include "Emission/DimExpr.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Graphs as regions
//===----------------------------------------------------------------------===//

/// An operand or result of a graph: a value, or a number in the form that
/// symbolic numbers have, one element.
static FailureOr<Value> valueOf(const AtenNode &node, Emitter &emit,
                                const Argument &argument) {
  switch (argument.kind()) {
  case Argument::Kind::Value:
    if (ArrayRef<Value> found = emit.results(*argument.asNode());
        found.empty() || !found.front())
      return emit.error(node)
             << "'" << argument.asNode()->name << "' has no value";
    return emit.value(argument);
  case Argument::Kind::Int:
    return emit.indices({argument.asInt()});
  case Argument::Kind::Float:
    return emit.floats({static_cast<float>(argument.asDouble())});
  case Argument::Kind::Bool:
    return emit.reshape(emit.scalar(argument.asBool()), {1});
  default:
    return emit.error(node)
           << "a graph takes or returns what is neither a tensor nor a number";
  }
}

static FailureOr<SmallVector<Value>>
valuesOf(const AtenNode &node, Emitter &emit, ArrayRef<Argument> arguments) {
  SmallVector<Value> values;
  for (const Argument &argument : arguments) {
    FailureOr<Value> value = valueOf(node, emit, argument);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return values;
}

/// Whether a value may stand for what a graph or a call says of it.
static bool fits(Emitter &emit, Value value, const ValueInfo &info) {
  RankedTensorType type = emit.type(value), stated = emit.typeOf(info);
  if (!stated)
    return false;
  // Numbers are one element, with an axis or without.
  if (!info.isTensor())
    return type.getRank() <= 1;
  return succeeded(verifyCompatibleShape(type, stated));
}

/// Lowers `graph` at the insertion point and returns what it returns.
static FailureOr<SmallVector<Value>> emitGraph(const AtenNode &node,
                                               Emitter &emit,
                                               const Graph &graph,
                                               ArrayRef<Value> inputs) {
  size_t next = 0;
  for (const Node *inner : graph.nodes) {
    if (inner->kind != Node::Kind::Placeholder)
      continue;
    if (next == inputs.size())
      return emit.error(node)
             << "graph '" << graph.name << "' takes more than it is given";
    if (!fits(emit, inputs[next], inner->info()))
      return emit.error(node)
             << "graph '" << graph.name << "' is given something else than '"
             << inner->name << "' is";
    emit.setResults(*inner, {inputs[next++]});
  }
  if (failed(emit.emitNodes(graph)))
    return failure();
  return valuesOf(node, emit, graph.outputs);
}

/// A predicate as rank-0 i1.
static Value predicate(Emitter &emit, Value x) {
  return emit.reshape(emit.cast(x, emit.i1()), ArrayRef<int64_t>());
}

static void yield(Emitter &emit, ValueRange values) {
  coreai::YieldOp::create(emit.builder, emit.location, values);
}

/// Fills an empty region: a block with arguments of `types`, then `body`.
static LogicalResult
fillRegion(Emitter &emit, Region &region, TypeRange types,
           llvm::function_ref<LogicalResult(ValueRange)> body) {
  OpBuilder::InsertionGuard guard(emit.builder);
  SmallVector<Location> locations(types.size(), emit.location);
  Block *block =
      emit.builder.createBlock(&region, region.end(), types, locations);
  return body(block->getArguments());
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// cond(pred, true_graph, false_graph, operands)
///
/// The graphs see the operands by position. Both give the types that the
/// export recorded.
static FailureOr<Results> lowerCond(const AtenNode &node, Emitter &emit) {
  const Graph *graphs[] = {&node.graph(node[1u]), &node.graph(node[2u])};
  FailureOr<SmallVector<Value>> operands =
      valuesOf(node, emit, node.list(node[3u]));
  FailureOr<Value> condition = valueOf(node, emit, node[0u]);
  if (failed(operands) || failed(condition))
    return failure();
  SmallVector<RankedTensorType> types;
  for (const ValueInfo &info : node.get().results) {
    types.push_back(emit.typeOf(info));
    if (!types.back())
      return emit.error(node) << "a result is neither a tensor nor a number";
  }

  OperationState state(emit.location, coreai::IfOp::getOperationName());
  state.addOperands(predicate(emit, *condition));
  state.addTypes(SmallVector<Type>(types.begin(), types.end()));
  state.addRegion();
  state.addRegion();
  Operation *branch = emit.builder.create(state);
  for (auto [region, graph] : llvm::zip_equal(branch->getRegions(), graphs)) {
    auto body = [&](ValueRange) -> LogicalResult {
      FailureOr<SmallVector<Value>> values =
          emitGraph(node, emit, *graph, *operands);
      if (failed(values))
        return failure();
      if (values->size() != types.size())
        return emit.error(node) << "a branch returns " << values->size()
                                << " values instead of " << types.size();
      for (auto [value, type] : llvm::zip_equal(*values, types))
        value = emit.withType(value, type);
      yield(emit, *values);
      return success();
    };
    if (failed(fillRegion(emit, region, {}, body)))
      return failure();
  }
  return Results(branch->getResults());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// A loop over values whose types do not change.
struct Loop {
  SmallVector<Value> initial;
  /// From the state: whether to go on.
  llvm::function_ref<FailureOr<Value>(ValueRange)> condition;
  /// From the state: the next state.
  llvm::function_ref<FailureOr<SmallVector<Value>>(ValueRange)> body;
};
} // namespace

/// `x` in memory of its own. The interpreter hands the result of a loop on
/// where it lies, in memory that the same loop fills anew when it runs again.
static Value copied(Emitter &emit, Value x) {
  return emit.where(emit.equal(x, x), x, x);
}

static FailureOr<Results> emitLoop(Emitter &emit, const Loop &loop) {
  SmallVector<RankedTensorType> types;
  for (Value value : loop.initial)
    types.push_back(emit.type(value));
  SmallVector<Type> stateTypes(types.begin(), types.end());

  OperationState state(emit.location, coreai::WhileOp::getOperationName());
  state.addOperands(loop.initial);
  state.addTypes(stateTypes);
  state.addRegion();
  state.addRegion();
  Operation *op = emit.builder.create(state);

  auto before = [&](ValueRange values) -> LogicalResult {
    FailureOr<Value> condition = loop.condition(values);
    if (failed(condition))
      return failure();
    coreai::ConditionOp::create(emit.builder, emit.location,
                                predicate(emit, *condition), values);
    return success();
  };
  auto after = [&](ValueRange values) -> LogicalResult {
    FailureOr<SmallVector<Value>> next = loop.body(values);
    if (failed(next))
      return failure();
    for (Value &value : *next)
      if (value.getDefiningOp<coreai::WhileOp>())
        value = copied(emit, value);
    for (auto [value, type] : llvm::zip_equal(*next, types))
      value = emit.withType(value, type);
    yield(emit, *next);
    return success();
  };
  if (failed(fillRegion(emit, op->getRegion(0), stateTypes, before)) ||
      failed(fillRegion(emit, op->getRegion(1), stateTypes, after)))
    return failure();
  return Results(op->getResults());
}

/// while_loop(cond_graph, body_graph, carried, additional)
///
/// Both graphs see the carried values and then the additional ones, which the
/// regions take from outside.
static FailureOr<Results> lowerWhileLoop(const AtenNode &node, Emitter &emit) {
  const Graph &conditionGraph = node.graph(node[0u]);
  const Graph &bodyGraph = node.graph(node[1u]);
  FailureOr<SmallVector<Value>> carried =
      valuesOf(node, emit, node.list(node[2u]));
  FailureOr<SmallVector<Value>> additional =
      valuesOf(node, emit, node.list(node[3u]));
  if (failed(carried) || failed(additional))
    return failure();
  if (carried->size() != node.numResults())
    return emit.error(node)
           << "a loop over " << carried->size() << " values has "
           << node.numResults() << " results";
  for (auto [value, info] : llvm::zip_equal(*carried, node.get().results)) {
    if (!fits(emit, value, info))
      return emit.error(node) << "a result is of another type than what the "
                                 "loop begins with";
    value = emit.withType(value, emit.typeOf(info));
  }

  auto inputs = [&](ValueRange state) {
    SmallVector<Value> values(state);
    llvm::append_range(values, *additional);
    return values;
  };
  auto condition = [&](ValueRange state) -> FailureOr<Value> {
    FailureOr<SmallVector<Value>> values =
        emitGraph(node, emit, conditionGraph, inputs(state));
    if (failed(values))
      return failure();
    if (values->size() != 1)
      return emit.error(node)
             << "the condition returns " << values->size() << " values";
    return values->front();
  };
  auto body = [&](ValueRange state) -> FailureOr<SmallVector<Value>> {
    FailureOr<SmallVector<Value>> values =
        emitGraph(node, emit, bodyGraph, inputs(state));
    if (succeeded(values) && values->size() != state.size())
      return emit.error(node) << "the body returns " << values->size()
                              << " values instead of " << state.size();
    return values;
  };
  return emitLoop(emit, {*carried, condition, body});
}

/// [first, 0, …] or [first, end, …]: one bound of a range of the first axis
/// that takes all of the others.
static Value bounds(Emitter &emit, Value first, int64_t rest, int64_t rank) {
  if (rank == 1)
    return first;
  return emit.concat(
      {first, emit.indices(SmallVector<int64_t>(rank - 1, rest))}, 0);
}

/// x[step], where `following` is the step after it.
static Value elementAt(Emitter &emit, Value x, Value step, Value following) {
  RankedTensorType type = emit.type(x);
  SmallVector<int64_t> extents(type.getShape());
  extents[0] = 1;
  int64_t rank = type.getRank();
  Value slice = emit.createTyped<coreai::SliceOp>(
      type.clone(extents),
      {x, bounds(emit, step, 0, rank), bounds(emit, following, INT32_MAX, rank),
       emit.indices(SmallVector<int64_t>(rank, 1))});
  return emit.shrinkDims(slice, {0});
}

/// `stack` with `value` at [step].
static Value withElementAt(Emitter &emit, Value stack, Value step,
                           Value following, Value value) {
  int64_t rank = emit.type(stack).getRank();
  return emit.createTyped<coreai::SliceUpdateOp>(
      stack.getType(), {stack, bounds(emit, step, 0, rank),
                        bounds(emit, following, INT32_MAX, rank),
                        emit.indices(SmallVector<int64_t>(rank, 1)),
                        emit.expandDims(value, {0})});
}

/// Calls `graph` for each step up to `length`. The state is the step to begin
/// with, values that the graph carries from step to step, and stacks that take
/// its other results, each at the place of the step; the results are the state
/// without the step. `inputs` gets the values of the state, the step and the
/// one after it.
static FailureOr<Results> forEachStep(
    const AtenNode &node, Emitter &emit, const Graph &graph,
    const DimExpr &length, SmallVector<Value> initial, size_t numCarried,
    llvm::function_ref<SmallVector<Value>(ValueRange, Value, Value)> inputs) {
  auto condition = [&](ValueRange state) -> FailureOr<Value> {
    return emit.greater(length.vector(), state.front());
  };
  auto body = [&](ValueRange state) -> FailureOr<SmallVector<Value>> {
    Value step = state.front();
    ValueRange values = state.drop_front();
    Value following = emit.add(step, emit.indices({1}));
    FailureOr<SmallVector<Value>> returned =
        emitGraph(node, emit, graph, inputs(values, step, following));
    if (failed(returned))
      return failure();
    if (returned->size() != values.size())
      return emit.error(node) << "a step returns " << returned->size()
                              << " values instead of " << values.size();
    SmallVector<Value> next = {following};
    for (auto [i, value] : llvm::enumerate(*returned))
      next.push_back(i < numCarried ? value
                                    : withElementAt(emit, values[i], step,
                                                    following, value));
    return next;
  };
  FailureOr<Results> results =
      emitLoop(emit, {std::move(initial), condition, body});
  if (failed(results))
    return failure();
  results->erase(results->begin());
  return results;
}

/// Whether there is a first axis to step through.
static LogicalResult checkSequences(const AtenNode &node, Emitter &emit,
                                    ArrayRef<Value> sequences) {
  if (llvm::all_of(sequences, [&](Value sequence) {
        return emit.type(sequence).getRank() > 0;
      }))
    return success();
  return emit.error(node) << "a loop over a tensor without axes";
}

/// Steps through the first axis of `xs`: per step, `graph` gets the carried
/// values, an element of each of `xs`, and the additional values, and gives the
/// next carried values and what is stacked up along the first axis of the other
/// results.
static FailureOr<Results> stepThrough(const AtenNode &node, Emitter &emit,
                                      const Graph &graph,
                                      ArrayRef<Argument> initial,
                                      ArrayRef<Argument> xs,
                                      ArrayRef<Argument> more) {
  FailureOr<SmallVector<Value>> carried = valuesOf(node, emit, initial);
  FailureOr<SmallVector<Value>> sequences = valuesOf(node, emit, xs);
  FailureOr<SmallVector<Value>> additional = valuesOf(node, emit, more);
  if (failed(carried) || failed(sequences) || failed(additional))
    return failure();
  if (sequences->empty())
    return emit.error(node) << "a loop over nothing";
  if (failed(checkSequences(node, emit, *sequences)))
    return failure();
  size_t numCarried = carried->size();
  DimExpr length(emit, sequences->front(), 0);

  // The state: the step, the carried values, the stacks.
  SmallVector<Value> state = {emit.indices({0})};
  for (auto [i, info] : llvm::enumerate(node.get().results)) {
    RankedTensorType type = emit.typeOf(info);
    if (!type || (i < numCarried ? !fits(emit, (*carried)[i], info)
                                 : type.getRank() == 0))
      return emit.error(node) << "result " << i << " cannot come of the loop";
    if (i < numCarried) {
      state.push_back(emit.withType((*carried)[i], type));
      continue;
    }
    if (ShapedType::isDynamicShape(type.getShape().drop_front()))
      return emit.error(node) << "a loop that stacks up tensors of dynamic "
                              << "size";
    SmallVector<DimExpr> shape = {length};
    for (int64_t extent : type.getShape().drop_front())
      shape.push_back({emit, extent});
    state.push_back(emit.broadcastTo(emit.scalar(0, type.getElementType()),
                                     joinDims(emit, shape, IndexKind::Unsigned),
                                     type));
  }

  auto inputs = [&](ValueRange values, Value step, Value following) {
    SmallVector<Value> operands(values.take_front(numCarried));
    for (Value sequence : *sequences)
      operands.push_back(elementAt(emit, sequence, step, following));
    llvm::append_range(operands, *additional);
    return operands;
  };
  return forEachStep(node, emit, graph, length, std::move(state), numCarried,
                     inputs);
}

/// scan(combine_graph, init, xs, additional)
static FailureOr<Results> lowerScan(const AtenNode &node, Emitter &emit) {
  return stepThrough(node, emit, node.graph(node[0u]), node.list(node[1u]),
                     node.list(node[2u]), node.list(node[3u]));
}

/// map_impl(body_graph, xs, additional)
static FailureOr<Results> lowerMap(const AtenNode &node, Emitter &emit) {
  return stepThrough(node, emit, node.graph(node[0u]), {}, node.list(node[1u]),
                     node.list(node[2u]));
}

/// associative_scan(combine_graph, xs, additional)
///
/// result[0] = xs[0], result[i] = combine(result[i - 1], xs[i]). The graph may
/// be applied in any order, so also in this one.
static FailureOr<Results> lowerAssociativeScan(const AtenNode &node,
                                               Emitter &emit) {
  const Graph &graph = node.graph(node[0u]);
  FailureOr<SmallVector<Value>> sequences =
      valuesOf(node, emit, node.list(node[1u]));
  FailureOr<SmallVector<Value>> additional =
      valuesOf(node, emit, node.list(node[2u]));
  if (failed(sequences) || failed(additional))
    return failure();
  if (sequences->empty())
    return emit.error(node) << "a scan over nothing";
  if (failed(checkSequences(node, emit, *sequences)))
    return failure();
  DimExpr length(emit, sequences->front(), 0);

  // The state: the step, the results, which begin as the inputs.
  SmallVector<Value> state = {emit.indices({1})};
  llvm::append_range(state, *sequences);
  auto inputs = [&](ValueRange stacks, Value step, Value following) {
    Value previous = emit.sub(step, emit.indices({1}));
    SmallVector<Value> operands;
    for (Value stack : stacks)
      operands.push_back(elementAt(emit, stack, previous, step));
    for (Value sequence : *sequences)
      operands.push_back(elementAt(emit, sequence, step, following));
    llvm::append_range(operands, *additional);
    return operands;
  };
  return forEachStep(node, emit, graph, length, std::move(state),
                     /*numCarried=*/0, inputs);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// wrap_with_set_grad_enabled(enabled, graph, *operands),
/// wrap_with_autocast(device, dtype, enabled, cache, graph, *operands),
/// hints_wrapper(graph, operands, {}, hints), strict_mode(graph, operands), …
///
/// The graph runs once. What surrounds it (gradients, recomputation, hints)
/// does not matter here; the casts of autocast are part of the graph.
static FailureOr<Results> lowerGraphCall(const AtenNode &node, Emitter &emit) {
  ArrayRef<Argument> arguments = node.get().arguments;
  const Argument *graph = llvm::find_if(arguments, [](const Argument &each) {
    return each.kind() == Argument::Kind::Graph;
  });
  if (graph == arguments.end())
    return emit.error(node) << "a call without a graph";
  // Names, options and flags that follow the operands are not taken.
  SmallVector<Argument> operands;
  auto add = [&](const Argument &argument) {
    if (argument.isValue() || argument.isNumber())
      operands.push_back(argument);
  };
  for (const Argument &argument :
       llvm::make_range(graph + 1, arguments.end())) {
    if (argument.isList())
      llvm::for_each(argument.asList(), add);
    else
      add(argument);
  }
  FailureOr<SmallVector<Value>> inputs = valuesOf(node, emit, operands);
  if (failed(inputs))
    return failure();
  FailureOr<SmallVector<Value>> values =
      emitGraph(node, emit, *graph->asGraph(), *inputs);
  if (failed(values))
    return failure();
  return Results(values->begin(), values->end());
}

llvm::ArrayRef<TableEntry> corten::loweringsControlFlow() {
#define IN_ControlFlow ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
