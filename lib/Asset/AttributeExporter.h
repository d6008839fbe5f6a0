// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, attributes and locations of a program in the terms of an asset.

#ifndef CORTEN_LIB_ASSET_ATTRIBUTEEXPORTER_H
#define CORTEN_LIB_ASSET_ATTRIBUTEEXPORTER_H

#include "Translator.h"
#include "corten/Dialect/AICode/IR/AICodeDialect.h"
#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"

namespace corten {

/// Translates each type, attribute and location once. A null result means that
/// assets have no form for it; the reason has been reported at `place`.
class AttributeExporter : public Translator<AttributeExporter> {
public:
  explicit AttributeExporter(mlir::MLIRContext *context)
      : context(context), place(mlir::UnknownLoc::get(context)) {}

  /// Where the following translations are reported.
  void setPlace(mlir::Location location) { place = location; }
  /// The graph that the following locations lie in.
  void setGraph(mlir::StringAttr name);

  mlir::Type type(mlir::Type type);
  mlir::Attribute value(mlir::Attribute attribute);
  mlir::Location location(mlir::Location location);

  /// The elements of a constant. Those of a weight stay where they are.
  mlir::Attribute elements(mlir::Attribute data);

  /// Dictionaries, one for each argument; none becomes an empty list.
  mlir::Attribute dictionaries(mlir::ArrayAttr arguments);
  /// `[opaque<"key" = [value]>, ...]`; false if a value has no form.
  bool entries(mlir::DictionaryAttr dictionary,
               llvm::SmallVectorImpl<mlir::Attribute> &result);
  mlir::Attribute list(llvm::ArrayRef<mlir::Attribute> values);
  mlir::Attribute text(llvm::StringRef value);
  mlir::Attribute declarations(param::DeclArrayAttr declarations);
  mlir::Attribute flag(bool value);

  /// The date, YYYYMMDD, of the newest form among all that were used.
  uint32_t newest() const { return newestDate; }
  void use(uint32_t date) { newestDate = std::max(newestDate, date); }

  mlir::InFlightDiagnostic error() { return mlir::emitError(place); }

private:
  mlir::Type translate(mlir::Type type);
  mlir::Attribute translate(mlir::Attribute attribute);
  mlir::Attribute translateDebugInfo(mlir::Attribute attribute);
  mlir::LocationAttr translateLocation(mlir::LocationAttr location);
  /// A place in a file.
  mlir::Attribute range(mlir::FileLineColRange range);
  mlir::LocationAttr unknown();
  aicode::ResourceHandle weight(llvm::StringRef key,
                                const mlir::AsmResourceBlob &blob);

  mlir::MLIRContext *context;
  mlir::Location place;
  mlir::StringAttr graph;
  uint32_t newestDate = 0;
  llvm::DenseMap<mlir::Type, mlir::Type> types;
  llvm::DenseMap<mlir::Attribute, mlir::Attribute> attributes;
  llvm::DenseMap<mlir::Attribute, mlir::LocationAttr> locations;
  /// By the weight in the program.
  llvm::DenseMap<mlir::Attribute, mlir::Attribute> weights;
};

} // namespace corten

#endif // CORTEN_LIB_ASSET_ATTRIBUTEEXPORTER_H
