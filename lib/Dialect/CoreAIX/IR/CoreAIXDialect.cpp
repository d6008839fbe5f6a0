// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace corten::coreaix;

#include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.cpp.inc"

#define GET_OP_CLASSES
#include "corten/Dialect/CoreAIX/IR/CoreAIXOps.cpp.inc"

void CoreAIXDialect::initialize() {
  registerAttributesAndTypes();
  addOperations<
#define GET_OP_LIST
#include "corten/Dialect/CoreAIX/IR/CoreAIXOps.cpp.inc"
      >();
}

HWConstraintsAttr corten::coreaix::getLayout(RankedTensorType type) {
  return dyn_cast_if_present<HWConstraintsAttr>(type.getEncoding());
}

static std::optional<int64_t> getSpan(RankedTensorType type) {
  return getLayout(type).getSpan(type.getShape());
}

LogicalResult ViewOp::verify() {
  std::optional<int64_t> viewed = getSpan(getType());
  if (!viewed)
    return success();
  std::optional<int64_t> available = getSpan(getSource().getType());
  if (!available)
    return emitOpError("views a known number of elements of a source of "
                       "unknown size");
  if (*viewed > *available)
    return emitOpError() << "views " << *viewed << " elements of a source of "
                         << *available;
  return success();
}
