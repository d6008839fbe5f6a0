// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AssemblyControlFlow.h"
#include "corten/Dialect/CoreAI/IR/ControlFlowOps.h"
#include "corten/Dialect/Param/IR/ParamAssembly.h"

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// Type lists
//===----------------------------------------------------------------------===//

ParseResult corten::coreai::parseTypeList(OpAsmParser &parser,
                                          SmallVectorImpl<Type> &types) {
  Type first;
  OptionalParseResult hasFirst = parser.parseOptionalType(first);
  if (!hasFirst.has_value())
    return success();
  if (failed(*hasFirst))
    return failure();
  types.push_back(first);
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseType(types.emplace_back()))
      return failure();
  return success();
}

void corten::coreai::printTypeList(OpAsmPrinter &printer, Operation *,
                                   TypeRange types) {
  llvm::interleaveComma(types, printer);
}

//===----------------------------------------------------------------------===//
// GraphOp
//===----------------------------------------------------------------------===//

/// Parses `attributes {...}`, which holds the composite declaration and the
/// discardable attributes. Everything else has a place of its own.
static ParseResult parseGraphAttributes(OpAsmParser &parser,
                                        OperationState &state) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  NamedAttrList attributes;
  if (parser.parseOptionalAttrDictWithKeyword(attributes))
    return failure();
  for (NamedAttribute attribute : attributes) {
    StringAttr name = attribute.getName();
    if (name != GraphOp::getCompositeDeclAttrName(state.name) &&
        llvm::is_contained(state.name.getAttributeNames(), name))
      return parser.emitError(loc)
             << "'" << name.getValue() << "' is written elsewhere in a graph";
  }
  state.addAttributes(attributes);
  return success();
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  auto parseUnit = [&](StringRef keyword, StringAttr name) {
    bool isPresent = succeeded(parser.parseOptionalKeyword(keyword));
    if (isPresent)
      state.addAttribute(name, builder.getUnitAttr());
    return isPresent;
  };
  if (!parseUnit("private", getPrivAttrName(state.name)))
    parseUnit("externalize", getExternalizeAttrName(state.name));
  parseUnit("noinline", getNoInlineAttrName(state.name));

  return param::parseFunction<GraphOp>(
      parser, state, [&] { return parseGraphAttributes(parser, state); });
}

void GraphOp::print(OpAsmPrinter &printer) {
  if (getPriv())
    printer << " private";
  if (getExternalize())
    printer << " externalize";
  if (getNoInline())
    printer << " noinline";
  param::printFunction(
      printer, *this,
      {getPrivAttrName(), getExternalizeAttrName(), getNoInlineAttrName()});
}

//===----------------------------------------------------------------------===//
// InvokeOp
//===----------------------------------------------------------------------===//

ParseResult InvokeOp::parse(OpAsmParser &parser, OperationState &state) {
  return param::parseCall<InvokeOp>(parser, state);
}

void InvokeOp::print(OpAsmPrinter &printer) {
  param::printCall(printer, *this);
}
