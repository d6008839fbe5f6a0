// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Model/Compare.h"

#include "corten/GraphDiff/GraphDiff.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace corten;
namespace json = llvm::json;

struct Comparison::State {
  std::string first, second;
  std::vector<NamedDiff> diffs;
  DiffFormat format;
};

Comparison::Comparison(std::unique_ptr<State> state)
    : state(std::move(state)) {}
Comparison::~Comparison() = default;
Comparison::Comparison(Comparison &&) noexcept = default;
Comparison &Comparison::operator=(Comparison &&) noexcept = default;

/// Adds the values of one role that are called something else.
static void compareNames(llvm::StringRef role,
                         const std::vector<InterfaceValue> &source,
                         const std::vector<InterfaceValue> &target,
                         std::vector<NameDiff> &result) {
  auto nameAt = [](const std::vector<InterfaceValue> &values, size_t i) {
    return i < values.size() ? std::optional(values[i].name) : std::nullopt;
  };
  for (size_t i = 0; i < std::max(source.size(), target.size()); ++i)
    if (nameAt(source, i) != nameAt(target, i))
      result.push_back({role.str(), nameAt(source, i), nameAt(target, i)});
}

/// Adds what callers of entry points that both programs have bind by.
static void compareNames(const ProgramInfo &source, const ProgramInfo &target,
                         std::vector<NamedDiff> &diffs) {
  auto find = [](const ProgramInfo &info, llvm::StringRef name) {
    auto entry =
        llvm::find_if(info.entryPoints, [&](const EntryPointInfo &entry) {
          return entry.name == name;
        });
    return entry == info.entryPoints.end() ? nullptr : &*entry;
  };
  for (NamedDiff &diff : diffs) {
    const EntryPointInfo *before = find(source, diff.label);
    const EntryPointInfo *after = find(target, diff.label);
    if (!before || !after)
      continue;
    compareNames("input", before->inputs, after->inputs, diff.names);
    compareNames("output", before->outputs, after->outputs, diff.names);
    compareNames("state", before->states, after->states, diff.names);
  }
}

llvm::Expected<Comparison> Comparison::make(Model &first, Model &second,
                                            const CompareOptions &options) {
  auto state = std::make_unique<State>();
  state->first = first.path();
  state->second = second.path();
  state->format.maxItems = options.maxItems;
  WeightPolicy weights =
      options.compareWeights ? WeightPolicy::Digest : WeightPolicy::Ignore;
  if (options.graph.empty()) {
    state->diffs = diffModules(first.module(), second.module(), weights);
  } else {
    llvm::Expected<GraphDiff> diff =
        diffModules(first.module(), second.module(),
                    llvm::StringRef(options.graph), weights);
    if (!diff)
      return diff.takeError();
    state->diffs.push_back({options.graph, std::move(*diff), {}});
  }
  if (options.compareNames)
    compareNames(first.info(), second.info(), state->diffs);
  return Comparison(std::move(state));
}

bool Comparison::isSame() const {
  return llvm::all_of(state->diffs,
                      [](const NamedDiff &diff) { return diff.isSame(); });
}

void Comparison::print(llvm::raw_ostream &os) const {
  printDiffs(state->diffs, os, state->format);
}

void Comparison::printHtml(llvm::raw_ostream &os) const {
  printDiffsAsHtml(state->diffs, os, state->format);
}

/// The op at a node, or null.
static json::Value operationAt(const LabelledGraph &graph, int node) {
  if (node == Matching::kNone)
    return nullptr;
  return json::Object{{"id", node},
                      {"op", json::fixUTF8(graph.str(graph.nodes[node].name))}};
}

static json::Value namesJson(const std::vector<NameDiff> &names) {
  auto text = [](const std::optional<std::string> &name) -> json::Value {
    if (!name)
      return nullptr;
    return json::fixUTF8(*name);
  };
  json::Array result;
  for (const NameDiff &name : names)
    result.push_back(json::Object{{"role", name.role},
                                  {"source", text(name.source)},
                                  {"target", text(name.target)}});
  return result;
}

static json::Value graphJson(const NamedDiff &named) {
  json::Object result{{"label", json::fixUTF8(named.label)},
                      {"same", named.isSame()},
                      {"paired", named.diff.has_value()},
                      {"names", namesJson(named.names)}};
  json::Array operations;
  if (named.diff)
    for (const OperationDiff &op : operationDiffs(*named.diff))
      operations.push_back(
          json::Object{{"status", statusName(op.status)},
                       {"source", operationAt(*named.diff->source, op.source)},
                       {"target", operationAt(*named.diff->target, op.target)},
                       {"details", json::fixUTF8(op.details)}});
  result["operations"] = std::move(operations);
  return result;
}

json::Object Comparison::json() const {
  json::Array graphs;
  for (const NamedDiff &diff : state->diffs)
    graphs.push_back(graphJson(diff));
  return json::Object{{"source", json::fixUTF8(state->first)},
                      {"target", json::fixUTF8(state->second)},
                      {"same", isSame()},
                      {"graphs", std::move(graphs)}};
}
