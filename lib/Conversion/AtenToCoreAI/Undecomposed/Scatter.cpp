// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What writes through views become.

#include "SameAs.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include <cstdint>

using namespace corten;
using namespace mlir;

/// select_scatter(self, src, dim, index): self with one slice replaced.
static Value lowerSelectScatter(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  RankedTensorType type = emit.type(self);
  int64_t rank = type.getRank(), axis = emit.axis(node.integer("dim"), rank);
  Value source = emit.expandDims(
      emit.cast(emit.tensor(node, "src"), type.getElementType()), {axis});
  const Argument &index = node["index"];
  Value start = emit.size(index), end;
  if (index.isInt()) {
    end = emit.indices({index.asInt() == -1 ? INT32_MAX : index.asInt() + 1});
  } else {
    Value isNegative = emit.greater(emit.indices({0}), start);
    start =
        emit.where(isNegative, emit.add(start, emit.dim(self, axis)), start);
    end = emit.add(start, emit.indices({1}));
  }
  auto along = [&](Value bound, int64_t elsewhere) {
    SmallVector<Value> pieces(rank, emit.indices({elsewhere}));
    pieces[axis] = bound;
    return emit.joinSizes(pieces);
  };
  return emit.create<coreai::SliceUpdateOp>(
      {self, along(start, 0), along(end, INT32_MAX),
       emit.indices(SmallVector<int64_t>(rank, 1)), source});
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedScatter() {
#define UNDECOMPOSED_SCATTER(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "Table.def"
  };
  return entries;
}
