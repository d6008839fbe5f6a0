// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes while a plan is made. What is known is a number; what
// only a call knows is an `index` value. Equal expressions are one value, so
// that comparing them tells whether two sizes are surely the same.

#ifndef CORTEN_LIB_COMPILER_SIZES_H
#define CORTEN_LIB_COMPILER_SIZES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/ScopedHashTable.h"

#include <optional>

namespace corten {

/// A number (an attribute) or an `index` value.
using Size = mlir::OpFoldResult;

/// The number, if it is known.
std::optional<int64_t> known(Size size);
inline bool isKnown(Size size, int64_t number) { return known(size) == number; }

class Sizes {
  enum class Kind : unsigned;
  using Key = std::tuple<unsigned, void *, void *, void *>;
  using Table = llvm::ScopedHashTable<Key, mlir::Value>;

public:
  explicit Sizes(mlir::OpBuilder &builder) : builder(builder) {}

  /// What is made while one lives is forgotten at its end: it is in a region.
  struct Scope {
    explicit Scope(Sizes &sizes) : scope(sizes.table) {}
    Table::ScopeTy scope;
  };

  Size number(int64_t value);
  Size add(Size a, Size b);
  Size sub(Size a, Size b);
  Size mul(Size a, Size b);
  /// Rounded down.
  Size divide(Size a, Size b);
  Size divideUp(Size a, Size b);
  Size max(Size a, Size b);
  Size min(Size a, Size b);
  /// 1 or 0.
  Size equal(Size a, Size b);
  Size less(Size a, Size b);
  Size select(Size condition, Size then, Size otherwise);
  Size product(llvm::ArrayRef<Size> sizes);

  bool isNonNegative(Size size);
  /// As a value, with a constant for a number.
  mlir::Value value(Size size);

private:
  template <typename Make>
  Size expression(Kind kind, Size a, Size b, Size c, Make &&make);

  mlir::OpBuilder &builder;
  Table table;
  llvm::DenseMap<mlir::Value, bool> nonNegative;
  /// Of the table: constants are values too.
  Table::ScopeTy outermost{table};
};

} // namespace corten

#endif // CORTEN_LIB_COMPILER_SIZES_H
