// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of compressed weights. The lowerings say what is wrong with scales and
// tables; here is what comes of them.

#include "ShapeRules/CheckedCall.h"

using namespace corten;
using namespace corten::shapes;

/// Type of the elements of an operand; nothing for what is no tensor.
static std::optional<ScalarType> typeOf(CheckedCall &call,
                                        llvm::StringRef parameter) {
  const Argument *argument = call.node.findArgument(parameter);
  if (!argument || !argument->isValue() ||
      argument->asNode()->results.empty() ||
      !argument->asNode()->info().isTensor())
    return std::nullopt;
  return argument->asNode()->info().dtype;
}

/// An extent times as much.
static Size times(Size extent, Size factor) {
  return extent.isDynamic() || factor.isDynamic()
             ? anySize()
             : Size(extent.get() * factor.get());
}

/// constexpr_blockwise_shift_scale: the data's shape. Of four-bit floats, two
/// are in a byte.
void shapes::checkBlocks(CheckedCall &call) {
  Shape expected = call.shape("input");
  bool isFloat4 = typeOf(call, "input") == ScalarType::UInt8 &&
                  typeOf(call, "scale") == ScalarType::Float8E8M0FNU;
  if (isFloat4 && !expected.empty())
    expected.back() = times(expected.back(), Size(2));
  call.checkResult(expected);
}

/// lut_to_dense: the indices' shape, with as many elements along the axis as an
/// entry of the table has for each.
void shapes::checkLookup(CheckedCall &call) {
  Shape expected = call.shape("indices"), table = call.shape("lut");
  std::optional<int64_t> number = call.integer("axis");
  std::optional<size_t> axis =
      number ? positionOf(*number, expected.size()) : std::nullopt;
  if (!axis || table.size() != expected.size() + 2)
    return;
  Size &extent = expected[*axis];
  extent = times(extent, table.back());
  call.checkResult(expected);
}
