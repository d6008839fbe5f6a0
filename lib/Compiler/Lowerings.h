// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each operation becomes in a plan. Lowerings.def is the table; the
// functions are in Lowerings, a file for each family.

#ifndef CORTEN_LIB_COMPILER_LOWERINGS_H
#define CORTEN_LIB_COMPILER_LOWERINGS_H

#include "Planner.h"

namespace corten {

/// Gives every result of `op` a form. A message has been emitted if the engine
/// cannot run it.
mlir::LogicalResult lowerOperation(mlir::Operation *op, Planner &planner);

#define LOWERING(OP, FUNCTION)                                                 \
  mlir::LogicalResult FUNCTION(coreai::OP op, Planner &planner);
#define FAMILY(NAME, FUNCTION)
#include "Lowerings.def"

/// The names of composites that are a kernel, for the pass that inlines all
/// others. Graphs of such a name that are something else lose it.
std::vector<std::string> keepKnownComposites(mlir::ModuleOp program);

mlir::LogicalResult lowerElementwise(mlir::Operation *op, Planner &planner);
mlir::LogicalResult lowerReduction(mlir::Operation *op, Planner &planner);
mlir::LogicalResult lowerConvolution(mlir::Operation *op, Planner &planner);
mlir::LogicalResult lowerTransposedConvolution(mlir::Operation *op,
                                               Planner &planner);
mlir::LogicalResult lowerPool(mlir::Operation *op, Planner &planner);
mlir::LogicalResult lowerProduct(mlir::Operation *op, Planner &planner);
/// The product that ends attention becomes one kernel with what comes before
/// it: the products of queries and keys, scale, mask and softmax. False if it
/// is none.
bool lowerAttention(mlir::Operation *op, Planner &planner);
/// The first elements of rows that are sorted, or their places, where `part` is
/// that and nobody needs the others: they are chosen, and not sorted. Nothing
/// if the slice is something else.
std::optional<Form> firstOfSorted(coreai::SliceOp op, const Form &part,
                                  Planner &planner);
/// An operation that ends a normalization becomes one kernel with what comes
/// before it. False if it does not.
bool lowerNormalization(mlir::Operation *op, Planner &planner);
/// A convolution with other weights than its own, which are as many. A message
/// has been emitted if the engine cannot run it.
mlir::FailureOr<Form> convolved(mlir::Operation *op, Planner &planner,
                                const Form &weight);
/// Whether a convolution may read compressed weights as they are, so that they
/// are better left alone.
bool readsCodes(mlir::Operation *op, Planner &planner);
/// How the window of a convolution moves.
struct WindowForm {
  llvm::ArrayRef<Size> extents;
  llvm::ArrayRef<Size> strides;
  llvm::ArrayRef<Size> dilations;
  int64_t groups;
};
/// How a convolution is computed by squares.
struct WinogradChoice {
  /// The side of a square; nothing if it is better done as it is.
  std::optional<int64_t> square;
  /// Why larger squares, or any, are not taken where windows are of the right
  /// form; empty otherwise.
  std::string why;
};
/// `space`: the extents of the result. `isFastMath`: it need not be as exact.
WinogradChoice winogradChoice(mlir::Operation *op, const WindowForm &window,
                              llvm::ArrayRef<Size> space, bool isFastMath);
/// Its weights for that, when the plan is loaded.
Form winogradWeights(Planner &planner, const Form &weight, int64_t square);
/// An operation that scales or moves the channels of a convolution by constants
/// becomes a part of it. False if it does not.
bool lowerScaledConvolution(mlir::Operation *op, Planner &planner);
/// Of a program that was converted for the engine.
mlir::LogicalResult lowerAssert(plan::AssertOp op, Planner &planner);
/// The operand as it is.
mlir::LogicalResult lowerIdentity(mlir::Operation *op, Planner &planner);

/// The name of an operation without the dialect and without how it broadcasts;
/// empty if it is of another dialect.
llvm::StringRef kindOf(mlir::Operation *op);
/// What the engine cannot do, and the operation it cannot do it for.
mlir::InFlightDiagnostic cannotRun(mlir::Operation *op);
/// The element type of the first result.
mlir::Type resultElement(mlir::Operation *op);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_LOWERINGS_H
