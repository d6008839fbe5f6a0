// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace corten::coreai;

using corten::param::parseSymbolExpression;
using corten::param::printSymbolExpression;

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/CoreAI/IR/CoreAITypes.cpp.inc"

void CoreAIDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "corten/Dialect/CoreAI/IR/CoreAITypes.cpp.inc"
      >();
}

LogicalResult
ImageType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  FourCCAttr fourCC, TypedAttr height, TypedAttr width,
                  Attribute imageConstraints) {
  auto verifyExtent = [&](StringRef name, TypedAttr extent) -> LogicalResult {
    if (!isa<IntegerType>(extent.getType()))
      return emitError() << name << " of an image must be an integer, not "
                         << extent;
    auto number = dyn_cast<IntegerAttr>(extent);
    // Whatever the signedness: the Core AI compiler reads the bits as signed.
    if (number && !number.getValue().isStrictlyPositive())
      return emitError() << name << " of an image must be positive, not "
                         << extent;
    return success();
  };
  if (failed(verifyExtent("height", height)))
    return failure();
  return verifyExtent("width", width);
}

LogicalResult
SymbolRefType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      TypedAttr symbol) {
  if (!isa<param::SymbolType>(symbol.getType()))
    return emitError() << "a named type needs a symbol, not " << symbol;
  return success();
}
