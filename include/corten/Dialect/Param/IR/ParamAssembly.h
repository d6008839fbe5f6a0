// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of functions with parameters and of calls of them, which dialects
// that have such operations share.

#ifndef CORTEN_DIALECT_PARAM_IR_PARAMASSEMBLY_H
#define CORTEN_DIALECT_PARAM_IR_PARAMASSEMBLY_H

#include "corten/Dialect/Param/IR/ParamDialect.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace corten::param {

/// Parses a function from its name on; `parseAttributes` parses what stands
/// between signature and body.
template <typename Op>
mlir::ParseResult
parseFunction(mlir::OpAsmParser &parser, mlir::OperationState &state,
              llvm::function_ref<mlir::ParseResult()> parseAttributes) {
  namespace impl = mlir::function_interface_impl;
  mlir::Builder &builder = parser.getBuilder();
  mlir::StringAttr name;
  DeclArrayAttr parameters;
  bool isVariadic = false;
  llvm::SmallVector<mlir::OpAsmParser::Argument> arguments;
  llvm::SmallVector<mlir::Type> resultTypes;
  llvm::SmallVector<mlir::DictionaryAttr> resultAttrs;
  if (parser.parseSymbolName(name, Op::getSymNameAttrName(state.name),
                             state.attributes) ||
      parseParameterList(parser, parameters) ||
      impl::parseFunctionSignatureWithArguments(parser, /*allowVariadic=*/false,
                                                arguments, isVariadic,
                                                resultTypes, resultAttrs))
    return mlir::failure();
  auto argumentTypes = llvm::map_to_vector(
      arguments, [](const auto &argument) { return argument.type; });
  state.addAttribute(Op::getParamDeclsAttrName(state.name), parameters);
  state.addAttribute(
      Op::getFunctionTypeAttrName(state.name),
      mlir::TypeAttr::get(builder.getFunctionType(argumentTypes, resultTypes)));
  if (parseAttributes())
    return mlir::failure();
  mlir::call_interface_impl::addArgAndResultAttrs(
      builder, state, arguments, resultAttrs,
      Op::getArgAttrsAttrName(state.name), Op::getResAttrsAttrName(state.name));

  mlir::OptionalParseResult hasBody =
      parser.parseOptionalRegion(*state.addRegion(), arguments);
  return hasBody.has_value() ? *hasBody : mlir::success();
}

/// Prints a function from its name on, without the attributes `elided`.
template <typename Op>
void printFunction(mlir::OpAsmPrinter &printer, Op op,
                   llvm::ArrayRef<llvm::StringRef> elided) {
  printer << ' ';
  printer.printSymbolName(op.getSymName());
  printParameterList(printer, op.getParamDecls());
  mlir::function_interface_impl::printFunctionSignature(
      printer, op, op.getArgumentTypes(), /*isVariadic=*/false,
      op.getResultTypes());
  llvm::SmallVector<llvm::StringRef> inText = {
      op.getSymNameAttrName(), op.getParamDeclsAttrName(),
      op.getFunctionTypeAttrName(), op.getArgAttrsAttrName(),
      op.getResAttrsAttrName()};
  llvm::append_range(inText, elided);
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), inText);
  printer << ' ';
  if (!op.getBodyRegion().empty())
    printer.printRegion(op.getBodyRegion(), /*printEntryBlockArgs=*/false);
}

/// Parses a call: callee, operands, attributes, signature.
template <typename Op>
mlir::ParseResult parseCall(mlir::OpAsmParser &parser,
                            mlir::OperationState &state) {
  mlir::TypedAttr callee;
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  llvm::SMLoc operandsLoc;
  llvm::SmallVector<mlir::Type> argumentTypes, resultTypes;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs, resultAttrs;
  if (parseSymbolExpression(parser, callee) ||
      parser.getCurrentLocation(&operandsLoc) ||
      parser.parseOperandList(operands, mlir::OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      mlir::call_interface_impl::parseFunctionSignature(
          parser, argumentTypes, argumentAttrs, resultTypes, resultAttrs) ||
      parser.resolveOperands(operands, argumentTypes, operandsLoc,
                             state.operands))
    return mlir::failure();
  state.addAttribute(Op::getCalleeAttrName(state.name), callee);
  state.addTypes(resultTypes);
  mlir::call_interface_impl::addArgAndResultAttrs(
      parser.getBuilder(), state, argumentAttrs, resultAttrs,
      Op::getArgAttrsAttrName(state.name), Op::getResAttrsAttrName(state.name));
  return mlir::success();
}

/// Prints a call, without the attributes `elided`.
template <typename Op>
void printCall(mlir::OpAsmPrinter &printer, Op op,
               llvm::ArrayRef<llvm::StringRef> elided = {}) {
  printer << ' ';
  printSymbolExpression(printer, op.getCallee());
  // Two spaces follow, as in the text that Core AI writes.
  printer << '(' << op.getOperands() << ") ";
  llvm::SmallVector<llvm::StringRef> inText = {op.getCalleeAttrName(),
                                               op.getArgAttrsAttrName(),
                                               op.getResAttrsAttrName()};
  llvm::append_range(inText, elided);
  printer.printOptionalAttrDict(op->getAttrs(), inText);
  printer << " : ";
  mlir::call_interface_impl::printFunctionSignature(
      printer, op->getOperandTypes(), op.getArgAttrsAttr(),
      /*isVariadic=*/false, op->getResultTypes(), op.getResAttrsAttr());
}

} // namespace corten::param

#endif // CORTEN_DIALECT_PARAM_IR_PARAMASSEMBLY_H
