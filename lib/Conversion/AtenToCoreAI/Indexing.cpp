// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that read elements at computed places, and that compute places.

#include "AdvancedIndex.h"
#include "Table.h"

#include "corten/Dialect/CoreAI/IR/CoreAIOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reading along one axis
//===----------------------------------------------------------------------===//

/// embedding(weight, indices): rows of a table.
static Value lowerEmbedding(const AtenNode &node, Emitter &emit) {
  Value indices = emit.cast(emit.tensor(node, "indices"), emit.si32());
  return emit.create<coreai::GatherNdOp>(
      {emit.tensor(node, "weight"),
       emit.expandDims(indices, {emit.type(indices).getRank()})});
}

/// gather(self, dim, index): out[i, j] = self[index[i, j], j] for dim 0.
///
/// index may be shorter than self off the axis, which the op does not allow:
/// self is cut to it. Scalars count as vectors of one element.
static Value lowerGather(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  Value index = emit.cast(emit.refined(node, "index"), emit.si32());
  bool isScalar = emit.type(index).getRank() == 0;
  if (emit.type(self).getRank() == 0)
    self = emit.reshape(self, {1});
  if (isScalar)
    index = emit.reshape(index, {1});
  int64_t rank = emit.type(self).getRank();
  int64_t axis = emit.axis(node.integer("dim"), rank);

  ArrayRef<Size> have = node["self"].asNode()->info().sizes;
  ArrayRef<Size> want = node["index"].asNode()->info().sizes;
  for (int64_t other = 0; other < rank; ++other) {
    if (other == axis || have[other] == want[other])
      continue;
    SmallVector<int64_t> extents(emit.type(self).getShape());
    extents[other] = emit.type(index).getDimSize(other);
    self = emit.slice(self, other, emit.indices({0}), emit.dim(index, other), 1,
                      emit.type(self).clone(extents));
  }
  Value result = emit.gather(self, index, axis);
  return isScalar ? emit.reshape(result, ArrayRef<int64_t>()) : result;
}

/// index_select(self, dim, index): slices along one axis.
static Value lowerIndexSelect(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  Value index = emit.cast(emit.refined(node, "index"), emit.si32());
  bool isScalar = emit.type(self).getRank() == 0;
  if (isScalar)
    self = emit.reshape(self, {1});
  if (emit.type(index).getRank() == 0)
    index = emit.reshape(index, {1});
  Value result = emit.take(
      self, index, emit.axis(node.integer("dim"), emit.type(self).getRank()));
  return isScalar ? emit.reshape(result, ArrayRef<int64_t>()) : result;
}

//===----------------------------------------------------------------------===//
// Reading at places
//===----------------------------------------------------------------------===//

/// index(self, indices): x[i, :, mask].
///
/// The shape of the indices stands where they are, or in front if an axis that
/// is taken whole lies between them.
static FailureOr<Value> lowerIndex(const AtenNode &node, Emitter &emit) {
  Value self = emit.refined(node, "self");
  FailureOr<AdvancedIndex> index =
      readIndices(node, node.list("indices"), self, emit);
  if (failed(index))
    return failure();
  return emit.create<coreai::GatherNdOp>(
      {emit.transpose(self, index->order), index->positions});
}

llvm::ArrayRef<TableEntry> corten::loweringsIndexing() {
#define INDEXING(key, lowering) {key, lowerWith<lowering>},
  static const TableEntry entries[] = {
#include "AtenTable.def"
  };
  return entries;
}
