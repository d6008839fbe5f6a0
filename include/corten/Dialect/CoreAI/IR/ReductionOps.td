// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that combine or order the elements along axes.

#ifndef CORTEN_DIALECT_COREAI_IR_REDUCTIONOPS_TD
#define CORTEN_DIALECT_COREAI_IR_REDUCTIONOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIAttributes.td"
include "corten/Dialect/CoreAI/IR/CoreAIBase.td"

/// The operand's shape with the listed axes set to 1, or `?` everywhere when
/// the axes are not a constant.
def InferReduction : CoreAI_SharedInference<"inferReduction">;

//===----------------------------------------------------------------------===//
// Reductions over axes
//===----------------------------------------------------------------------===//

class CoreAI_AxesReductionOp<string mnemonic, CoreAI_ResultCheck check>
    : CoreAI_FamilyInferredOp<mnemonic, InferReduction, check> {
  let assemblyFormat = CoreAI_DecomposableFormat;
  let hasVerifier = 1;
}

class CoreAI_NamedReductionOp<string mnemonic, list<Type> elements>
    : CoreAI_AxesReductionOp<"reduce_" # mnemonic, CoreAI_ElementAndRank> {
  let arguments = (ins
    CoreAI_DenseTensor<elements>:$input,
    CoreAI_Axes:$axes);
  let results = (outs CoreAI_DenseTensor<elements>:$output);
}

// Traps that all of them share: an empty constant vector of axes passes, and
// the runtime then folds the whole tensor into element 0; a reduced extent of
// zero leaves the result uninitialised; axes out of range are found at run time
// only.

def CoreAI_ReduceSumOp : CoreAI_NamedReductionOp<
    "sum", [CoreAI_F, CoreAI_F8, CoreAI_I]> {
  let summary = "sum over axes, which stay as extents of 1";
  let description = [{
    f16 and bf16 accumulate in f32; integers wrap; NaN propagates.
  }];
}

def CoreAI_ReduceMeanOp : CoreAI_NamedReductionOp<
    "mean", [CoreAI_F, CoreAI_F8]> {
  let summary = "mean over axes, which stay as extents of 1";
  let description = [{ f16 accumulates in f32; NaN propagates. }];
}

def CoreAI_ReduceProductOp : CoreAI_NamedReductionOp<
    "product", [CoreAI_F, CoreAI_F8, CoreAI_I]> {
  let summary = "product over axes, which stay as extents of 1";
  let description = [{ Integers wrap. }];
}

def CoreAI_ReduceMaxOp : CoreAI_NamedReductionOp<
    "max", [CoreAI_F, CoreAI_F8, CoreAI_I]> {
  let summary = "maximum over axes, which stay as extents of 1";
  let description = [{ NaN propagates. }];
}

def CoreAI_ReduceMinOp : CoreAI_NamedReductionOp<
    "min", [CoreAI_F, CoreAI_F8, CoreAI_I]> {
  let summary = "minimum over axes, which stay as extents of 1";
  let description = [{ NaN propagates. }];
}

class CoreAI_LogicalReductionOp<string mnemonic>
    : CoreAI_AxesReductionOp<mnemonic, CoreAI_Element> {
  let arguments = (ins CoreAI_Bools:$input, CoreAI_Axes:$axes);
  let results = (outs CoreAI_Bools:$result);
}

def CoreAI_AllOp : CoreAI_LogicalReductionOp<"all"> {
  let summary = "logical and over axes, which stay as extents of 1";
  let description = [{ Constant axes must be in range. }];
}

def CoreAI_AnyOp : CoreAI_LogicalReductionOp<"any"> {
  let summary = "logical or over axes, which stay as extents of 1";
  let description = [{ Constant axes must be in range. }];
}

//===----------------------------------------------------------------------===//
// Reductions with a region
//===----------------------------------------------------------------------===//

def CoreAI_ReduceOp : CoreAI_Op<
    "reduce", [AllElementTypesMatch<["input", "output"]>, IsolatedFromAbove,
               RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "reduction by a region";
  let description = [{
    The region takes the value so far and the next element, both scalars, and
    yields the new value. Authored programs should use the named reductions:
    an asset with this op can be saved but not loaded again.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                        CoreAI_B]>:$input,
    CoreAI_Axes:$axes,
    CoreAI_Scalar<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                   CoreAI_B]>:$init_value);
  let results = (outs
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C,
                        CoreAI_B]>:$output);
  let regions = (region SizedRegion<1>:$reduction);
  let assemblyFormat = [{
    $input `,` $axes `,` `init` $init_value $reduction `:`
    functional-type(operands, results) attr-dict
  }];
}

def CoreAI_ReduceIndexOp : CoreAI_Op<
    "reduce_index", [AllElementTypesMatch<["input", "init_value"]>,
                     AllElementTypesMatch<["init_index", "output"]>,
                     IsolatedFromAbove, RecursiveMemoryEffects,
                     RecursivelySpeculatable, SingleBlock]> {
  let summary = "index reduction by a region";
  let description = [{
    The region takes the best value so far and a candidate, both scalars, and
    yields whether the candidate is better. It has the loading trap of
    `coreai.reduce`.
  }];
  let arguments = (ins
    CoreAI_OrderedData:$input,
    CoreAI_Axis:$axis,
    CoreAI_Scalar<[CoreAI_F, CoreAI_F8, CoreAI_I]>:$init_value,
    CoreAI_Scalar<[CoreAI_UIDX]>:$init_index);
  let results = (outs CoreAI_DenseTensor<[CoreAI_UIDX]>:$output);
  let regions = (region SizedRegion<1>:$reduction);
  let assemblyFormat = [{
    $input `,` $axis `,` `init` $init_value `init_index` $init_index $reduction
    `:` functional-type(operands, results) attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

def CoreAI_ArgmaxOp : CoreAI_InferredOp<"argmax", CoreAI_Unchecked> {
  let summary = "index of the largest element along an axis";
  let description = [{
    The axis stays as an extent of 1. Of equal maxima the first is taken. NaN
    is skipped, because the test is `greater`.
  }];
  let arguments = (ins CoreAI_OrderedData:$input, CoreAI_Axis:$axis);
  let results = (outs CoreAI_DenseTensor<[CoreAI_UIDX]>:$output);
  let assemblyFormat = CoreAI_DecomposableFormat;
}

def CoreAI_SoftmaxOp : CoreAI_FamilyInferredOp<
    "softmax", CoreAI_SharedInference<"inferSameAsInput">, CoreAI_Element> {
  let summary = "softmax along an axis";
  let description = [{
    `e^(x - m) / Σ e^(x - m)` with the maximum `m`. NaN or plus infinity
    anywhere makes the whole slice NaN, as does minus infinity everywhere.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8]>:$input,
    CoreAI_Axis:$axis);
  let results = (outs CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8]>:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_ScanOp : CoreAI_FamilyInferredOp<
    "scan", CoreAI_SharedInference<"inferSameAsInput">, CoreAI_Compatible,
    []> {
  let summary = "inclusive prefix combination along an axis";
  let description = [{
    Element i of the result combines elements 0 to i, or i to the last when
    `reverse` is set. The axis is unsigned, so it cannot count from the end.
    `min` and `max` skip NaN; f16 accumulates in f16; integer overflow ends the
    process on the Linux runtime. The op declares no absence of side effects
    and is therefore never removed or merged.
  }];
  let arguments = (ins
    CoreAI_OrderedData:$input,
    CoreAI_Scalar<[CoreAI_UIDX]>:$axis,
    CoreAI_Flag:$reverse,
    CoreAI_ScanCombinerAttr:$scan_op);
  let results = (outs CoreAI_OrderedData:$result);
  let assemblyFormat = [{
    operands `combiner` `=` `<` $scan_op `>` `:`
    functional-type(operands, results) attr-dict
  }];
  let hasVerifier = 1;
}

def CoreAI_SortOp : CoreAI_PureOp<
    "sort", [AllElementTypesMatch<["input", "result"]>]> {
  let summary = "elements in order along an axis";
  let description = [{
    NaN sorts last in both directions; the two zeros keep their order. The
    result type is not inferred.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_I]>:$input,
    CoreAI_Axis:$dim,
    CoreAI_Flag:$descending,
    CoreAI_Flag:$stable);
  let results = (outs CoreAI_DenseTensor<[CoreAI_F, CoreAI_I]>:$result);
  let assemblyFormat = CoreAI_DecomposableFormat;
  let hasVerifier = 1;
}

def CoreAI_ArgsortOp : CoreAI_InferredOp<"argsort", CoreAI_Exact> {
  let summary = "indices that put elements in order along an axis";
  let description = [{
    NaN sorts last in both directions. A stable descending sort keeps equal
    elements in their original order.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_I]>:$input,
    CoreAI_Axis:$dim,
    CoreAI_Flag:$descending,
    CoreAI_Flag:$stable);
  let results = (outs CoreAI_DenseTensor<[CoreAI_IDX]>:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

#endif // CORTEN_DIALECT_COREAI_IR_REDUCTIONOPS_TD
