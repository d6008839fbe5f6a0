// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

using namespace corten;
using namespace mlir;

/// addmm(self, mat1, mat2, beta, alpha)
///
///   beta * self + alpha * (mat1 @ mat2)
static Value lowerAddmm(const AtenNode &node, Emitter &emit) {
  Value x = emit.tensor(node, "mat1");
  Type element = getElementTypeOrSelf(x);
  Value product =
      emit.matmul(x, emit.cast(emit.tensor(node, "mat2"), element));
  Value bias = emit.cast(emit.tensor(node, "self"), element);
  return emit.add(emit.scaleBy(product, node.number("alpha")),
                  emit.scaleBy(bias, node.number("beta")));
}

llvm::ArrayRef<TableEntry> corten::loweringsLinearAlgebra() {
#define LINEAR_ALGEBRA(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "AtenTable.def"
  };
  return entries;
}
