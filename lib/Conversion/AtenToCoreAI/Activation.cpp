// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

static Value lowerRelu(const AtenNode &node, Emitter &emit) {
  return emit.create<coreai::ReluOp>({emit.tensor(node, "self")});
}

llvm::ArrayRef<TableEntry> corten::loweringsActivation() {
#define ACTIVATION(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "AtenTable.def"
  };
  return entries;
}
