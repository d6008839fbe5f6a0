// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What writes through views become.

#include "../DimExpr.h"
#include "SameAs.h"

using namespace corten;
using namespace mlir;

/// select_scatter(self, src, dim, index): self with one slice replaced.
static Value lowerSelectScatter(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  RankedTensorType type = emit.type(self);
  int64_t axis = emit.axis(node.integer("dim"), type.getRank());
  Value source = emit.expandDims(
      emit.cast(emit.tensor(node, "src"), type.getElementType()), {axis});
  auto [start, end] = boundsOfPlace(emit, self, axis, node["index"]);
  return updateSlice(emit, self, axis, start, end, /*stride=*/1, source);
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedScatter() {
#define UNDECOMPOSED_SCATTER(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "Table.def"
  };
  return entries;
}
