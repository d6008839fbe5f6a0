// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a graph of the `coreai` dialect into a function of the `plan` dialect:
// what moves elements becomes a view, everything else a kernel. The functions
// that do it for an operation are in Lowerings, a file for each family.

#ifndef CORTEN_LIB_COMPILER_PLANNER_H
#define CORTEN_LIB_COMPILER_PLANNER_H

#include "Form.h"

#include "corten/Compiler/Precision.h"
#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "corten/Dialect/Plan/IR/PlanDialect.h"
#include "corten/Runtime/ElementType.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace corten {

/// What a function has where operations are nearly what one kernel does: of
/// each what that is, why it is not, and the location.
inline constexpr llvm::StringLiteral kNearMissesAttr = "plan.near_misses";

/// What a kernel is called with, and what it gives.
struct KernelCall {
  llvm::StringRef kernel;
  /// An absent one is optional and not there.
  llvm::SmallVector<std::optional<Form>, 4> inputs;
  SizeList numbers;
  /// Of the result.
  SizeList extents;
  mlir::Type element;
  /// The outermost axis of the result first; row-major if empty.
  llvm::SmallVector<int64_t> order;
  /// Run in every call, also where everything is constant: the memory is to be
  /// the call's.
  bool isFresh = false;
};

/// The same of a kernel with several results, in row-major order, that is run
/// in every call.
struct SeveralResults {
  llvm::StringRef kernel;
  llvm::SmallVector<Form> inputs;
  SizeList numbers;
  llvm::SmallVector<SizeList> extents;
  llvm::SmallVector<mlir::Type> elements;
};

/// One of the instructions of a tile program that is being written.
using LaneBuilder =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

class Planner {
public:
  Planner(mlir::OpBuilder &builder, Precision precision)
      : builder(builder), sizes(builder), location(builder.getUnknownLoc()),
        precision(precision) {}

  /// Plans a graph that is an entry point. A message has been emitted if that
  /// fails.
  mlir::LogicalResult plan(coreai::GraphOp graph);

  //===--------------------------------------------------------------------===//
  // For lowerings
  //===--------------------------------------------------------------------===//

  /// How a value of the program lies.
  const Form &form(mlir::Value value);
  void setForm(mlir::Value value, Form form);

  /// The elements of a small tensor of whole numbers, as sizes: known, computed
  /// from the extents of inputs, or read when a call gets there.
  SizeList numbers(mlir::Value value);
  /// Nothing where they would have to be read.
  std::optional<SizeList> knownNumbers(mlir::Value value);
  /// Axes as numbers from the front; nothing if they are not known.
  std::optional<llvm::SmallVector<int64_t>> axes(mlir::Value value,
                                                 unsigned rank);
  std::optional<int64_t> axis(mlir::Value value, unsigned rank);

  /// Extents with those of a declared type where that knows more.
  void refine(SizeList &extents, mlir::Type declared);

  /// Has a call fail with a message unless a condition on sizes holds; nothing
  /// where it surely does. The message tells of other sizes by their names.
  void require(Size condition, llvm::StringRef message,
               llvm::ArrayRef<llvm::StringRef> names,
               llvm::ArrayRef<Size> told);
  void require(Size condition, llvm::StringRef message, mlir::ArrayAttr names,
               llvm::ArrayRef<Size> told);

  /// Notes that an operation is nearly the end of what one kernel does, and why
  /// it is not; nothing if `why` is empty.
  void noteNearMiss(mlir::Operation *op, llvm::StringRef pattern,
                    llvm::StringRef why);

  /// Run once, when the plan is loaded, if everything it takes is constant.
  Form kernel(const KernelCall &call);
  llvm::SmallVector<Form> kernel(const SeveralResults &call);
  /// A kernel that the program brings. Inputs lie in row-major order.
  llvm::SmallVector<Form> foreign(llvm::StringRef name, llvm::StringRef source,
                                  SeveralResults call);
  /// A kernel that computes element by element, over what its inputs broadcast
  /// to.
  Form elementwise(llvm::StringRef kernel, llvm::ArrayRef<Form> inputs,
                   mlir::Type element);
  /// A tile program of one instruction or a few, over forms of one shape.
  Form tile(llvm::ArrayRef<Form> inputs, mlir::Type element, LaneBuilder lanes);
  /// The same elements in memory of their own.
  Form copied(const Form &form, llvm::ArrayRef<int64_t> order = {});
  /// The same in memory of the call's, also of a constant.
  Form freshCopy(const Form &form);
  Form rowMajored(const Form &form);
  /// With other axes, by a copy if need be.
  Form reshaped(const Form &form, llvm::ArrayRef<Size> extents);
  /// `target` with the elements that `part`, a view of it, shows replaced.
  Form inserted(const Form &update, const Form &target, const Form &part);
  /// One number everywhere.
  Form filled(const Form &scalar, llvm::ArrayRef<Size> extents);
  Form constant(mlir::DenseElementsAttr value);
  Form scalarOf(mlir::Type element, double value);
  /// The shape that these broadcast to.
  SizeList broadcastExtents(llvm::ArrayRef<Form> forms);
  /// The same elements in another shape; a call fails where they do not fit.
  Form broadcasted(const Form &form, llvm::ArrayRef<Size> extents);

  /// As a value: a view, unless it is all of its base.
  mlir::Value value(const Form &form);
  /// Of memory of its own.
  Form whole(mlir::Value base, llvm::ArrayRef<Size> extents,
             llvm::ArrayRef<int64_t> order = {});

  /// Whether it is a constant, or computed from constants when the plan is
  /// loaded.
  bool isConstant(const Form &form);

  mlir::LogicalResult planBlock(mlir::Block &block);
  mlir::LogicalResult planOperation(mlir::Operation *op);
  /// The values of a terminator, in memory that its region may return.
  llvm::SmallVector<mlir::Value> returned(mlir::ValueRange values);
  /// Makes a region of a plan of a region of the program; `end` makes its
  /// terminator.
  mlir::LogicalResult
  planRegion(mlir::Region &from, mlir::Region &to,
             llvm::function_ref<mlir::LogicalResult(mlir::Operation *)> end);

  /// The state behind a handle, as it is at this place.
  Form state(mlir::Value handle);
  void setState(mlir::Value handle, Form form);

  mlir::OpBuilder &builder;
  Sizes sizes;
  /// Of the operation that is being planned.
  mlir::Location location;
  /// Of products with constant weights.
  const Precision precision;

  /// Parts of a constant that are taken by an index each, [..., 1].
  struct Taken {
    Form table;
    Form indices;
  };
  /// By the values that they became, for products that would rather have them
  /// where they are.
  llvm::DenseMap<mlir::Value, Taken> taken;

private:
  plan::KernelOp kernelOp(const SeveralResults &call);
  llvm::SmallVector<Form> resultsOf(plan::KernelOp op,
                                    llvm::ArrayRef<SizeList> extents);
  void requireBroadcast(Size own, Size wanted, Size otherwise);

  /// Whether a condition has been required where the builder is.
  llvm::DenseSet<std::pair<mlir::Block *, mlir::Value>> required;

  Form tileAsIs(llvm::ArrayRef<Form> inputs, mlir::Type element,
                LaneBuilder lanes);
  mlir::LogicalResult planArguments(coreai::GraphOp graph,
                                    plan::FunctionOp function);
  mlir::LogicalResult planResults(coreai::GraphOp graph,
                                  plan::FunctionOp function);
  /// Of an argument or a result whose type says `?`.
  SizeList extentsOf(mlir::Value tensor);
  std::optional<SizeList> computeNumbers(mlir::Value value);

  llvm::SetVector<mlir::Attribute> nearMisses;
  llvm::DenseMap<mlir::Value, Form> forms;
  llvm::DenseMap<mlir::Value, std::optional<SizeList>> contents;
  llvm::MapVector<mlir::Value, Form> states;
  /// The function's arguments for those of the graph.
  llvm::DenseMap<mlir::Value, mlir::Value> stateArguments;
};

/// What registers of a tile program hold for elements of a type.
mlir::Type laneType(mlir::Type element);

/// Whether elements of weights share bytes in a file.
bool sharesBytes(mlir::Type element);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_PLANNER_H
