// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/GraphDiff/GraphDiff.h"

#include "Symbols.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Nodes and edges
//===----------------------------------------------------------------------===//

namespace {
/// (source, target, hash of the kind, index)
using EdgeKey = std::tuple<unsigned, unsigned, uint64_t, unsigned>;
} // namespace

/// Edges whose ends have partners, in terms of `partner`, sorted; with the
/// place of the edge. The others go to `unmapped`.
static std::vector<std::pair<EdgeKey, unsigned>>
translated(const LabelledGraph &graph,
           llvm::function_ref<int(unsigned)> partner,
           std::vector<unsigned> &unmapped) {
  std::vector<std::pair<EdgeKey, unsigned>> keys;
  keys.reserve(graph.edges.size());
  for (auto [place, edge] : llvm::enumerate(graph.edges)) {
    int source = partner(edge.source), target = partner(edge.target);
    if (source == Matching::kNone || target == Matching::kNone)
      unmapped.push_back(place);
    else
      keys.emplace_back(
          EdgeKey(source, target, graph.hash(edge.kind), edge.index), place);
  }
  llvm::sort(keys);
  return keys;
}

static void findUnmappedEdges(GraphDiff &diff) {
  auto sources = translated(
      *diff.source, [&](unsigned node) { return diff.matching.toTarget[node]; },
      diff.unmappedSourceEdges);
  auto targets = translated(
      *diff.target,
      [&](unsigned node) {
        return diff.matching.toSource[node] == Matching::kNone
                   ? Matching::kNone
                   : static_cast<int>(node);
      },
      diff.unmappedTargetEdges);
  size_t j = 0;
  for (const auto &[key, place] : sources) {
    for (; j < targets.size() && targets[j].first < key; ++j)
      diff.unmappedTargetEdges.push_back(targets[j].second);
    if (j < targets.size() && targets[j].first == key)
      ++j;
    else
      diff.unmappedSourceEdges.push_back(place);
  }
  for (; j < targets.size(); ++j)
    diff.unmappedTargetEdges.push_back(targets[j].second);
  llvm::sort(diff.unmappedSourceEdges);
  llvm::sort(diff.unmappedTargetEdges);
}

GraphDiff corten::diffGraphs(std::shared_ptr<const LabelledGraph> source,
                             std::shared_ptr<const LabelledGraph> target) {
  GraphDiff diff;
  diff.matching = match(*source, *target);
  diff.source = std::move(source);
  diff.target = std::move(target);
  for (auto [node, partner] : llvm::enumerate(diff.matching.toTarget))
    if (partner == Matching::kNone)
      diff.unmappedSourceNodes.push_back(node);
  for (auto [node, partner] : llvm::enumerate(diff.matching.toSource))
    if (partner == Matching::kNone)
      diff.unmappedTargetNodes.push_back(node);
  findUnmappedEdges(diff);
  return diff;
}

//===----------------------------------------------------------------------===//
// What is different
//===----------------------------------------------------------------------===//

/// At most this much of a value is shown.
static constexpr size_t kMaxValue = 60;

static std::string shortened(StringRef text) {
  if (text.size() <= kMaxValue)
    return text.str();
  // Not in the middle of a character.
  StringRef head = text.take_front(kMaxValue - 3);
  while (!head.empty() && (text[head.size()] & 0xC0) == 0x80)
    head = head.drop_back();
  return head.str() + "...";
}

static std::string describeAttributes(const GraphDiff &diff, unsigned a,
                                      unsigned b) {
  const LabelledGraph &source = *diff.source, &target = *diff.target;
  std::string text;
  auto add = [&](StringRef name, StringRef before, StringRef after) {
    text += text.empty() ? "" : "; ";
    text += name.str() + ": " + shortened(before) + " -> " + shortened(after);
  };
  auto find = [](const LabelledGraph &graph, unsigned node, StringRef name) {
    for (auto [key, value] : graph.attributesOf(graph.nodes[node]))
      if (graph.str(key) == name)
        return std::optional(graph.str(value));
    return std::optional<StringRef>();
  };
  for (auto [key, value] : source.attributesOf(source.nodes[a])) {
    std::optional<StringRef> other = find(target, b, source.str(key));
    if (!other || *other != source.str(value))
      add(source.str(key), source.str(value), other.value_or("none"));
  }
  for (auto [key, value] : target.attributesOf(target.nodes[b]))
    if (!find(source, a, target.str(key)))
      add(target.str(key), "none", target.str(value));
  return text;
}

namespace {
/// Per node, the edges that go to it, by graph; made once for all details.
class Incoming {
public:
  explicit Incoming(const LabelledGraph &graph)
      : graph(graph), places(graph.nodes.size()) {
    for (auto [place, edge] : llvm::enumerate(graph.edges))
      places[edge.target].push_back(place);
  }
  /// kind and index -> the nodes there, in terms of `partner`.
  std::map<std::pair<StringRef, unsigned>, std::vector<int>>
  slots(unsigned node, llvm::function_ref<int(unsigned)> partner) const {
    std::map<std::pair<StringRef, unsigned>, std::vector<int>> result;
    for (unsigned place : places[node]) {
      const LabelledGraph::Edge &edge = graph.edges[place];
      result[{graph.str(edge.kind), edge.index}].push_back(
          partner(edge.source));
    }
    for (auto &entry : result)
      llvm::sort(entry.second);
    return result;
  }

private:
  const LabelledGraph &graph;
  std::vector<llvm::SmallVector<unsigned, 2>> places;
};
} // namespace

static std::string describeWiring(const GraphDiff &diff, const Incoming &in,
                                  const Incoming &targetIn, unsigned a,
                                  unsigned b) {
  auto here =
      in.slots(a, [&](unsigned node) { return diff.matching.toTarget[node]; });
  auto there = targetIn.slots(b, [](unsigned node) { return int(node); });
  std::vector<std::pair<StringRef, unsigned>> changed;
  for (const auto &[slot, nodes] : here) {
    auto other = there.find(slot);
    if (other == there.end() || other->second != nodes)
      changed.push_back(slot);
  }
  for (const auto &[slot, nodes] : there)
    if (!here.count(slot))
      changed.push_back(slot);
  if (changed.empty())
    return "";
  llvm::sort(changed);
  std::string text;
  for (auto [kind, index] : changed) {
    text += text.empty() ? "rewired: " : ", ";
    if (kind == "operand" || kind == "data_flow")
      text += "operand " + std::to_string(index);
    else if (kind == "contains_op")
      text += "moved to another block";
    else
      text += kind.str() + " " + std::to_string(index);
  }
  return text;
}

std::vector<OperationDiff> corten::operationDiffs(const GraphDiff &diff) {
  auto isOperation = [](const LabelledGraph &graph, unsigned node) {
    return graph.str(graph.nodes[node].type) == "op";
  };
  std::vector<OperationDiff> result;
  std::optional<Incoming> in, targetIn;
  for (auto [a, b] : diff.matching.modified) {
    if (!isOperation(*diff.source, a))
      continue;
    if (!in) {
      in.emplace(*diff.source);
      targetIn.emplace(*diff.target);
    }
    OperationDiff entry;
    entry.source = static_cast<int>(a);
    entry.target = static_cast<int>(b);
    entry.details = describeWiring(diff, *in, *targetIn, a, b);
    std::string attributes = describeAttributes(diff, a, b);
    if (!entry.details.empty() && !attributes.empty())
      entry.details += "; ";
    entry.details += attributes;
    result.push_back(std::move(entry));
  }
  for (unsigned node : diff.unmappedSourceNodes)
    if (isOperation(*diff.source, node))
      result.push_back({OperationDiff::Status::Removed, static_cast<int>(node),
                        Matching::kNone, "no match in target"});
  for (unsigned node : diff.unmappedTargetNodes)
    if (isOperation(*diff.target, node))
      result.push_back({OperationDiff::Status::Added, Matching::kNone,
                        static_cast<int>(node), "no match in source"});
  return result;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static llvm::Expected<Operation *>
findGraph(ModuleOp module, std::optional<StringRef> name, StringRef which) {
  if (!name)
    return module.getOperation();
  if (Operation *found = module.lookupSymbol(*name))
    return found;
  std::string known;
  for (auto graph : module.getOps<coreai::GraphOp>())
    known += (known.empty() ? "" : ", ") + graph.getSymName().str();
  return llvm::createStringError("Entry point '" + *name +
                                 "' not found in the " + which +
                                 " program; it has: " + known);
}

llvm::Expected<GraphDiff> corten::diffModules(ModuleOp source, ModuleOp target,
                                              std::optional<StringRef> graph,
                                              WeightPolicy weights) {
  llvm::Expected<Operation *> before = findGraph(source, graph, "source");
  if (!before)
    return before.takeError();
  llvm::Expected<Operation *> after = findGraph(target, graph, "target");
  if (!after)
    return after.takeError();
  return diffGraphs(moduleGraph(*before, weights),
                    moduleGraph(*after, weights));
}

namespace {

/// Diffs graphs, and then the graphs that they call.
class ModuleDiffer {
public:
  ModuleDiffer(ModuleOp source, ModuleOp target, WeightPolicy weights)
      : source(source), target(target), symbols(source), targetSymbols(target),
        weights(weights) {}

  std::vector<NamedDiff> run();

private:
  void compare(coreai::GraphOp before, coreai::GraphOp after);
  void follow(const GraphDiff &diff, coreai::GraphOp before,
              coreai::GraphOp after);

  ModuleOp source, target;
  SymbolTable symbols, targetSymbols;
  WeightPolicy weights;
  llvm::DenseSet<Operation *> seen, seenTargets;
  std::vector<NamedDiff> result;
};

} // namespace

static std::vector<coreai::GraphOp> publicGraphs(ModuleOp module) {
  std::vector<coreai::GraphOp> graphs;
  for (auto graph : module.getOps<coreai::GraphOp>())
    if (!graph.getPriv())
      graphs.push_back(graph);
  return graphs;
}

/// The graph that each invocation calls, by the node that it is: nodes of
/// operations are in the order of a walk that visits an operation before what
/// it contains.
static std::map<unsigned, coreai::GraphOp> callees(coreai::GraphOp graph,
                                                   const LabelledGraph &nodes,
                                                   const SymbolTable &symbols) {
  std::vector<unsigned> operations;
  for (auto [number, node] : llvm::enumerate(nodes.nodes))
    if (nodes.str(node.type) == "op")
      operations.push_back(number);
  std::map<unsigned, coreai::GraphOp> result;
  size_t place = 0;
  graph->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto invoke = dyn_cast<coreai::InvokeOp>(op))
      if (SymbolRefAttr callee = invoke.getCalleeSymbol())
        if (auto called =
                symbols.lookup<coreai::GraphOp>(callee.getLeafReference()))
          result[operations[place]] = called;
    ++place;
  });
  return result;
}

void ModuleDiffer::follow(const GraphDiff &diff, coreai::GraphOp before,
                          coreai::GraphOp after) {
  auto calls = callees(before, *diff.source, symbols);
  auto targetCalls = callees(after, *diff.target, targetSymbols);
  for (auto [node, called] : calls) {
    int partner = diff.matching.toTarget[node];
    auto other = targetCalls.find(partner);
    if (other != targetCalls.end() && !seen.contains(called) &&
        !seenTargets.contains(other->second))
      compare(called, other->second);
  }
}

void ModuleDiffer::compare(coreai::GraphOp before, coreai::GraphOp after) {
  seen.insert(before);
  seenTargets.insert(after);
  std::string label = before.getSymName().str();
  if (before.getPriv())
    label = (withoutRandomSuffix(before.getSymName()) + " (source: @" +
             before.getSymName() + ", target: @" + after.getSymName() + ")")
                .str();
  GraphDiff diff =
      diffGraphs(moduleGraph(before, weights), moduleGraph(after, weights));
  size_t place = result.size();
  result.push_back({std::move(label), {}, {}});
  follow(diff, before, after);
  result[place].diff = std::move(diff);
}

std::vector<NamedDiff> ModuleDiffer::run() {
  for (coreai::GraphOp graph : publicGraphs(source)) {
    auto other = targetSymbols.lookup<coreai::GraphOp>(graph.getSymName());
    if (other && !other.getPriv())
      compare(graph, other);
  }
  for (auto graph : source.getOps<coreai::GraphOp>())
    if (!seen.contains(graph))
      result.push_back(
          {graph.getSymName().str() + " (only in source)", {}, {}});
  for (auto graph : target.getOps<coreai::GraphOp>())
    if (!seenTargets.contains(graph))
      result.push_back(
          {graph.getSymName().str() + " (only in target)", {}, {}});
  return std::move(result);
}

std::vector<NamedDiff> corten::diffModules(ModuleOp source, ModuleOp target,
                                           WeightPolicy weights) {
  return ModuleDiffer(source, target, weights).run();
}
