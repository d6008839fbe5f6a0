// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the decompositions of ops, which are in the `aicode` dialect. One file
// for each family has the bodies; Decomposition.cpp has what they share.

#ifndef CORTEN_LIB_ASSET_DECOMPOSER_H
#define CORTEN_LIB_ASSET_DECOMPOSER_H

#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace corten {

/// How numbers of a type are written.
struct Element {
  /// Null for integers.
  const llvm::fltSemantics *semantics = nullptr;
  unsigned width = 0;
  bool isSigned = false;
};

Element elementOf(mlir::Type type);
/// The bits of a number that every type has: 0, 1 or 2.
llvm::APInt bitsOf(Element element, int value);
/// The smallest or the largest finite number.
llvm::APInt limitOf(Element element, bool isLargest);

/// Extents that two shapes have in common when one is spread over the other.
llvm::SmallVector<int64_t> broadcast(llvm::ArrayRef<int64_t> lhs,
                                     llvm::ArrayRef<int64_t> rhs);

/// Makes the region of one op.
class Decomposer {
public:
  using Tensor = aicode::TensorType;

  explicit Decomposer(mlir::Operation *op)
      : op(op), builder(op->getContext()) {}

  void run(llvm::ArrayRef<mlir::Location> places);

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // The ops, by family. Each takes the arguments of the block.
  mlir::Value broadcastBinary(llvm::StringRef primitive, mlir::ValueRange args);
  mlir::Value broadcastWhere(mlir::ValueRange args);
  mlir::Value broadcastMatmul(mlir::ValueRange args);
  mlir::Value reduce(llvm::StringRef combiner, const llvm::APInt &start,
                     mlir::ValueRange args);
  mlir::Value reduce(llvm::StringRef combiner, mlir::Value start,
                     mlir::ValueRange args);
  mlir::Value argmax(mlir::ValueRange args);
  mlir::Value mean(mlir::ValueRange args);
  mlir::Value softmax(mlir::ValueRange args);
  mlir::Value sigmoid(mlir::Value input);
  mlir::Value sort(mlir::ValueRange args);
  mlir::Value tile(mlir::ValueRange args);
  mlir::Value dequantize(mlir::ValueRange args);
  mlir::Value quantize(mlir::ValueRange args);
  mlir::Value symmetricStatistics(mlir::ValueRange args);
  Values asymmetricStatistics(mlir::ValueRange args);
  Values body(llvm::StringRef code, mlir::ValueRange args);

  // Makers of ops. `code` is without the dialect.
  mlir::Value make(llvm::StringRef code, mlir::ValueRange operands,
                   mlir::Type result);
  mlir::Operation *makeOp(llvm::StringRef code, mlir::ValueRange operands,
                          mlir::TypeRange results);
  mlir::Value makeReduction(
      llvm::StringRef code, mlir::ValueRange operands, mlir::Type result,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  mlir::Value constant(Tensor type, bool isSplat, llvm::ArrayRef<char> bytes);
  mlir::Value splat(const llvm::APInt &bits, mlir::Type element,
                    llvm::ArrayRef<int64_t> shape = {});
  mlir::Value numbers(llvm::ArrayRef<int64_t> values, mlir::Type element);
  mlir::Value signedNumbers(llvm::ArrayRef<int64_t> values) {
    return numbers(values, aicode::SInt32Type::get(context()));
  }
  mlir::Value sizes(llvm::ArrayRef<int64_t> values) {
    return numbers(values, aicode::UInt32Type::get(context()));
  }
  mlir::Value scalar(int64_t value);
  mlir::Value number(int value, mlir::Type element,
                     llvm::ArrayRef<int64_t> shape = {}) {
    return splat(bitsOf(elementOf(element), value), element, shape);
  }
  mlir::Value binary(llvm::StringRef code, mlir::Value lhs, mlir::Value rhs);
  mlir::Value shapeOf(mlir::Value value);
  mlir::Value broadcastShapes(mlir::Value lhs, mlir::Value rhs);
  mlir::Value broadcastTo(mlir::Value value, mlir::Value shape,
                          llvm::ArrayRef<int64_t> result);
  mlir::Value castTo(mlir::Value value, mlir::Type element);

  // Steps that several ops share.
  mlir::Type accumulator(mlir::Type kind);
  mlir::Value perAxisShape(mlir::Value input, mlir::Value axis);
  Values quantizationParameters(mlir::ValueRange args);
  std::pair<mlir::Value, mlir::Value> limits(mlir::Type of, mlir::Type kind);
  mlir::Value otherAxes(mlir::Value input, mlir::Value axis);
  std::pair<mlir::Value, mlir::Value> ends(mlir::Value range);

  mlir::MLIRContext *context() { return op->getContext(); }
  Tensor tensor(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return Tensor::get(context(), shape, element, mlir::Attribute());
  }
  static Tensor typeOf(mlir::Value value) {
    return mlir::cast<Tensor>(value.getType());
  }
  static llvm::ArrayRef<int64_t> shape(mlir::Value value) {
    return typeOf(value).getShape();
  }
  static mlir::Type element(mlir::Value value) {
    return typeOf(value).getElementType();
  }
  static bool isStatic(llvm::ArrayRef<int64_t> shape) {
    return !llvm::is_contained(shape, mlir::ShapedType::kDynamic);
  }
  static llvm::SmallVector<int64_t> dynamic(size_t rank) {
    return llvm::SmallVector<int64_t>(rank, mlir::ShapedType::kDynamic);
  }
  Tensor resultType() { return mlir::cast<Tensor>(op->getResult(0).getType()); }

  mlir::Operation *op;
  mlir::OpBuilder builder;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_DECOMPOSER_H
