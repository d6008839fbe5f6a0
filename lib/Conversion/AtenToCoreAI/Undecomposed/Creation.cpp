// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors from sizes and numbers, and triangles.

#include "Emission/DerivedOps.h"
#include "Emission/DimExpr.h"
#include "Undecomposed/Call.h"
#include "Undecomposed/SameAs.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

/// arange(end), arange(start, end)
static FailureOr<Value> lowerArange(const AtenNode &node, Emitter &emit) {
  return call(
      node, emit, "arange.start_step",
      {{"start", node.has("start") ? node["start"] : Argument::integer(0)},
       {"end", node["end"]},
       {"step", 1}});
}

/// one_hot(self, num_classes): 1 at the place that each number names.
static FailureOr<Value> lowerOneHot(const AtenNode &node, Emitter &emit) {
  if (!node["num_classes"].isInt() || node.integer("num_classes") < 0)
    return emit.error(node) << "one_hot with a number of classes that depends "
                               "on the data";
  Value x = emit.cast(emit.refined(node, "self"), emit.si32());
  Value places = countUp(emit, DimExpr(emit, node.integer("num_classes")));
  Value isHot =
      emit.equal(emit.expandDims(x, {emit.type(x).getRank()}), places);
  return emit.cast(isHot, emit.elementType(node.result().dtype));
}

/// eye(n), eye(n, m)
static FailureOr<Value> lowerEye(const AtenNode &node, Emitter &emit) {
  RankedTensorType type = emit.typeOf(node);
  if (!type.hasStaticShape())
    return emit.error(node) << "an identity matrix of symbolic size";
  Value row =
      emit.expandDims(countUp(emit, DimExpr(emit, type.getDimSize(0))), {1});
  Value column = countUp(emit, DimExpr(emit, type.getDimSize(1)));
  return emit.cast(emit.equal(row, column), type.getElementType());
}

/// tril(self, diagonal): zero above the diagonal, which is counted from the
/// main one upwards.
template <bool isLower>
static Value lowerTriangle(const AtenNode &node, Emitter &emit) {
  Value x = emit.refined(node, "self");
  Type element = getElementTypeOrSelf(x);
  int64_t rank = emit.type(x).getRank();
  Value row = emit.expandDims(countUp(emit, DimExpr(emit, x, rank - 2)), {1});
  Value column = countUp(emit, DimExpr(emit, x, rank - 1));
  Value distance = emit.sub(column, row);
  Value diagonal = emit.sizeScalar(node["diagonal"]);
  Value keeps = isLower ? emit.logicalNot(emit.greater(distance, diagonal))
                        : greaterEqual(emit, distance, diagonal);
  return emit.where(keeps, x, emit.scalar(0, element));
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedCreation() {
#define IN_UndecomposedCreation ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
