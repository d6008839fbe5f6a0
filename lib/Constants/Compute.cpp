// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Constants/Compute.h"

#include "Kernels.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace corten;
using namespace mlir;
using namespace corten::coreai;
using runtime::PortableKernel;
using runtime::Tensor;

bool corten::runs(PortableKernel kernel, ArrayRef<Tensor> inputs, Tensor output,
                  ArrayRef<int64_t> numbers) {
  runtime::Error error = call(kernel, {{inputs.data(), inputs.size()},
                                       {&output, 1},
                                       {numbers.data(), numbers.size()}});
  return !error;
}

/// Ops that give each element of the result an element of the first operand.
static bool isMovement(Operation &op) {
  return isa<ReshapeOp, ExpandDimsOp, ShrinkDimsOp, TransposeOp, BroadcastToOp,
             BroadcastInDimsOp, SliceOp, TileOp, ReverseOp, GatherNdOp>(op);
}

bool corten::givesSplat(Operation &op, ArrayRef<Elements> operands) {
  // An index may point outside.
  if (isa<GatherNdOp>(op))
    return false;
  // What follows the first operand says how its elements are moved.
  if (isMovement(op))
    operands = operands.take_front();
  else if (!elementwiseKernel(op))
    return false;
  return llvm::all_of(operands, [](const Elements &e) { return e.isSplat(); });
}

static bool computeRegrouped(Operands operands, const Elements &result) {
  const Elements &input = operands.front();
  if (input.size() != result.size())
    return false;
  Tensor flat(input.elementType(), input.first().data, result.shape());
  if (input.isSplat())
    flat.steps.fill(0);
  return runs(PortableKernel::Copy, flat, result.output());
}

static bool computeSpread(Operands operands, const Elements &result) {
  std::optional<Tensor> view = operands.front().spread(result.shape());
  return view && runs(PortableKernel::Copy, *view, result.output());
}

/// Ops of families that go by their kernel.
static bool computeByKernel(Operation &op, Operands operands,
                            const Elements &result) {
  using Kernel = PortableKernel;
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](ArgmaxOp) {
        return computeAlongAxis(Kernel::Argmax, operands, result);
      })
      .Case([&](SoftmaxOp) {
        return computeAlongAxis(Kernel::Softmax, operands, result);
      })
      // Sorting is stable in any case.
      .Case([&](SortOp) {
        return computeAlongAxis(Kernel::Sort, operands.drop_back(), result);
      })
      .Case([&](ArgsortOp) {
        return computeAlongAxis(Kernel::Argsort, operands.drop_back(), result);
      })
      .Case<BatchMatmulOp, BroadcastingBatchMatmulOp>(
          [&](auto) { return computeMatmul(operands, result); })
      .Case<Conv2dOp, Conv3dOp>(
          [&](auto) { return computeConvolution(operands, result); })
      .Case<ConvTranspose2dOp, ConvTranspose3dOp>(
          [&](auto) { return computeTransposedConvolution(operands, result); })
      .Case<MaxPool2dOp, MaxPool3dOp>(
          [&](auto) { return computePool(Kernel::MaxPool, operands, result); })
      .Case<SumPool2dOp, SumPool3dOp>(
          [&](auto) { return computePool(Kernel::SumPool, operands, result); })
      .Case([&](QuantizeOp) {
        return computeQuantization(Kernel::Quantize, operands, result);
      })
      .Case([&](DequantizeOp) {
        return computeQuantization(Kernel::Dequantize, operands, result);
      })
      .Case([&](BlockwiseShiftScaleOp) {
        return computeBlockwise(operands, result);
      })
      .Case([&](LutToDenseOp) { return computeLookup(operands, result); })
      .Default([&](Operation *) {
        std::optional<PortableKernel> kernel = reductionKernel(op);
        return kernel && computeReduction(*kernel, operands, result);
      });
}

static bool computeMoved(Operation &op, Operands operands,
                         const Elements &result) {
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case<ReshapeOp, ExpandDimsOp, ShrinkDimsOp>(
          [&](auto) { return computeRegrouped(operands, result); })
      .Case<BroadcastToOp, BroadcastInDimsOp>(
          [&](auto) { return computeSpread(operands, result); })
      .Case([&](TileOp) { return computeTile(operands, result); })
      .Case([&](TransposeOp) { return computeTranspose(operands, result); })
      .Case([&](SliceOp) { return computeSlice(operands, result); })
      .Case([&](SliceUpdateOp) { return computeSliceUpdate(operands, result); })
      .Case([&](ReverseOp) { return computeReverse(operands, result); })
      .Case([&](ConcatOp) { return computeConcat(operands, result); })
      .Case([&](PadOp pad) { return computePad(pad, operands, result); })
      .Case([&](RangeOp) { return computeRange(operands, result); })
      .Case([&](BroadcastShapesOp) {
        return computeBroadcastShapes(operands, result);
      })
      .Case([&](GatherNdOp) { return computeGatherNd(operands, result); })
      .Case([&](GatherAlongAxisOp) {
        return computeGatherAlongAxis(operands, result);
      })
      .Case([&](ScatterNdOp scatter) {
        return computeScatterNd(scatter, operands, result);
      })
      .Case([&](ScatterAlongAxisOp scatter) {
        return computeScatterAlongAxis(scatter, operands, result);
      })
      .Case([&](ScanOp scan) { return computeScan(scan, operands, result); })
      .Case([&](InterpolateOp resize) {
        return computeInterpolation(resize, operands, result);
      })
      .Case([&](InterpolateCoordinatesOp sample) {
        return computeSamples(sample, operands, result);
      })
      .Default(
          [&](Operation *) { return computeByKernel(op, operands, result); });
}

bool corten::compute(Operation &op, ArrayRef<Elements> operands,
                     ArrayRef<Elements> results) {
  if (!isa_and_present<CoreAIDialect>(op.getDialect()) || operands.empty() ||
      results.empty())
    return false;
  if (isa<SplitOp>(op))
    return computeSplit(operands, results);
  const Elements &result = results.front();
  if (isMovement(op) && result.isSplat())
    return operands.front().elementType() == result.elementType() &&
           runs(PortableKernel::Copy, operands.front().first(),
                result.output());
  if (std::optional<PortableKernel> kernel = elementwiseKernel(op))
    return computeElementwise(*kernel, operands, result);
  return computeMoved(op, operands, result);
}
