// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AssemblyControlFlow.h"
#include "corten/Dialect/CoreAI/IR/ControlFlowOps.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/Interfaces/FunctionImplementation.h"

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

  StringAttr name;
  param::DeclArrayAttr parameters;
  if (parser.parseSymbolName(name, getSymNameAttrName(state.name),
                             state.attributes) ||
      param::parseParameterList(parser, parameters))
    return failure();
  state.addAttribute(getParamDeclsAttrName(state.name), parameters);

  bool isVariadic = false;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  if (function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, isVariadic, resultTypes,
          resultAttrs))
    return failure();
  auto argumentTypes = llvm::map_to_vector(
      arguments, [](const OpAsmParser::Argument &arg) { return arg.type; });
  state.addAttribute(
      getFunctionTypeAttrName(state.name),
      TypeAttr::get(builder.getFunctionType(argumentTypes, resultTypes)));
  if (parseGraphAttributes(parser, state))
    return failure();
  call_interface_impl::addArgAndResultAttrs(
      builder, state, arguments, resultAttrs, getArgAttrsAttrName(state.name),
      getResAttrsAttrName(state.name));

  OptionalParseResult hasBody =
      parser.parseOptionalRegion(*state.addRegion(), arguments);
  return hasBody.has_value() ? *hasBody : success();
}

void GraphOp::print(OpAsmPrinter &printer) {
  if (getPriv())
    printer << " private";
  if (getExternalize())
    printer << " externalize";
  if (getNoInline())
    printer << " noinline";
  printer << ' ';
  printer.printSymbolName(getSymName());
  param::printParameterList(printer, getParamDecls());
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getParamDeclsAttrName(), getFunctionTypeAttrName(),
       getArgAttrsAttrName(), getResAttrsAttrName(), getPrivAttrName(),
       getExternalizeAttrName(), getNoInlineAttrName()});
  printer << ' ';
  if (!getBodyRegion().empty())
    printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// InvokeOp
//===----------------------------------------------------------------------===//

ParseResult InvokeOp::parse(OpAsmParser &parser, OperationState &state) {
  TypedAttr callee;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SMLoc operandsLoc;
  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
  if (param::parseSymbolExpression(parser, callee) ||
      parser.getCurrentLocation(&operandsLoc) ||
      parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      call_interface_impl::parseFunctionSignature(
          parser, argumentTypes, argumentAttrs, resultTypes, resultAttrs) ||
      parser.resolveOperands(operands, argumentTypes, operandsLoc,
                             state.operands))
    return failure();
  state.addAttribute(getCalleeAttrName(state.name), callee);
  state.addTypes(resultTypes);
  call_interface_impl::addArgAndResultAttrs(
      parser.getBuilder(), state, argumentAttrs, resultAttrs,
      getArgAttrsAttrName(state.name), getResAttrsAttrName(state.name));
  return success();
}

void InvokeOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  param::printSymbolExpression(printer, getCallee());
  // The second space is the official printer's.
  printer << '(' << getOperands() << ") ";
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getCalleeAttrName(), getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << " : ";
  call_interface_impl::printFunctionSignature(
      printer, getOperands().getTypes(), getArgAttrsAttr(),
      /*isVariadic=*/false, getResultTypes(), getResAttrsAttr());
}
