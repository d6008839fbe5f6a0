// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace corten::debuginfo;

#include "corten/Dialect/DebugInfo/IR/DebugInfoEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/DebugInfo/IR/DebugInfoAttributes.cpp.inc"

void DebugInfoDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "corten/Dialect/DebugInfo/IR/DebugInfoAttributes.cpp.inc"
      >();
}

std::string FileAttr::getPath() const {
  using namespace llvm::sys;
  if (path::is_absolute(getFilename()))
    return getFilename().str();
  SmallString<128> path(getDirectory());
  path::append(path, getFilename());
  return path.str().str();
}

static LogicalResult
verifyScope(llvm::function_ref<InFlightDiagnostic()> emitError,
            Attribute scope) {
  if (isa<SymbolRefAttr, UnitAttr, SubprogramAttr, CompileUnitAttr>(scope))
    return success();
  return emitError() << "scope must be a symbol, a subprogram, a compile unit "
                        "or unit, not "
                     << scope;
}

LogicalResult
SubprogramAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                       Type type, Attribute compileUnit, FileAttr file,
                       StringRef name, StringRef linkageName,
                       SubprogramFlags flags) {
  return verifyScope(emitError, compileUnit);
}

LogicalResult
MetadataAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     StringRef name, Attribute data) {
  if (isa<UnitAttr, StringAttr, IntegerAttr, ArrayAttr, DictionaryAttr,
          DenseResourceElementsAttr, FileLineColRange>(data))
    return success();
  return emitError() << "metadata '" << name << "' cannot be " << data;
}

LogicalResult
DebugLocationAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                          FileLineColRange source, Attribute scope,
                          ArrayRef<DebugLocationAttr> fusedWith,
                          ArrayRef<MetadataAttr> metadata) {
  if (failed(verifyScope(emitError, scope)))
    return failure();
  FileAttr file = llvm::TypeSwitch<Attribute, FileAttr>(scope)
                      .Case<SubprogramAttr, CompileUnitAttr>(
                          [](auto inner) { return inner.getFile(); })
                      .Default(FileAttr());
  if (file && file.getPath() != source.getFilename().getValue())
    return emitError() << "location in " << source.getFilename()
                       << " cannot lie within a scope in \"" << file.getPath()
                       << '"';
  return success();
}
