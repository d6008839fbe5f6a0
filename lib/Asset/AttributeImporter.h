// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, attributes and locations of an asset in the terms of a program.

#ifndef CORTEN_LIB_ASSET_ATTRIBUTEIMPORTER_H
#define CORTEN_LIB_ASSET_ATTRIBUTEIMPORTER_H

#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <memory>
#include <optional>

namespace corten {

/// Translates each type, attribute and location once. A null result means that
/// there is no counterpart; the reason has been reported at `place`.
class AttributeImporter {
public:
  AttributeImporter(mlir::MLIRContext *context, std::shared_ptr<void> owner)
      : context(context), builder(context), owner(std::move(owner)),
        place(mlir::UnknownLoc::get(context)) {}

  // What it reports with refers to it.
  AttributeImporter(const AttributeImporter &) = delete;
  AttributeImporter &operator=(const AttributeImporter &) = delete;

  /// Where the following translations are reported.
  void setPlace(mlir::Location location) { place = location; }

  mlir::Type type(mlir::Type type);
  mlir::Attribute value(mlir::Attribute attribute);
  mlir::Location location(mlir::Location location);

  /// The elements of a constant of `type`.
  mlir::Attribute elements(mlir::Attribute data, mlir::Type type);

  /// `array<[opaque<"aicode.name" = [...]>, ...]>` for each argument, as
  /// dictionaries. Null, without an error, if there are none.
  mlir::FailureOr<mlir::ArrayAttr> dictionaries(mlir::Attribute attribute);
  mlir::DictionaryAttr dictionary(mlir::ArrayRef<mlir::Attribute> entries);
  param::DeclArrayAttr declarations(mlir::Attribute attribute);
  /// `integer<1 bit> 1`.
  static bool isSet(mlir::Attribute attribute);

  /// Reports the first failure; those that follow from it say nothing.
  mlir::InFlightDiagnostic error() {
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(place);
    if (isQuiet || hasFailed)
      diagnostic.abandon();
    hasFailed |= !isQuiet;
    return diagnostic;
  }

private:
  mlir::Type translate(mlir::Type type);
  mlir::Attribute translate(mlir::Attribute attribute);
  mlir::Attribute translateDebugInfo(mlir::Attribute attribute);
  mlir::LocationAttr translateLocation(mlir::Attribute location);
  mlir::FileLineColRange range(mlir::Attribute source);
  mlir::TypedAttr parameter(mlir::Attribute value, mlir::Type type);
  /// Translate what may be missing; false if it is there and has no form.
  bool optional(mlir::Attribute from, mlir::Attribute &to);
  bool optional(mlir::Type from, mlir::Type &to);
  bool values(mlir::ArrayRef<mlir::Attribute> attributes,
              llvm::SmallVectorImpl<mlir::Attribute> &result);

  /// What the checking builders of types and attributes take.
  llvm::function_ref<mlir::InFlightDiagnostic()> reporter() { return report; }

  mlir::MLIRContext *context;
  mlir::Builder builder;
  /// What the weights lie in.
  std::shared_ptr<void> owner;
  mlir::Location place;
  /// Set while something is read that the program can do without.
  bool isQuiet = false;
  bool hasFailed = false;
  std::function<mlir::InFlightDiagnostic()> report = [this] { return error(); };
  llvm::DenseMap<mlir::Type, mlir::Type> types;
  llvm::DenseMap<mlir::Attribute, mlir::Attribute> attributes;
  llvm::DenseMap<mlir::Attribute, mlir::LocationAttr> locations;
  /// By the resource in the asset.
  llvm::DenseMap<mlir::Attribute,
                 std::optional<mlir::DenseResourceElementsHandle>>
      weights;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_ATTRIBUTEIMPORTER_H
