// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that move, repeat or create elements without computing on them.

#ifndef CORTEN_DIALECT_COREAI_IR_SHAPEOPS_TD
#define CORTEN_DIALECT_COREAI_IR_SHAPEOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIAttributes.td"
include "corten/Dialect/CoreAI/IR/CoreAIBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

def CoreAI_ConstantOp : CoreAI_Op<
    "constant", [AllTypesMatch<["value", "result"]>, ConstantLike, Pure]> {
  let summary = "the value of a typed attribute";
  let description = [{
    Shapes, axes and other index operands must be inline `dense<...>`: a
    `dense_resource` there ends the process in coreai-core. Blobs are in C
    order and little endian; `i1` takes a byte per element, every other type
    below a byte is a bit stream, first element in the lowest bits.
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def CoreAI_RangeOp : CoreAI_InferredOp<
    "range", CoreAI_ElementAndRank, [Pure, SameOperandsAndResultElementType]> {
  let summary = "half-open arithmetic sequence";
  let description = [{
    `start + i · step` for `ceil((stop - start) / step)` elements, none when
    the step points the wrong way.
  }];
  let arguments = (ins
    CoreAI_Scalar<[CoreAI_F, CoreAI_I]>:$start,
    CoreAI_Scalar<[CoreAI_F, CoreAI_I]>:$stop,
    CoreAI_Scalar<[CoreAI_F, CoreAI_I]>:$step);
  let results = (outs CoreAI_Vector<[CoreAI_F, CoreAI_I]>:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

def CoreAI_GetShapeOp : CoreAI_InferredOp<"get_shape", CoreAI_Exact> {
  let summary = "extents of a tensor";
  let description = [{ Always a ui32 vector as long as the rank. }];
  let arguments = (ins CoreAI_AnyData:$input);
  let results = (outs CoreAI_Sizes:$shape);
  let assemblyFormat = "$input `:` type($input) `->` type($shape) attr-dict";
  let hasFolder = 1;
}

def CoreAI_BroadcastShapesOp : CoreAI_PureOp<
    "broadcast_shapes", [SameOperandsAndResultElementType]> {
  let summary = "the shape that two shapes broadcast to";
  let description = [{
    Shapes that do not broadcast are an error at run time. The result type is
    not inferred.
  }];
  let arguments = (ins CoreAI_Sizes:$shape_1, CoreAI_Sizes:$shape_2);
  let results = (outs CoreAI_Sizes:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

//===----------------------------------------------------------------------===//
// Changes of shape
//===----------------------------------------------------------------------===//

def CoreAI_ReshapeOp : CoreAI_InferredOp<"reshape", CoreAI_Compatible> {
  let summary = "the same elements, in row-major order, in another shape";
  let description = [{
    A signed shape may hold one -1, which stands for whatever is left. A literal
    0 is refused even for empty tensors; -1 is the way to write it.
  }];
  let arguments = (ins
    CoreAI_AnyData:$input,
    CoreAI_Vector<[CoreAI_IDX, CoreAI_UIDX]>:$new_shape);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasFolder = 1;
}

def CoreAI_TransposeOp : CoreAI_InferredOp<
    "transpose", CoreAI_ElementAndRank> {
  let summary = "permutation of the axes";
  let description = [{
    Axis i of the result is axis `permutation[i]` of the input. Repeated
    entries are not caught. Declared extents are compared only where all of
    input and result are static.
  }];
  let arguments = (ins CoreAI_AnyData:$input, CoreAI_Sizes:$permutation);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasFolder = 1;
  let hasVerifier = 1;
}

class CoreAI_AxesChangeOp<string mnemonic, CoreAI_ResultCheck check>
    : CoreAI_InferredOp<mnemonic, check> {
  let arguments = (ins CoreAI_AnyData:$input, CoreAI_Axes:$axes);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = [{
    operands `:` `(` type(operands) `)` `to` type($output) attr-dict
  }];
  let hasFolder = 1;
}

def CoreAI_ExpandDimsOp : CoreAI_AxesChangeOp<"expand_dims", CoreAI_Element> {
  let summary = "insertion of axes of extent 1";
  let description = [{
    The axes are places in the result; their number must be known statically.
  }];
}

def CoreAI_ShrinkDimsOp : CoreAI_AxesChangeOp<"shrink_dims", CoreAI_Element> {
  let hasVerifier = 1;
  let summary = "removal of axes of extent 1";
  let description = [{
    The extents must be static ones; the number of axes must be known
    statically. The declared type is compared only for constant axes.
  }];
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

def CoreAI_BroadcastToOp : CoreAI_BuilderInferredOp<"broadcast_to"> {
  let summary = "stretching to a shape by NumPy's rules";
  let description = [{
    Nothing about the declared result is checked, and an impossible shape is
    not detected at run time either: the first element is repeated.
  }];
  let arguments = (ins CoreAI_AnyData:$input, CoreAI_Sizes:$shape);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasFolder = 1;
}

def CoreAI_BroadcastInDimsOp : CoreAI_InferredOp<
    "broadcast_in_dims", CoreAI_ElementAndRank> {
  let summary = "stretching of listed axes of extent 1";
  let description = [{ Axis `axes[i]` gets the extent `dim_sizes[i]`. }];
  let arguments = (ins
    CoreAI_AnyData:$input,
    CoreAI_Sizes:$dim_sizes,
    CoreAI_Axes:$axes);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

def CoreAI_TileOp : CoreAI_InferredOp<"tile", CoreAI_Unchecked> {
  let summary = "repetition along axes";
  let description = [{
    The counts belong to the last axes; there are at most as many as axes.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                        CoreAI_B]>:$input,
    CoreAI_Sizes:$dims);
  let results = (outs
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                        CoreAI_B]>:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

//===----------------------------------------------------------------------===//
// Joining, cutting, filling
//===----------------------------------------------------------------------===//

def CoreAI_ConcatOp : CoreAI_BuilderInferredOp<"concat"> {
  let summary = "tensors one after the other along an axis";
  let description = [{
    Extents off the axis must be literally identical: `?` does not match a
    number. `?` anywhere on the axis makes the result `?`. Scalars join into a
    vector. Nothing is compared when the dimension is not a constant.
  }];
  let arguments = (ins
    CoreAI_Axis:$dimension,
    Variadic<CoreAI_AnyData>:$inputs);
  let results = (outs CoreAI_AnyData:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasFolder = 1;
}

def CoreAI_SplitOp : CoreAI_BuilderInferredOp<"split"> {
  let summary = "parts of a tensor along an axis";
  let description = [{
    A scalar is the size of every part, the last one possibly smaller, and
    needs a static extent; a vector lists the sizes. Sizes and axis must be
    constants. Of declared results only the element type of the first is
    compared.
  }];
  let arguments = (ins
    CoreAI_AnyData:$input,
    CoreAI_ScalarOrVector<[CoreAI_UIDX]>:$split_size_or_sections,
    CoreAI_Axis:$dim);
  let results = (outs Variadic<CoreAI_AnyData>:$results);
  let assemblyFormat = [{
    operands `:` `(` type(operands) `)` `->` `(` type($results) `)` attr-dict
  }];
}

def CoreAI_SliceOp : CoreAI_InferredOp<"slice", CoreAI_ElementAndRank> {
  let summary = "strided part of a tensor";
  let description = [{
    Per axis: a negative start or end gets the extent n added once; then both
    are clamped to [0, n] for a positive stride, or the start to [0, n-1] and
    the end to [-1, n-1] for a negative one. So an end of -n-1 reaches element
    0 going backwards. An axis of extent `?` stays `?`, whatever the indices.
  }];
  let arguments = (ins
    CoreAI_AnyData:$input,
    CoreAI_Vector<[CoreAI_IDX]>:$start_indices,
    CoreAI_Vector<[CoreAI_IDX]>:$end_indices,
    CoreAI_Vector<[CoreAI_IDX]>:$strides);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasFolder = 1;
}

def CoreAI_SliceUpdateOp : CoreAI_FamilyInferredOp<
    "slice_update", CoreAI_SharedInference<"inferSameAsInput">,
    CoreAI_Compatible,
    [AllElementTypesMatch<["input", "update", "output"]>, Pure]> {
  let summary = "a tensor with a strided part replaced";
  let description = [{
    Indices as in `coreai.slice`. An update of the wrong size that only shows
    at run time is written in part, without an error.
  }];
  let arguments = (ins
    CoreAI_AnyData:$input,
    CoreAI_Vector<[CoreAI_IDX]>:$start_indices,
    CoreAI_Vector<[CoreAI_IDX]>:$end_indices,
    CoreAI_Vector<[CoreAI_IDX]>:$strides,
    CoreAI_AnyData:$update);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = [{
    $input `with` $update `at` ` ` `(` $start_indices `,` $end_indices `,`
    $strides `)` `:` `(` type($input) `,` type($update) `,`
    type($start_indices) `,` type($end_indices) `,` type($strides) `)` `to`
    type($output) attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_PadOp : CoreAI_InferredOp<
    "pad", CoreAI_ElementAndRank,
    [AllElementTypesMatch<["input", "padding_value"]>, Pure]> {
  let summary = "a tensor with a margin";
  let description = [{
    The vector is `[before0, after0, before1, after1, ...]`. `replicate`
    repeats the edge, `reflect` mirrors without it, `symmetric` with it,
    `circular` wraps around. The value must be a constant unless the mode is
    `constant`.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                        CoreAI_B]>:$input,
    CoreAI_Sizes:$padding,
    CoreAI_Scalar<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                   CoreAI_B]>:$padding_value,
    CoreAI_PaddingModeAttr:$padding_mode);
  let results = (outs
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                        CoreAI_B]>:$result);
  let assemblyFormat = [{
    operands `mode` `=` $padding_mode `:` functional-type(operands, results)
    attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_ReverseOp : CoreAI_FamilyInferredOp<
    "reverse", CoreAI_SharedInference<"inferSameAsInput">,
    CoreAI_Compatible> {
  let summary = "elements in opposite order along axes";
  let description = [{ Constant axes must be in range and differ. }];
  let arguments = (ins CoreAI_AnyData:$input, CoreAI_Axes:$dims);
  let results = (outs CoreAI_AnyData:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

#endif // CORTEN_DIALECT_COREAI_IR_SHAPEOPS_TD
