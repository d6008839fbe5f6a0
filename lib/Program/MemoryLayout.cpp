// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Program/MemoryLayout.h"

#include "Views.h"

#include "corten/Program/Arguments.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using llvm::StringRef;

bool MemoryLayout::isContiguous() const {
  if (llvm::any_of(shape, [](const auto &extent) { return extent.isZero(); }))
    return true;
  SizeExpression expected(1);
  for (auto [extent, stride] : llvm::reverse(llvm::zip_equal(shape, strides))) {
    if (!extent.isOne() && !(stride == expected))
      return false;
    expected = expected * extent;
  }
  return true;
}

bool MemoryLayout::isViewableAs(llvm::ArrayRef<SizeExpression> target) const {
  // Axes that lie in memory without a gap form a block; every block must be a
  // product of extents of the target, in order.
  llvm::SmallVector<SizeExpression> rest(target);
  SizeExpression block(1), inner;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (block.isOne())
      inner = strides[axis];
    block = block * shape[axis];
    if (axis != 0 &&
        (shape[axis - 1].isOne() || strides[axis - 1] == block * inner))
      continue;
    SizeExpression covered(1);
    while (!rest.empty() && (!(covered == block) || rest.back().isOne()))
      covered = covered * rest.pop_back_val();
    if (!(covered == block))
      return false;
    block = SizeExpression(1);
  }
  return rest.empty();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Operators that count in the memory of their operand rather than in its axes.
static bool countsInMemory(const Operator &op) {
  return op.nameSpace == "aten" && op.name.starts_with("as_strided") &&
         llvm::StringSwitch<bool>(op.name)
             .Cases({"as_strided.default", "as_strided_copy.default",
                     "as_strided_scatter.default"},
                    true)
             .Default(false);
}

/// Whether a call of an operator that returns a view where it can did so.
static bool returnsView(const Node &call, const MemoryLayout &source,
                        const MemoryLayout &result) {
  const Argument *copy = call.findArgument("copy");
  if (copy && copy->kind() == Argument::Kind::Bool && copy->asBool())
    return false;
  if (call.argument("self").asNode()->info().dtype != call.info().dtype ||
      source.device != result.device)
    return false;
  if (source.isContiguous())
    return true;
  StringRef name = call.callee->name;
  if (name == "contiguous.default" || name == "ravel.default")
    return false;
  if (llvm::equal(source.shape, result.shape))
    return llvm::equal(source.strides, result.strides);
  return source.isViewableAs(result.shape);
}

llvm::Error
corten::resolveMemory(Node &call,
                      llvm::function_ref<MemoryLayout(const Node &)> layoutOf) {
  bool mayReturnView = isSometimesView(*call.callee);
  if (!mayReturnView && !countsInMemory(*call.callee))
    return llvm::Error::success();
  const Argument *self = call.findArgument("self");
  if (!self || !isTensor(*self) || !isTensor(call))
    return llvm::Error::success();
  MemoryLayout source = layoutOf(*self->asNode());
  if (mayReturnView) {
    call.sharesMemory = returnsView(call, source, layoutOf(call));
    return llvm::Error::success();
  }
  const Argument *offset = call.findArgument("storage_offset");
  bool hasOffset = offset && !offset->isNone();
  if (source.isContiguous() && (!hasOffset || source.offset.isZero()))
    return llvm::Error::success();
  return llvm::createStringError(
      "call '" + call.name + "': " + call.callee->printedName() +
      " of a tensor that is itself a view; call contiguous() on it first");
}
