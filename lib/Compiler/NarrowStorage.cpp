// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is only multiplied in bf16 is stored in bf16: it would be rounded all
// the same, and takes half the memory.

#include "Fusion.h"

#include "llvm/ADT/StringSwitch.h"

using namespace corten;
using namespace mlir;

bool corten::storesAnyType(plan::KernelOp op) {
  return llvm::StringSwitch<bool>(op.getKernel())
      .Cases({"Tile", "MatMulPacked", "MatMulPairs"}, true)
      .Cases({"ConvolutionPacked", "ConvolutionTransposedPacked",
              "ConvolutionPairs"},
             true)
      .Default(false);
}

/// Whether this is the side of a product that is rounded to bf16.
static bool isRounded(OpOperand &use) {
  auto kernel = dyn_cast<plan::KernelOp>(use.getOwner());
  return kernel && use.getOperandNumber() == 0 &&
         (kernel.getKernel() == "MatMulPairs" ||
          kernel.getKernel() == "ConvolutionPairs");
}

/// Finds the tensor and all views of it, if all of them are only rounded.
static bool collectViews(Value tensor, SmallVectorImpl<Value> &views) {
  views.push_back(tensor);
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    if (auto view = dyn_cast<plan::ViewOp>(use.getOwner()))
      return collectViews(view.getResult(), views);
    return isRounded(use);
  });
}

void corten::storeNarrow(ModuleOp plans) {
  Type narrow = BFloat16Type::get(plans.getContext());
  plans.walk([&](plan::KernelOp op) {
    if (op.getNumResults() != 1 || op.getPrepared() || !storesAnyType(op))
      return;
    Value result = op.getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> views;
    if (!type.getElementType().isF32() || result.use_empty() ||
        !collectViews(result, views))
      return;
    for (Value view : views)
      view.setType(cast<RankedTensorType>(view.getType()).clone(narrow));
  });
}
