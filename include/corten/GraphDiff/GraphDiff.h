// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Differences between programs: modules in the coreai dialect, exported
// programs, and graphs of any kind. `corten diff` and
// coreai_torch.debugging.graph_diff show what comes out. A diff holds text, not
// IR: it may outlive the programs.

#ifndef CORTEN_GRAPHDIFF_GRAPHDIFF_H
#define CORTEN_GRAPHDIFF_GRAPHDIFF_H

#include "corten/GraphDiff/LabelledGraph.h"
#include "corten/GraphDiff/Match.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corten {

class Program;

/// What makes two weights equal.
enum class WeightPolicy : uint8_t {
  /// Their types. Numbers without dimensions and integers that are no resource
  /// are part of the program, not weights, and always count.
  Ignore,
  /// Their types and values, however they are stored.
  Digest,
};

/// The graph of an operation with everything in it: operations, their results,
/// regions, blocks and arguments. Names of symbols and what values are called
/// are left out.
std::shared_ptr<const LabelledGraph> moduleGraph(mlir::Operation *root,
                                                 WeightPolicy weights);

/// The graph of an exported program: its placeholders, calls and outputs.
std::shared_ptr<const LabelledGraph> programGraph(const Program &program);

struct GraphDiff {
  std::shared_ptr<const LabelledGraph> source, target;
  Matching matching;
  std::vector<unsigned> unmappedSourceNodes, unmappedTargetNodes;
  /// Edges without a counterpart between the partners of their ends, as
  /// places in LabelledGraph::edges.
  std::vector<unsigned> unmappedSourceEdges, unmappedTargetEdges;

  /// Pairs that differ in nothing.
  size_t numCommonNodes() const {
    return source->nodes.size() - unmappedSourceNodes.size() -
           matching.modified.size();
  }
  size_t numCommonEdges() const {
    return source->edges.size() - unmappedSourceEdges.size();
  }
};

GraphDiff diffGraphs(std::shared_ptr<const LabelledGraph> source,
                     std::shared_ptr<const LabelledGraph> target);

/// One line of a report: an operation that changed, went or came.
struct OperationDiff {
  enum class Status : uint8_t { Modified, Removed, Added };
  Status status = Status::Modified;
  /// Nodes, or Matching::kNone.
  int source = Matching::kNone;
  int target = Matching::kNone;
  /// What is different: "rewired: operand 0; axis: 1 -> 2".
  std::string details;
};

/// "modified", "removed", "added".
llvm::StringRef statusName(OperationDiff::Status status);

/// The operations that differ: modified ones, then removed, then added ones,
/// each in the order of the program.
std::vector<OperationDiff> operationDiffs(const GraphDiff &diff);

/// A value that callers of two programs bind by different names.
struct NameDiff {
  /// "input", "output", "state".
  std::string role;
  /// Nothing where only one of the programs has a value.
  std::optional<std::string> source, target;
};

/// A part of two programs.
struct NamedDiff {
  std::string label;
  /// Nothing for a graph that only one of the programs has.
  std::optional<GraphDiff> diff;
  /// Of an entry point, where names are compared; the graphs leave them out.
  std::vector<NameDiff> names;

  bool isSame() const {
    return diff && diff->matching.isIsomorphic && names.empty();
  }
};

/// The graphs of two modules: those that can be called from outside, by name;
/// then what they call, paired as the calls are; then what has no counterpart.
std::vector<NamedDiff> diffModules(mlir::ModuleOp source, mlir::ModuleOp target,
                                   WeightPolicy weights);

/// One graph of each module, or with no name the modules as wholes. The error
/// says which module has no such graph and which graphs it has.
llvm::Expected<GraphDiff> diffModules(mlir::ModuleOp source,
                                      mlir::ModuleOp target,
                                      std::optional<llvm::StringRef> graph,
                                      WeightPolicy weights);

struct DiffFormat {
  unsigned indent = 2;
  /// How many operations to list; all of them if not given.
  std::optional<size_t> maxItems;
};

/// Verdict, counts and the operations that differ, as text.
void printDiff(const GraphDiff &diff, llvm::raw_ostream &out,
               const DiffFormat &format = {});
void printDiffs(llvm::ArrayRef<NamedDiff> diffs, llvm::raw_ostream &out,
                const DiffFormat &format = {});
/// The same as a page that needs nothing else.
void printDiffsAsHtml(llvm::ArrayRef<NamedDiff> diffs, llvm::raw_ostream &out,
                      const DiffFormat &format = {});

} // namespace corten

#endif // CORTEN_GRAPHDIFF_GRAPHDIFF_H
