// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowerings.h"

#include "corten/Constants/Elements.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringMap.h"

using namespace corten;
using namespace mlir;

using LoweringFunction = LogicalResult (*)(Operation *, Planner &);

/// By name, without the dialect.
static const llvm::StringMap<LoweringFunction> &table() {
  static const auto *const rows = [] {
    auto *table = new llvm::StringMap<LoweringFunction>();
#define LOWERING(OP, FUNCTION)                                                 \
  (*table)[coreai::OP::getOperationName().drop_front(sizeof("coreai.") - 1)] = \
      [](Operation *op, Planner &planner) {                                    \
        return FUNCTION(cast<coreai::OP>(op), planner);                        \
      };
#define FAMILY(NAME, FUNCTION) (*table)[NAME] = &(FUNCTION);
#include "Lowerings.def"
    return table;
  }();
  return *rows;
}

InFlightDiagnostic corten::cannotRun(Operation *op) {
  return op->emitOpError("cannot be run by the engine: ");
}

Type corten::resultElement(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
}

StringRef corten::kindOf(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (!name.consume_front("coreai."))
    return {};
  name.consume_front("decomposable.broadcasting_");
  return name;
}

LogicalResult corten::lowerOperation(Operation *op, Planner &planner) {
  // Copies between kinds of memory.
  if (op->getName().getStringRef().starts_with("coreaix.copy_"))
    return lowerIdentity(op, planner);
  if (auto assertion = dyn_cast<plan::AssertOp>(op))
    return lowerAssert(assertion, planner);
  StringRef name = kindOf(op);
  if (name.empty())
    return cannotRun(op) << "it is of another dialect";
  auto found = table().find(name);
  if (found == table().end())
    return cannotRun(op) << "there is no kernel for it";
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (!elementTypeOf(tensor.getElementType()))
        return cannotRun(op)
               << "there are no tensors of " << tensor.getElementType();
  return found->second(op, planner);
}
