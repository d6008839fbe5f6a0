// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of constants, wherever they lie.

#ifndef CORTEN_LIB_INSPECT_CONSTANTS_H
#define CORTEN_LIB_INSPECT_CONSTANTS_H

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <optional>

namespace corten {

/// A constant that holds a tensor.
struct TensorConstant {
  coreai::ConstantOp op;
  mlir::ShapedType type;
  /// The name it has outside the text; empty for an inline one.
  llvm::StringRef key;
  /// Null where the program names data that it does not have.
  std::optional<llvm::ArrayRef<char>> data;
  /// What tells constants apart that do not share their memory.
  const void *identity = nullptr;
  bool isSplat = false;

  bool isResource() const { return !key.empty(); }
  /// Data that was trained, as far as one can tell, rather than a size or an
  /// index.
  bool isWeight() const;
};

/// None for a constant that is no tensor.
std::optional<TensorConstant> tensorConstant(coreai::ConstantOp op);

/// All of them, in the order of the program.
std::vector<TensorConstant> tensorConstants(mlir::ModuleOp module);

/// "f32" for a tensor, handle or scalar type of such elements.
std::string elementTypeName(mlir::Type type);

} // namespace corten

#endif // CORTEN_LIB_INSPECT_CONSTANTS_H
