// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that move tensors into and out of a memory layout.

#ifndef CORTEN_DIALECT_COREAIX_IR_COREAIXOPS_TD
#define CORTEN_DIALECT_COREAIX_IR_COREAIXOPS_TD

include "corten/Dialect/CoreAIX/IR/CoreAIXDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def CoreAIX_HasLayoutPred : CPred<
    "::corten::coreaix::getLayout(::llvm::cast<::mlir::RankedTensorType>("
    "$_self))">;

/// A tensor with a layout, or one of which nothing but the shape is known.
def CoreAIX_PlacedTensor : Type<
    And<[AnyRankedTensor.predicate, CoreAIX_HasLayoutPred]>,
    "ranked tensor with '#coreaix.hw_constraints'", "::mlir::RankedTensorType">;
def CoreAIX_UnplacedTensor : Type<
    And<[AnyRankedTensor.predicate, Neg<CoreAIX_HasLayoutPred>]>,
    "ranked tensor without '#coreaix.hw_constraints'",
    "::mlir::RankedTensorType">;

class CoreAIX_Op<string mnemonic, Type source, Type result,
                 list<Trait> traits = []>
    : Op<CoreAIX_Dialect, mnemonic, !listconcat(traits, [Pure])> {
  let arguments = (ins source:$source);
  let results = (outs result:$result);
  let assemblyFormat = [{
    `(` $source `)` attr-dict `:` functional-type(operands, results)
  }];
}

def CoreAIX_CastOp
    : CoreAIX_Op<"cast", CoreAIX_PlacedTensor, CoreAIX_PlacedTensor> {
  let summary = "Copies a tensor into another layout and element type";
}

def CoreAIX_CopyWithConstraintsOp
    : CoreAIX_Op<"copy_with_constraints", CoreAIX_UnplacedTensor,
                 CoreAIX_PlacedTensor, [SameOperandsAndResultElementType]> {
  let summary = "Copies a tensor into a layout";
}

def CoreAIX_CopyDiscardingConstraintsOp
    : CoreAIX_Op<"copy_discarding_constraints", CoreAIX_PlacedTensor,
                 CoreAIX_UnplacedTensor, [SameOperandsAndResultElementType]> {
  let summary = "Copies a tensor out of its layout";
}

def CoreAIX_ViewOp
    : CoreAIX_Op<"view", CoreAIX_PlacedTensor, CoreAIX_PlacedTensor,
                 [SameOperandsAndResultElementType]> {
  let summary = "Reads the memory of a tensor as another shape or layout";
  let description = [{
    The view must lie within the memory of its source.
  }];
  let hasVerifier = 1;
}

#endif // CORTEN_DIALECT_COREAIX_IR_COREAIXOPS_TD
