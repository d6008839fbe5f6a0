// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "corten/Dialect/CoreAI/IR/StateOps.h"

#include "TokenHistory.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace corten::coreai;

Value corten::coreai::getAccessedHandle(Value token) {
  Operation *producer = token.getDefiningOp();
  // Not getHandle(): the graph asks before the op's operands are verified.
  if (isa_and_present<ReadHandleOp, WriteHandleOp>(producer))
    return producer->getOperand(0);
  return {};
}

LogicalResult ReadHandleOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &inferred) {
  auto handle = dyn_cast<HandleType>(adaptor.getHandle().getType());
  if (!handle)
    return emitOptionalError(location, "expected a handle, got ",
                             adaptor.getHandle().getType());
  inferred.push_back(handle.getInnerType());
  inferred.push_back(TokenType::get(context));
  return success();
}

/// A token that stems from an access orders further accesses to that handle
/// only.
template <typename Op> static LogicalResult verifyTokenOfHandle(Op op) {
  Value handle = getAccessedHandle(op.getInToken());
  if (handle && handle != op.getHandle())
    return op.emitOpError("token stems from an access to another handle");
  return success();
}

LogicalResult ReadHandleOp::verify() { return verifyTokenOfHandle(*this); }

LogicalResult WriteHandleOp::verify() {
  Type inner = getHandle().getType().getInnerType();
  if (getData().getType() != inner)
    return emitOpError("data must be of type ")
           << inner << ", got " << getData().getType();
  return verifyTokenOfHandle(*this);
}

LogicalResult JoinTokenOp::verify() {
  Value handle;
  for (Value token : getOperands()) {
    Value accessed = getAccessedHandle(token);
    if (handle && accessed && handle != accessed)
      return emitOpError("tokens stem from accesses to different handles");
    if (accessed)
      handle = accessed;
  }
  return success();
}

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAI/IR/StateOps.cpp.inc"
