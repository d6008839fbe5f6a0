// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Views.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using llvm::SmallVector;
using llvm::StringRef;

bool corten::isSometimesView(const Operator &op) {
  // Asked for every call that is read.
  static const llvm::StringSet<> names = {
      "reshape.default", "reshape_as.default", "flatten.using_ints",
      "ravel.default",   "contiguous.default", "to.dtype",
      "to.dtype_layout", "to.device",          "to.other",
      "type_as.default"};
  return op.nameSpace == "aten" && names.contains(op.name);
}

ViewKind corten::viewKindOf(const Operator &op) {
  if (op.nameSpace != "aten")
    return ViewKind::None;
  return llvm::StringSwitch<ViewKind>(op.name)
      .Cases({"alias.default", "detach.default", "detach_.default",
              "contiguous.default", "to.dtype", "to.dtype_layout", "to.device",
              "to.other", "type_as.default", "lift_fresh.default",
              "positive.default", "requires_grad_.default",
              "resolve_conj.default", "resolve_neg.default"},
             ViewKind::Whole)
      .Cases({"view.default", "view_as.default", "reshape.default",
              "reshape_as.default", "flatten.using_ints", "unflatten.int",
              "ravel.default", "unsqueeze.default", "squeeze.default",
              "squeeze.dim", "squeeze.dims"},
             ViewKind::Reshape)
      .Cases({"permute.default", "transpose.int", "t.default",
              "numpy_T.default", "mT.default", "swapaxes.default",
              "swapdims.default", "movedim.int", "movedim.intlist",
              "moveaxis.int", "moveaxis.intlist"},
             ViewKind::Permute)
      .Case("slice.Tensor", ViewKind::Slice)
      .Case("narrow.default", ViewKind::Narrow)
      .Case("select.int", ViewKind::Select)
      .Case("diagonal.default", ViewKind::Diagonal)
      .Cases({"split.Tensor", "split.sizes", "split_with_sizes.default",
              "chunk.default", "tensor_split.sections", "tensor_split.indices"},
             ViewKind::Split)
      .Case("unbind.int", ViewKind::Unbind)
      .Case("view_as_real.default", ViewKind::RealPairs)
      .Case("view_as_complex.default", ViewKind::ComplexPairs)
      .Cases(
          {"expand.default", "expand_as.default", "broadcast_to.default",
           "unfold.default", "as_strided.default", "view.dtype", "real.default",
           "imag.default", "_conj.default", "_neg_view.default",
           // Without a note of it in the schema:
           "meshgrid.default", "meshgrid.indexing", "broadcast_tensors.default",
           "atleast_1d.default", "atleast_2d.default", "atleast_3d.default"},
          ViewKind::ReadOnly)
      .Default(ViewKind::None);
}

bool corten::isIrregular(StringRef name) {
  StringRef base = name.split('.').first;
  return llvm::StringSwitch<bool>(base)
      .Cases({"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_",
              "swapdims_", "resize_", "resize_as_", "set_", "as_strided_",
              "rename_", "rrelu_with_noise_"},
             true)
      .Default(false);
}

std::optional<SmallVector<int64_t>> corten::permutationOf(const Node &node,
                                                          int64_t rank) {
  auto axis = [rank](int64_t dim) { return dim < 0 ? dim + rank : dim; };
  auto list = [&](StringRef parameter) {
    SmallVector<int64_t> axes;
    const Argument &given = node.argument(parameter);
    if (given.isInt())
      axes.push_back(axis(given.asInt()));
    else
      for (const Argument &element : given.asList())
        axes.push_back(axis(element.asInt()));
    return axes;
  };
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto swap = [&](StringRef first, StringRef second) {
    if (rank > 0)
      std::swap(order[list(first).front()], order[list(second).front()]);
  };
  StringRef name = node.callee->name.split('.').first;
  if (name == "permute")
    return list("dims");
  if (name == "numpy_T" || name == "t") {
    std::reverse(order.begin(), order.end());
  } else if (name == "mT") {
    std::swap(order[rank - 1], order[rank - 2]);
  } else if (name == "transpose" || name == "swapdims") {
    swap("dim0", "dim1");
  } else if (name == "swapaxes") {
    swap("axis0", "axis1");
  } else if (name == "movedim" || name == "moveaxis") {
    SmallVector<int64_t> source = list("source"), target = list("destination");
    SmallVector<int64_t> rest;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(source, dim))
        rest.push_back(dim);
    const int64_t *next = rest.begin();
    for (int64_t dim = 0; dim < rank; ++dim) {
      auto *moved = llvm::find(target, dim);
      order[dim] =
          moved == target.end() ? *next++ : source[moved - target.begin()];
    }
  } else {
    return std::nullopt;
  }
  return order;
}
