// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels in source form.

#ifndef CORTEN_DIALECT_COREAI_IR_KERNELOPS_TD
#define CORTEN_DIALECT_COREAI_IR_KERNELOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIBase.td"

def CoreAI_KernelBuffer : CoreAI_MetalBuffer<
    [CoreAI_F32Down, CoreAI_I8, CoreAI_I16, CoreAI_I32]>;

def CoreAI_Metal4KernelOp : CoreAI_Op<
    "metal4_kernel", [AttrSizedOperandSegments]> {
  let summary = "a Metal kernel, compiled from source";
  let description = [{
    Arguments and results are tensors constrained to an `MTLBuffer`, so the op
    stands between `coreaix.copy_with_constraints` and
    `coreaix.copy_discarding_constraints`. There is one shape per result. What
    the kernel does is unknown, and so are its side effects.
  }];
  let arguments = (ins
    Variadic<CoreAI_KernelBuffer>:$kernel_args,
    CoreAI_VectorOfLength<[CoreAI_UIDX], 3>:$threads_per_grid,
    CoreAI_VectorOfLength<[CoreAI_UIDX], 3>:$threads_per_thread_group,
    Variadic<CoreAI_StaticVector<[UI32]>>:$result_shapes,
    StrAttr:$kernel_name,
    StrAttr:$kernel_source);
  let results = (outs Variadic<CoreAI_KernelBuffer>:$outputs);
  let assemblyFormat = [{
    `kernel_args` `(` $kernel_args `)` `,` `threads_per_grid` $threads_per_grid
    `,` `threads_per_thread_group` $threads_per_thread_group `,`
    `result_shapes` `(` $result_shapes `)` attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // CORTEN_DIALECT_COREAI_IR_KERNELOPS_TD
