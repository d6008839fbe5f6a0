// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the `aicode` dialect, locations among them.

#ifndef CORTEN_DIALECT_AICODE_IR_AICODEATTRIBUTES_TD
#define CORTEN_DIALECT_AICODE_IR_AICODEATTRIBUTES_TD

include "corten/Dialect/AICode/IR/AICodeDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

class AICode_Attr<string name, string attrMnemonic>
    : AttrDef<AICode_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// A number that stands for a name; the text form keeps the number.
class AICode_NumberAttr<string name, string attrMnemonic>
    : AICode_Attr<name, attrMnemonic> {
  let parameters = (ins "uint64_t":$value);
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

def AICode_TextAttr : AICode_Attr<"Text", "serialization.string"> {
  let parameters = (ins StringRefParameter<>:$value);
  let assemblyFormat = "`<` $value `>`";
}

def AICode_WholeAttr : AICode_Attr<"Whole", "serialization.integer"> {
  let summary = "Integer of a width and a sign";
  let parameters = (ins "uint64_t":$width, "bool":$isUnsigned,
                        "uint64_t":$value);
  let assemblyFormat = "`<` $width `,` $isUnsigned `,` $value `>`";
}

def AICode_RealAttr : AICode_Attr<"Real", "serialization.float"> {
  let summary = "Floating-point number: a width and the bits";
  let parameters = (ins "uint64_t":$width, "uint64_t":$bits);
  let assemblyFormat = "`<` $width `,` $bits `>`";
}

def AICode_TypeLiteralAttr : AICode_Attr<"TypeLiteral", "serialization.type"> {
  let parameters = (ins "::mlir::Type":$value);
  let assemblyFormat = "`<` $value `>`";
}

def AICode_ListAttr : AICode_Attr<"List", "serialization.array"> {
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Attribute">:$values);
  let assemblyFormat = "`<` (`[` $values^ `]`)? `>`";
}

def AICode_BytesAttr : AICode_Attr<"Bytes", "serialization.dense_elements"> {
  let summary = "Elements of a small constant";
  let parameters = (ins "bool":$isSplat,
                        OptionalArrayRefParameter<"char">:$bytes);
  let hasCustomAssemblyFormat = 1;
}

def AICode_ResourceAttr
    : AICode_Attr<"Resource", "serialization.dense_resource"> {
  let summary = "Elements of a large constant, kept outside of the program";
  let parameters = (ins "::corten::aicode::ResourceHandle":$handle);
  let hasCustomAssemblyFormat = 1;
}

def AICode_NamedListAttr : AICode_Attr<"NamedList", "serialization.opaque"> {
  let parameters = (ins StringRefParameter<>:$name,
                        OptionalArrayRefParameter<"::mlir::Attribute">:$values);
  let assemblyFormat = "`<` $name (`=` `[` $values^ `]`)? `>`";
}

def AICode_DictionaryAttr
    : AICode_Attr<"Dictionary", "serialization.dictionary"> {
  let summary = "Named lists of one value each, sorted by name";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Attribute">:$entries);
  let assemblyFormat = "`<` (`{` $entries^ `}`)? `>`";
}

def AICode_UnitAttr : AICode_Attr<"Unit", "unit_v1">;

def AICode_SymbolRefAttr : AICode_Attr<"SymbolRef", "symbol_ref_v1"> {
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$path);
  let assemblyFormat = "`<` $path `>`";
}

//===----------------------------------------------------------------------===//
// Parameters of programs
//===----------------------------------------------------------------------===//

def AICode_ParamDeclAttr : AICode_Attr<"ParamDecl", "param.decl_v1"> {
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$type);
  let assemblyFormat = "`<` $name `:` $type `>`";
}

def AICode_ParamBindAttr : AICode_Attr<"ParamBind", "param.bind_v1"> {
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::Type":$type,
                        OptionalArrayRefParameter<"::mlir::Attribute">
                            :$arguments);
  let assemblyFormat = [{
    `<` `binding` `{` `[` $value `]` `:` $type `}` (`to` `[` $arguments^ `]`)?
    `>`
  }];
}

def AICode_ParamConstantAttr
    : AICode_Attr<"ParamConstant", "param.constant_v1"> {
  let parameters = (ins "::mlir::Attribute":$value, "::mlir::Type":$type);
  let assemblyFormat = "`<` `binding` `{` `[` $value `]` `:` $type `}` `>`";
}

//===----------------------------------------------------------------------===//
// Properties of ops
//===----------------------------------------------------------------------===//

def AICode_PaddingModeAttr : AICode_NumberAttr<"PaddingMode", "padding_mode_v1">;
def AICode_LifecyclePhaseAttr
    : AICode_NumberAttr<"LifecyclePhase", "execution.lifecycle_phase_v1">;
def AICode_ApproximateAttr : AICode_NumberAttr<"Approximate", "approximate_v1">;
def AICode_ScatterModeAttr : AICode_NumberAttr<"ScatterMode", "scatter_mode_v1">;
def AICode_ScanCombinerAttr
    : AICode_NumberAttr<"ScanCombiner", "scan_combiner_v1">;
def AICode_FourCCAttr : AICode_NumberAttr<"FourCC", "fourcc_v1">;
def AICode_CompilationAttr
    : AICode_NumberAttr<"Compilation", "execution.compilation_v1">;
def AICode_InterpolationModeAttr
    : AICode_NumberAttr<"InterpolationMode", "interpolation_mode_v1">;
def AICode_IntentAttr : AICode_NumberAttr<"Intent", "execution.intent_v1">;

def AICode_TargetSpecAttr
    : AICode_Attr<"TargetSpec", "execution.target_spec_v1"> {
  let parameters = (ins "::mlir::Attribute":$triple, "::mlir::Attribute":$soc,
                        "::mlir::Attribute":$delegateOptions);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_HwConstraintsAttr
    : AICode_Attr<"HwConstraints", "ax.hw_constraints_v1"> {
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$alignments,
                        OptionalArrayRefParameter<"int64_t">:$interleave,
                        "uint64_t":$backing);
  let assemblyFormat = [{
    `<` $backing (`,` `alignments` `:` `[` $alignments^ `]`)?
    (`,` `interleave` `:` `[` $interleave^ `]`)? `>`
  }];
}

def AICode_ImageConstraintsAttr
    : AICode_Attr<"ImageConstraints", "ax.image_constraints_v1"> {
  let parameters = (ins "uint64_t":$backing,
                        OptionalArrayRefParameter<"int64_t">
                            :$rowAlignmentsPerPlane);
  let assemblyFormat = [{
    `<` $backing
    (`,` `rowAlignmentsPerPlane` `:` `[` $rowAlignmentsPerPlane^ `]`)? `>`
  }];
}

def AICode_SparseEncodingAttr
    : AICode_Attr<"SparseEncoding", "sparse_tensor_encoding_v1"> {
  let parameters = (ins "uint64_t":$scheme, "uint64_t":$posWidth,
                        "uint64_t":$crdWidth,
                        OptionalParameter<"std::optional<uint64_t>">:$nonZeros,
                        OptionalArrayRefParameter<"uint64_t">:$blockSize);
  let assemblyFormat = [{
    `<` $scheme `,` `posWidth` `=` $posWidth `,` `crdWidth` `=` $crdWidth
    (`,` `nonZeros` `=` $nonZeros^)? (`,` `blockSize` `=` `[` $blockSize^ `]`)?
    `>`
  }];
}

//===----------------------------------------------------------------------===//
// Where things come from
//===----------------------------------------------------------------------===//

def AICode_FileAttr : AICode_Attr<"File", "debuginfo.file_v1"> {
  let parameters = (ins StringRefParameter<>:$filename,
                        StringRefParameter<>:$directory,
                        StringRefParameter<>:$sha256Sum);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_SourceLocationAttr
    : AICode_Attr<"SourceLocation", "debuginfo.source_location_v1"> {
  let parameters = (ins "::mlir::Attribute":$file, "uint64_t":$startLine,
                        "uint64_t":$startColumn, "uint64_t":$endLine,
                        "uint64_t":$endColumn);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_CompileUnitAttr
    : AICode_Attr<"CompileUnit", "debuginfo.compile_unit_v1"> {
  let parameters = (ins StringRefParameter<>:$sourceLanguage,
                        "::mlir::Attribute":$file,
                        StringRefParameter<>:$producer,
                        "uint64_t":$optimized, StringRefParameter<>:$flags,
                        OptionalArrayRefParameter<"::mlir::Attribute">
                            :$allFiles);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_MetadataDataAttr
    : AICode_Attr<"MetadataData", "debuginfo.metadata_data_v1"> {
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_MetadataAttr : AICode_Attr<"Metadata", "debuginfo.metadata_v1"> {
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Attribute":$data);
  let assemblyFormat = "`<` $name `:` $data `>`";
}

def AICode_SubprogramAttr
    : AICode_Attr<"Subprogram", "debuginfo.subprogram_v1"> {
  let parameters = (ins "::mlir::Type":$typeAttr,
                        "::mlir::Attribute":$compileUnit,
                        "::mlir::Attribute":$file, StringRefParameter<>:$name,
                        StringRefParameter<>:$linkageName, "uint64_t":$flags);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_LocalVariableAttr
    : AICode_Attr<"LocalVariable", "debuginfo.local_variable_v1"> {
  let parameters = (ins "::mlir::Type":$typeAttr, StringRefParameter<>:$name,
                        "::mlir::Attribute":$location,
                        "::mlir::Attribute":$scope, "uint64_t":$alignInBits,
                        "uint64_t":$flags);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_BoundsAttr : AICode_Attr<"Bounds", "debuginfo.bounds_v1"> {
  let parameters = (ins "int64_t":$count, "int64_t":$lower, "int64_t":$upper,
                        "int64_t":$stride);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_CompositeElementAttr
    : AICode_Attr<"CompositeElement", "debuginfo.composite_element_v1"> {
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $value `>`";
}

class AICode_Location<string name, string attrMnemonic>
    : LocationAttrDef<AICode_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def AICode_DebugLocationAttr
    : AICode_Location<"DebugLocation", "debuginfo.location_v1"> {
  let parameters = (ins "::mlir::Attribute":$source, "::mlir::Attribute":$scope,
                        OptionalParameter<"::mlir::Attribute">:$inlinedAt,
                        OptionalArrayRefParameter<"::mlir::Attribute">
                            :$fusedWith,
                        OptionalArrayRefParameter<"::mlir::Attribute">
                            :$metadata);
  let assemblyFormat = [{
    `<` $source `,` $scope (`,` `inlinedAt` `=` $inlinedAt^)?
    (`,` `fusedWith` `=` `[` $fusedWith^ `]`)?
    (`,` `metadata` `=` `[` $metadata^ `]`)? `>`
  }];
}

def AICode_MetadataLocationAttr
    : AICode_Location<"MetadataLocation", "debuginfo.metadata_location_v1"> {
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Attribute">
                        :$metadata);
  let assemblyFormat = "`<` (`[` $metadata^ `]`)? `>`";
}

def AICode_OpaqueLocationAttr
    : AICode_Location<"OpaqueLocation", "serialization.opaque_loc"> {
  let parameters = (ins "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $value `>`";
}

#endif // CORTEN_DIALECT_AICODE_IR_AICODEATTRIBUTES_TD
