// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BroadcastingForms.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

using namespace corten;
using namespace mlir;

static constexpr StringRef kPrefix = "decomposable.broadcasting_";

/// An op of the dialect by its name; none if there is no such op.
static std::optional<OperationName> lookup(MLIRContext *context,
                                           const Twine &name) {
  std::optional<RegisteredOperationName> found =
      RegisteredOperationName::lookup(("coreai." + name).str(), context);
  return found ? std::optional<OperationName>(*found) : std::nullopt;
}

/// What the elements of an op are: those of a condition do not count.
static Type elementOf(Operation &op) {
  return getElementTypeOrSelf(op.getOperands().back().getType());
}

std::optional<OperationName> corten::plainForm(Operation &op) {
  StringRef name = op.getName().stripDialect();
  if (!op.hasTrait<OpTrait::ResultsBroadcastableShape>() ||
      !name.consume_front(kPrefix) ||
      (name == "greater" && elementOf(op).isSignlessInteger(1)))
    return std::nullopt;
  return lookup(op.getContext(), name);
}

/// Whether the broadcasting form of an op takes certain elements, as the
/// dialect has it and when it runs.
static bool isSpreadable(StringRef name, Type element) {
  if (element.isSignlessInteger(1))
    return name != "add" && name != "mul";
  if (isa<ComplexType>(element))
    return name != "pow" && name != "equal" && name != "not_equal";
  return name != "greater" || element.getIntOrFloatBitWidth() > 8 ||
         isa<IntegerType>(element);
}

std::optional<OperationName> corten::broadcastingForm(Operation &op) {
  if (op.hasTrait<OpTrait::ResultsBroadcastableShape>())
    return op.getName();
  StringRef name = op.getName().stripDialect();
  if (!isa_and_present<coreai::CoreAIDialect>(op.getDialect()) ||
      op.getNumOperands() < 2 || !isSpreadable(name, elementOf(op)))
    return std::nullopt;
  return lookup(op.getContext(), kPrefix + name);
}

Value corten::createForm(OperationName form, Operation &op, ValueRange operands,
                         OpBuilder &builder) {
  OperationState state(op.getLoc(), form, operands, op.getResultTypes(),
                       op.getDiscardableAttrDictionary().getValue());
  return builder.create(state)->getResult(0);
}
