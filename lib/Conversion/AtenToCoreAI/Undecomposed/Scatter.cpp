// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What writes through views become.

#include "Emission/DimExpr.h"
#include "Undecomposed/SameAs.h"

using namespace corten;
using namespace mlir;

/// select_scatter(self, src, dim, index): self with one slice replaced.
static Value lowerSelectScatter(const AtenNode &node, Emitter &emit) {
  Value self = emit.tensor(node, "self");
  RankedTensorType type = emit.type(self);
  int64_t axis = node.axis("dim", type.getRank());
  Value source = emit.expandDims(
      emit.cast(emit.tensor(node, "src"), type.getElementType()), {axis});
  auto [start, end] = boundsOfPlace(emit, self, axis, node["index"]);
  return updateSlice(emit, self, axis, start, end, /*stride=*/1, source);
}

/// index_copy(self, dim, index, source): self[:, index] = source, as the caches
/// of language models write.
static FailureOr<Results> lowerIndexCopy(const AtenNode &node, Emitter &emit) {
  int64_t rank = emit.type(emit.tensor(node, "self")).getRank();
  if (rank == 0)
    return emit.error(node) << "index_copy of a tensor without axes";
  auto named = [](StringRef name) {
    Parameter parameter;
    parameter.name = name;
    return parameter;
  };
  Parameter parameters[] = {named("self"), named("indices"), named("values"),
                            named("accumulate")};
  Operator indexPut;
  indexPut.nameSpace = "aten";
  indexPut.name = "index_put.default";
  indexPut.parameters = parameters;
  SmallVector<Argument> indices(node.axis("dim", rank));
  indices.push_back(node["index"]);
  Argument arguments[] = {node["self"], Argument::list(indices), node["source"],
                          Argument::boolean(false)};
  Node call = node.get();
  call.callee = &indexPut;
  call.arguments = arguments;
  return findLowering("aten", indexPut.name)(AtenNode(call, emit), emit);
}

llvm::ArrayRef<TableEntry> corten::loweringsUndecomposedScatter() {
#define IN_UndecomposedScatter ,
  static const TableEntry entries[] = {
#include "FamilyRows.def"
  };
  return entries;
}
