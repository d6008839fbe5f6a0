// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of programs as tensors of the runtime.

#ifndef CORTEN_CONSTANTS_ELEMENTS_H
#define CORTEN_CONSTANTS_ELEMENTS_H

#include "corten/Runtime/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace corten {

/// The type that the runtime has for elements of a type of the dialect; none if
/// it is no type of elements.
std::optional<runtime::ElementType> elementTypeOf(mlir::Type type);

/// The elements of a constant, in row-major order. They lie where they are in
/// the program, or in memory of their own, which copies share.
class Elements {
public:
  /// None for what is no tensor of known shape, and for a weight whose data
  /// the program does not have.
  static std::optional<Elements> of(mlir::Attribute constant);
  /// The same of what a `coreai.constant` makes.
  static std::optional<Elements> of(mlir::Value value);
  /// Memory for results; with `isSplat` for one element that all of them are.
  /// Null if there is none that large.
  static std::optional<Elements> make(mlir::RankedTensorType type,
                                      bool isSplat);

  mlir::RankedTensorType type() const { return shaped; }
  runtime::ElementType elementType() const { return element; }
  llvm::ArrayRef<int64_t> shape() const { return shaped.getShape(); }
  int64_t size() const { return shaped.getNumElements(); }
  /// Whether all elements are the first one, and only that is there.
  bool isSplat() const { return isUniform; }
  /// How many bytes are needed for them.
  size_t bytes() const;

  /// As operands see them: a view that repeats if all are the same.
  runtime::Tensor tensor() const;
  /// The first one, without axes.
  runtime::Tensor first() const;
  /// What a kernel writes to, of memory that was made: without axes if all are
  /// to be the same.
  runtime::Tensor output() const;
  /// Spread over a shape, as operands of arithmetic are; none if it does not
  /// fit.
  std::optional<runtime::Tensor> spread(llvm::ArrayRef<int64_t> shape) const;
  /// All of them, as indices; none if they are no whole numbers.
  llvm::SmallVector<int64_t> indices() const;

  /// As a constant in the program itself.
  mlir::DenseElementsAttr inlineConstant() const;
  /// As a constant in the program if there are few of them or all are the
  /// same, and otherwise as a weight, which keeps the memory.
  mlir::TypedAttr constant() const;

private:
  llvm::ArrayRef<char> raw() const;

  mlir::RankedTensorType shaped;
  runtime::ElementType element = runtime::ElementType::F32;
  const char *data = nullptr;
  /// Of elements that lie in the program in another way, or not aligned, and
  /// of results.
  std::shared_ptr<std::vector<uint64_t>> owned;
  bool isUniform = false;
};

} // namespace corten

#endif // CORTEN_CONSTANTS_ELEMENTS_H
