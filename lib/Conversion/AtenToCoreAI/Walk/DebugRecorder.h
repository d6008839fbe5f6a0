// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every operation of a converted program its debug location: a number,
// and where the user's program comes into it the node, the lines of code, the
// modules on the way there and which result is which.
//
// Locations are kept as data; no attributes are made of them here. For a model
// with deep call stacks that would take three times as long, and coreai-core
// gets them as text.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DEBUGRECORDER_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DEBUGRECORDER_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace corten {

class DebugRecorder {
public:
  /// Numbers continue from `counters`, which are advanced.
  DebugRecorder(mlir::MLIRContext *context, const ConversionOptions &options,
                DebugCounters &counters);

  /// Begins the graph `symbol` and numbers the nodes of `graph`: its
  /// placeholders, the live calls, and the end.
  void beginGraph(const Graph &graph, const llvm::DenseSet<const Node *> &live,
                  llvm::StringRef symbol);

  /// Attributes to `node` the operations that make its results, the one that
  /// is there for its effect, and those that feed them, except where an earlier
  /// node has them already: a weight belongs to its first user.
  void recordNode(const Node &node, mlir::ValueRange results,
                  mlir::Operation *effect = nullptr);
  /// Attributes to `node` all that a composite of its consists of.
  void recordComposite(coreai::GraphOp graph, const Node &node);
  /// Numbers what no node took: the graph itself and its terminator.
  void recordGraph(coreai::GraphOp graph);
  /// Numbers the bodies of composites, gives graphs and module the scopes that
  /// name all source files, and hands over what was recorded.
  LocationTable recordModule(mlir::ModuleOp module);

private:
  using Entry = LocationTable::Entry;

  uint64_t torchId(const Node &node);
  /// The place of a node's description in the table.
  unsigned describe(const Node &node);
  unsigned placeOf(const Node &node);
  unsigned addPlace(llvm::ArrayRef<unsigned> lines, mlir::Attribute scope);
  unsigned addLine(unsigned file, unsigned number);
  unsigned lineOf(const SourceLocation &frame);
  std::optional<unsigned> modulesOf(const ModuleFrame *module);
  llvm::StringRef instanceName(const ModuleFrame &module);
  std::string shownPath(llvm::StringRef file) const;
  debuginfo::FileAttr fileAttribute(llvm::StringRef file,
                                    llvm::StringRef shown);
  debuginfo::CompileUnitAttr compileUnit();

  /// Records an operation that no node has. It gets the next number.
  void recordNowhere(mlir::Operation *op) {
    entries[op] = {nowhere, std::nullopt, counters.nextOperationId++};
  }
  /// Records an operation of a node, which is described.
  void record(mlir::Operation *op, unsigned node,
              llvm::ArrayRef<std::pair<unsigned, mlir::OpResult>> outputs);

  mlir::MLIRContext *context;
  const ConversionOptions &options;
  DebugCounters &counters;

  LocationTable table;
  llvm::DenseMap<mlir::Operation *, Entry> entries;

  /// Of an operation that stands nowhere in the user's program.
  unsigned nowhere = 0;
  /// Of the current graph.
  mlir::Attribute scope;
  /// Of the node described last.
  const Node *described = nullptr;
  llvm::DenseMap<const Node *, uint64_t> torchIds;
  llvm::SmallVector<std::pair<coreai::GraphOp, uint64_t>> graphs;
  llvm::DenseMap<mlir::Operation *, unsigned> composites;
  /// Of the current graph, by their stack traces.
  llvm::StringMap<unsigned> places;
  llvm::DenseMap<const ModuleFrame *, unsigned> modules;
  /// (instance, class) -> "Linear$2"
  llvm::StringMap<std::string> instanceNames;
  llvm::StringMap<unsigned> instancesOfClass;
  /// Path as recorded -> place in the table, in the order of appearance.
  llvm::MapVector<llvm::StringRef, unsigned> files;
  /// (file in the table, number) -> place in the table.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> lines;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DEBUGRECORDER_H
