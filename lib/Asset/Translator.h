// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the translation of a program to an asset and the way back share.

#ifndef CORTEN_LIB_ASSET_TRANSLATOR_H
#define CORTEN_LIB_ASSET_TRANSLATOR_H

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Region.h"

namespace corten {

/// Steps of a translator of types (`type`) and attributes (`value`), which
/// return null for what has no counterpart.
template <typename Derived> class Translator {
protected:
  /// Translate what may be missing; false if it is there and has no form.
  bool optional(mlir::Attribute from, mlir::Attribute &to) {
    if (from)
      to = derived().value(from);
    return !from || to;
  }
  bool optional(mlir::Type from, mlir::Type &to) {
    if (from)
      to = derived().type(from);
    return !from || to;
  }

  /// Append the translations; false if one has no form.
  template <typename Range>
  bool values(const Range &attributes,
              llvm::SmallVectorImpl<mlir::Attribute> &result) {
    for (mlir::Attribute attribute : attributes) {
      mlir::Attribute translated = derived().value(attribute);
      if (!translated)
        return false;
      result.push_back(translated);
    }
    return true;
  }

private:
  friend Derived;
  Translator() = default;

  Derived &derived() { return static_cast<Derived &>(*this); }
};

/// Makes blocks in `to` for those of `from`, with their arguments, and has
/// `translateBlock` fill them.
template <typename Attributes>
mlir::LogicalResult translateRegion(
    mlir::Region &from, mlir::Region &to, Attributes &attributes,
    mlir::IRMapping &mapping,
    llvm::function_ref<mlir::LogicalResult(mlir::Block &, mlir::Block &)>
        translateBlock) {
  for (mlir::Block &block : from) {
    mlir::Block &created = to.emplaceBlock();
    for (mlir::BlockArgument argument : block.getArguments()) {
      mlir::Type type = attributes.type(argument.getType());
      if (!type)
        return mlir::failure();
      mlir::Location location = attributes.location(argument.getLoc());
      mapping.map(argument, created.addArgument(type, location));
    }
    if (mlir::failed(translateBlock(block, created)))
      return mlir::failure();
  }
  return mlir::success();
}

} // namespace corten

#endif // CORTEN_LIB_ASSET_TRANSLATOR_H
