// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantized numbers and compressed weights. What is constant is decompressed
// when the plan is loaded.

#include "../Decompression.h"
#include "../Lowerings.h"

#include "llvm/ADT/Sequence.h"

using namespace corten;
using namespace mlir;

/// A parameter of quantization in the shape of the input: one for everything,
/// or one for each element of an axis.
static std::optional<Form> spreadParameter(Planner &planner, const Form &input,
                                           const Form &parameter, Value axis) {
  Sizes &sizes = planner.sizes;
  if (parameter.rank() == 0 || isKnown(parameter.extents.front(), 1))
    return planner.filled(parameter, input.extents);
  auto along = planner.axis(axis, input.rank());
  if (!along)
    return std::nullopt;
  Form result = parameter;
  for (int64_t i = 0; i != int64_t(input.rank()); ++i)
    if (i != *along)
      result = withUnitAxes(sizes, result, i);
  return broadcast(sizes, result, input.extents);
}

/// `input, scale, offset1, offset2, axis`
static LogicalResult lowerWithParameters(Operation *op, Planner &planner,
                                         StringRef kernel) {
  const Form &input = planner.form(op->getOperand(0));
  KernelCall call;
  call.kernel = kernel;
  call.inputs = {input};
  for (unsigned i = 1; i != 4; ++i) {
    auto parameter = spreadParameter(
        planner, input, planner.form(op->getOperand(i)), op->getOperand(4));
    if (!parameter)
      return cannotRun(op) << "the axis is not known";
    call.inputs.push_back(parameter);
  }
  call.extents = input.extents;
  call.element = resultElement(op);
  planner.setForm(op->getResult(0), planner.kernel(call));
  return success();
}

LogicalResult corten::lowerQuantize(coreai::QuantizeOp op, Planner &planner) {
  return lowerWithParameters(op, planner, "Quantize");
}

LogicalResult corten::lowerDequantize(coreai::DequantizeOp op,
                                      Planner &planner) {
  return lowerWithParameters(op, planner, "Dequantize");
}

LogicalResult corten::lowerBlockwiseShiftScale(coreai::BlockwiseShiftScaleOp op,
                                               Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form data = planner.form(op.getData());
  // Each axis is one of blocks and one within a block. What divides it more
  // finely decides for all.
  SizeList blocks(data.rank(), sizes.number(1));
  SmallVector<Form> parameters;
  for (Value operand : {op.getScale(), op.getOffset1(), op.getOffset2()}) {
    Form parameter = planner.form(operand);
    if (parameter.rank() != data.rank())
      parameter = planner.filled(parameter, blocks);
    for (unsigned axis = 0; axis != data.rank(); ++axis)
      blocks[axis] = sizes.max(blocks[axis], parameter.extents[axis]);
    parameters.push_back(parameter);
  }
  SizeList split;
  for (unsigned axis = 0; axis != data.rank(); ++axis)
    split.append(
        {blocks[axis], sizes.divide(data.extents[axis], blocks[axis])});
  KernelCall call;
  call.kernel = "Dequantize";
  call.inputs = {planner.reshaped(data, split)};
  for (Form parameter : parameters) {
    // One that is the same for all blocks is repeated.
    for (unsigned axis = 0; axis != data.rank(); ++axis)
      if (parameter.extents[axis] != blocks[axis] &&
          !isKnown(parameter.extents[axis], 1))
        return cannotRun(op) << "the parameters have blocks of several sizes";
    for (unsigned axis = data.rank(); axis-- > 0;)
      parameter = withUnitAxes(sizes, parameter, int64_t(axis) + 1);
    call.inputs.push_back(broadcast(sizes, parameter, split));
  }
  call.extents = split;
  call.element = resultElement(op);
  planner.setForm(op, planner.reshaped(planner.kernel(call), data.extents));
  return success();
}

//===----------------------------------------------------------------------===//
// Tables and masks
//===----------------------------------------------------------------------===//

/// Looks indices up in a table.
static FailureOr<Form> lookedUp(Operation *op, Planner &planner,
                                const Form &indices, Value lut, Value axis) {
  const Form &table = planner.form(lut);
  auto along = planner.axis(axis, indices.rank());
  if (!along || table.rank() < 2)
    return cannotRun(op) << "the axis is not known";
  KernelCall call;
  call.kernel = "LutToDense";
  call.inputs = {indices, table};
  call.numbers = {planner.sizes.number(*along)};
  call.extents = indices.extents;
  call.extents[*along] =
      planner.sizes.mul(call.extents[*along], table.extents.back());
  call.element = table.element;
  return planner.kernel(call);
}

LogicalResult corten::lowerLutToDense(coreai::LutToDenseOp op,
                                      Planner &planner) {
  FailureOr<Form> result = lookedUp(op, planner, planner.form(op.getIndices()),
                                    op.getLut(), op.getAxis());
  if (failed(result))
    return failure();
  planner.setForm(op, *result);
  return success();
}

// A sparse tensor is planned as the dense one that it stands for.

LogicalResult corten::lowerBuildSparse(coreai::BuildSparseWithBitmaskOp op,
                                       Planner &planner) {
  const Form &values = planner.form(op.getValues());
  const Form &mask = planner.form(op.getBitmask());
  KernelCall call;
  call.kernel = "SparseToDense";
  call.inputs = {values, mask};
  call.extents = mask.extents;
  call.element = values.element;
  planner.setForm(op, planner.kernel(call));
  return success();
}

LogicalResult corten::lowerLutToSparse(coreai::LutToSparseWithBitmaskOp op,
                                       Planner &planner) {
  auto built =
      op.getIndices().getDefiningOp<coreai::BuildSparseWithBitmaskOp>();
  if (!built)
    return cannotRun(op) << "the mask of its indices is not known";
  FailureOr<Form> dense = lookedUp(op, planner, planner.form(op.getIndices()),
                                   op.getLut(), op.getAxis());
  if (failed(dense))
    return failure();
  // Where there is no index there is a zero, not what index 0 stands for.
  Sizes &sizes = planner.sizes;
  Form mask = planner.form(built.getBitmask());
  int64_t along = *planner.axis(op.getAxis(), mask.rank());
  SizeList spread = mask.extents;
  Size width = sizes.divide(dense->extents[along], mask.extents[along]);
  Form wide = withUnitAxes(sizes, mask, along + 1);
  spread.insert(spread.begin() + along + 1, width);
  wide = planner.reshaped(broadcast(sizes, wide, spread), dense->extents);
  Type truth = IntegerType::get(op.getContext(), 1);
  Form isSet = planner.elementwise("Cast", wide, truth);
  Form zero = planner.scalarOf(dense->element, 0);
  Form masked =
      planner.elementwise("Where", {isSet, *dense, zero}, dense->element);
  if (plan::KernelOp kernel = preparedKernel(masked);
      kernel && isKnown(width, 1))
    kernel->setAttr(kMaskedAttr, planner.builder.getUnitAttr());
  planner.setForm(op, masked);
  return success();
}

LogicalResult corten::lowerSparseToDense(coreai::SparseWithBitmaskToDenseOp op,
                                         Planner &planner) {
  planner.setForm(op, planner.form(op.getInput()));
  return success();
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

namespace {
/// What both kinds of statistics begin with.
struct Statistics {
  Form least, most;
  /// The ends of the range, in the type of the input.
  Form low, high;
  /// high - low, formed in the type of the range.
  Form width;
  SmallVector<int64_t> otherAxes;
};
} // namespace

static FailureOr<Statistics> statisticsOf(Operation *op, Planner &planner) {
  Sizes &sizes = planner.sizes;
  const Form input = planner.form(op->getOperand(0));
  const Form range = planner.form(op->getOperand(1));
  auto axis = planner.axis(op->getOperand(2), input.rank());
  if (!axis)
    return cannotRun(op) << "the axis is not known";
  Statistics result;
  KernelCall call;
  call.inputs = {input};
  call.extents = input.extents;
  call.element = input.element;
  for (int64_t i = 0; i != int64_t(input.rank()); ++i)
    if (i != *axis) {
      call.extents[i] = sizes.number(1);
      result.otherAxes.push_back(i);
    }
  call.kernel = "ReduceMin";
  result.least = planner.kernel(call);
  call.kernel = "ReduceMax";
  result.most = planner.kernel(call);
  auto end = [&](int64_t place) {
    return sliced(sizes, range, 0, sizes.number(place), sizes.number(1),
                  sizes.number(1));
  };
  Form width = planner.elementwise("Sub", {end(1), end(0)}, range.element);
  auto inputType = [&](const Form &form) {
    return form.element == input.element
               ? form
               : planner.elementwise("Cast", form, input.element);
  };
  result.low = inputType(end(0));
  result.high = inputType(end(1));
  result.width = inputType(width);
  return result;
}

LogicalResult
corten::lowerSymmetricStatistics(coreai::SymmetricQuantizationStatisticsOp op,
                                 Planner &planner) {
  FailureOr<Statistics> parts = statisticsOf(op, planner);
  if (failed(parts))
    return failure();
  Type element = parts->least.element;
  Form below = planner.elementwise("Abs", parts->least, element);
  Form above = planner.elementwise("Abs", parts->most, element);
  Form furthest = planner.elementwise("Maximum", {below, above}, element);
  Form doubled = planner.elementwise(
      "Mul", {furthest, planner.scalarOf(element, 2)}, element);
  Form scale = planner.elementwise("Divide", {doubled, parts->width}, element);
  planner.setForm(op, withoutAxes(scale, parts->otherAxes));
  return success();
}

LogicalResult
corten::lowerAsymmetricStatistics(coreai::AsymmetricQuantizationStatisticsOp op,
                                  Planner &planner) {
  FailureOr<Statistics> parts = statisticsOf(op, planner);
  if (failed(parts))
    return failure();
  Type element = parts->least.element;
  Form zero = planner.scalarOf(element, 0);
  auto compute = [&](StringRef kernel, const Form &a, const Form &b) {
    return planner.elementwise(kernel, {a, b}, element);
  };
  Form floor = compute("Minimum", parts->least, zero);
  Form ceiling = compute("Maximum", parts->most, zero);
  Form scale = compute("Divide", compute("Sub", ceiling, floor), parts->width);
  Form steps =
      planner.elementwise("Round", compute("Divide", floor, scale), element);
  Form moved = compute("Sub", parts->low, steps);
  Form within =
      compute("Maximum", compute("Minimum", moved, parts->high), parts->low);
  Type coarse =
      cast<RankedTensorType>(op.getZeroPoint().getType()).getElementType();
  Form offset =
      coarse == element ? within : planner.elementwise("Cast", within, coarse);
  planner.setForm(op.getScale(), withoutAxes(scale, parts->otherAxes));
  planner.setForm(op.getZeroPoint(), withoutAxes(offset, parts->otherAxes));
  return success();
}
