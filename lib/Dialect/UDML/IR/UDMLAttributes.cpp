// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace corten::udml;

#include "corten/Dialect/UDML/IR/UDMLEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/UDML/IR/UDMLTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/UDML/IR/UDMLAttributes.cpp.inc"

void UDMLDialect::registerAttributesAndTypes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "corten/Dialect/UDML/IR/UDMLAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "corten/Dialect/UDML/IR/UDMLTypes.cpp.inc"
      >();
}

LogicalResult
ArrayType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  TypedAttr size, TypedAttr elementType) {
  if (!isa<corten::param::TypeType>(elementType.getType()))
    return emitError() << "elements of an array need a type, not "
                       << elementType;
  if (!isa<IndexType>(size.getType()))
    return emitError() << "size of an array must be an index, not " << size;
  return success();
}

bool corten::udml::isIndexArray(Type type) {
  auto array = dyn_cast<ArrayType>(type);
  if (!array)
    return false;
  auto element = dyn_cast<corten::param::ConstantAttr>(array.getElementType());
  return element &&
         element.getValue() == TypeAttr::get(IndexType::get(type.getContext()));
}

LogicalResult
LifecycleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      Lifecycle value) {
  if (bitEnumContainsAny(value, Lifecycle::Reshape | Lifecycle::Prepare) &&
      !bitEnumContainsAny(value, Lifecycle::Init))
    return emitError() << "reshape and prepare work on what init sets up";
  return success();
}

Attribute TypedSymbolRefAttr::parse(AsmParser &parser, Type) {
  SymbolRefAttr symbol;
  Type type;
  if (parser.parseLess() || parser.parseAttribute(symbol) ||
      parser.parseColonType(type) || parser.parseGreater())
    return {};
  return get(parser.getContext(), symbol, type);
}

void TypedSymbolRefAttr::print(AsmPrinter &printer) const {
  printer << '<' << getSymbol() << " : " << getType() << '>';
}
