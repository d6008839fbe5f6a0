// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `coreaix` dialect: where tensors and images live in memory.

#ifndef CORTEN_DIALECT_COREAIX_IR_COREAIXDIALECT_TD
#define CORTEN_DIALECT_COREAIX_IR_COREAIXDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

def CoreAIX_Dialect : Dialect {
  let name = "coreaix";
  let cppNamespace = "::corten::coreaix";
  let summary = "Memory layout of tensors and images";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributesAndTypes();

  public:
  }];
}

def CoreAIX_Backing : I32Enum<"Backing", "memory that holds a tensor", [
  I32EnumCase<"IOSurface", 0>,
  I32EnumCase<"MTLBuffer", 1>,
  I32EnumCase<"Heap", 2>,
]> {
  let cppNamespace = "::corten::coreaix";
}

def CoreAIX_ImageBacking : I32Enum<"ImageBacking", "container of an image", [
  I32EnumCase<"CVPixelBuffer", 0>,
  I32EnumCase<"MTLTexture", 1>,
]> {
  let cppNamespace = "::corten::coreaix";
}

def CoreAIX_HWConstraintsAttr : AttrDef<CoreAIX_Dialect, "HWConstraints",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Layout of a tensor, as its encoding";
  let description = [{
    `alignments` has one entry per dimension, for the distance between two
    steps along it, and a last one for the element itself; all are counted in
    elements. `interleave` splits one dimension into groups of so many
    neighbouring elements, which then lie together innermost.

    ```mlir
    tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer,
        alignments: [1x16x1], interleave: [1x1]>>
    ```
  }];
  let mnemonic = "hw_constraints";
  let parameters = (ins
    EnumParameter<CoreAIX_Backing>:$backing,
    ArrayRefParameter<"int64_t">:$alignments,
    ArrayRefParameter<"int64_t">:$interleave);
  let assemblyFormat = [{
    `<` $backing `,` `alignments` `` `:` custom<Extents>($alignments) `,`
    `interleave` `` `:` custom<Extents>($interleave) `>`
  }];
  let extraClassDeclaration = [{
    /// Number of elements that a tensor of this shape spans in memory, padding
    /// included, or nothing when an extent is dynamic.
    std::optional<int64_t> getSpan(::llvm::ArrayRef<int64_t> shape) const;
  }];
}

def CoreAIX_ImageConstraintsAttr
    : AttrDef<CoreAIX_Dialect, "ImageConstraints"> {
  let summary = "Layout of an image";
  let mnemonic = "image_constraints";
  let parameters = (ins
    EnumParameter<CoreAIX_ImageBacking>:$backing,
    ArrayRefParameter<"int64_t">:$rowAlignmentsPerPlane);
  let assemblyFormat = [{
    `<` $backing `,` `rowAlignmentsPerPlane` `` `:`
    custom<Extents>($rowAlignmentsPerPlane) `>`
  }];
}

def CoreAIX_HWConstraintsType : TypeDef<CoreAIX_Dialect, "HWConstraints"> {
  let summary = "Layout as a value";
  let description = "Registered for reading; the converter never creates it.";
  let mnemonic = "hw_constraints";
}

#endif // CORTEN_DIALECT_COREAIX_IR_COREAIXDIALECT_TD
