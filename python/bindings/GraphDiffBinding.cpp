// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diffs, and the graphs that they are of.

#include "Bindings.h"
#include "WithoutGil.h"

#include "corten/GraphDiff/GraphDiff.h"
#include "corten/Handover/Receive.h"
#include "corten/Program/Program.h"

#include "llvm/Support/raw_ostream.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace corten;

static nb::str text(const LabelledGraph &graph, LabelledGraph::Text value) {
  llvm::StringRef content = graph.str(value);
  return nb::str(content.data(), content.size());
}

static LabelledGraph::Text textOf(LabelledGraph &graph, nb::handle value) {
  return graph.text(nb::cast<std::string>(nb::str(value)));
}

/// `nodes` is [(type, name, {key: value})], `edges` is [(source, target, kind,
/// index)]. What is no string is taken as it prints.
static std::shared_ptr<const LabelledGraph> makeGraph(const nb::list &nodes,
                                                      const nb::list &edges) {
  auto graph = std::make_shared<LabelledGraph>();
  for (nb::handle entry : nodes) {
    auto [type, name, attributes] =
        nb::cast<std::tuple<nb::object, nb::object, nb::dict>>(entry);
    std::vector<LabelledGraph::Attribute> pairs;
    for (auto [key, value] : attributes)
      pairs.emplace_back(textOf(*graph, key), textOf(*graph, value));
    graph->addNode(textOf(*graph, type), textOf(*graph, name), pairs);
  }
  for (nb::handle entry : edges) {
    auto [source, target, kind, index] =
        nb::cast<std::tuple<unsigned, unsigned, nb::object, unsigned>>(entry);
    if (source >= graph->nodes.size() || target >= graph->nodes.size())
      throw nb::value_error("an edge ends at a node that is not there");
    graph->addEdge(source, target, textOf(*graph, kind), index);
  }
  return graph;
}

static nb::list nodesOf(const LabelledGraph &graph) {
  nb::list result;
  for (const LabelledGraph::Node &node : graph.nodes) {
    nb::dict attributes;
    for (auto [key, value] : graph.attributesOf(node))
      attributes[text(graph, key)] = text(graph, value);
    result.append(nb::make_tuple(text(graph, node.type), text(graph, node.name),
                                 attributes));
  }
  return result;
}

static nb::list edgesOf(const LabelledGraph &graph) {
  nb::list result;
  for (const LabelledGraph::Edge &edge : graph.edges)
    result.append(nb::make_tuple(edge.source, edge.target,
                                 text(graph, edge.kind), edge.index));
  return result;
}

static DiffFormat formatOf(unsigned indent, std::optional<size_t> maxItems) {
  DiffFormat format;
  format.indent = indent;
  format.maxItems = maxItems;
  return format;
}

static std::string diffText(const GraphDiff &diff, unsigned indent,
                            std::optional<size_t> maxItems) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  printDiff(diff, stream, formatOf(indent, maxItems));
  return result;
}

using Diffs =
    std::vector<std::pair<std::string, std::shared_ptr<const GraphDiff>>>;

static std::string diffsText(const Diffs &diffs, unsigned indent,
                             std::optional<size_t> maxItems) {
  std::vector<NamedDiff> named;
  for (const auto &[label, diff] : diffs)
    named.push_back(
        {label, diff ? std::optional<GraphDiff>(*diff) : std::nullopt, {}});
  std::string result;
  llvm::raw_string_ostream stream(result);
  printDiffs(named, stream, formatOf(indent, maxItems));
  return result;
}

static std::shared_ptr<const GraphDiff>
diffOfGraph(const ReceivedModule &source, const ReceivedModule &target,
            std::optional<std::string> graph, WeightPolicy weights) {
  llvm::Expected<GraphDiff> diff = [&] {
    corten::bindings::WithoutGil unlock;
    std::optional<llvm::StringRef> name;
    if (graph)
      name = *graph;
    return diffModules(*source.module, *target.module, name, weights);
  }();
  if (!diff)
    throw nb::value_error(llvm::toString(diff.takeError()).c_str());
  return std::make_shared<const GraphDiff>(std::move(*diff));
}

static Diffs diffsOfModules(const ReceivedModule &source,
                            const ReceivedModule &target,
                            WeightPolicy weights) {
  corten::bindings::WithoutGil unlock;
  Diffs result;
  for (NamedDiff &entry :
       diffModules(*source.module, *target.module, weights)) {
    std::shared_ptr<const GraphDiff> diff;
    if (entry.diff)
      diff = std::make_shared<const GraphDiff>(std::move(*entry.diff));
    result.emplace_back(std::move(entry.label), std::move(diff));
  }
  return result;
}

void corten::bindings::bindGraphDiff(nb::module_ &module) {
  nb::enum_<WeightPolicy>(module, "WeightPolicy")
      .value("IGNORE", WeightPolicy::Ignore)
      .value("DIGEST", WeightPolicy::Digest);

  nb::class_<LabelledGraph>(module, "LabelledGraph",
                            "A graph whose nodes and edges carry text.")
      .def("nodes", &nodesOf, "[(type, name, {key: value})]")
      .def("edges", &edgesOf, "[(source, target, kind, index)]")
      .def_prop_ro("num_nodes",
                   [](const LabelledGraph &self) { return self.nodes.size(); })
      .def_prop_ro("num_edges",
                   [](const LabelledGraph &self) { return self.edges.size(); });

  nb::class_<GraphDiff>(module, "GraphDiff",
                        "Which node of a graph is which of another.")
      .def_prop_ro("source", [](const GraphDiff &self) { return self.source; })
      .def_prop_ro("target", [](const GraphDiff &self) { return self.target; })
      .def_prop_ro(
          "is_isomorphic",
          [](const GraphDiff &self) { return self.matching.isIsomorphic; })
      .def_prop_ro("to_target",
                   [](const GraphDiff &self) { return self.matching.toTarget; })
      .def_prop_ro("modified",
                   [](const GraphDiff &self) { return self.matching.modified; })
      .def_ro("unmapped_source_nodes", &GraphDiff::unmappedSourceNodes)
      .def_ro("unmapped_target_nodes", &GraphDiff::unmappedTargetNodes)
      .def_ro("unmapped_source_edges", &GraphDiff::unmappedSourceEdges,
              "Places in the edges of the graph.")
      .def_ro("unmapped_target_edges", &GraphDiff::unmappedTargetEdges)
      .def("text", &diffText, nb::arg("indent") = 2,
           nb::arg("max_items") = nb::none());

  module.def("make_graph", &makeGraph, nb::arg("nodes"), nb::arg("edges"));
  module.def("program_graph", &programGraph, nb::arg("program"));
  module.def(
      "diff_graphs",
      [](std::shared_ptr<const LabelledGraph> source,
         std::shared_ptr<const LabelledGraph> target) {
        corten::bindings::WithoutGil unlock;
        return std::make_shared<const GraphDiff>(
            diffGraphs(std::move(source), std::move(target)));
      },
      nb::arg("source"), nb::arg("target"));
  module.def("diff_graph", &diffOfGraph, nb::arg("source"), nb::arg("target"),
             nb::arg("graph").none(), nb::arg("weights"),
             "Compares the graphs of that name, or whole programs. Raises "
             "ValueError when there is no such graph.");
  module.def("diff_modules", &diffsOfModules, nb::arg("source"),
             nb::arg("target"), nb::arg("weights"));
  module.def("diffs_text", &diffsText, nb::arg("diffs"), nb::arg("indent") = 2,
             nb::arg("max_items") = nb::none());
}
