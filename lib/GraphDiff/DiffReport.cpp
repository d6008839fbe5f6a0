// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Diffs as text and as a page.

#include "corten/GraphDiff/GraphDiff.h"
#include "corten/Support/Table.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace corten;

using llvm::raw_ostream;
using llvm::StringRef;

/// A line across the page, or the terminal if that is narrower.
static std::string rule(const raw_ostream &out) {
  constexpr size_t kPage = 80;
  size_t width = terminalWidth(out);
  return std::string(width ? std::min(width, kPage) : kPage, '=');
}

static StringRef nameOf(const LabelledGraph &graph, int node) {
  return node == Matching::kNone ? StringRef()
                                 : graph.str(graph.nodes[node].name);
}

StringRef corten::statusName(OperationDiff::Status status) {
  switch (status) {
  case OperationDiff::Status::Modified:
    return "modified";
  case OperationDiff::Status::Removed:
    return "removed";
  case OperationDiff::Status::Added:
    return "added";
  }
  llvm_unreachable("no such status");
}

static std::string numberOf(int node) {
  return node == Matching::kNone ? "-" : std::to_string(node);
}

/// The operation that comes first in the source; of the target if there is
/// none.
static std::string firstDifference(const GraphDiff &diff,
                                   llvm::ArrayRef<OperationDiff> operations) {
  const OperationDiff *first = nullptr;
  for (const OperationDiff &entry : operations)
    if (entry.source != Matching::kNone &&
        (!first || entry.source < first->source))
      first = &entry;
  if (first) {
    std::string text = "First differing op: source node " +
                       std::to_string(first->source) + " (" +
                       nameOf(*diff.source, first->source).str() + ")";
    return text + (first->status == OperationDiff::Status::Removed
                       ? " has no match."
                       : " is modified (" + first->details + ").");
  }
  if (operations.empty())
    return "";
  return "First differing op: target node " +
         std::to_string(operations.front().target) + " (" +
         nameOf(*diff.target, operations.front().target).str() +
         ") has no match.";
}

static void printBody(const GraphDiff &diff, raw_ostream &out,
                      const DiffFormat &format) {
  const LabelledGraph &source = *diff.source, &target = *diff.target;
  std::vector<OperationDiff> operations = operationDiffs(diff);
  if (diff.matching.isIsomorphic) {
    out << "✓ Graphs are ISOMORPHIC.\n";
  } else {
    out << "✗ Graphs are NOT isomorphic.\n";
    out.indent(format.indent)
        << "Common subgraph: " << diff.numCommonNodes() << "/"
        << source.nodes.size() << " nodes, " << diff.numCommonEdges() << "/"
        << source.edges.size() << " edges.\n";
    std::string first = firstDifference(diff, operations);
    if (!first.empty())
      out.indent(format.indent) << first << "\n";
  }

  out << "\nSummary:\n";
  auto count = [&](StringRef what) -> raw_ostream & {
    return out.indent(format.indent) << what << ": ";
  };
  count("Source graph") << source.nodes.size() << " nodes, "
                        << source.edges.size() << " edges\n";
  count("Target graph") << target.nodes.size() << " nodes, "
                        << target.edges.size() << " edges\n";
  if (diff.matching.isIsomorphic)
    return;
  count("Mapped nodes") << diff.numCommonNodes() << "\n";
  count("Modified") << diff.matching.modified.size() << " nodes\n";
  count("Unmapped in source") << diff.unmappedSourceNodes.size() << " nodes\n";
  count("Unmapped in target") << diff.unmappedTargetNodes.size() << " nodes\n";
  if (operations.empty())
    return;

  out << "\nOperations Diff Table:\n";
  Table table({">src_id", ">tgt_id", "status", "src_op", "tgt_op", "details"});
  size_t shown =
      std::min(operations.size(), format.maxItems.value_or(operations.size()));
  for (const OperationDiff &entry :
       llvm::ArrayRef(operations).take_front(shown))
    table.add({numberOf(entry.source), numberOf(entry.target),
               statusName(entry.status).str(),
               nameOf(source, entry.source).str(),
               nameOf(target, entry.target).str(), entry.details});
  table.print(out, 0);
  if (shown < operations.size())
    out << "... and " << operations.size() - shown << " more\n";
}

static void printNames(llvm::ArrayRef<NameDiff> names, raw_ostream &out) {
  if (names.empty())
    return;
  out << "\n✗ Callers bind by other names:\n";
  Table table({"value", "source", "target"});
  for (const NameDiff &name : names)
    table.add(
        {name.role, name.source.value_or("-"), name.target.value_or("-")});
  table.print(out, 0);
}

static void printTitle(raw_ostream &out, const llvm::Twine &title) {
  out << rule(out) << "\n" << title << "\n" << rule(out) << "\n\n";
}

void corten::printDiff(const GraphDiff &diff, raw_ostream &out,
                       const DiffFormat &format) {
  printTitle(out, "GRAPH DIFF");
  printBody(diff, out, format);
  out << "\n" << rule(out) << "\n";
}

void corten::printDiffs(llvm::ArrayRef<NamedDiff> diffs, raw_ostream &out,
                        const DiffFormat &format) {
  for (const NamedDiff &entry : diffs) {
    printTitle(out, "GRAPH: " + entry.label);
    if (entry.diff)
      printBody(*entry.diff, out, format);
    else
      out << "✗ The other program has no such graph.\n";
    printNames(entry.names, out);
    out << "\n\n";
  }
  bool isSame = llvm::all_of(
      diffs, [](const NamedDiff &entry) { return entry.isSame(); });
  out << rule(out) << "\n"
      << (isSame ? "✓ ALL GRAPHS ARE ISOMORPHIC."
                 : "✗ GRAPHS DIFFER. See per-graph details above.")
      << "\n"
      << rule(out) << "\n";
}

//===----------------------------------------------------------------------===//
// Page
//===----------------------------------------------------------------------===//

static std::string escaped(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::printHTMLEscaped(text, stream);
  return result;
}

static constexpr StringRef kPageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Graph diff</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
       max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem;
         border-bottom: 1px solid #8884; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
code { font: 13px ui-monospace, monospace; }
.removed { background: #e5484d26; }
.added { background: #30a46c26; }
.modified { background: #ffb22426; }
</style>
</head>
<body>
<h1>Graph diff</h1>
)";

void corten::printDiffsAsHtml(llvm::ArrayRef<NamedDiff> diffs, raw_ostream &out,
                              const DiffFormat &format) {
  out << kPageHead;
  for (const NamedDiff &entry : diffs) {
    out << "<h2>" << escaped(entry.label) << "</h2>\n";
    if (!entry.diff) {
      out << "<p>✗ The other program has no such graph.</p>\n";
      continue;
    }
    const GraphDiff &diff = *entry.diff;
    std::vector<OperationDiff> operations = operationDiffs(diff);
    out << "<p>"
        << (diff.matching.isIsomorphic ? "✓ Graphs are ISOMORPHIC."
                                       : "✗ Graphs are NOT isomorphic.")
        << " " << escaped(firstDifference(diff, operations)) << "</p>\n<p>"
        << diff.numCommonNodes() << " of " << diff.source->nodes.size()
        << " nodes in the source and " << diff.target->nodes.size()
        << " in the target are common.</p>\n";
    if (!entry.names.empty()) {
      out << "<p>✗ Callers bind by other names:</p>\n<table>\n"
             "<tr><th>value<th>source<th>target\n";
      for (const NameDiff &name : entry.names)
        out << "<tr class=\"modified\"><td>" << name.role << "<td><code>"
            << escaped(name.source.value_or("-")) << "</code><td><code>"
            << escaped(name.target.value_or("-")) << "</code>\n";
      out << "</table>\n";
    }
    if (operations.empty())
      continue;
    out << "<table>\n<tr><th>source<th>target<th>status<th>source op"
           "<th>target op<th>details\n";
    size_t shown = std::min(operations.size(),
                            format.maxItems.value_or(operations.size()));
    for (const OperationDiff &change :
         llvm::ArrayRef(operations).take_front(shown))
      out << "<tr class=\"" << statusName(change.status)
          << "\"><td class=\"n\">" << numberOf(change.source)
          << "<td class=\"n\">" << numberOf(change.target) << "<td>"
          << statusName(change.status) << "<td><code>"
          << escaped(nameOf(*diff.source, change.source)) << "</code><td><code>"
          << escaped(nameOf(*diff.target, change.target)) << "</code><td>"
          << escaped(change.details) << "\n";
    out << "</table>\n";
    if (shown < operations.size())
      out << "<p>… and " << operations.size() - shown << " more</p>\n";
  }
  out << "</body>\n</html>\n";
}
