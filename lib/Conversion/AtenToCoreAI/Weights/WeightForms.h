// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which forms a graph needs its weights. torch keeps integers of fewer than
// eight bits in bytes and parameters of quantization in whatever shape the
// compressor chose; the ops of compressed weights want them packed and shaped.
// This looks at all calls of a graph before its weights are emitted, so that
// each is emitted once, in the form that it is used in. It changes nothing.

#ifndef CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_WEIGHTFORMS_H
#define CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_WEIGHTFORMS_H

#include "Weights/CompressedCalls.h"

#include "corten/Program/Program.h"
#include "corten/Support/ReadWindow.h"

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace corten {

/// How the elements of a weight are kept in a program.
struct WeightForm {
  ScalarType type = ScalarType::Float32;
  llvm::SmallVector<int64_t> shape;
  bool operator==(const WeightForm &other) const = default;
};

class WeightForms {
public:
  struct Use {
    int weight = 0;
    /// Index into the forms of the weight.
    unsigned form = 0;
  };
  /// Told what is wrong with a call.
  using Report = llvm::function_ref<void(const Node &, const llvm::Twine &)>;

  /// What is read of weights goes through `window`. See
  /// ConversionOptions::assertions for the other.
  explicit WeightForms(ReadWindow &window, bool keepsAssertions = false)
      : window(&window), keepsAssertions(keepsAssertions) {}

  /// Looks at `root` and the graphs inside it. `weights` are the nodes that
  /// stand for weights, with their index into Program::weights; calls that
  /// `isOpaque` tells take them as they are. Fails where `report` was told of
  /// something.
  llvm::LogicalResult plan(const Program &program, const Graph &root,
                           llvm::ArrayRef<std::pair<const Node *, int>> weights,
                           llvm::function_ref<bool(const Node &)> isOpaque,
                           Report report);

  /// The form that a call takes an operand in; null if it is no weight, or is
  /// taken as it is.
  const Use *find(const Node &call, llvm::StringRef parameter) const;
  /// The forms of a weight, besides its own.
  llvm::ArrayRef<WeightForm> formsOf(int weight) const;
  /// Something takes the weight as it is.
  bool isTakenAsIs(int weight) const { return takenAsIs.contains(weight); }
  /// The result of this call is kept in its type of less than a byte: all that
  /// use it know.
  bool staysNarrow(const Node &call) const { return narrow.contains(&call); }
  /// The weight that a node stands for, or -1.
  int weightOf(const Node &node) const;

private:
  llvm::LogicalResult fail(const Node &call, const llvm::Twine &what);
  llvm::LogicalResult visit(const Graph &graph);
  llvm::LogicalResult planCall(const Node &call);
  llvm::LogicalResult planLookup(const Node &call);
  llvm::LogicalResult planSparse(const Node &call);
  llvm::LogicalResult planBlockwise(const Node &call,
                                    const BlockwiseCall &blockwise);
  llvm::LogicalResult checkPacked(const Node &call, const TensorView &view,
                                  ScalarType wanted);
  llvm::LogicalResult checkBlockSize(const Node &call);
  void planActivation(const Node &call);
  llvm::SmallVector<unsigned> bindOperands(const Node &call);
  bool use(const Node &call, llvm::StringRef parameter, WeightForm form);
  const TensorView *viewOf(const Node &call, llvm::StringRef parameter) const;
  std::optional<ScalarType> dataType(const Node &call,
                                     const BlockwiseCall &blockwise,
                                     const TensorView &data) const;
  std::optional<int64_t> siblingBits(int weight) const;

  ReadWindow *window;
  const Program *program = nullptr;
  llvm::function_ref<bool(const Node &)> isOpaque;
  Report report;
  bool keepsAssertions;
  llvm::DenseMap<const Node *, int> weights;
  llvm::DenseMap<const Node *, llvm::SmallVector<const Node *, 1>> users;
  llvm::DenseMap<std::pair<const Node *, unsigned>, Use> uses;
  llvm::DenseMap<int, llvm::SmallVector<WeightForm, 1>> forms;
  llvm::DenseSet<int> takenAsIs;
  llvm::DenseSet<const Node *> narrow;
};

} // namespace corten

#endif // CORTEN_LIB_CONVERSION_ATENTOCOREAI_WEIGHTS_WEIGHTFORMS_H
