// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryLayout.h"

#include "llvm/ADT/STLExtras.h"

using namespace corten::pt2;

static SizeExpression readExpression(JsonValue json) {
  if (std::optional<int64_t> value = json["as_int"].integer())
    return {*value};
  return SizeExpression::parse(
      json["as_expr"]["expr_str"].string().value_or(""));
}

TensorLayout TensorLayout::read(JsonValue meta) {
  TensorLayout layout;
  layout.dtype = meta["dtype"].integer().value_or(0);
  JsonValue device = meta["device"];
  layout.device = device["type"].string().value_or("") +
                  std::to_string(device["index"].integer().value_or(0));
  for (JsonValue size : meta["sizes"].elements())
    layout.shape.push_back(readExpression(size));
  for (JsonValue stride : meta["strides"].elements())
    layout.strides.push_back(readExpression(stride));
  layout.offset = readExpression(meta["storage_offset"]);
  layout.strides.resize(layout.shape.size());
  return layout;
}

bool TensorLayout::isContiguous() const {
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

bool TensorLayout::isViewableAs(llvm::ArrayRef<SizeExpression> target) const {
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
