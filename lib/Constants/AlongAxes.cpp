// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that combine, order or address elements along axes.

#include "Kernels.h"

#include "corten/Runtime/Modes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using namespace mlir;
using runtime::PortableKernel;
using runtime::Tensor;

std::optional<int64_t> corten::axisOf(const Elements &axis, int64_t rank) {
  SmallVector<int64_t> indices = axis.indices();
  if (indices.size() != 1)
    return std::nullopt;
  int64_t place = indices.front() + (indices.front() < 0 ? rank : 0);
  return place >= 0 && place < rank ? std::optional(place) : std::nullopt;
}

std::optional<PortableKernel> corten::reductionKernel(Operation &op) {
  using Kernel = PortableKernel;
  return llvm::StringSwitch<std::optional<PortableKernel>>(
             op.getName().stripDialect())
      .Case("reduce_sum", Kernel::ReduceSum)
      .Case("reduce_mean", Kernel::ReduceMean)
      .Case("reduce_product", Kernel::ReduceProduct)
      .Case("reduce_max", Kernel::ReduceMax)
      .Case("reduce_min", Kernel::ReduceMin)
      .Case("all", Kernel::ReduceAll)
      .Case("any", Kernel::ReduceAny)
      .Default(std::nullopt);
}

bool corten::computeReduction(PortableKernel kernel, Operands operands,
                              const Elements &result) {
  // The kernel goes by the extents that are left.
  SmallVector<int64_t> shape(operands[0].shape());
  for (int64_t axis : operands[1].indices()) {
    axis += axis < 0 ? static_cast<int64_t>(shape.size()) : 0;
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
      return false;
    shape[axis] = 1;
  }
  return result.shape() == ArrayRef<int64_t>(shape) &&
         runs(kernel, operands[0].tensor(), result.output());
}

bool corten::computeAlongAxis(PortableKernel kernel, Operands operands,
                              const Elements &result) {
  Tensor input = operands[0].tensor();
  std::optional<int64_t> axis = axisOf(operands[1], input.rank);
  if (!axis || result.shape().size() != input.rank)
    return false;
  SmallVector<int64_t> numbers = {*axis};
  if (operands.size() > 2)
    numbers.push_back(operands[2].indices().front());
  // Of a maximum one place is left of the axis.
  SmallVector<int64_t> shape(operands[0].shape());
  shape[*axis] = kernel == PortableKernel::Argmax ? 1 : shape[*axis];
  return result.shape() == ArrayRef<int64_t>(shape) &&
         runs(kernel, input, result.output(), numbers);
}

bool corten::computeScan(coreai::ScanOp op, Operands operands,
                         const Elements &result) {
  switch (op.getScanOp()) {
  case coreai::ScanCombiner::Sum:
    return computeAlongAxis(PortableKernel::ScanSum, operands, result);
  case coreai::ScanCombiner::Product:
    return computeAlongAxis(PortableKernel::ScanProduct, operands, result);
  case coreai::ScanCombiner::Min:
    return computeAlongAxis(PortableKernel::ScanMin, operands, result);
  case coreai::ScanCombiner::Max:
    return computeAlongAxis(PortableKernel::ScanMax, operands, result);
  }
  return false;
}

bool corten::computeGatherAlongAxis(Operands operands, const Elements &result) {
  Tensor input = operands[0].tensor();
  std::optional<int64_t> axis = axisOf(operands[2], input.rank);
  return axis && runs(PortableKernel::GatherAlongAxis,
                      {input, operands[1].tensor()}, result.output(), *axis);
}

bool corten::computeGatherNd(Operands operands, const Elements &result) {
  if (operands[1].shape().empty() || operands[1].shape().back() == 0)
    return false;
  return runs(PortableKernel::GatherNd,
              {operands[0].tensor(), operands[1].tensor()}, result.output());
}

bool corten::computeScatterAlongAxis(coreai::ScatterAlongAxisOp op,
                                     Operands operands,
                                     const Elements &result) {
  using Mode = runtime::ScatterMode;
  auto mode = [&] {
    switch (op.getScatterMode()) {
    case coreai::ScatterMode::Update:
      return Mode::Update;
    case coreai::ScatterMode::Add:
      return Mode::Add;
    case coreai::ScatterMode::Sub:
      return Mode::Sub;
    case coreai::ScatterMode::Mul:
      return Mode::Mul;
    case coreai::ScatterMode::Div:
      return Mode::Div;
    case coreai::ScatterMode::Max:
      return Mode::Max;
    case coreai::ScatterMode::Min:
      return Mode::Min;
    }
    return Mode::Update;
  }();
  Tensor input = operands[0].tensor();
  std::optional<int64_t> axis = axisOf(operands[3], input.rank);
  return axis && runs(PortableKernel::ScatterAlongAxis,
                      {input, operands[1].tensor(), operands[2].tensor()},
                      result.output(), {*axis, static_cast<int64_t>(mode)});
}

bool corten::computeScatterNd(coreai::ScatterNdOp op, Operands operands,
                              const Elements &result) {
  Block &block = op.getUpdateFn().front();
  Value chosen = block.getTerminator()->getOperand(0);
  int64_t isReplacing = chosen == block.getArgument(1);
  return runs(
      PortableKernel::ScatterNd,
      {operands[0].tensor(), operands[1].tensor(), operands[2].tensor()},
      result.output(), isReplacing);
}
