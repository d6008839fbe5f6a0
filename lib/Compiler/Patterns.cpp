// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Patterns.h"

#include "Lowerings.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace corten;
using namespace mlir;

Operation *corten::definedBy(Value value, StringRef kind) {
  Operation *op = value.getDefiningOp();
  return op && kindOf(op) == kind ? op : nullptr;
}

Value corten::withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<coreai::CastOp>()) {
    if (!isa<FloatType>(getElementTypeOrSelf(cast.getInput().getType())) ||
        !isa<FloatType>(getElementTypeOrSelf(cast.getType())))
      break;
    value = cast.getInput();
  }
  return value;
}

std::optional<double> corten::constantNumber(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) ||
      !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>().convertToDouble();
}

std::pair<Value, double> corten::splitFactor(Value value) {
  if (Operation *mul = definedBy(value, "mul"))
    for (unsigned side : {0, 1})
      if (auto factor = constantNumber(mul->getOperand(1 - side)))
        return {mul->getOperand(side), *factor};
  if (Operation *divide = definedBy(value, "divide"))
    if (auto divisor = constantNumber(divide->getOperand(1));
        divisor && *divisor != 0)
      return {divide->getOperand(0), 1 / *divisor};
  return {value, 1};
}
