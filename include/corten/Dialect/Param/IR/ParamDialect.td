// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `param` dialect: parameters of graphs and references to symbols. It has
// types and attributes but no operations.

#ifndef CORTEN_DIALECT_PARAM_IR_PARAMDIALECT_TD
#define CORTEN_DIALECT_PARAM_IR_PARAMDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Param_Dialect : Dialect {
  let name = "param";
  let cppNamespace = "::corten::param";
  let summary = "Compile-time parameters";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerTypes();

  public:
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Param_Type<string name, string typeMnemonic>
    : TypeDef<Param_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Param_SymbolType : Param_Type<"Symbol", "symbol"> {
  let summary = "Type of a parameter that stands for a symbol";
}

def Param_TypeType : Param_Type<"Type", "type"> {
  let summary = "Type of a parameter that stands for a type";
}

def Param_ParamRefType : Param_Type<"ParamRef", "param_ref"> {
  let summary = "Type that a parameter stands for";
  let description = [{
    Written around a constant it is that type itself, also when parsed.

    ```mlir
    !param.param_ref<#param.ref<T> : !param.type>
    ```
  }];
  let parameters = (ins "::mlir::TypedAttr":$param);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Param_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Param_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Param_DeclAttr : Param_Attr<"Decl", "decl", [TypedAttrInterface]> {
  let summary = "Declaration of one parameter";
  let description = [{
    ```mlir
    #param.decl<T: !param.type> : !param.type
    #param.decl<width: i32 = 5> : i32
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    AttributeSelfTypeParameter<"">:$type,
    OptionalParameter<"::mlir::TypedAttr">:$defaultValue);
  let hasCustomAssemblyFormat = 1;
}

def Param_DeclArrayAttr : Param_Attr<"DeclArray", "decl.array"> {
  let summary = "Parameters of a graph, function, class or namespace";
  let parameters = (ins ArrayRefParameter<"::corten::param::DeclAttr">:$value);
  let assemblyFormat = "`<` custom<Declarations>($value) `>`";
}

def Param_ConstantAttr
    : Param_Attr<"Constant", "constant", [TypedAttrInterface]> {
  let summary = "Parameter expression with a known value";
  let description = [{
    The type follows from the value: `!param.symbol` for a symbol,
    `!param.type` for a type, and the value's own type otherwise. What an
    invocation calls is such a constant.

    ```mlir
    #param.constant<@main> : !param.symbol
    #param.constant<f32> : !param.type
    #param.constant<5> : i32
    ```
  }];
  let parameters = (ins
    AttributeSelfTypeParameter<"">:$type,
    "::mlir::Attribute":$value);
  let builders = [AttrBuilderWithInferredContext<
      (ins "::mlir::Attribute":$value)>];
  let skipDefaultBuilders = 1;
  let hasCustomAssemblyFormat = 1;
}

def Param_RefAttr : Param_Attr<"Ref", "ref", [TypedAttrInterface]> {
  let summary = "Parameter expression that names a parameter";
  let parameters = (ins
    AttributeSelfTypeParameter<"">:$type,
    "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` custom<ParameterName>($name) `>`";
}

def Param_BindAttr : Param_Attr<"Bind", "bind", [TypedAttrInterface]> {
  let summary = "Symbol with arguments for its parameters";
  let description = [{
    Without arguments it is the symbol itself, also when parsed. Arguments are
    plain types, symbols and values, never constants that wrap them.

    ```mlir
    #param.bind<@sort, [f32, 4 : i64]> : !param.symbol
    ```
  }];
  let parameters = (ins
    AttributeSelfTypeParameter<"">:$type,
    "::mlir::TypedAttr":$symbol,
    "::mlir::ArrayAttr":$arguments);
  let hasCustomAssemblyFormat = 1;
}

#endif // CORTEN_DIALECT_PARAM_IR_PARAMDIALECT_TD
