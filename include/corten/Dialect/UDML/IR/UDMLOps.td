// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the `udml` dialect.

#ifndef CORTEN_DIALECT_UDML_IR_UDMLOPS_TD
#define CORTEN_DIALECT_UDML_IR_UDMLOPS_TD

include "corten/Dialect/Param/IR/ParamDialect.td"
include "corten/Dialect/UDML/IR/UDMLDialect.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class UDML_Op<string mnemonic, list<Trait> traits = []>
    : Op<UDML_Dialect, mnemonic, traits>;

/// An operation in whose body `udml.` need not be written.
class UDML_ScopeOp<string mnemonic, list<Trait> traits>
    : UDML_Op<mnemonic,
              !listconcat(traits, [DeclareOpInterfaceMethods<
                                       OpAsmOpInterface,
                                       ["getDefaultDialect"]>])> {
  let extraClassDefinition = [{
    ::llvm::StringRef $cppClass::getDefaultDialect() { return "udml"; }
  }];
}

// Both have a default, and bytecode stores such attributes differently from
// required ones.

def UDML_Parameters : DefaultValuedAttr<
    Param_DeclArrayAttr, "::llvm::ArrayRef<::corten::param::DeclAttr>()"> {
  let constBuilderCall =
      "::corten::param::DeclArrayAttr::get($_builder.getContext(), $0)";
}

def UDML_LifecyclePhases : DefaultValuedAttr<
    UDML_LifecycleAttr, "::corten::udml::Lifecycle::Stateless">;

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

def UDML_NamespaceOp : UDML_ScopeOp<"namespace",
    [Symbol, SymbolTable, IsolatedFromAbove, SingleBlock, NoTerminator,
     NoRegionArguments]> {
  let summary = "Named group of graphs, functions and classes";
  let arguments = (ins SymbolNameAttr:$sym_name,
                       UDML_Parameters:$param_decls);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    $sym_name `` custom<ParameterList>($param_decls) attr-dict-with-keyword
    $bodyRegion
  }];
}

def UDML_ClassOp : UDML_ScopeOp<"class",
    [Symbol, SymbolTable, IsolatedFromAbove, SingleBlock, NoTerminator,
     NoRegionArguments]> {
  let summary = "Type with members";
  let arguments = (ins SymbolNameAttr:$sym_name,
                       UDML_Parameters:$param_decls,
                       UnitAttr:$extern_c);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    $sym_name `` custom<ParameterList>($param_decls) attr-dict-with-keyword
    $bodyRegion
  }];
}

def UDML_MemberOp : UDML_Op<"member", [Symbol, HasParent<"ClassOp">]> {
  let summary = "Member of a class, with the value it starts with";
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttr:$type,
                       OptionalAttr<TypedAttrInterface>:$value,
                       OptionalAttr<UI64Attr>:$offset_in_bits);
  let assemblyFormat = "$sym_name `:` $type (`=` $value^)? attr-dict";
  let hasVerifier = 1;
}

def UDML_ImportOp : UDML_Op<"import", [Symbol]> {
  let summary = "Symbol that another module defines";
  let arguments = (ins UDML_ImportTypeAttr:$import_type,
                       SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$module_name);
  let assemblyFormat = [{
    ` ` `[` $import_type `]` $sym_name (`from` $module_name^)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def UDML_FuncOp : UDML_ScopeOp<"func",
    [FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "Function of host code";
  let description = [{
    Functions that only declare have no body.

    ```mlir
    udml.func @f(%x: f32 {udml.intent = #udml.intent<in>}) -> f32
        attributes {lifecycle_phases = #udml.lifecycle<init,encode>} {
      return %x : f32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       UDML_Parameters:$param_decls,
                       UDML_LifecyclePhases:$lifecycle_phases,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       UnitAttr:$extern_c,
                       UnitAttr:$no_inline);
  let regions = (region AnyRegion:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() {
      return isExternal() ? nullptr : &getBodyRegion();
    }
  }];
}

def UDML_CallOp : UDML_Op<"call",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call of a function or an import";
  let description = [{
    ```mlir
    %0 = call @f<f32>(%x)  : (f32) -> f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands,
                       TypedAttrInterface:$callee,
                       UDML_LifecyclePhases:$lifecycle_phases,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$result);
  let hasCustomAssemblyFormat = 1;
}

def UDML_ReturnOp : UDML_Op<"return", [Terminator, HasParent<"FuncOp">]> {
  let summary = "Leaves a function";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def UDML_IsDefinedOp : UDML_Op<"is_defined"> {
  let summary = "Says whether the caller supplied an argument";
  let arguments = (ins AnyTensor:$input);
  let results = (outs I1:$output);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input)";
}

def UDML_PlaceholderOp : UDML_Op<"placeholder"> {
  let summary = "Stands for an operation of a dialect that is not loaded";
  let arguments = (ins StrAttr:$opname,
                       Variadic<AnyType>:$operands,
                       UnitAttr:$keep_placeholder);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $opname `(` $operands `)` attr-dict `:` functional-type(operands, results)
  }];
}

class UDML_TypedSymbolRef<string predicate, string description>
    : Attr<And<[UDML_TypedSymbolRefAttr.predicate, CPred<predicate>]>,
           description> {
  let storageType = "::corten::udml::TypedSymbolRefAttr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
}
def UDML_PointerRef : UDML_TypedSymbolRef<
    "::llvm::isa<::corten::udml::PointerType>("
    "::llvm::cast<::corten::udml::TypedSymbolRefAttr>($_self).getType())",
    "symbol of type '!udml.ptr'">;
def UDML_IndexArrayRef : UDML_TypedSymbolRef<
    "::corten::udml::isIndexArray("
    "::llvm::cast<::corten::udml::TypedSymbolRefAttr>($_self).getType())",
    "symbol of type '!udml.array' with elements of type 'index'">;

def UDML_ToMemRefOp : UDML_Op<"to_memref"> {
  let summary = "Makes a memref of a buffer and its layout";
  let arguments = (ins UDML_PointerRef:$buffer,
                       UDML_PointerRef:$aligned_buffer,
                       UDML_IndexArrayRef:$dims,
                       UDML_IndexArrayRef:$strides);
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = [{
    `(` `buffer` custom<SymbolOfType>($buffer) `,`
    `aligned` custom<SymbolOfType>($aligned_buffer) `,`
    `dims` custom<SymbolOfType>($dims) `,`
    `strides` custom<SymbolOfType>($strides) `)` `:` type($memref)
    attr-dict-with-keyword
  }];
  let hasVerifier = 1;
}

#endif // CORTEN_DIALECT_UDML_IR_UDMLOPS_TD
