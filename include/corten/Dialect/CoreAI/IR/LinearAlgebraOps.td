// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products.

#ifndef CORTEN_DIALECT_COREAI_IR_LINEARALGEBRAOPS_TD
#define CORTEN_DIALECT_COREAI_IR_LINEARALGEBRAOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIBase.td"

class CoreAI_MatmulOp<string mnemonic>
    : CoreAI_InferredOp<mnemonic, CoreAI_Element,
                        [Pure, SameOperandsAndResultElementType]> {
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C]>:$x,
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C]>:$y);
  let results = (outs
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C]>:$output);
}

def CoreAI_BatchMatmulOp : CoreAI_MatmulOp<"batch_matmul"> {
  let summary = "matrix products of two equally shaped batches";
  let description = [{
    `output[..., i, k] = Σⱼ x[..., i, j] · y[..., j, k]`. Both operands have
    the same rank, at least 2. f16 accumulates in f16, bf16 and f32 in f32;
    integer overflow ends the process on the Linux runtime.
  }];
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_BroadcastingBatchMatmulOp
    : CoreAI_MatmulOp<"decomposable.broadcasting_batch_matmul"> {
  let summary = "matrix products of two batches with NumPy broadcasting";
  let description = [{
    The leading axes broadcast; both operands have at least two axes.
  }];
  let assemblyFormat = CoreAI_DecomposableFormat;
}

#endif // CORTEN_DIALECT_COREAI_IR_LINEARALGEBRAOPS_TD
