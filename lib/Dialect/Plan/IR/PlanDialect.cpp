// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/Plan/IR/PlanDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace corten::plan;
using namespace mlir;

#include "corten/Dialect/Plan/IR/PlanDialect.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/Plan/IR/PlanOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "corten/Dialect/Plan/IR/PlanOps.cpp.inc"

OpFoldResult plan::ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

/// How many extents of a type are open.
static unsigned numDynamic(Type type) {
  return unsigned(cast<RankedTensorType>(type).getNumDynamicDims());
}

ValueRange KernelOp::getSizesOf(unsigned result) {
  unsigned first = 0;
  for (unsigned before = 0; before != result; ++before)
    first += numDynamic(getResult(before).getType());
  return getSizes().slice(first, numDynamic(getResult(result).getType()));
}

void KernelOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // Memory that is written in parts is not that of another, though both are
  // made alike.
  if (getKernel() == "Empty")
    effects.emplace_back(MemoryEffects::Allocate::get(),
                         getOperation()->getOpResult(0));
}

LogicalResult AssertOp::verify() {
  if (getNames().size() != getValues().size())
    return emitOpError("has ") << getNames().size() << " names for "
                               << getValues().size() << " values";
  bool isSize = isa<IndexType>(getCondition().getType());
  for (Type type : getValues().getTypes())
    if (isa<IndexType>(type) != isSize)
      return emitOpError("tells of ")
             << type << " where the condition is " << getCondition().getType();
  return success();
}

LogicalResult KernelOp::verify() {
  unsigned sizes = 0;
  for (Type type : getResultTypes())
    sizes += numDynamic(type);
  if (sizes != getSizes().size())
    return emitOpError("has ") << getSizes().size() << " sizes for " << sizes
                               << " extents that are not known";
  int64_t numbers = llvm::count(getStaticNumbers(), ShapedType::kDynamic);
  if (size_t(numbers) != getNumbers().size())
    return emitOpError("has ") << getNumbers().size() << " numbers for "
                               << numbers << " that are not known";
  if (getProgram().empty())
    return beginsWithProgram() ? emitOpError("has no program") : success();
  Block &block = getProgram().front();
  if (block.getNumArguments() !=
      getExtras().size() + (beginsWithProgram() ? 0 : 1))
    return emitOpError("needs a program that takes what it gets");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != getNumResults())
    return emitOpError("needs a program that gives as much as it does");
  return success();
}

LogicalResult ViewOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (size_t(type.getNumDynamicDims()) != getSizes().size() ||
      size_t(type.getRank()) != getStaticStrides().size() ||
      size_t(llvm::count(getStaticStrides(), ShapedType::kDynamic)) !=
          getStrides().size() ||
      (int64_t(getStaticOffset()) == ShapedType::kDynamic) !=
          (getOffset().size() == 1))
    return emitOpError("has too many or too few sizes, strides or offsets");
  return success();
}
