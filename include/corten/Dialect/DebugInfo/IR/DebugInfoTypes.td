// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of source variables, in the terms of DWARF.

#ifndef CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOTYPES_TD
#define CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOTYPES_TD

include "corten/Dialect/DebugInfo/IR/DebugInfoDialect.td"
include "mlir/IR/AttrTypeBase.td"

class DebugInfo_Type<string name, string typeMnemonic>
    : TypeDef<DebugInfo_Dialect, name> {
  let mnemonic = typeMnemonic;
}

/// A number that is spelled by its name in the DWARF standard; zero is not
/// spelled at all.
class DebugInfo_DwarfParameter<string kind>
    : DefaultValuedParameter<"unsigned", "0"> {
  let parser = "parseDwarf" # kind # "($_parser)";
  let printer = "printDwarf" # kind # "($_printer, $_self)";
}

def DebugInfo_UnresolvedType : DebugInfo_Type<"Unresolved", "unresolved"> {
  let summary = "Type of the program, not yet described";
  let parameters = (ins "::mlir::Type":$wrapped);
  let builders = [TypeBuilderWithInferredContext<
      (ins "::mlir::Type":$wrapped),
      [{ return $_get(wrapped.getContext(), wrapped); }]>];
  let assemblyFormat = "`<` $wrapped `>`";
}

def DebugInfo_BasicType : DebugInfo_Type<"Basic", "basic"> {
  let summary = "Number";
  let description = [{
    ```mlir
    !debuginfo.basic<dwTag = DW_TAG_base_type, dwEncoding = DW_ATE_float,
                     name = "float", sizeInBits = 32>
    ```
  }];
  let parameters = (ins
    DebugInfo_DwarfParameter<"Tag">:$dwTag,
    DebugInfo_DwarfParameter<"Encoding">:$dwEncoding,
    StringRefParameter<>:$name,
    "uint64_t":$sizeInBits);
  let assemblyFormat = "`<` struct(params) `>`";
}

def DebugInfo_DerivedType : DebugInfo_Type<"Derived", "derived"> {
  let summary = "Pointer, reference, or member";
  let parameters = (ins
    DebugInfo_DwarfParameter<"Tag">:$dwTag,
    StringRefParameter<>:$name,
    "uint64_t":$sizeInBits,
    "uint64_t":$alignInBits,
    "uint64_t":$offsetInBits,
    "::mlir::Type":$baseType);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def DebugInfo_CompositeType : DebugInfo_Type<"Composite", "composite"> {
  let summary = "Array or structure";
  let parameters = (ins
    DebugInfo_DwarfParameter<"Tag">:$dwTag,
    StringRefParameter<>:$name,
    "::mlir::SymbolRefAttr":$scope,
    "::mlir::FileLineColRange":$line,
    "uint64_t":$sizeInBits,
    "uint64_t":$alignInBits,
    OptionalParameter<"::mlir::Type">:$baseType,
    DefaultValuedParameter<"::corten::debuginfo::DIFlags",
                           "DIFlags::Zero">:$flags,
    ArrayRefParameter<"::mlir::Attribute">:$elements);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // CORTEN_DIALECT_DEBUGINFO_IR_DEBUGINFOTYPES_TD
