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

#endif // CORTEN_TRANSFORMS_PASSES_TD
