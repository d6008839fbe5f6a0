// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the `debuginfo` dialect, locations among them.

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOATTRIBUTES_TD
#define CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOATTRIBUTES_TD

include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

/// Printed behind an alias: these repeat in nearly every location.
class DebugInfo_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<DebugInfo_Dialect, name,
              !listconcat(traits, [OpAsmAttrInterface])> {
  let mnemonic = attrMnemonic;
  let genMnemonicAlias = 1;
}

def DebugInfo_FileAttr : DebugInfo_Attr<"File", "file"> {
  let summary = "Source file";
  let parameters = (ins
    StringRefParameter<>:$filename,
    StringRefParameter<>:$directory,
    StringRefParameter<>:$sha256Sum);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// The name under which locations refer to this file.
    std::string getPath() const;
  }];
}

def DebugInfo_CompileUnitAttr : DebugInfo_Attr<"CompileUnit", "compile_unit"> {
  let summary = "What was compiled together, and by what";
  let parameters = (ins
    StringRefParameter<>:$sourceLanguage,
    "::corten::debuginfo::FileAttr":$file,
    StringRefParameter<>:$producer,
    "bool":$optimized,
    StringRefParameter<>:$flags,
    OptionalArrayRefParameter<"::corten::debuginfo::FileAttr">:$allFiles);
  let assemblyFormat = "`<` struct(params) `>`";
}

def DebugInfo_SubprogramAttr
    : DebugInfo_Attr<"Subprogram", "subprogram", [TypedAttrInterface]> {
  let summary = "Function of the source program";
  let description = [{
    The compile unit is one of the scopes that a location can lie in.
  }];
  let parameters = (ins
    AttributeSelfTypeParameter<"">:$type,
    "::mlir::Attribute":$compileUnit,
    "::corten::debuginfo::FileAttr":$file,
    StringRefParameter<>:$name,
    StringRefParameter<>:$linkageName,
    DefaultValuedParameter<"::corten::debuginfo::SubprogramFlags",
                           "SubprogramFlags::Zero">:$flags);
  let assemblyFormat = [{
    `<` struct($compileUnit, $file, $name, $linkageName, $flags) `>`
  }];
  let genVerifyDecl = 1;
}

def DebugInfo_LocalVariableAttr
    : DebugInfo_Attr<"LocalVariable", "local_variable", [TypedAttrInterface]> {
  let summary = "Variable of the source program";
  let parameters = (ins
    AttributeSelfTypeParameter<"">:$type,
    StringRefParameter<>:$name,
    "::mlir::FileLineColRange":$line,
    "::mlir::SymbolRefAttr":$scope,
    "uint32_t":$alignInBits,
    DefaultValuedParameter<"::corten::debuginfo::DIFlags",
                           "DIFlags::Zero">:$flags);
  let assemblyFormat = [{
    `<` struct($name, $line, $scope, $alignInBits, $flags) `>`
  }];
}

def DebugInfo_BoundsAttr : DebugInfo_Attr<"Bounds", "bounds"> {
  let summary = "Extent of one dimension of an array type";
  let parameters = (ins
    DefaultValuedParameter<"int32_t", "0">:$count,
    DefaultValuedParameter<"int32_t", "0">:$lower,
    DefaultValuedParameter<"int32_t", "0">:$upper,
    DefaultValuedParameter<"int32_t", "0">:$stride);
  let assemblyFormat = "`<` struct(params) `>`";
}

def DebugInfo_MetadataAttr : DebugInfo_Attr<"Metadata", "metadata"> {
  let summary = "Named fact about an operation";
  let description = [{
    The fact is a unit, string, integer, array, dictionary, resource or place
    in a file.

    ```mlir
    #debuginfo.metadata<"op_id": {type = "torch", value = 3 : ui64}>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Attribute":$data);
  let builders = [AttrBuilderWithInferredContext<
      (ins "::llvm::StringRef":$name, "::mlir::Attribute":$data),
      [{ return $_get(data.getContext(), name, data); }]>];
  let assemblyFormat = "`<` $name `` `:` $data `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

def DebugInfo_DebugLocationAttr
    : LocationAttrDef<DebugInfo_Dialect, "DebugLocation"> {
  let summary = "Location of an operation of a converted program";
  let description = [{
    A place in a file, within a scope: a function or compile unit (whose file
    it then is), the symbol of a graph, or `unit` when nothing is known.
    Callers, innermost first, are locations that it is fused with.

    ```mlir
    loc(#debuginfo.location<loc("model.py":15:0) in @main
        fused with [<loc("model.py":31:0) in @main>]
        metadata = [<"op_id": {type = "torch", value = 3 : ui64}>]>)
    ```
  }];
  let mnemonic = "location";
  let parameters = (ins
    "::mlir::FileLineColRange":$source,
    "::mlir::Attribute":$scope,
    OptionalArrayRefParameter<"::corten::debuginfo::DebugLocationAttr">
        :$fusedWith,
    OptionalArrayRefParameter<"::corten::debuginfo::MetadataAttr">:$metadata);
  let builders = [AttrBuilderWithInferredContext<
      (ins "::mlir::FileLineColRange":$source, "::mlir::Attribute":$scope,
       CArg<"::llvm::ArrayRef<::corten::debuginfo::DebugLocationAttr>",
            "{}">:$fusedWith,
       CArg<"::llvm::ArrayRef<::corten::debuginfo::MetadataAttr>",
            "{}">:$metadata),
      [{ return $_get(source.getContext(), source, scope, fusedWith,
                      metadata); }]>];
  let assemblyFormat = [{
    `<` $source `in` $scope (`fused` `with` ` ` `[` $fusedWith^ `]`)?
    (`metadata` `=` `[` $metadata^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def DebugInfo_MetadataLocationAttr
    : LocationAttrDef<DebugInfo_Dialect, "MetadataLocation"> {
  let summary = "Location of which only facts are known, no place";
  let mnemonic = "metadata.location";
  let parameters = (ins
    ArrayRefParameter<"::corten::debuginfo::MetadataAttr">:$metadata);
  let assemblyFormat = "`<` $metadata `>`";
}

#endif // CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOATTRIBUTES_TD
