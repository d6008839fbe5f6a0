// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reads or writes elements at computed places.

#include "../Decompression.h"
#include "../Lowerings.h"

#include "corten/Runtime/Modes.h"

using namespace corten;
using namespace mlir;

/// The indices of whole parts of `input` along its first axis, [parts, 1];
/// nothing if elements have indices of their own.
static std::optional<Form> indicesOfParts(Planner &planner, const Form &input,
                                          const Form &indices) {
  for (unsigned axis = 1; axis < input.rank(); ++axis)
    if (!isKnown(indices.strides[axis], 0) ||
        indices.extents[axis] != input.extents[axis])
      return std::nullopt;
  Form result = indices;
  result.extents = {indices.extents[0], planner.sizes.number(1)};
  result.strides = {indices.strides[0], planner.sizes.number(0)};
  return result;
}

LogicalResult corten::lowerGatherAlongAxis(coreai::GatherAlongAxisOp op,
                                           Planner &planner) {
  const Form input = planner.form(op.getInput());
  const Form indices = planner.form(op.getIndices());
  auto axis = planner.axis(op.getAxis(), input.rank());
  if (!axis)
    return cannotRun(op) << "the axis is not known";
  KernelCall call;
  call.kernel = "GatherAlongAxis";
  call.inputs = {input, indices};
  call.numbers = {planner.sizes.number(*axis)};
  call.extents = indices.extents;
  call.element = input.element;
  Form result = planner.kernel(call);
  if (*axis == 0 && planner.isConstant(input))
    if (auto parts = indicesOfParts(planner, input, indices))
      planner.taken[result.base] = {input, *parts};
  planner.setForm(op, result);
  return success();
}

LogicalResult corten::lowerGatherNd(coreai::GatherNdOp op, Planner &planner) {
  const Form input = planner.form(op.getInput());
  const Form indices = planner.form(op.getIndices());
  std::optional<int64_t> depth =
      indices.rank() ? known(indices.extents.back()) : std::nullopt;
  if (!depth || *depth > int64_t(input.rank()))
    return cannotRun(op) << "it is not known how many axes are indexed";
  if (*depth == 1)
    if (auto rows = decompressedRows(planner, input, indices)) {
      planner.taken[rows->base] = {input, indices};
      planner.setForm(op, *rows);
      return success();
    }
  KernelCall call;
  call.kernel = "GatherNd";
  call.inputs = {input, indices};
  call.extents.assign(indices.extents.begin(), indices.extents.end() - 1);
  call.extents.append(input.extents.begin() + *depth, input.extents.end());
  call.element = input.element;
  Form result = planner.kernel(call);
  if (*depth == 1 && planner.isConstant(input))
    planner.taken[result.base] = {input, indices};
  planner.setForm(op, result);
  return success();
}

LogicalResult corten::lowerScatterAlongAxis(coreai::ScatterAlongAxisOp op,
                                            Planner &planner) {
  const Form &input = planner.form(op.getInput());
  auto axis = planner.axis(op.getAxis(), input.rank());
  if (!axis)
    return cannotRun(op) << "the axis is not known";
  // Both are in the same order.
  static_assert(int(runtime::ScatterMode::Min) ==
                int(coreai::ScatterMode::Min));
  KernelCall call;
  call.kernel = "ScatterAlongAxis";
  call.inputs = {input, planner.form(op.getIndices()),
                 planner.form(op.getUpdates())};
  call.numbers = {planner.sizes.number(*axis),
                  planner.sizes.number(int64_t(op.getScatterMode()))};
  call.extents = input.extents;
  call.element = input.element;
  planner.setForm(op, planner.kernel(call));
  return success();
}

LogicalResult corten::lowerScatterNd(coreai::ScatterNdOp op, Planner &planner) {
  const Form &input = planner.form(op.getInput());
  Block &body = op.getUpdateFn().front();
  Value chosen = body.getTerminator()->getOperand(0);
  KernelCall call;
  call.kernel = "ScatterNd";
  call.inputs = {input, planner.form(op.getIndices()),
                 planner.form(op.getUpdates())};
  call.numbers = {planner.sizes.number(chosen == body.getArgument(1))};
  call.extents = input.extents;
  call.element = input.element;
  planner.setForm(op, planner.kernel(call));
  return success();
}

// The kernel has room for all, and says how many there are: in each call, also
// of a constant, because only a step of a call can say so.
LogicalResult corten::lowerNonZero(coreai::NonZeroOp op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form &input = planner.form(op.getInput());
  KernelCall call;
  call.kernel = "NonZero";
  call.inputs = {input};
  call.extents = {sizes.product(input.extents), sizes.number(input.rank())};
  call.element = resultElement(op);
  call.isFresh = true;
  Form result = planner.kernel(call);
  result.extents[0] =
      plan::ExtentOp::create(planner.builder, op.getLoc(),
                             planner.builder.getIndexType(), result.base,
                             planner.builder.getI64IntegerAttr(0))
          .getResult();
  planner.setForm(op, result);
  return success();
}
