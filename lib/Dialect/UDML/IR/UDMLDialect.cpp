// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "corten/Dialect/Param/IR/ParamAssembly.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace corten::udml;

namespace param = corten::param;

#include "corten/Dialect/UDML/IR/UDMLDialect.cpp.inc"

//===----------------------------------------------------------------------===//
// Assembly shared by operations
//===----------------------------------------------------------------------===//

static ParseResult parseParameterList(OpAsmParser &parser,
                                      param::DeclArrayAttr &declarations) {
  return param::parseParameterList(parser, declarations);
}

static void printParameterList(OpAsmPrinter &printer, Operation *,
                               param::DeclArrayAttr declarations) {
  param::printParameterList(printer, declarations);
}

static ParseResult parseSymbolOfType(OpAsmParser &parser,
                                     TypedSymbolRefAttr &symbol) {
  return parser.parseCustomAttributeWithFallback(symbol);
}

static void printSymbolOfType(OpAsmPrinter &printer, Operation *,
                              TypedSymbolRefAttr symbol) {
  printer.printStrippedAttrOrType(symbol);
}

/// Fills in the phases of an operation that was written without any.
static void addDefaultLifecycle(OpAsmParser &parser, OperationState &state,
                                StringAttr name) {
  if (!state.attributes.get(name))
    state.addAttribute(
        name, LifecycleAttr::get(parser.getContext(), Lifecycle::Stateless));
}

/// The attributes of a dictionary that repeat what is printed elsewhere.
static SmallVector<StringRef> getElidedNames(LifecycleAttr lifecycle,
                                             StringAttr lifecycleName,
                                             ArrayRef<StringRef> names) {
  SmallVector<StringRef> elided(names);
  if (lifecycle.getValue() == Lifecycle::Stateless)
    elided.push_back(lifecycleName);
  return elided;
}

#define GET_OP_CLASSES
#include "corten/Dialect/UDML/IR/UDMLOps.cpp.inc"

void UDMLDialect::initialize() {
  registerAttributesAndTypes();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/UDML/IR/UDMLOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

LogicalResult MemberOp::verify() {
  std::optional<TypedAttr> value = getValue();
  if (value && value->getType() != getType())
    return emitOpError() << "of type " << getType() << " starts with "
                         << *value;
  return success();
}

LogicalResult ImportOp::verify() {
  if (getImportType() == ImportType::ClangModule && !getModuleName())
    return emitOpError("of a Clang module must name the module");
  return success();
}

LogicalResult ToMemRefOp::verify() {
  if (getDims().getType() != getStrides().getType())
    return emitOpError("needs as many strides as extents");
  auto array = cast<ArrayType>(getDims().getType());
  auto size = dyn_cast<IntegerAttr>(array.getSize());
  auto type = dyn_cast<MemRefType>(getMemref().getType());
  if (size && type && size.getInt() != type.getRank())
    return emitOpError() << "makes a memref of rank " << type.getRank()
                         << " from " << size.getInt() << " extents";
  return success();
}

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

LogicalResult FuncOp::verify() {
  if (isa_and_present<ClassOp>((*this)->getParentOp()))
    return emitOpError("cannot be a member of a class");
  return success();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  auto parseUnit = [&](StringRef keyword, StringAttr name) {
    if (succeeded(parser.parseOptionalKeyword(keyword)))
      state.addAttribute(name, builder.getUnitAttr());
  };
  parseUnit("extern_c", getExternCAttrName(state.name));
  parseUnit("noinline", getNoInlineAttrName(state.name));

  return param::parseFunction<FuncOp>(parser, state, [&]() -> ParseResult {
    if (parser.parseOptionalAttrDictWithKeyword(state.attributes))
      return failure();
    addDefaultLifecycle(parser, state, getLifecyclePhasesAttrName(state.name));
    return success();
  });
}

void FuncOp::print(OpAsmPrinter &printer) {
  if (getExternC())
    printer << " extern_c";
  if (getNoInline())
    printer << " noinline";
  param::printFunction(
      printer, *this,
      getElidedNames(getLifecyclePhasesAttr(), getLifecyclePhasesAttrName(),
                     {getExternCAttrName(), getNoInlineAttrName()}));
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

ParseResult CallOp::parse(OpAsmParser &parser, OperationState &state) {
  if (param::parseCall<CallOp>(parser, state))
    return failure();
  addDefaultLifecycle(parser, state, getLifecyclePhasesAttrName(state.name));
  return success();
}

void CallOp::print(OpAsmPrinter &printer) {
  param::printCall(printer, *this,
                   getElidedNames(getLifecyclePhasesAttr(),
                                  getLifecyclePhasesAttrName(), {}));
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  SymbolRefAttr symbol = param::getReferencedSymbol(getCallee());
  Operation *target =
      symbol ? symbolTable.lookupNearestSymbolFrom(*this, symbol) : nullptr;
  if (isa_and_present<ImportOp>(target))
    return success();
  auto function = dyn_cast_if_present<FuncOp>(target);
  if (!function)
    return emitOpError() << "calls " << getCallee()
                         << ", which is neither a function nor an import";
  if (getLifecyclePhases() != function.getLifecyclePhases())
    return emitOpError("is made in other phases than its function runs in");

  auto bind = dyn_cast<param::BindAttr>(getCallee());
  FailureOr<FunctionType> type = param::bindParameters(
      function.getFunctionType(), function.getParamDecls(),
      bind ? bind.getArguments().getValue() : ArrayRef<Attribute>());
  if (failed(type))
    return emitOpError() << "does not bind the parameters of " << symbol;
  if (getOperandTypes() != type->getInputs() ||
      getResultTypes() != type->getResults())
    return emitOpError() << "does not match " << symbol << ", which is "
                         << *type;
  return success();
}
