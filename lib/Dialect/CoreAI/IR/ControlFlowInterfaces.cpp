// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders and interface methods of the control-flow ops: how graphs are
// called, and where control goes between regions.

#include "corten/Dialect/CoreAI/IR/ControlFlowOps.h"
#include "corten/Dialect/Param/IR/ParamDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace corten::coreai;

//===----------------------------------------------------------------------===//
// GraphOp
//===----------------------------------------------------------------------===//

void GraphOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    FunctionType type) {
  auto &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.function_type = TypeAttr::get(type);
  properties.param_decls =
      param::DeclArrayAttr::get(builder.getContext(), /*value=*/{});
  state.addRegion();
}

Block *GraphOp::addEntryBlock() {
  assert(getBodyRegion().empty() && "a graph has one block");
  Block *block = new Block();
  getBodyRegion().push_back(block);
  SmallVector<Location> locations(getNumArguments(), getLoc());
  block->addArguments(getArgumentTypes(), locations);
  return block;
}

// An externalized graph is visible to other modules of the program but is not
// an entry point: coreai-core drops it when nothing calls it.

SymbolTable::Visibility GraphOp::getVisibility() {
  if (getPriv())
    return SymbolTable::Visibility::Private;
  return getExternalize() ? SymbolTable::Visibility::Nested
                          : SymbolTable::Visibility::Public;
}

void GraphOp::setVisibility(SymbolTable::Visibility visibility) {
  setPriv(visibility == SymbolTable::Visibility::Private);
  setExternalize(visibility == SymbolTable::Visibility::Nested);
}

//===----------------------------------------------------------------------===//
// InvokeOp
//===----------------------------------------------------------------------===//

void InvokeOp::build(OpBuilder &builder, OperationState &state, GraphOp callee,
                     ValueRange operands) {
  state.addOperands(operands);
  state.getOrAddProperties<Properties>().callee =
      param::getSymbolConstant(builder.getContext(), callee.getSymName());
  state.addTypes(callee.getResultTypes());
}

SymbolRefAttr InvokeOp::getCalleeSymbol() {
  return param::getReferencedSymbol(getCallee());
}

CallInterfaceCallable InvokeOp::getCallableForCallee() {
  return getCalleeSymbol();
}

void InvokeOp::setCalleeFromCallable(CallInterfaceCallable callee) {
  setCalleeAttr(param::ConstantAttr::get(cast<SymbolRefAttr>(callee)));
}

//===----------------------------------------------------------------------===//
// IfOp
//===----------------------------------------------------------------------===//

/// The value of a flag that is known when the branch is taken, if it is.
static std::optional<bool> getKnownFlag(Attribute flag) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(flag);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<bool>();
}

void IfOp::getSuccessorRegions(RegionBranchPoint point,
                               SmallVectorImpl<RegionSuccessor> &successors) {
  if (!point.isParent()) {
    successors.emplace_back(getOperation(), getResults());
    return;
  }
  successors.emplace_back(&getThenRegion());
  if (getElseRegion().empty())
    successors.emplace_back(getOperation(), getResults());
  else
    successors.emplace_back(&getElseRegion());
}

void IfOp::getEntrySuccessorRegions(
    ArrayRef<Attribute> operands,
    SmallVectorImpl<RegionSuccessor> &successors) {
  std::optional<bool> flag = getKnownFlag(operands.front());
  if (!flag || *flag)
    successors.emplace_back(&getThenRegion());
  if (flag && *flag)
    return;
  if (getElseRegion().empty())
    successors.emplace_back(getOperation(), getResults());
  else
    successors.emplace_back(&getElseRegion());
}

void IfOp::getRegionInvocationBounds(
    ArrayRef<Attribute> operands, SmallVectorImpl<InvocationBounds> &bounds) {
  std::optional<bool> flag = getKnownFlag(operands.front());
  auto getBounds = [&](bool taken) {
    if (!flag)
      return InvocationBounds(0, 1);
    return *flag == taken ? InvocationBounds(1, 1) : InvocationBounds(0, 0);
  };
  bounds.push_back(getBounds(true));
  bounds.push_back(getBounds(false));
}

//===----------------------------------------------------------------------===//
// WhileOp, ConditionOp
//===----------------------------------------------------------------------===//

OperandRange WhileOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void WhileOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  Operation *terminator = point.getTerminatorPredecessorOrNull();
  bool leavesBefore =
      terminator && terminator->getParentRegion() == &getBefore();
  if (!leavesBefore) {
    successors.emplace_back(&getBefore(), getBefore().getArguments());
    return;
  }
  successors.emplace_back(&getAfter(), getAfter().getArguments());
  successors.emplace_back(getOperation(), getResults());
}

MutableOperandRange ConditionOp::getMutableSuccessorOperands(RegionSuccessor) {
  return getArgsMutable();
}

void ConditionOp::getSuccessorRegions(
    ArrayRef<Attribute> operands,
    SmallVectorImpl<RegionSuccessor> &successors) {
  FoldAdaptor adaptor(operands, *this);
  auto loop = cast<WhileOp>((*this)->getParentOp());
  std::optional<bool> flag = getKnownFlag(adaptor.getCondition());
  if (!flag || *flag)
    successors.emplace_back(&loop.getAfter(), loop.getAfter().getArguments());
  if (!flag || !*flag)
    successors.emplace_back(loop.getOperation(), loop.getResults());
}
