// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes from `coreai` to `coreai`. None changes a bit of what a program
// computes; each looks at an op a bounded number of times. Each is in the file
// of its name.

#ifndef CORTEN_TRANSFORMS_PASSES_TD
#define CORTEN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineGraphs : Pass<"coreai-inline-graphs", "::mlir::ModuleOp"> {
  let summary = "Puts the bodies of graphs in the place of calls";
  let description = [{
    Composites are inlined unless their name is one of those to keep, which the
    caller knows what to do with; `noinline` on them is for other compilers. An
    inlined op has the call as a caller in its debug location. Graphs that call
    themselves, that have no body or that have parameters stay calls. Graphs
    that nothing calls any more are left to `symbol-dce`.
  }];
  let options = [
    ListOption<"keptComposites", "keep-composites", "std::string",
               "Names of composites that stay calls">,
    Option<"keepMarked", "keep-marked", "bool", /*default=*/"false",
           "Keep what means something to a device or to another program: all "
           "composites, externalized graphs, and what is noinline">,
    Option<"maxOps", "max-ops", "uint64_t", /*default=*/"10000000",
           "How many ops the module may have afterwards; an error if more">,
  ];
}

def RemoveDeadCode : Pass<"coreai-remove-dead-code"> {
  let summary = "Removes ops whose results nothing uses";
  let description = [{
    One walk from the end of each block. `scan`, which declares no absence of
    effects, has none, and goes as well; so do results of `if` that nothing
    uses. Kernels, delegates and calls stay.
  }];
}

def MergeCommonSubexpressions : Pass<"coreai-cse"> {
  let summary = "Computes what is the same only once";
  let description = [{
    Also across the regions of branches and loops, where an outer value is the
    same. The debug location of the op that stays names all of them. Accesses to
    states are never merged: their order in the program is their order in time.
    Operands of `maximum` and `minimum` are not exchanged, because of two zeros
    the first one wins.
  }];
}

def FoldConstants : Pass<"coreai-fold-constants"> {
  let summary = "Computes what is made of constants";
  let description = [{
    By the portable kernels of the runtime, so it comes out what they would
    compute. What would be an error when it runs stays. Weights in another shape
    share their data, and what is the same everywhere stays one number.
    Compressed weights stay compressed unless it is asked for.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "uint64_t", /*default=*/"1 << 20",
           "The largest constant that is computed: larger weights stay where "
           "they are">,
    Option<"maxGrowth", "max-growth", "uint64_t", /*default=*/"1 << 16",
           "How much larger a constant may be than those that it replaces">,
    Option<"decompress", "decompress", "bool", /*default=*/"false",
           "Whether compressed weights are computed as well">,
  ];
}

def FoldBranches : Pass<"coreai-fold-branches"> {
  let summary = "Puts the region of a branch that is taken in its place";
  let description = [{ Where the condition is a constant. }];
}

//===----------------------------------------------------------------------===//
// Families of rewrites
//===----------------------------------------------------------------------===//

def MergeCasts : Pass<"coreai-merge-casts"> {
  let summary = "Makes one cast of two where no number changes";
  let description = [{
    f16 to f32 to f16 is nothing, si8 to si16 to f32 one cast. f64 to f32 to f16
    stays, which rounds twice, and so does f32 to si32 to f32, which cuts off.
    MergeCasts.cpp has the rule for each pair of types.
  }];
}

def SimplifyAlgebra : Pass<"coreai-simplify-algebra"> {
  let summary = "Removes arithmetic that changes no bit";
  let description = [{
    `x * 1`, `x - 0`, `x + -0`, but not `x + 0`, which makes 0 of -0; two
    negations; selections of what is the same or by what is known; `not` of a
    comparison. Additions and multiplications of integers by constants become
    one.
  }];
}

def SimplifyShapes : Pass<"coreai-simplify-shapes"> {
  let summary = "Answers questions about shapes, and removes moves to nowhere";
  let description = [{
    Shapes that are known, also of some axes only; slices, pads, tiles,
    broadcasts, reversals and reductions that leave everything in place; slices
    of slices, and concatenations of concatenations.
  }];
}

def SimplifyBroadcasts : Pass<"coreai-simplify-broadcasts"> {
  let summary = "Leaves spreading of operands to the ops that do it";
  let description = [{
    `broadcast_to` and `broadcast_in_dims` in front of an element-wise op go,
    and ops that could spread their operands, but have none to spread, become
    the plain ones.
  }];
}

def ExpandBroadcasts : Pass<"coreai-expand-broadcasts"> {
  let summary = "Makes all spreading of operands explicit";
  let description = [{
    The opposite of `coreai-simplify-broadcasts`: `broadcast_to` for each operand
    of another shape, and the plain op. It is no part of the pipeline; back ends
    may want it that have only plain ops.
  }];
}

def MergeReorderings : Pass<"coreai-merge-reorderings"> {
  let summary = "Makes one transpose or reshape of two";
  let description = [{
    Also where element-wise ops of one tensor and of numbers are between them.
    Two tensors that are transposed alike and then combined are combined first.
    A transpose that moves nothing but axes of one element becomes a reshape.
  }];
}

def Simplify : Pass<"coreai-simplify"> {
  let summary = "All families of rewrites together";
  let description = [{
    Casts, algebra, shapes, broadcasts and reorderings, until none has anything
    left to do: what one leaves behind is often what another one looks for.
  }];
}

#endif // CORTEN_TRANSFORMS_PASSES_TD
