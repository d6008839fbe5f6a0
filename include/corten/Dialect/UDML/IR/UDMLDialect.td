// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `udml` dialect: host code around graphs, as later stages of the Core AI
// compiler write it. The converter produces none of it; it is here so that
// every program can be read.

#ifndef CORTEN_DIALECT_UDML_IR_UDMLDIALECT_TD
#define CORTEN_DIALECT_UDML_IR_UDMLDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

def UDML_Dialect : Dialect {
  let name = "udml";
  let cppNamespace = "::corten::udml";
  let summary = "Host code around graphs";
  let dependentDialects = ["::corten::param::ParamDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  // `udml.pure` and `udml.intent` are discardable attributes.
  let extraClassDeclaration = [{
  private:
    void registerAttributesAndTypes();

  public:
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def UDML_ArrayType : TypeDef<UDML_Dialect, "Array"> {
  let summary = "Array in host memory";
  let description = [{
    The size is an `index` expression, the element type one of type
    `!param.type`; either may refer to a parameter.

    ```mlir
    !udml.array<4 : index, #param.constant<f32> : !param.type>
    ```
  }];
  let mnemonic = "array";
  let parameters = (ins "::mlir::TypedAttr":$size,
                        "::mlir::TypedAttr":$elementType);
  let assemblyFormat = "`<` $size `,` $elementType `>`";
  let genVerifyDecl = 1;
}

def UDML_PointerType : TypeDef<UDML_Dialect, "Pointer"> {
  let summary = "Address in host memory";
  let mnemonic = "ptr";
  let parameters = (ins OptionalParameter<"::mlir::TypedAttr">:$elementType);
  let assemblyFormat = "(`<` $elementType^ `>`)?";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class UDML_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<UDML_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def UDML_Intent : I32Enum<"Intent", "what a function does with an argument", [
  I32EnumCase<"Out", 0, "out">,
  I32EnumCase<"InOut", 1, "inout">,
  I32EnumCase<"Return", 2, "return">,
  I32EnumCase<"In", 3, "in">,
  I32EnumCase<"Param", 4, "param">,
  I32EnumCase<"Metadata", 5, "metadata">,
]> {
  let cppNamespace = "::corten::udml";
}
def UDML_IntentAttr : EnumAttr<UDML_Dialect, UDML_Intent, "intent"> {
  let assemblyFormat = "`<` $value `>`";
}

def UDML_Lifecycle : I32BitEnum<"Lifecycle", "when a function is called", [
  I32BitEnumCaseNone<"Stateless", "stateless">,
  I32BitEnumCaseBit<"Init", 0, "init">,
  I32BitEnumCaseBit<"Reshape", 1, "reshape">,
  I32BitEnumCaseBit<"Prepare", 2, "prepare">,
  I32BitEnumCaseBit<"Encode", 3, "encode">,
]> {
  let cppNamespace = "::corten::udml";
  let separator = ",";
}
def UDML_LifecycleAttr : EnumAttr<UDML_Dialect, UDML_Lifecycle, "lifecycle"> {
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

def UDML_KernelRefAttr : UDML_Attr<"KernelRef", "kernel_ref"> {
  let summary = "Kernel that a delegate provides";
  let parameters = (ins StringRefParameter<>:$name);
  let assemblyFormat = "`<` $name `>`";
}

def UDML_TypedSymbolRefAttr
    : UDML_Attr<"TypedSymbolRef", "typed_symbol_ref", [TypedAttrInterface]> {
  let summary = "Symbol together with the type of what it names";
  let parameters = (ins "::mlir::SymbolRefAttr":$symbol,
                        AttributeSelfTypeParameter<"">:$type);
  let hasCustomAssemblyFormat = 1;
}

// Like the combiner of a scan, a plain 32-bit integer in generic form.
def UDML_ImportTypeAttr : I32EnumAttr<"ImportType", "what is imported", [
  I32EnumAttrCase<"MLIR", 0>,
  I32EnumAttrCase<"ClangModule", 1>,
]> {
  let cppNamespace = "::corten::udml";
}

#endif // CORTEN_DIALECT_UDML_IR_UDMLDIALECT_TD
