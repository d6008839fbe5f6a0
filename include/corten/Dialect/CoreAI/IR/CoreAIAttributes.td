// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes and enumerations of the `coreai` dialect. Bytecode stores them as
// text, so their spelling is part of the file format.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAIATTRIBUTES_TD
#define CORTEN_DIALECT_COREAI_IR_COREAIATTRIBUTES_TD

include "corten/Dialect/CoreAI/IR/CoreAIDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"

class CoreAI_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<CoreAI_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class CoreAI_Enum<string name, string summary, list<EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::corten::coreai";
}

class CoreAI_EnumAttr<EnumInfo enum, string attrMnemonic>
    : EnumAttr<CoreAI_Dialect, enum, attrMnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Modes of operations
//===----------------------------------------------------------------------===//

def CoreAI_Approximate : CoreAI_Enum<"Approximate", "formula of gelu", [
  I32EnumCase<"None", 0, "none">,
  I32EnumCase<"Tanh", 1, "tanh">,
  I32EnumCase<"Sigmoid", 2, "sigmoid">,
]>;
def CoreAI_ApproximateAttr
    : CoreAI_EnumAttr<CoreAI_Approximate, "approximate">;

def CoreAI_PaddingMode : CoreAI_Enum<"PaddingMode", "what padding repeats", [
  I32EnumCase<"Circular", 0, "circular">,
  I32EnumCase<"Constant", 1, "constant">,
  I32EnumCase<"Reflect", 2, "reflect">,
  I32EnumCase<"Replicate", 3, "replicate">,
  I32EnumCase<"Symmetric", 4, "symmetric">,
]>;
def CoreAI_PaddingModeAttr
    : CoreAI_EnumAttr<CoreAI_PaddingMode, "padding_mode">;

def CoreAI_InterpolationMode : CoreAI_Enum<"InterpolationMode",
    "how samples between elements are formed", [
  I32EnumCase<"Linear", 0, "linear">,
  I32EnumCase<"NearestNeighbor", 1, "nearest_neighbor">,
]>;
def CoreAI_InterpolationModeAttr
    : CoreAI_EnumAttr<CoreAI_InterpolationMode, "interpolation_mode">;

def CoreAI_ScatterMode : CoreAI_Enum<"ScatterMode",
    "how an update meets the element it falls on", [
  I32EnumCase<"Update", 0, "update">,
  I32EnumCase<"Add", 1, "add">,
  I32EnumCase<"Sub", 2, "sub">,
  I32EnumCase<"Mul", 3, "mul">,
  I32EnumCase<"Div", 4, "div">,
  I32EnumCase<"Max", 5, "max">,
  I32EnumCase<"Min", 6, "min">,
]>;
def CoreAI_ScatterModeAttr
    : CoreAI_EnumAttr<CoreAI_ScatterMode, "scatter_mode">;

def CoreAI_SamplingMode : CoreAI_Enum<"SamplingMode",
    "where samples lie within an extent", [
  I32EnumCase<"HalfPixel", 0, "half_pixel">,
  I32EnumCase<"AlignCorners", 1, "align_corners">,
]>;
def CoreAI_SamplingModeAttr
    : CoreAI_EnumAttr<CoreAI_SamplingMode, "sampling_mode">;

// Unlike the other modes, this one is a plain 32-bit integer in generic form.
def CoreAI_ScanCombinerAttr : I32EnumAttr<"ScanCombiner",
    "how a scan combines elements", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Product", 1, "product">,
  I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"Max", 3, "max">,
]> {
  let cppNamespace = "::corten::coreai";
}

def CoreAI_Compilation : CoreAI_Enum<"Compilation",
    "how far a module has been compiled", [
  I32EnumCase<"Full", 0, "full">,
  I32EnumCase<"Partial", 1, "partial">,
  I32EnumCase<"Finalized", 2, "finalized">,
]>;
def CoreAI_CompilationAttr
    : CoreAI_EnumAttr<CoreAI_Compilation, "compilation">;

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

def CoreAI_TargetSpecAttr : CoreAI_Attr<"TargetSpec", "target_spec"> {
  let summary = "Machine that a module is compiled for";
  let parameters = (ins
    StringRefParameter<>:$triple,
    StringRefParameter<>:$soc,
    "::mlir::DictionaryAttr":$delegateOptions);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CoreAI_CompositeDeclarationAttr
    : CoreAI_Attr<"CompositeDeclaration", "composite_declaration"> {
  let summary = "Composite operation whose fallback a private graph holds";
  let description = [{
    A compiler that knows the name replaces invocations of the graph; every
    other one compiles the body.

    ```mlir
    #coreai.composite_declaration<"rms_norm" = {
        input_names = ["x"], op_attrs = {eps = 1.0e-6 : f32},
        output_names = ["y"]}>
    ```
  }];
  let parameters = (ins
    StringRefParameter<>:$name,
    OptionalParameter<"::mlir::DictionaryAttr">:$attributes);
  let assemblyFormat = "`<` $name (`=` $attributes^)? `>`";
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

def CoreAI_FourCCAttr : CoreAI_Attr<"FourCC", "fourcc"> {
  let summary = "Pixel format code";
  let description = [{
    The five formats with a name print as that name, other codes made of four
    printable characters as a string, and the rest as a number.

    ```mlir
    #coreai.fourcc<k24RGB>
    #coreai.fourcc<"abcd">
    #coreai.fourcc<7>
    ```
  }];
  let parameters = (ins "uint32_t":$code);
  let assemblyFormat = "`<` custom<FourCC>($code) `>`";
}

//===----------------------------------------------------------------------===//
// Encodings of tensors
//===----------------------------------------------------------------------===//

def CoreAI_CompressionScheme : CoreAI_Enum<"CompressionScheme",
    "layout of the non-zero elements of a tensor", [
  I32EnumCase<"Bitmask", 0, "bitmask">,
  I32EnumCase<"Coo", 1, "coo">,
  I32EnumCase<"Csr", 2, "csr">,
  I32EnumCase<"Csc", 3, "csc">,
  I32EnumCase<"Bsr", 4, "bsr">,
]>;

def CoreAI_SparseTensorEncodingAttr
    : CoreAI_Attr<"SparseTensorEncoding", "sparse_tensor_encoding"> {
  let summary = "Marks a tensor as sparse";
  let description = [{
    The widths are those of one position and one coordinate, in bits. A bitmask
    needs a single bit for either. Only `bsr` has a block size, of two extents.

    ```mlir
    #coreai.sparse_tensor_encoding<bitmask, numNonZero = 12, posWidth = 1,
                                   crdWidth = 1>
    ```
  }];
  let parameters = (ins
    EnumParameter<CoreAI_CompressionScheme>:$compressionScheme,
    OptionalParameter<"std::optional<uint64_t>">:$numNonZero,
    "uint64_t":$posWidth,
    "uint64_t":$crdWidth,
    OptionalArrayRefParameter<"uint64_t">:$blockSize);
  let assemblyFormat = [{
    `<` $compressionScheme `,`
    (`numNonZero` `=` $numNonZero^ `,`)?
    `posWidth` `=` $posWidth `,` `crdWidth` `=` $crdWidth
    (`,` `blockSize` `=` `[` $blockSize^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

def CoreAI_TensorEncodingAttr
    : CoreAI_Attr<"TensorEncoding", "tensor_encoding"> {
  let summary = "Order in which the dimensions of a tensor are stored";
  let description = "Registered for reading; the converter never creates it.";
  let parameters = (ins ArrayRefParameter<"int32_t">:$dimsOrdering);
  let assemblyFormat = "`(` $dimsOrdering `)`";
}

//===----------------------------------------------------------------------===//
// Blobs
//===----------------------------------------------------------------------===//

def CoreAI_TypedResourceAttr
    : CoreAI_Attr<"TypedResource", "typed_resource", [TypedAttrInterface]> {
  let summary = "Named blob read as a value of any type";
  let description = [{
    The counterpart of `dense_resource` for values that are not tensors, such
    as images. Its blobs share the key space of `dense_resource`.
  }];
  let parameters = (ins
    AttributeSelfTypeParameter<"">:$type,
    ResourceHandleParameter<"::mlir::DenseResourceElementsHandle">:$rawHandle);
  let assemblyFormat = "`<` $rawHandle `>`";
}

def CoreAI_FileResourceAttr
    : CoreAI_Attr<"FileResource", "file_resource", [TypedAttrInterface]> {
  let summary = "Part of another file read as a value";
  let description = "A program that contains one cannot be saved.";
  let parameters = (ins
    AttributeSelfTypeParameter<"">:$type,
    "::mlir::StringAttr":$fileName,
    "::mlir::IntegerAttr":$offset);
  let assemblyFormat = "`<` $fileName `,` $offset `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Registered for reading; the converter never creates them
//===----------------------------------------------------------------------===//

def CoreAI_ExternAttr : CoreAI_Attr<"Extern", "extern"> {
  let summary = "Library that defines a symbol";
  let parameters = (ins StringRefParameter<>:$library);
  let assemblyFormat = "`(` $library `)`";
}

def CoreAI_LocationFrameAttr
    : CoreAI_Attr<"LocationFrame", "odie_location_frame_attr"> {
  let summary = "One frame of a front end's call stack";
  let parameters = (ins
    "::mlir::StringAttr":$method,
    "::mlir::StringAttr":$codeSnippet,
    "::mlir::Attribute":$frontendAttribute);
  let assemblyFormat = [{
    `(` `method` `=` $method `,` `codeSnippet` `=` $codeSnippet `,`
    `frontendAttribute` `=` $frontendAttribute `)`
  }];
}

def CoreAI_TorchLocationExtrasAttr
    : CoreAI_Attr<"TorchLocationExtras", "torch_location_extras"> {
  let summary = "Lines of a PyTorch stack trace";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$stackTrace);
  let assemblyFormat = "`(` $stackTrace `)`";
}

#endif // CORTEN_DIALECT_COREAI_IR_COREAIATTRIBUTES_TD
