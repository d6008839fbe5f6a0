// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Views.h"

#include "corten/Program/Axis.h"
#include "corten/Program/Functionalize.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using llvm::SmallVector;
using llvm::StringRef;

std::optional<std::string> corten::functionalName(StringRef name) {
  auto [base, overload] = name.split('.');
  std::string suffix = overload.empty() ? "" : ("." + overload).str();
  if (base.starts_with("__i") && base.ends_with("__"))
    return ("__" + base.drop_front(3)).str() + suffix;
  if (base.ends_with("__") || !base.consume_back("_"))
    return std::nullopt;
  // Their functional forms name the kinds of both operands, or of none.
  if (base == "pow" || base == "float_power")
    return (base + ".Tensor_" + overload).str();
  if (base == "floor_divide" && overload == "Tensor")
    return (base + ".default").str();
  return base.str() + suffix;
}

bool corten::writesNothing(StringRef name) {
  Operator op;
  op.nameSpace = "aten";
  op.name = name;
  return viewKindOf(op) == ViewKind::Whole;
}

bool corten::isSometimesView(const Operator &op) {
  // Asked for every call that is read.
  static const llvm::StringSet<> names = {
      "reshape.default", "reshape_as.default", "flatten.using_ints",
      "ravel.default",   "contiguous.default", "to.dtype",
      "to.dtype_layout", "to.device",          "to.other",
      "type_as.default"};
  return op.nameSpace == "aten" && names.contains(op.name);
}

bool corten::isLeftByDecomposition(const Operator &op) {
  return op.nameSpace == "aten" && op.name == "type_as.default";
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

/// The axes that a number or a list of them means, all of them distinct.
static std::optional<SmallVector<int64_t>> axesOf(const Argument &argument,
                                                  int64_t rank) {
  SmallVector<int64_t> axes;
  for (const Argument &dim :
       argument.isList() ? argument.asList() : llvm::ArrayRef(argument)) {
    std::optional<size_t> axis =
        dim.isInt() ? axisOf(dim.asInt(), rank) : std::nullopt;
    if (!axis || llvm::is_contained(axes, *axis))
      return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

/// The order after the axes `source` have come to stand at `destination`.
static SmallVector<int64_t> moveAxes(int64_t rank,
                                     llvm::ArrayRef<int64_t> source,
                                     llvm::ArrayRef<int64_t> destination) {
  SmallVector<int64_t> order;
  auto rest =
      llvm::make_filter_range(llvm::seq<int64_t>(0, rank), [&](int64_t axis) {
        return !llvm::is_contained(source, axis);
      });
  auto next = rest.begin();
  for (int64_t axis = 0; axis < rank; ++axis) {
    const auto *moved = llvm::find(destination, axis);
    order.push_back(moved == destination.end()
                        ? *next++
                        : source[moved - destination.begin()]);
  }
  return order;
}

std::optional<SmallVector<int64_t>> corten::permutationOf(const Node &node,
                                                          int64_t rank) {
  using Order = SmallVector<int64_t>;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto swap = [&](StringRef first, StringRef second) -> std::optional<Order> {
    std::optional<Order> from = axesOf(node.argument(first), rank);
    std::optional<Order> to = axesOf(node.argument(second), rank);
    if (!from || !to || from->size() != 1 || to->size() != 1)
      return std::nullopt;
    if (rank > 0)
      std::swap(order[from->front()], order[to->front()]);
    return order;
  };
  StringRef name = node.callee->name.split('.').first;
  if (name == "permute") {
    std::optional<Order> dims = axesOf(node.argument("dims"), rank);
    return dims && dims->size() == order.size() ? dims : std::nullopt;
  }
  if (name == "transpose" || name == "swapdims")
    return swap("dim0", "dim1");
  if (name == "swapaxes")
    return swap("axis0", "axis1");
  if (name == "numpy_T" || name == "t") {
    std::reverse(order.begin(), order.end());
    return order;
  }
  if (name == "mT" && rank >= 2) {
    std::swap(order[rank - 1], order[rank - 2]);
    return order;
  }
  if (name == "movedim" || name == "moveaxis") {
    std::optional<Order> from = axesOf(node.argument("source"), rank);
    std::optional<Order> to = axesOf(node.argument("destination"), rank);
    if (from && to && from->size() == to->size())
      return moveAxes(rank, *from, *to);
  }
  return std::nullopt;
}
