// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives every operation of a converted program its debug location: a number,
// and where the user's program comes into it the node, the lines of code, the
// modules on the way there and which result is which. Parts that repeat (call
// stacks, source frames) are built once per conversion.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_DEBUGRECORDER_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_DEBUGRECORDER_H

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"

#include "mlir/IR/Builders.h"

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

  /// For operations until they are recorded, and for those that no node stands
  /// behind.
  mlir::Location unknown() const { return nowhere; }

  /// Attributes to `node` the operations that make its results and those that
  /// feed them, except where an earlier node has them already: a weight belongs
  /// to its first user.
  void recordNode(const Node &node, mlir::ValueRange results);
  /// Attributes to `node` all that a composite of its consists of.
  void recordComposite(coreai::GraphOp graph, const Node &node);
  /// Numbers what no node took: the graph itself and its terminator.
  void recordGraph(coreai::GraphOp graph);
  /// Numbers the bodies of composites, and gives graphs and module the scopes
  /// that name all source files.
  void recordModule(mlir::ModuleOp module);

private:
  /// A stack trace: its innermost frame and the others.
  struct Trace {
    mlir::FileLineColRange source;
    llvm::SmallVector<debuginfo::DebugLocationAttr, 4> callers;
  };
  struct CallStack {
    debuginfo::MetadataAttr classes, path;
  };
  /// What all operations of one node have in common.
  struct NodeInfo {
    uint64_t id = 0;
    mlir::FileLineColRange source;
    mlir::Attribute scope;
    llvm::ArrayRef<debuginfo::DebugLocationAttr> callers;
    debuginfo::MetadataAttr sources, torchId;
    CallStack callStack;
  };

  uint64_t torchId(const Node &node);
  const NodeInfo &describe(const Node &node);
  mlir::Location locationOf(const NodeInfo &info,
                            debuginfo::MetadataAttr number,
                            debuginfo::MetadataAttr outputs);
  const Trace &traceOf(const Node &node);
  const CallStack &callStackOf(const ModuleFrame *module);
  mlir::StringAttr instanceName(const ModuleFrame &module);
  mlir::FileLineColRange frameOf(const SourceLocation &frame);
  std::string shownPath(llvm::StringRef file) const;
  debuginfo::FileAttr fileAttribute(llvm::StringRef file,
                                    llvm::StringRef shown);
  debuginfo::CompileUnitAttr compileUnit();

  mlir::IntegerAttr number(uint64_t value);
  mlir::DictionaryAttr dictionary(llvm::ArrayRef<mlir::NamedAttribute> sorted);
  debuginfo::MetadataAttr operationId(mlir::StringAttr level, uint64_t value);
  debuginfo::MetadataAttr
  outputMaps(uint64_t id,
             llvm::ArrayRef<std::pair<unsigned, mlir::OpResult>> outputs);
  debuginfo::MetadataAttr nextOperationId();
  mlir::Location numbered(mlir::Location location);

  mlir::Builder builder;
  const ConversionOptions &options;
  DebugCounters &counters;
  mlir::FileLineColRange noSource;
  debuginfo::DebugLocationAttr nowhere;
  /// Keys and values that every location repeats.
  mlir::StringAttr coreaiLevel, torchLevel, idKey, identifiersKey, levelKey,
      nameKey, outputKey, sourceKey, targetKey, typeKey, valueKey;
  mlir::Type ui64, ui32;

  mlir::FlatSymbolRefAttr scope;
  /// Of the node described last.
  const Node *described = nullptr;
  NodeInfo info;
  llvm::DenseMap<const Node *, uint64_t> torchIds;
  llvm::DenseSet<mlir::Operation *> owned;
  llvm::SmallVector<std::pair<coreai::GraphOp, debuginfo::MetadataAttr>> graphs;
  /// Of the current graph, by their text.
  llvm::StringMap<Trace> traces;
  llvm::DenseMap<const ModuleFrame *, CallStack> callStacks;
  /// (instance, class) -> "Linear$2"
  llvm::StringMap<mlir::StringAttr> instanceNames;
  llvm::StringMap<unsigned> instancesOfClass;
  /// Path as recorded -> path as shown, in the order of appearance.
  llvm::MapVector<llvm::StringRef, std::string> files;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_DEBUGRECORDER_H
