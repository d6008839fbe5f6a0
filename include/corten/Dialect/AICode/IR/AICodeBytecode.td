// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How types and attributes of the `aicode` dialect lie in bytecode: the place
// in a list below is the code in the file, so a list only ever grows.

#ifndef CORTEN_DIALECT_AICODE_IR_AICODEBYTECODE_TD
#define CORTEN_DIALECT_AICODE_IR_AICODEBYTECODE_TD

include "mlir/IR/BytecodeBase.td"

def String :
  WithParser <"succeeded($_reader.readString($_var))",
  WithBuilder<"$_args",
  WithPrinter<"$_writer.writeOwnedString($_getter)",
  WithType   <"StringRef">>>>;
def Flag :
  WithParser <"succeeded($_reader.readBool($_var))",
  WithBuilder<"$_args",
  WithPrinter<"$_writer.writeOwnedBool($_getter)",
  WithType   <"bool">>>>;
def Bytes :
  WithParser <"succeeded($_reader.readBlob($_var))",
  WithBuilder<"$_args",
  WithPrinter<"$_writer.writeOwnedBlob($_getter)",
  WithType   <"ArrayRef<char>">>>>;
/// A field whose reader and writer are functions `read<kind>`, `write<kind>`.
class Field<string kind, string cpp> :
  WithParser <"succeeded(read" # kind # "($_reader, $_var))",
  WithBuilder<"$_args",
  WithPrinter<"write" # kind # "($_writer, $_getter)",
  WithType   <cpp>>>>;
def SignedList : Field<"SignedList", "SmallVector<int64_t>">;
def UnsignedList : Field<"UnsignedList", "SmallVector<uint64_t>">;
def StringList : Field<"StringList", "SmallVector<StringAttr>">;
def AttributeList : Field<"AttributeList", "SmallVector<Attribute>">;
def TypeList : Field<"TypeList", "SmallVector<Type>">;
def OptionalNumber : Field<"OptionalNumber", "std::optional<uint64_t>">;
def Handle : Field<"Handle", "std::optional<ResourceHandle>">;
/// The bits of a number whose width was read before it.
def Bits :
  WithParser <"succeeded(readBits($_reader, width, $_var))",
  WithBuilder<"$_args",
  WithPrinter<"writeBits($_writer, $_name.getWidth(), $_getter)",
  WithType   <"uint64_t">>>>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Scalar<string name> : DialectType<(type)> {
  let cType = name # "Type";
}

def OpaqueType : DialectType<(type String:$name, AttributeList:$values)>;
let cType = "TensorType" in {
def TensorType : DialectType<(type
  SignedList:$shape,
  Type:$elementType
)> {
  let cBuilder = "get<TensorType>(context, shape, elementType, Attribute())";
  let printerPredicate = "!$_val.getEncoding()";
}
def TensorTypeWithEncoding : DialectType<(type
  SignedList:$shape,
  Type:$elementType,
  Attribute:$encoding
)> {
  let printerPredicate = "$_val.getEncoding()";
}
}
def FunctionType : DialectType<(type
  TypeList:$results,
  TypeList:$inputs
)> {
  let cBuilder = "get<FunctionType>(context, inputs, results)";
}
def HandleType : DialectType<(type Type:$pointee)>;
def RefType : DialectType<(type String:$name, Type:$type)>;
let cType = "ImageType" in {
def ImageType : DialectType<(type
  Attribute:$format,
  VarInt:$height,
  VarInt:$width
)> {
  let cBuilder = "get<ImageType>(context, format, height, width, Attribute())";
  let printerPredicate = "!$_val.getConstraints()";
}
def ImageTypeWithConstraints : DialectType<(type
  Attribute:$format,
  VarInt:$height,
  VarInt:$width,
  Attribute:$constraints
)> {
  let printerPredicate = "$_val.getConstraints()";
}
}
def DebugUnresolvedType : DialectType<(type Type:$wrappedType)>;
def DebugBasicType : DialectType<(type
  VarInt:$tag,
  VarInt:$encoding,
  String:$name,
  VarInt:$sizeInBits
)>;
def DebugDerivedType : DialectType<(type
  VarInt:$tag,
  String:$name,
  VarInt:$sizeInBits,
  VarInt:$alignInBits,
  VarInt:$offsetInBits,
  Type:$baseType
)>;
let cType = "DebugCompositeType" in {
def DebugCompositeType : DialectType<(type
  VarInt:$tag,
  String:$name,
  Attribute:$scope,
  Attribute:$location,
  VarInt:$sizeInBits,
  VarInt:$alignInBits,
  VarInt:$flags,
  AttributeList:$elements
)> {
  let cBuilder = "get<DebugCompositeType>(context, tag, name, scope, location, "
                 "sizeInBits, alignInBits, Type(), flags, elements)";
  let printerPredicate = "!$_val.getBaseType()";
}
def DebugCompositeTypeWithBase : DialectType<(type
  VarInt:$tag,
  String:$name,
  Attribute:$scope,
  Attribute:$location,
  VarInt:$sizeInBits,
  VarInt:$alignInBits,
  Type:$baseType,
  VarInt:$flags,
  AttributeList:$elements
)> {
  let printerPredicate = "$_val.getBaseType()";
}
}

foreach name = ["Bool", "Float64", "Float32", "Float16", "BFloat16",
                "Float8E5M2", "Float8E4M3FN", "ComplexFloat64",
                "ComplexFloat32", "ComplexFloat16", "ComplexBFloat16",
                "ComplexFloat8E5M2", "ComplexFloat8E4M3FN", "SInt64", "SInt32",
                "SInt16", "SInt8", "SInt4", "SInt2", "UInt64", "UInt32",
                "UInt16", "UInt8", "UInt4", "UInt2", "UInt1", "Token",
                "Symbol", "Meta", "UInt6", "UInt3", "TFloat32",
                "Float4E2M1FN", "Float8E8M0FN"] in
def name#Type : Scalar<name>;

def AICodeTypes : DialectTypes<"AICode"> {
  let elems = [
    ReservedOrDead,              // 0
    OpaqueType,
    TensorType,
    TensorTypeWithEncoding,
    BoolType,
    Float64Type,                 // 5
    Float32Type,
    Float16Type,
    BFloat16Type,
    Float8E5M2Type,
    Float8E4M3FNType,            // 10
    ComplexFloat64Type,
    ComplexFloat32Type,
    ComplexFloat16Type,
    ComplexBFloat16Type,
    ComplexFloat8E5M2Type,       // 15
    ComplexFloat8E4M3FNType,
    SInt64Type,
    SInt32Type,
    SInt16Type,
    SInt8Type,                   // 20
    SInt4Type,
    SInt2Type,
    UInt64Type,
    UInt32Type,
    UInt16Type,                  // 25
    UInt8Type,
    UInt4Type,
    UInt2Type,
    UInt1Type,
    FunctionType,                // 30
    HandleType,
    TokenType,
    SymbolType,
    MetaType,
    RefType,                     // 35
    UInt6Type,
    UInt3Type,
    TFloat32Type,
    ImageType,
    ImageTypeWithConstraints,    // 40
    DebugUnresolvedType,
    DebugBasicType,
    DebugDerivedType,
    DebugCompositeType,
    DebugCompositeTypeWithBase,  // 45
    Float4E2M1FNType,
    Float8E8M0FNType
  ];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def TextAttr : DialectAttribute<(attr String:$value)>;
def WholeAttr : DialectAttribute<(attr
  VarInt:$width,
  Flag:$isUnsigned,
  Bits:$value
)>;
def RealAttr : DialectAttribute<(attr VarInt:$width, Bits:$bits)>;
def TypeLiteralAttr : DialectAttribute<(attr Type:$value)>;
def ListAttr : DialectAttribute<(attr AttributeList:$values)>;
def BytesAttr : DialectAttribute<(attr Flag:$isSplat, Bytes:$bytes)>;
def ResourceAttr : DialectAttribute<(attr Handle:$handle)> {
  let cBuilder = "get<ResourceAttr>(context, *handle)";
}
def NamedListAttr
    : DialectAttribute<(attr String:$name, AttributeList:$values)>;
def DictionaryAttr : DialectAttribute<(attr AttributeList:$entries)>;
def UnitAttr : DialectAttribute<(attr)>;
def SymbolRefAttr : DialectAttribute<(attr StringList:$path)>;
def ParamDeclAttr : DialectAttribute<(attr String:$name, Type:$type)>;
def ParamBindAttr : DialectAttribute<(attr
  Attribute:$value,
  Type:$type,
  AttributeList:$arguments
)>;
def ParamConstantAttr : DialectAttribute<(attr Attribute:$value, Type:$type)>;
def TargetSpecAttr : DialectAttribute<(attr
  Attribute:$triple,
  Attribute:$soc,
  Attribute:$delegateOptions
)>;
def HwConstraintsAttr : DialectAttribute<(attr
  SignedList:$alignments,
  SignedList:$interleave,
  VarInt:$backing
)>;
def ImageConstraintsAttr : DialectAttribute<(attr
  VarInt:$backing,
  SignedList:$rowAlignmentsPerPlane
)>;
let cType = "SparseEncodingAttr" in {
def SparseEncodingAttr : DialectAttribute<(attr
  VarInt:$scheme,
  VarInt:$posWidth,
  VarInt:$crdWidth,
  OptionalNumber:$nonZeros
)> {
  let cBuilder = "get<SparseEncodingAttr>(context, scheme, posWidth, crdWidth, "
                 "nonZeros, ArrayRef<uint64_t>())";
  let printerPredicate = "$_val.getBlockSize().empty()";
}
def SparseEncodingAttrWithBlocks : DialectAttribute<(attr
  VarInt:$scheme,
  VarInt:$posWidth,
  VarInt:$crdWidth,
  OptionalNumber:$nonZeros,
  UnsignedList:$blockSize
)> {
  let printerPredicate = "!$_val.getBlockSize().empty()";
}
}
def FileAttr : DialectAttribute<(attr
  String:$filename,
  String:$directory,
  String:$sha256Sum
)>;
def SourceLocationAttr : DialectAttribute<(attr
  Attribute:$file,
  VarInt:$startLine,
  VarInt:$startColumn,
  VarInt:$endLine,
  VarInt:$endColumn
)>;
def CompileUnitAttr : DialectAttribute<(attr
  String:$sourceLanguage,
  Attribute:$file,
  String:$producer,
  VarInt:$optimized,
  String:$flags,
  AttributeList:$allFiles
)>;
def MetadataDataAttr : DialectAttribute<(attr Attribute:$value)>;
def MetadataAttr : DialectAttribute<(attr String:$name, Attribute:$data)>;
def SubprogramAttr : DialectAttribute<(attr
  Type:$typeAttr,
  Attribute:$compileUnit,
  Attribute:$file,
  String:$name,
  String:$linkageName,
  VarInt:$flags
)>;
def LocalVariableAttr : DialectAttribute<(attr
  Type:$typeAttr,
  String:$name,
  Attribute:$location,
  Attribute:$scope,
  VarInt:$alignInBits,
  VarInt:$flags
)>;
def BoundsAttr : DialectAttribute<(attr
  SignedVarInt:$count,
  SignedVarInt:$lower,
  SignedVarInt:$upper,
  SignedVarInt:$stride
)>;
def CompositeElementAttr : DialectAttribute<(attr Attribute:$value)>;
let cType = "DebugLocationAttr" in {
def DebugLocationAttr : DialectAttribute<(attr
  Attribute:$source,
  Attribute:$scope,
  AttributeList:$fusedWith,
  AttributeList:$metadata
)> {
  let cBuilder = "get<DebugLocationAttr>(context, source, scope, Attribute(), "
                 "fusedWith, metadata)";
  let printerPredicate = "!$_val.getInlinedAt()";
}
def DebugLocationAttrInlined : DialectAttribute<(attr
  Attribute:$source,
  Attribute:$scope,
  Attribute:$inlinedAt,
  AttributeList:$fusedWith,
  AttributeList:$metadata
)> {
  let printerPredicate = "$_val.getInlinedAt()";
}
}
def MetadataLocationAttr : DialectAttribute<(attr AttributeList:$metadata)>;
def OpaqueLocationAttr : DialectAttribute<(attr Attribute:$value)>;

class Number : DialectAttribute<(attr VarInt:$value)>;
def PaddingModeAttr : Number;
def LifecyclePhaseAttr : Number;
def ApproximateAttr : Number;
def ScatterModeAttr : Number;
def ScanCombinerAttr : Number;
def FourCCAttr : Number;
def CompilationAttr : Number;
def InterpolationModeAttr : Number;
def IntentAttr : Number;

def AICodeAttributes : DialectAttributes<"AICode"> {
  let elems = [
    ReservedOrDead,                // 0
    TextAttr,
    WholeAttr,
    RealAttr,
    TypeLiteralAttr,
    ListAttr,                      // 5
    BytesAttr,
    ResourceAttr,
    ReservedOrDead,
    NamedListAttr,
    ParamDeclAttr,                 // 10
    ReservedOrDead,
    HwConstraintsAttr,
    ReservedOrDead,
    SymbolRefAttr,
    ParamBindAttr,                 // 15
    ParamConstantAttr,
    PaddingModeAttr,
    LifecyclePhaseAttr,
    ApproximateAttr,
    ScatterModeAttr,               // 20
    SparseEncodingAttr,
    ReservedOrDead,
    SparseEncodingAttrWithBlocks,
    ReservedOrDead,
    ScanCombinerAttr,              // 25
    ImageConstraintsAttr,
    FourCCAttr,
    CompilationAttr,
    TargetSpecAttr,
    FileAttr,                      // 30
    SourceLocationAttr,
    CompileUnitAttr,
    MetadataDataAttr,
    ReservedOrDead,
    MetadataAttr,                  // 35
    SubprogramAttr,
    LocalVariableAttr,
    BoundsAttr,
    CompositeElementAttr,
    DebugLocationAttr,             // 40
    DebugLocationAttrInlined,
    MetadataLocationAttr,
    InterpolationModeAttr,
    IntentAttr,
    DictionaryAttr,                // 45
    UnitAttr,
    OpaqueLocationAttr
  ];
}

#endif // CORTEN_DIALECT_AICODE_IR_AICODEBYTECODE_TD
