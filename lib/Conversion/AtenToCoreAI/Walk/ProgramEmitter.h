// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What walks programs: entry points, their nodes, weights and states, the
// graphs of modules and composites. Lowerings see the Emitter that it is.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_PROGRAMEMITTER_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_PROGRAMEMITTER_H

#include "Emission/Emitter.h"
#include "Weights/WeightForms.h"

#include "corten/Conversion/AtenToCoreAI/Conversion.h"
#include "corten/Support/EqualBytes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace corten {

class DebugRecorder;
struct GraphInterface;
struct GraphSignature;

class ProgramEmitter final : public Emitter {
public:
  /// Emits into the module of `result`, and notes there what it refers to.
  ProgramEmitter(ConvertedModule &result, const ConversionOptions &options);
  ~ProgramEmitter();

  /// Lowers one program into a public graph. Fails with diagnostics out.
  mlir::LogicalResult emitEntryPoint(const EntryPoint &entry);
  /// Ends the emission, after the last entry point.
  void finish();

  // What lowerings ask of the program.
  mlir::Value compressed(const AtenNode &node,
                         llvm::StringRef parameter) override;
  bool isWeight(const AtenNode &node,
                llvm::StringRef parameter) const override {
    const Argument &argument = node[parameter];
    return argument.isValue() && forms.weightOf(*argument.asNode()) >= 0;
  }
  bool staysNarrow(const Node &node) const override {
    return forms.staysNarrow(node);
  }
  bool isUsed(const Node &node, unsigned result) const override {
    return usedResults.contains({&node, result});
  }
  bool isSplitAgain(const Node &node) const override {
    return !usedMatrices.contains(&node);
  }
  mlir::FailureOr<mlir::Value> weight(const TensorView &view,
                                      llvm::StringRef name) override {
    return weight(view, {view.dtype, llvm::SmallVector<int64_t>(view.shape)},
                  name);
  }
  mlir::FailureOr<mlir::Value>
  composite(const CompositeSpec &spec, mlir::ValueRange operands,
            llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::ValueRange)>
                body) override;
  mlir::LogicalResult emitNodes(const Graph &graph) override;

private:
  //===------------------------------------------------------------------===//
  // Entry points
  //===------------------------------------------------------------------===//

  mlir::FailureOr<GraphSignature> signatureOf(const EntryPoint &entry,
                                              const GraphInterface &interface);
  /// The weights of the main graph, all of them in front.
  mlir::LogicalResult emitWeights(const Program &program,
                                  const llvm::DenseSet<const Node *> &live);

  //===------------------------------------------------------------------===//
  // Nodes
  //===------------------------------------------------------------------===//

  mlir::LogicalResult emitNode(const Node &node);
  mlir::LogicalResult emitGetItem(const Node &node);
  mlir::LogicalResult emitAssertion(const Node &node);
  /// What messages call a number that only a call knows.
  llvm::StringRef nameOfNumber(const Node &node) const;
  mlir::LogicalResult emitKernel(const Node &node);
  mlir::LogicalResult lowerNode(const Node &node);
  mlir::LogicalResult checkOperands(const Node &node);
  mlir::LogicalResult checkResults(const Node &node,
                                   llvm::ArrayRef<mlir::Value> results);
  void findOpenSymbols(const Program &program);
  bool hasOpenExtents(const Node &node) const;

  //===------------------------------------------------------------------===//
  // Weights
  //===------------------------------------------------------------------===//

  /// The same as the public one, in a form of its own. Fails too when an
  /// element is not of its type.
  mlir::FailureOr<mlir::Value>
  weight(const TensorView &view, const WeightForm &form, llvm::StringRef name);
  /// A weight as a constant of the current graph; one that the graph has under
  /// another name is the same constant.
  mlir::LogicalResult emitWeight(const Program &program, const Node &node,
                                 int weight,
                                 llvm::DenseMap<int, mlir::Value> &known);
  /// Decides in which forms the weights of a graph are emitted.
  mlir::LogicalResult
  planWeights(const Program &program, const Graph &graph,
              llvm::ArrayRef<std::pair<const Node *, int>> weights);

  //===------------------------------------------------------------------===//
  // Graphs of modules, calls of the user
  //===------------------------------------------------------------------===//

  std::string uniqueSymbol(llvm::StringRef base, llvm::StringRef salt);
  /// The graph of a call of an external module, in front of the entry point.
  mlir::LogicalResult emitModuleGraph(const Program &program,
                                      const ModuleCall &call);
  mlir::LogicalResult emitModuleCall(const Node &node);
  /// Brings the graphs of external modules into order: those of the deepest
  /// modules first, `entry` last.
  void sortModuleGraphs(const Program &program, mlir::Operation *entry);
  /// The user's lowering for an operator; empty if there is none.
  llvm::StringRef userLowering(const Operator &op);
  mlir::LogicalResult emitUserCall(const Node &node, llvm::StringRef lowering);
  /// Begins to note the values of `graph` if the user lowers some of it.
  void beginScope(const Graph &graph);
  void noteValues(const Node &node);

  ConvertedModule &result;
  mlir::ModuleOp module;
  const ConversionOptions &options;
  std::unique_ptr<DebugRecorder> debug;
  size_t nodesLowered = 0;
  /// Weights that several entry points use are one resource, and so are those
  /// of equal content.
  llvm::DenseMap<std::pair<const void *, mlir::Type>, mlir::Attribute>
      resourceAttributes;
  ReadWindow window;
  EqualBytes equalWeights{window};
  /// By the number that it gives them.
  std::vector<mlir::Attribute> contents;
  llvm::StringMap<unsigned> symbols;
  llvm::DenseMap<const Operator *, llvm::StringRef> userLoweringOf;

  // Of the entry point being emitted.
  const Program *program = nullptr;
  /// Its name; part of composite symbols.
  std::string entryName;
  /// Symbols that data decides over and that may be zero.
  llvm::DenseSet<unsigned> openSymbols;
  llvm::DenseMap<const Graph *, mlir::Operation *> moduleGraphs;

  // Of the graph being emitted.
  WeightForms forms;
  llvm::DenseMap<std::pair<int, unsigned>, mlir::Value> formedWeights;
  llvm::DenseSet<std::pair<const Node *, unsigned>> usedResults;
  /// See isSplitAgain().
  llvm::DenseSet<const Node *> usedMatrices;
  /// Index into the result's scopes; none for a graph without user calls.
  std::optional<size_t> scope;
};

/// Drops constants behind `last` that nothing uses: numbers that became part of
/// a vector, say. They would only change the order in which coreai-core's
/// optimizer puts the others.
void dropUnusedConstants(mlir::Block *block, mlir::Operation *last,
                         llvm::ArrayRef<mlir::Value> results);

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WALK_PROGRAMEMITTER_H
