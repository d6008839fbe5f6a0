// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every operation of a converted program its debug location: a number,
// and where the user's program comes into it the node, the lines of code, the
// modules on the way there and which result is which.
//
// Locations are written as text, each once; no attributes are made of them
// here. For a model with deep call stacks that takes a third of the time, and
// the text has to be made anyway: it is how they get to coreai-core.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DEBUGRECORDER_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DEBUGRECORDER_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

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

  /// Attributes to `node` the operations that make its results and those that
  /// feed them, except where an earlier node has them already: a weight belongs
  /// to its first user.
  void recordNode(const Node &node, mlir::ValueRange results);
  /// Attributes to `node` all that a composite of its consists of.
  void recordComposite(coreai::GraphOp graph, const Node &node);
  /// Numbers what no node took: the graph itself and its terminator.
  void recordGraph(coreai::GraphOp graph);
  /// Numbers the bodies of composites, gives graphs and module the scopes that
  /// name all source files, and hands over what was recorded.
  LocationTable recordModule(mlir::ModuleOp module);

private:
  /// What the operations of one node have in common, as parts of a location.
  struct NodeText {
    uint64_t id = 0;
    /// The source, the scope and the callers.
    std::string place;
    /// Metadata before and behind what differs between the operations.
    std::string before, behind;
  };

  uint64_t torchId(const Node &node);
  /// Facts that more than one operation mentions become aliases.
  const NodeText &describe(const Node &node, bool isShared);
  llvm::StringRef placeOf(const Node &node);
  llvm::StringRef callStackOf(const ModuleFrame *module);
  llvm::StringRef instanceName(const ModuleFrame &module);
  std::string frameOf(const SourceLocation &frame);
  std::string shownPath(llvm::StringRef file) const;
  debuginfo::FileAttr fileAttribute(llvm::StringRef file,
                                    llvm::StringRef shown);
  debuginfo::CompileUnitAttr compileUnit();

  /// A new alias for `text`, or the one that it has.
  std::string define(llvm::StringRef text);
  llvm::StringRef alias(llvm::StringRef text);
  std::string aliasOf(mlir::Attribute attribute);

  /// Writes the location of `op`, which gets the next number.
  void write(mlir::Operation *op, const NodeText &node,
             llvm::StringRef outputs);
  void writeNumber(uint64_t number);
  /// Writes a location of `op` without node.
  void write(mlir::Operation *op, llvm::StringRef place,
             std::optional<uint64_t> number);
  /// Begins and ends the text of `op`.
  void begin(mlir::Operation *op);
  void end(mlir::Operation *op);
  std::string
  outputMaps(uint64_t id, mlir::Operation *op,
             llvm::ArrayRef<std::pair<unsigned, mlir::OpResult>> outputs);

  mlir::MLIRContext *context;
  const ConversionOptions &options;
  DebugCounters &counters;

  /// The definitions of aliases, and aliases by what they stand for.
  std::string definitionText;
  llvm::raw_string_ostream definitions;
  unsigned numAliases = 0;
  llvm::StringMap<std::string> aliases;
  /// The locations, one behind the other, and where that of an operation is.
  std::string text;
  llvm::raw_string_ostream stream;
  llvm::DenseMap<mlir::Operation *, std::pair<size_t, size_t>> entries;

  /// Of an operation that stands nowhere in the user's program.
  std::string nowhere;
  /// Of the current graph.
  std::string scope;
  /// Of the node described last.
  const Node *described = nullptr;
  NodeText nodeText;
  llvm::DenseMap<const Node *, uint64_t> torchIds;
  llvm::SmallVector<std::pair<coreai::GraphOp, uint64_t>> graphs;
  llvm::DenseMap<mlir::Operation *, NodeText> composites;
  /// Of the current graph, by their stack traces.
  llvm::StringMap<std::string> places;
  llvm::DenseMap<const ModuleFrame *, std::string> callStacks;
  /// (instance, class) -> "Linear$2"
  llvm::StringMap<std::string> instanceNames;
  llvm::StringMap<unsigned> instancesOfClass;
  /// Path as recorded -> path as shown, in the order of appearance.
  llvm::MapVector<llvm::StringRef, std::string> files;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_DEBUGRECORDER_H
