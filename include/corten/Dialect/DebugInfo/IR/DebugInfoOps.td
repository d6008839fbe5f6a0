// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that tie a value to a source variable or to an observer.

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOOPS_TD
#define CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOOPS_TD

include "corten/Dialect/DebugInfo/IR/DebugInfoAttributes.td"
include "mlir/IR/OpBase.td"

class DebugInfo_Op<string mnemonic, list<Trait> traits = []>
    : Op<DebugInfo_Dialect, mnemonic, traits>;

def DebugInfo_RecordOp : DebugInfo_Op<"record"> {
  let summary = "Hands a value to whoever observes this id";
  let description = [{
    Its effects are unknown, so that nothing removes or reorders it.

    ```mlir
    debuginfo.record(%x : tensor<2xf32>) 42
    ```
  }];
  let arguments = (ins AnyType:$ssaValue, UI64Attr:$id);
  let assemblyFormat = "`(` $ssaValue `:` type($ssaValue) `)` $id attr-dict";
}

def DebugInfo_ValueOp : DebugInfo_Op<"value"> {
  let summary = "Says which source variable a value is";
  let arguments = (ins AnyType:$ssaValue,
                       DebugInfo_LocalVariableAttr:$variable);
  let assemblyFormat = [{
    `(` $ssaValue `:` type($ssaValue) `)` qualified($variable) attr-dict
  }];
}

#endif // CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOOPS_TD
