// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the `coreai` dialect. Data are builtin tensors; what is defined
// here is everything else a value can be.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAITYPES_TD
#define CORTEN_DIALECT_COREAI_IR_COREAITYPES_TD

include "corten/Dialect/CoreAI/IR/CoreAIDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

class CoreAI_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<CoreAI_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def CoreAI_HandleType : CoreAI_Type<"Handle", "handle"> {
  let summary = "Mutable state passed to a graph by reference";
  let description = [{
    Only `read_handle` and `write_handle` look inside; what orders them is a
    token. The inner type is normally a ranked tensor.

    ```mlir
    !coreai.handle<tensor<1x128xf16>>
    ```
  }];
  let parameters = (ins "::mlir::Type":$innerType);
  let builders = [TypeBuilderWithInferredContext<
      (ins "::mlir::Type":$innerType),
      [{ return $_get(innerType.getContext(), innerType); }]>];
  let assemblyFormat = "`<` $innerType `>`";
}

def CoreAI_TokenType : CoreAI_Type<"Token", "token"> {
  let summary = "Order of the accesses to one handle";
}

def CoreAI_ImageType : CoreAI_Type<"Image", "image"> {
  let summary = "Image with a pixel format and a size";
  let description = [{
    Height and width are attributes of integer type rather than numbers, so
    that a graph with parameters can leave them open with `#param.ref`.

    ```mlir
    !coreai.image<<k24RGB> x 224 : i64 x 224 : i64>
    ```
  }];
  let parameters = (ins
    "::corten::coreai::FourCCAttr":$fourCC,
    "::mlir::TypedAttr":$height,
    "::mlir::TypedAttr":$width,
    OptionalParameter<"::mlir::Attribute">:$imageConstraints);
  let assemblyFormat = [{
    `<` $fourCC `x` $height `x` $width
    (`,` `image_constraints` `=` $imageConstraints^)? `>`
  }];
  let genVerifyDecl = 1;
}

def CoreAI_AsyncValueType : CoreAI_Type<"AsyncValue", "async.value"> {
  let summary = "Value that becomes available later";
  let description = "Registered for reading; the converter never creates it.";
  let parameters = (ins "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $valueType `>`";
}

def CoreAI_OpaqueType : CoreAI_Type<"Opaque", "opaque"> {
  let summary = "Value that only its producer and consumer understand";
  let description = "Registered for reading; the converter never creates it.";
}

def CoreAI_SymbolRefType : CoreAI_Type<"SymbolRef", "symbol_ref"> {
  let summary = "Type named by a symbol, possibly with parameters bound";
  let description = [{
    Registered for reading; the converter never creates it.

    ```mlir
    !coreai.symbol_ref<@Buffer>
    !coreai.symbol_ref<@Buffer<f32, 4 : i64>>
    ```
  }];
  let parameters = (ins "::mlir::TypedAttr":$symbol);
  let assemblyFormat = "`<` custom<SymbolExpression>($symbol) `>`";
  let genVerifyDecl = 1;
}

#endif // CORTEN_DIALECT_COREAI_IR_COREAITYPES_TD
