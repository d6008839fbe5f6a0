// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

/// add(self, other, alpha)
static FailureOr<Value> lowerAdd(const AtenNode &node, Emitter &emit) {
  Type element = emit.elementType(node.result().dtype);
  FailureOr<Value> self = emit.operand(node, "self", element);
  FailureOr<Value> other = emit.operand(node, "other", element);
  if (failed(self) || failed(other))
    return failure();
  return emit.add(*self, emit.scaleBy(*other, node.number("alpha")));
}

llvm::ArrayRef<TableEntry> corten::loweringsElementwise() {
#define ELEMENTWISE(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "AtenTable.def"
  };
  return entries;
}
