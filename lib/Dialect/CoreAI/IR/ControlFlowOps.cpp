// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of graphs, calls and regions. Builders and interface methods are in
// ControlFlowInterfaces.cpp.

#include "corten/Dialect/CoreAI/IR/ControlFlowOps.h"

#include "AssemblyControlFlow.h"
#include "TokenHistory.h"
#include "corten/Dialect/CoreAI/IR/CoreAITypes.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "corten/Dialect/UDML/IR/UDMLDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// GraphOp, OutputOp
//===----------------------------------------------------------------------===//

/// The tokens of a graph stand for its handles, in order. Where the history of
/// a returned token is known, it must be that handle's.
static LogicalResult verifyTokens(GraphOp graph) {
  SmallVector<unsigned> handles;
  for (auto [index, type] : llvm::enumerate(graph.getArgumentTypes()))
    if (isa<HandleType>(type))
      handles.push_back(index);
  SmallVector<unsigned> tokens;
  for (auto [index, type] : llvm::enumerate(graph.getResultTypes()))
    if (isa<TokenType>(type))
      tokens.push_back(index);
  if (handles.size() != tokens.size())
    return graph.emitOpError("has ")
           << handles.size() << " handle arguments but " << tokens.size()
           << " token results";
  if (graph.isExternal())
    return success();

  Block &body = graph.getBodyRegion().front();
  auto output = cast<OutputOp>(body.back());
  for (auto [handle, token] : llvm::zip_equal(handles, tokens)) {
    if (token >= output.getNumOperands() || handle >= body.getNumArguments())
      continue;
    Value accessed = getAccessedHandle(output.getOperand(token));
    if (accessed && accessed != body.getArgument(handle))
      return graph.emitOpError(
          "returns the tokens of its handles out of order");
  }
  return success();
}

LogicalResult GraphOp::verify() {
  if (getExternalize() && getPriv())
    return emitOpError("cannot be both private and externalized");
  if (!isExternal()) {
    Block &body = getBodyRegion().front();
    if (body.empty() || !isa<OutputOp>(body.back()))
      return emitOpError("must end in 'coreai.output'");
  }
  return verifyTokens(*this);
}

/// Whether a value of type `actual` may be returned as `declared`. Static
/// extents may go out as `?`; the element type is not compared.
static bool refines(Type actual, Type declared) {
  auto actualTensor = dyn_cast<RankedTensorType>(actual);
  auto declaredTensor = dyn_cast<RankedTensorType>(declared);
  if (!actualTensor || !declaredTensor)
    return actual == declared;
  return actualTensor.getRank() == declaredTensor.getRank() &&
         llvm::all_of_zip(actualTensor.getShape(), declaredTensor.getShape(),
                          [](int64_t extent, int64_t wanted) {
                            return ShapedType::isDynamic(wanted) ||
                                   extent == wanted;
                          });
}

LogicalResult OutputOp::verify() {
  auto graph = cast<GraphOp>((*this)->getParentOp());
  ArrayRef<Type> results = graph.getResultTypes();
  if (getNumOperands() != results.size())
    return emitOpError("has ")
           << getNumOperands() << " operands, but '@" << graph.getSymName()
           << "' returns " << results.size();
  for (auto [actual, declared] : llvm::zip_equal(getOperandTypes(), results))
    if (!refines(actual, declared))
      return emitOpError("operand of type ")
             << actual << " cannot be returned as " << declared;
  return success();
}

//===----------------------------------------------------------------------===//
// InvokeOp
//===----------------------------------------------------------------------===//

/// Dictionaries of arguments and results must be as many as those. For calls
/// coreai-core does not check this, but it cannot print them without it.
static LogicalResult verifyDictionaries(Operation *op,
                                        std::optional<ArrayAttr> arguments,
                                        std::optional<ArrayAttr> results) {
  if (arguments && arguments->size() != op->getNumOperands())
    return op->emitOpError("has ")
           << arguments->size() << " argument dictionaries for "
           << op->getNumOperands() << " operands";
  if (results && results->size() != op->getNumResults())
    return op->emitOpError("has ")
           << results->size() << " result dictionaries for "
           << op->getNumResults() << " results";
  return success();
}

/// The arguments that a callee binds to the parameters of what it names.
static ArrayRef<Attribute> getBoundArguments(Attribute callee) {
  auto bind = dyn_cast<param::BindAttr>(callee);
  return bind ? bind.getArguments().getValue() : ArrayRef<Attribute>();
}

LogicalResult InvokeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyDictionaries(*this, getArgAttrs(), getResAttrs())))
    return failure();
  SymbolRefAttr symbol = getCalleeSymbol();
  // A parameter of the enclosing graph can stand for the callee.
  if (!symbol)
    return success();
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, symbol);
  if (isa_and_present<udml::ImportOp>(callee))
    return success();
  auto graph = dyn_cast_if_present<GraphOp>(callee);
  if (!graph)
    return emitOpError("callee ")
           << symbol << " is neither a 'coreai.graph' nor a 'udml.import'";

  FailureOr<FunctionType> signature =
      param::bindParameters(graph.getFunctionType(), graph.getParamDecls(),
                            getBoundArguments(getCallee()));
  if (failed(signature))
    return emitOpError("does not bind the parameters of ") << symbol;
  if (getOperandTypes() != signature->getInputs())
    return emitOpError("operands do not match the signature of ")
           << symbol << ", " << *signature;
  if (getResultTypes() != signature->getResults())
    return emitOpError("results do not match the signature of ")
           << symbol << ", " << *signature;
  return success();
}

//===----------------------------------------------------------------------===//
// IfOp
//===----------------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  if (getElseRegion().empty() && getNumResults() != 0)
    return emitOpError("must have an else region to have results");
  return success();
}

//===----------------------------------------------------------------------===//
// IsolatedGroupOp, DelegateOp
//===----------------------------------------------------------------------===//

/// Whether a dictionary says how its argument or result is used.
static bool hasIntent(Attribute attributes) {
  return llvm::any_of(cast<DictionaryAttr>(attributes),
                      [](NamedAttribute attribute) {
                        return isa<udml::IntentAttr>(attribute.getValue());
                      });
}

LogicalResult IsolatedGroupOp::verify() {
  // An empty array is as good as none here.
  auto unlessEmpty = [](std::optional<ArrayAttr> dictionaries) {
    return dictionaries && dictionaries->empty() ? std::nullopt : dictionaries;
  };
  if (failed(verifyDictionaries(*this, unlessEmpty(getArgAttrs()),
                                unlessEmpty(getResAttrs()))))
    return failure();
  for (std::optional<ArrayAttr> attributes : {getArgAttrs(), getResAttrs()})
    if (attributes && llvm::any_of(*attributes, hasIntent))
      return emitOpError("cannot state intents: they follow from the region");
  return success();
}

LogicalResult DelegateOp::verify() {
  return verifyDictionaries(*this, getArgAttrs(), getResAttrs());
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/ControlFlowOps.cpp.inc"
