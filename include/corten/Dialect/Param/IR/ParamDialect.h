// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `param` dialect: types and attributes for compile-time parameters.
// `coreai` and `udml` use it to declare parameters and to name what they call.

#ifndef CORTEN_DIALECT_PARAM_IR_PARAMDIALECT_H
#define CORTEN_DIALECT_PARAM_IR_PARAMDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "corten/Dialect/Param/IR/ParamDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "corten/Dialect/Param/IR/ParamTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "corten/Dialect/Param/IR/ParamAttributes.h.inc"

namespace corten::param {

/// Returns `#param.constant<@name> : !param.symbol`, the form in which
/// invocations name a graph in the same symbol table.
ConstantAttr getSymbolConstant(mlir::MLIRContext *context,
                               llvm::StringRef name);

/// Returns the symbol that `expression` names, looking through bound arguments,
/// or null when it is a reference to a parameter.
mlir::SymbolRefAttr getReferencedSymbol(mlir::Attribute expression);

/// Symbol expressions as operations and types spell them: `@f`, `@f<f32, i32>`,
/// or any other parameter expression of type `!param.symbol` in full.
mlir::ParseResult parseSymbolExpression(mlir::AsmParser &parser,
                                        mlir::TypedAttr &expression);
void printSymbolExpression(mlir::AsmPrinter &printer,
                           mlir::TypedAttr expression);

/// Parameter lists as operations spell them after their name:
/// `<T: !param.type, n: i32 = 4>`, or nothing when there are no parameters.
mlir::ParseResult parseParameterList(mlir::AsmParser &parser,
                                     DeclArrayAttr &declarations);
void printParameterList(mlir::AsmPrinter &printer, DeclArrayAttr declarations);

/// The signature that a function of type `type` with parameters `declarations`
/// has once `arguments` are bound to them, in order. Parameters without an
/// argument take their default value. Fails when there are too many arguments,
/// one is of another type than its parameter, or a parameter is left without a
/// value.
mlir::FailureOr<mlir::FunctionType>
bindParameters(mlir::FunctionType type, DeclArrayAttr declarations,
               llvm::ArrayRef<mlir::Attribute> arguments);

} // namespace corten::param

#endif // CORTEN_DIALECT_PARAM_IR_PARAMDIALECT_H
