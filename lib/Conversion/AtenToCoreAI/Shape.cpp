// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

/// view(self, size)
static Value lowerView(const AtenNode &node, Emitter &emit) {
  return emit.reshape(emit.tensor(node, "self"),
                      emit.sizes(node.list("size")), emit.typeOf(node));
}

/// permute(self, dims)
static Value lowerPermute(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "self");
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  return emit.transpose(x, emit.axesOrAll(node.integers("dims"), rank));
}

llvm::ArrayRef<TableEntry> corten::loweringsShape() {
#define SHAPE(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "AtenTable.def"
  };
  return entries;
}
