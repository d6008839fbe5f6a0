// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decompression.h"

#include "corten/Constants/Elements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"

using namespace corten;
using namespace mlir;

plan::KernelOp corten::preparedKernel(const Form &form) {
  auto kernel = form.base.getDefiningOp<plan::KernelOp>();
  if (!kernel || !kernel.getPrepared() || kernel.getNumResults() != 1 ||
      kernel.getOrder())
    return nullptr;
  return kernel;
}

std::optional<Form> corten::operandForm(Planner &planner, Value operand) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  SizeList extents;
  for (int64_t extent : type.getShape())
    extents.push_back(planner.sizes.number(extent));
  auto view = operand.getDefiningOp<plan::ViewOp>();
  if (!view) {
    auto kernel = operand.getDefiningOp<plan::KernelOp>();
    if (kernel && kernel.getOrder())
      return std::nullopt;
    return planner.whole(operand, extents);
  }
  if (!view.getStrides().empty() || !view.getOffset().empty())
    return std::nullopt;
  Form result;
  result.base = view.getSource();
  result.element = type.getElementType();
  result.extents = extents;
  for (int64_t stride : view.getStaticStrides())
    result.strides.push_back(planner.sizes.number(stride));
  result.offset = planner.sizes.number(int64_t(view.getStaticOffset()));
  return result;
}

Value corten::castOperand(plan::KernelOp kernel) {
  Value operand;
  if (kernel.isTile()) {
    if (kernel.getExtras().size() != 1)
      return nullptr;
    operand = kernel.getExtras().front();
    for (Operation &op : kernel.getProgram().front().without_terminator()) {
      auto lane = dyn_cast<plan::LaneOp>(op);
      if (!lane || !lane.getOpcode().starts_with("RoundTo"))
        return nullptr;
    }
  } else if (kernel.getKernel() == "Cast") {
    operand = kernel.getInputs().front();
  } else {
    return nullptr;
  }
  bool isOfFloats =
      isa<FloatType>(getElementTypeOrSelf(operand.getType())) &&
      isa<FloatType>(getElementTypeOrSelf(kernel.getResult(0).getType()));
  return isOfFloats ? operand : Value();
}

Value corten::maskedOperand(plan::KernelOp kernel) {
  if (!kernel->hasAttr(kMaskedAttr))
    return nullptr;
  return kernel.isTile() ? kernel.getExtras()[1] : kernel.getInputs()[1];
}

std::optional<Form> corten::packedBytes(Planner &planner, const Form &form) {
  plan::KernelOp kernel = preparedKernel(form);
  Sizes &sizes = planner.sizes;
  if (!kernel || kernel.getKernel() != "Unpack" || !isKnown(form.offset, 0) ||
      !isRowMajor(sizes, form) ||
      !isKnown(sizes.product(form.extents),
               cast<RankedTensorType>(kernel.getResult(0).getType())
                   .getNumElements()))
    return std::nullopt;
  Form bytes;
  bytes.base = kernel.getInputs().front();
  bytes.element =
      IntegerType::get(planner.builder.getContext(), 8, IntegerType::Unsigned);
  bytes.extents = {sizes.divideUp(sizes.mul(sizes.product(form.extents),
                                            sizes.number(runtime::packedBits(
                                                *elementTypeOf(form.element)))),
                                  sizes.number(8))};
  bytes.strides = {sizes.number(1)};
  bytes.offset = sizes.number(0);
  return bytes;
}

bool corten::isZero(const Form &form) {
  Value base = form.base;
  if (auto kernel = base.getDefiningOp<plan::KernelOp>();
      kernel && kernel.getKernel() == "Unpack")
    base = kernel.getInputs().front();
  auto constant = base.getDefiningOp<plan::ConstantOp>();
  if (!constant)
    return false;
  if (auto weight = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
    return llvm::all_of(weight.getRawHandle().getBlob()->getData(),
                        [](char byte) { return byte == 0; });
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isZero();
  return dense.getSplatValue<APInt>().isZero();
}

bool corten::comesCompressed(const Form &form) {
  Value base = form.base;
  while (true) {
    if (auto view = base.getDefiningOp<plan::ViewOp>())
      base = view.getSource();
    auto kernel = base.getDefiningOp<plan::KernelOp>();
    if (!kernel || !kernel.getPrepared())
      return false;
    StringRef name = kernel.getKernel();
    if (name == "Dequantize" || name == "LutToDense" ||
        name == "SparseToDense" || kernel->hasAttr(kMaskedAttr))
      return true;
    if (!kernel.isTile() && name != "Cast" && name != "Copy")
      return false;
    // What is scaled comes before what it is scaled by.
    base = (kernel.isTile() ? kernel.getExtras() : kernel.getInputs()).front();
  }
}
