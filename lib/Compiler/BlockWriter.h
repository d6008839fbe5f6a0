// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the writer of plans: what all blocks share, and one block. Their
// functions are in Writer.cpp, BlockWriter.cpp (sizes, values, steps) and
// ControlWriter.cpp (blocks in blocks).

#ifndef CORTEN_LIB_COMPILER_BLOCKWRITER_H
#define CORTEN_LIB_COMPILER_BLOCKWRITER_H

#include "Liveness.h"
#include "Writer.h"

#include "corten/Dialect/Plan/IR/PlanDialect.h"
#include "corten/Runtime/ElementType.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace corten {

/// What the runtime calls the elements of a tensor of a plan.
runtime::ElementType planElement(mlir::Type type);

class PlanWriter {
public:
  PlanWriter(runtime::plan::PlanT &plan, const WeightFile &weights)
      : plan(plan), weights(weights) {}

  void write(plan::FunctionOp function);
  /// The block that packs weights, if there is one.
  void finish();

  /// The place of a kernel's name.
  int32_t kernel(llvm::StringRef name);
  /// The place of a kernel that the program brings.
  int32_t foreign(plan::KernelOp op);
  int32_t location(mlir::Location location);
  int32_t origin(mlir::Location location);
  int32_t constant(plan::ConstantOp op);
  /// What the block that prepares gives for a result of one of its kernels.
  int32_t prepared(mlir::Value result);
  /// A block that has been written.
  int32_t add(std::unique_ptr<runtime::plan::BlockT> block);

private:
  int32_t addConstant(llvm::ArrayRef<char> bytes);

  runtime::plan::PlanT &plan;
  const WeightFile &weights;
  llvm::StringMap<int32_t> kernels;
  llvm::DenseMap<mlir::Attribute, int32_t> foreignKernels;
  llvm::StringMap<int32_t> locations;
  llvm::DenseMap<mlir::Location, int32_t> origins;
  llvm::DenseMap<mlir::Attribute, int32_t> constants;
  llvm::MapVector<mlir::Value, int32_t> preparedResults;
};

/// Writes one block, with everything that it names.
class BlockWriter {
public:
  explicit BlockWriter(PlanWriter &writer)
      : writer(writer), block(std::make_unique<runtime::plan::BlockT>()) {}

  /// A block with arguments as inputs, and what is taken from around it.
  void writeBody(mlir::Block &body, llvm::ArrayRef<mlir::Value> captured,
                 llvm::ArrayRef<mlir::Value> capturedSizes);
  void write(mlir::Operation *op);
  int32_t value(mlir::Value tensor);
  int32_t size(mlir::Value index);
  int32_t number(int64_t number);

  /// Kernels that are run when the plan is loaded.
  void writePrepared(llvm::ArrayRef<mlir::Operation *> kernels) {
    for (mlir::Operation *kernel : kernels)
      writeKernel(llvm::cast<plan::KernelOp>(kernel));
  }

  std::unique_ptr<runtime::plan::BlockT> take() { return std::move(block); }
  runtime::plan::BlockT &content() { return *block; }
  /// Of a function: gives a value to the caller.
  void makeOutput(mlir::Value tensor, int32_t index);

private:
  int32_t expression(mlir::Operation *op);
  int32_t binary(runtime::plan::SizeKind kind, int32_t left, int32_t right);
  int32_t addSize(runtime::plan::SizeKind kind, int64_t value, int32_t left,
                  int32_t right);
  int32_t symbol(runtime::plan::SymbolSource source, int32_t index,
                 int32_t axis, int32_t step);
  int32_t addBuffer(runtime::plan::Storage storage, int32_t index,
                    int32_t bytes);
  int32_t addValue(mlir::Type type, int32_t buffer, std::vector<int32_t> shape,
                   std::vector<int32_t> strides = {}, int32_t offset = -1);
  /// Says that a value is what its buffer holds after the steps so far. It does
  /// not know which results share memory: that is what it is checked against.
  void isWrittenNow(int32_t value);
  /// Extents of a type; those that are open come from `sizes`.
  std::vector<int32_t> shapeOf(mlir::Type type, mlir::ValueRange sizes);
  std::vector<int32_t> mixed(llvm::ArrayRef<int64_t> known,
                             mlir::ValueRange open);
  /// Memory of its own for a tensor of these extents.
  int32_t addArena(mlir::Type type, llvm::ArrayRef<int32_t> shape);
  /// The memory of an input that a program may write its result to; -1 if there
  /// is none.
  int32_t dyingInput(plan::KernelOp op);
  int32_t inputValue(mlir::Value tensor, int32_t index);
  /// The same elements with axes in another order.
  int32_t turned(int32_t value, llvm::ArrayRef<int64_t> order);
  /// Strides for axes in this order.
  std::vector<int32_t> stridesFor(llvm::ArrayRef<int32_t> shape,
                                  llvm::ArrayRef<int64_t> order);

  runtime::plan::StepT &addStep(runtime::plan::StepKind kind,
                                mlir::Location location);
  void copy(int32_t from, int32_t to, mlir::Location location);
  void writeKernel(plan::KernelOp op);
  void writeInsert(plan::InsertOp op);
  void writeStores(mlir::Block &body);
  void writeAssert(plan::AssertOp op);
  void writeIf(plan::IfOp op);
  void writeWhile(plan::WhileOp op);
  std::unique_ptr<runtime::plan::TileProgramT> tileProgram(plan::KernelOp op);
  void writeChildren(mlir::Operation *op, runtime::plan::StepT &step,
                     llvm::ArrayRef<mlir::Region *> regions);

  PlanWriter &writer;
  std::unique_ptr<runtime::plan::BlockT> block;
  llvm::DenseMap<mlir::Value, int32_t> values;
  llvm::DenseMap<mlir::Value, int32_t> sizes;
  llvm::DenseMap<int64_t, int32_t> numbers;
  /// By tensor: the step that gives it.
  llvm::DenseMap<mlir::Value, int32_t> stepOf;
  /// By element that is read as a size: the last assertion before it, which
  /// may be about it and comes first.
  llvm::DenseMap<mlir::Value, int32_t> assertedBefore;
  int32_t lastAssertion = -1;
  std::unique_ptr<Liveness> liveness;
};

} // namespace corten

#endif // CORTEN_LIB_COMPILER_BLOCKWRITER_H
