// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace corten::param;

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/Param/IR/ParamTypes.cpp.inc"

void ParamDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "corten/Dialect/Param/IR/ParamTypes.cpp.inc"
      >();
}

LogicalResult
ParamRefType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     TypedAttr param) {
  if (!isa<TypeType>(param.getType()))
    return emitError() << "a type must come from a '!param.type' parameter, "
                          "not from one of type "
                       << param.getType();
  return success();
}

Type ParamRefType::parse(AsmParser &parser) {
  TypedAttr param;
  llvm::SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
      parser.parseAttribute(param) || parser.parseGreater())
    return {};
  if (auto constant = dyn_cast<ConstantAttr>(param))
    if (auto type = dyn_cast<TypeAttr>(constant.getValue()))
      return type.getValue();
  return parser.getChecked<ParamRefType>(loc, parser.getContext(), param);
}

void ParamRefType::print(AsmPrinter &printer) const {
  printer << '<' << getParam() << '>';
}
