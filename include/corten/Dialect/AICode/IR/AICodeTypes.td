// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the `aicode` dialect.

#ifndef CORTEN_DIALECT_AICODE_IR_AICODETYPES_TD
#define CORTEN_DIALECT_AICODE_IR_AICODETYPES_TD

include "corten/Dialect/AICode/IR/AICodeDialect.td"
include "mlir/IR/AttrTypeBase.td"

class AICode_Type<string name, string typeMnemonic>
    : TypeDef<AICode_Dialect, name> {
  let mnemonic = typeMnemonic;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

class AICode_Scalar<string name, string typeMnemonic>
    : AICode_Type<name, typeMnemonic # "_v1">;

def AICode_BoolType : AICode_Scalar<"Bool", "bool">;

def AICode_Float64Type : AICode_Scalar<"Float64", "float64">;
def AICode_Float32Type : AICode_Scalar<"Float32", "float32">;
def AICode_Float16Type : AICode_Scalar<"Float16", "float16">;
def AICode_BFloat16Type : AICode_Scalar<"BFloat16", "bfloat16">;
def AICode_Float8E5M2Type : AICode_Scalar<"Float8E5M2", "float8E5M2">;
def AICode_Float8E4M3FNType : AICode_Scalar<"Float8E4M3FN", "float8E4M3FN">;
def AICode_Float4E2M1FNType : AICode_Scalar<"Float4E2M1FN", "float4E2M1FN">;
def AICode_Float8E8M0FNType : AICode_Scalar<"Float8E8M0FN", "float8E8M0FN">;
def AICode_TFloat32Type : AICode_Scalar<"TFloat32", "tfloat32">;

def AICode_ComplexFloat64Type
    : AICode_Scalar<"ComplexFloat64", "complex_float64">;
def AICode_ComplexFloat32Type
    : AICode_Scalar<"ComplexFloat32", "complex_float32">;
def AICode_ComplexFloat16Type
    : AICode_Scalar<"ComplexFloat16", "complex_float16">;
def AICode_ComplexBFloat16Type
    : AICode_Scalar<"ComplexBFloat16", "complex_bfloat16">;
def AICode_ComplexFloat8E5M2Type
    : AICode_Scalar<"ComplexFloat8E5M2", "complex_float8E5M2">;
def AICode_ComplexFloat8E4M3FNType
    : AICode_Scalar<"ComplexFloat8E4M3FN", "complex_float8E4M3FN">;

foreach width = [64, 32, 16, 8, 4, 2] in
def AICode_SInt#width#Type : AICode_Scalar<"SInt"#width, "sint"#width>;
foreach width = [64, 32, 16, 8, 6, 4, 3, 2, 1] in
def AICode_UInt#width#Type : AICode_Scalar<"UInt"#width, "uint"#width>;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

def AICode_TensorType : AICode_Type<"Tensor", "tensor_v1"> {
  let summary = "Tensor; an unknown extent is ShapedType::kDynamic";
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$shape,
    "::mlir::Type":$elementType,
    OptionalParameter<"::mlir::Attribute">:$encoding);
  let assemblyFormat = [{
    `<` (`[` $shape^ `]` `:`)? $elementType (`,` $encoding^)? `>`
  }];
}

def AICode_ImageType : AICode_Type<"Image", "image_v1"> {
  let summary = "Image in a pixel format";
  let parameters = (ins
    "::mlir::Attribute":$format,
    "uint64_t":$height,
    "uint64_t":$width,
    OptionalParameter<"::mlir::Attribute">:$constraints);
  let assemblyFormat = [{
    `<` $format `x` $height `x` $width
    (`,` `image_constraints` `=` $constraints^)? `>`
  }];
}

def AICode_HandleType : AICode_Type<"Handle", "handle_v1"> {
  let summary = "Memory that outlives a call";
  let parameters = (ins "::mlir::Type":$pointee);
  let assemblyFormat = "`<` $pointee `>`";
}

def AICode_TokenType : AICode_Type<"Token", "token_v1"> {
  let summary = "Orders accesses to a handle";
}

def AICode_FunctionType : AICode_Type<"Function", "function_v1"> {
  let summary = "Arguments and results of a graph";
  let parameters = (ins
    OptionalArrayRefParameter<"::mlir::Type">:$inputs,
    OptionalArrayRefParameter<"::mlir::Type">:$results);
  let assemblyFormat = [{
    `<` `(` (`operands` $inputs^)? `)` `->` `(` (`results` $results^)? `)` `>`
  }];
}

def AICode_OpaqueType : AICode_Type<"Opaque", "serialization.opaque_type"> {
  let summary = "Type of a dialect that this one does not know";
  let parameters = (ins
    StringRefParameter<>:$name,
    OptionalArrayRefParameter<"::mlir::Attribute">:$values);
  let assemblyFormat = "`<` $name (`[` $values^ `]`)? `>`";
}

//===----------------------------------------------------------------------===//
// Parameters of programs
//===----------------------------------------------------------------------===//

def AICode_SymbolType : AICode_Type<"Symbol", "param.symbol_v1">;
def AICode_MetaType : AICode_Type<"Meta", "param.type_v1">;

def AICode_RefType : AICode_Type<"Ref", "param.ref_v1"> {
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$type);
  let assemblyFormat = "`<` $name `:` $type `>`";
}

//===----------------------------------------------------------------------===//
// Types of source variables, in the terms of DWARF
//===----------------------------------------------------------------------===//

def AICode_DebugUnresolvedType
    : AICode_Type<"DebugUnresolved", "debuginfo.unresolved_v1"> {
  let parameters = (ins "::mlir::Type":$wrappedType);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_DebugBasicType : AICode_Type<"DebugBasic", "debuginfo.basic_v1"> {
  let parameters = (ins "uint64_t":$tag, "uint64_t":$encoding,
                        StringRefParameter<>:$name, "uint64_t":$sizeInBits);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_DebugDerivedType
    : AICode_Type<"DebugDerived", "debuginfo.derived_v1"> {
  let parameters = (ins "uint64_t":$tag, StringRefParameter<>:$name,
                        "uint64_t":$sizeInBits, "uint64_t":$alignInBits,
                        "uint64_t":$offsetInBits, "::mlir::Type":$baseType);
  let assemblyFormat = "`<` struct(params) `>`";
}

def AICode_DebugCompositeType
    : AICode_Type<"DebugComposite", "debuginfo.composite_v1"> {
  let parameters = (ins "uint64_t":$tag, StringRefParameter<>:$name,
                        "::mlir::Attribute":$scope,
                        "::mlir::Attribute":$location,
                        "uint64_t":$sizeInBits, "uint64_t":$alignInBits,
                        OptionalParameter<"::mlir::Type">:$baseType,
                        "uint64_t":$flags,
                        OptionalArrayRefParameter<"::mlir::Attribute">
                            :$elements);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // CORTEN_DIALECT_AICODE_IR_AICODETYPES_TD
