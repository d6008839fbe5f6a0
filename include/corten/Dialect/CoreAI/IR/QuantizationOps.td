// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantization and compressed weights. There are no quantized types: scales and
// offsets are operands.

#ifndef CORTEN_DIALECT_COREAI_IR_QUANTIZATIONOPS_TD
#define CORTEN_DIALECT_COREAI_IR_QUANTIZATIONOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIBase.td"

//===----------------------------------------------------------------------===//
// Scale and offset
//===----------------------------------------------------------------------===//

// For both ops the parameters are all scalars or all vectors. A scalar axis
// means one parameter per element of that axis; a vector of axes as long as the
// rank means one for the whole tensor. A negative single axis passes the
// verifier but not the lowering in coreai-core.

def CoreAI_QuantizeOp : CoreAI_InferredOp<
    "quantize", CoreAI_Compatible,
    [AllElementTypesMatch<["input", "offset2"]>,
     AllElementTypesMatch<["offset1", "output"]>, Pure]> {
  let summary = "numbers to quantized numbers";
  let description = [{
    `clip(round((x - offset2) / scale) + offset1)`, ties to even. NaN gives 0
    whatever the offset; a scale of 0 sends everything but 0 to the limits.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F32Down, CoreAI_I16, CoreAI_I32,
                        CoreAI_I64]>:$input,
    CoreAI_ScalarOrVector<[CoreAI_F32Down, CoreAI_F8, CoreAI_MX]>:$scale,
    CoreAI_ScalarOrVector<[CoreAI_Quantized]>:$offset1,
    CoreAI_ScalarOrVector<[CoreAI_F32Down, CoreAI_I16, CoreAI_I32,
                           CoreAI_I64]>:$offset2,
    CoreAI_ScalarOrVector<[CoreAI_IDX]>:$axis);
  let results = (outs CoreAI_DenseTensor<[CoreAI_Quantized]>:$output);
  let assemblyFormat = CoreAI_DecomposableFormat;
  let hasVerifier = 1;
}

def CoreAI_DequantizeOp : CoreAI_InferredOp<
    "dequantize", CoreAI_Compatible,
    [AllElementTypesMatch<["input", "offset1"]>,
     AllElementTypesMatch<["offset2", "output"]>, Pure]> {
  let summary = "quantized numbers to numbers";
  let description = [{
    `(x - offset1) · scale + offset2`. The difference is formed in a wider
    type, so unsigned data below the offset come out negative.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_Quantized]>:$input,
    CoreAI_ScalarOrVector<[CoreAI_F32Down, F8E8M0FNU]>:$scale,
    CoreAI_ScalarOrVector<[CoreAI_Quantized]>:$offset1,
    CoreAI_ScalarOrVector<[CoreAI_F32Down]>:$offset2,
    CoreAI_ScalarOrVector<[CoreAI_IDX]>:$axis);
  let results = (outs CoreAI_DenseTensor<[CoreAI_F32Down]>:$output);
  let assemblyFormat = CoreAI_DecomposableFormat;
  let hasVerifier = 1;
}

def CoreAI_BlockwiseShiftScaleOp : CoreAI_InferredOp<
    "blockwise_shift_scale", CoreAI_Compatible,
    [AllElementTypesMatch<["data", "offset1"]>,
     AllElementTypesMatch<["offset2", "output"]>, Pure]> {
  let summary = "dequantization with one set of parameters per block";
  let description = [{
    `scale · (data - offset1) + offset2`. The extents of the parameters divide
    those of the data; each parameter covers the block in between. Eight-bit
    and four-bit floats need a scale from a short list of types, and offsets
    that are constant zeros.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F32Down, CoreAI_F8, CoreAI_I8, CoreAI_I16,
                        CoreAI_I24, CoreAI_MX]>:$data,
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I2, CoreAI_MX]>:$scale,
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I24,
                        CoreAI_MX]>:$offset1,
    CoreAI_DenseTensor<[CoreAI_F32Down, CoreAI_MX]>:$offset2);
  let results = (outs CoreAI_DenseTensor<[CoreAI_F32Down]>:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

class CoreAI_QuantizationStatisticsOp<string mnemonic, list<Trait> traits>
    : CoreAI_BuilderInferredOp<mnemonic, !listconcat(traits, [Pure])> {
  let arguments = (ins
    CoreAI_OrderedData:$input,
    CoreAI_Vector<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I4]>:$range,
    CoreAI_Axis:$axis);
  let assemblyFormat = CoreAI_DecomposableFormat;
}

def CoreAI_SymmetricQuantizationStatisticsOp
    : CoreAI_QuantizationStatisticsOp<
          "symmetric_quantization_statistics",
          [AllElementTypesMatch<["input", "scale"]>]> {
  let summary = "scale per channel for a range around zero";
  let description = [{
    `2 · max|x| / (range[1] - range[0])` along every other axis.
  }];
  let results = (outs
    CoreAI_Vector<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I4]>:$scale);
}

def CoreAI_AsymmetricQuantizationStatisticsOp
    : CoreAI_QuantizationStatisticsOp<
          "asymmetric_quantization_statistics",
          [AllElementTypesMatch<["input", "scale"]>,
           AllElementTypesMatch<["range", "zero_point"]>]> {
  let summary = "scale and zero point per channel";
  let description = [{
    From the least and greatest element of each channel, widened to contain 0.
    With an si8 range the Linux runtime overflows when it forms
    `range[1] - range[0]`; an f32 range works.
  }];
  let results = (outs
    CoreAI_Vector<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I4]>:$scale,
    CoreAI_Vector<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I4]>:$zero_point);
}

//===----------------------------------------------------------------------===//
// Lookup tables
//===----------------------------------------------------------------------===//

def CoreAI_LutToDenseOp : CoreAI_BuilderInferredOp<
    "lut_to_dense", [AllElementTypesMatch<["lut", "result"]>, Pure]> {
  let summary = "palette indices looked up in a table";
  let description = [{
    The table is [blocks..., P, V]: per block of the indices, P = 2^bits
    entries of V elements each. The extent of the axis grows V times. The axis
    is si16 and must be a constant that is not negative. Tensors of any
    encoding pass.
  }];
  let arguments = (ins
    RankedTensorOf<[CoreAI_PaletteIndex]>:$indices,
    RankedTensorOf<[CoreAI_F, CoreAI_F8, CoreAI_I]>:$lut,
    CoreAI_Scalar<[SI16]>:$axis);
  let results = (outs RankedTensorOf<[CoreAI_F, CoreAI_F8, CoreAI_I]>:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_LutToSparseWithBitmaskOp : CoreAI_BuilderInferredOp<
    "lut_to_sparse_with_bitmask",
    [AllElementTypesMatch<["lut", "result"]>, Pure]> {
  let summary = "palette indices looked up in a table, staying sparse";
  let description = [{
    As `coreai.lut_to_dense`, on the elements that the bitmask keeps.
  }];
  let arguments = (ins
    CoreAI_SparseTensor<[CoreAI_PaletteIndex]>:$indices,
    CoreAI_DenseTensor<[CoreAI_F32Down, CoreAI_F8, CoreAI_I8]>:$lut,
    CoreAI_Scalar<[SI16]>:$axis);
  let results = (outs
    CoreAI_SparseTensor<[CoreAI_F32Down, CoreAI_F8, CoreAI_I8]>:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

def CoreAI_BuildSparseWithBitmaskOp : CoreAI_InferredOp<
    "build_sparse_with_bitmask", CoreAI_Compatible> {
  let summary = "sparse tensor from its values and a mask";
  let description = [{
    The values belong to the set bits in row-major order. Their number is not
    compared with the mask.
  }];
  let arguments = (ins
    CoreAI_Vector<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_B,
                   CoreAI_PackedIndex]>:$values,
    CoreAI_DenseTensor<[UI1]>:$bitmask);
  let results = (outs
    CoreAI_SparseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_B,
                         CoreAI_PackedIndex]>:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_SparseWithBitmaskToDenseOp : CoreAI_InferredOp<
    "sparse_with_bitmask_to_dense", CoreAI_Compatible> {
  let summary = "sparse tensor with its zeros filled in";
  let description = [{ The same shape and elements without the encoding. }];
  let arguments = (ins
    CoreAI_SparseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I24, CoreAI_B,
                         CoreAI_PackedIndex]>:$input);
  let results = (outs
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I24, CoreAI_B,
                        CoreAI_PackedIndex]>:$result);
  let assemblyFormat = "$input `:` type($input) `->` type($result) attr-dict";
}

#endif // CORTEN_DIALECT_COREAI_IR_QUANTIZATIONOPS_TD
