// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that read or write elements at computed positions.

#ifndef CORTEN_DIALECT_COREAI_IR_INDEXINGOPS_TD
#define CORTEN_DIALECT_COREAI_IR_INDEXINGOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIAttributes.td"
include "corten/Dialect/CoreAI/IR/CoreAIBase.td"

def CoreAI_GatherAlongAxisOp : CoreAI_InferredOp<
    "gather_along_axis", CoreAI_Compatible> {
  let summary = "elements taken along one axis";
  let description = [{
    `output[i, j, k] = input[i, indices[i, j, k], k]` for axis 1. Off the axis
    the extents agree. Negative indices count from the end; anything outside
    [-n, n) is an error at run time.
  }];
  let arguments = (ins
    CoreAI_IndexableData:$input,
    CoreAI_Indices:$indices,
    CoreAI_Axis:$axis);
  let results = (outs CoreAI_IndexableData:$output);
  let assemblyFormat = [{
    $input `at` $indices `along` $axis `:` `(` type(operands) `)` `to`
    type($output) attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_GatherNdOp : CoreAI_InferredOp<"gather_nd", CoreAI_ExactShape> {
  let summary = "slices taken at index vectors";
  let description = [{
    The last axis of `indices`, of static extent Q, holds vectors into the
    first Q axes of the input; the result has the shape
    `indices.shape[:-1] + input.shape[Q:]`. Indices as in `gather_along_axis`.
  }];
  let arguments = (ins CoreAI_IndexableData:$input, CoreAI_Indices:$indices);
  let results = (outs CoreAI_IndexableData:$output);
  let assemblyFormat = [{
    $input `at` $indices `:` `(` type(operands) `)` `to` type($output)
    attr-dict
  }];
}

def CoreAI_ScatterAlongAxisOp : CoreAI_PureOp<"scatter_along_axis"> {
  let summary = "updates combined into a tensor along one axis";
  let description = [{
    `output[i, indices[i, j, k], k] ∘= updates[i, j, k]` for axis 1, where the
    mode says what ∘ is. Updates to one place are applied in order. Negative
    indices count from the end, but the range is not checked: an index beyond
    it writes into the neighbouring row. The result type is not inferred.
  }];
  let arguments = (ins
    CoreAI_IndexableData:$input,
    CoreAI_Indices:$indices,
    CoreAI_IndexableData:$updates,
    CoreAI_Axis:$axis,
    DefaultValuedAttr<CoreAI_ScatterModeAttr,
                      "::corten::coreai::ScatterMode::Update">:$scatter_mode);
  let results = (outs CoreAI_IndexableData:$output);
  let assemblyFormat = [{
    operands (`scatter_mode` `=` $scatter_mode^)? `:`
    functional-type(operands, results) attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_ScatterNdOp : CoreAI_Op<
    "scatter_nd", [AllElementTypesMatch<["input", "updates", "output"]>,
                   RecursiveMemoryEffects, RecursivelySpeculatable,
                   SingleBlock]> {
  let summary = "slices written at index vectors";
  let description = [{
    The inverse of `gather_nd`: the updates have the shape that it would give.
    The region takes the value in place and the update, both scalars, and may
    hold nothing but its `coreai.yield`: it chooses one of the two. Of several
    updates to one place the last wins.
  }];
  let arguments = (ins
    CoreAI_IndexableData:$input,
    CoreAI_Indices:$indices,
    CoreAI_IndexableData:$updates);
  let results = (outs CoreAI_IndexableData:$output);
  let regions = (region SizedRegion<1>:$update_fn);
  let assemblyFormat = [{
    $input `with` $updates `at` $indices $update_fn `:` `(` type($input) `,`
    type($updates) `,` type($indices) `)` `to` type($output) attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_NonZeroOp : CoreAI_InferredOp<"non_zero", CoreAI_Unchecked> {
  let hasVerifier = 1;
  let summary = "positions of the elements that are not zero";
  let description = [{
    One index vector per element, in row-major order. `-0.0` is zero; NaN is
    not. Inference gives si32 and leaves the count open.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_B]>:$input);
  let results = (outs CoreAI_DenseTensorOfRank<[CoreAI_IDX], [2]>:$result);
  let assemblyFormat = "$input `:` type($input) `->` type($result) attr-dict";
}

#endif // CORTEN_DIALECT_COREAI_IR_INDEXINGOPS_TD
