// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// The offset is of the input's type, the result of the other offset's.
coreai.graph @quantize_offset(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf16>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{{input, offset2} have same element type}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<5xsi8>, tensor<5xf16>, tensor<si32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

coreai.graph @quantize_result(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{{offset1, output} have same element type}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<5xsi8>, tensor<5xf32>, tensor<si32>) -> tensor<4x5xui8>
  coreai.output
}

// -----

coreai.graph @quantize_extent(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<5xsi8>, tensor<5xf32>, tensor<si32>) -> tensor<4x6xsi8>
  coreai.output
}

// -----

// Scale and offsets have one shape.
coreai.graph @quantize_parameters(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<si8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{operands must have the same shape, got}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<si8>, tensor<5xf32>, tensor<si32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

// Along an axis there is one parameter per element.
coreai.graph @quantize_length(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{scale must have an element for each of 4, got}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<5xsi8>, tensor<5xf32>, tensor<si32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

coreai.graph @quantize_axis(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<2> : tensor<si32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<5xsi8>, tensor<5xf32>, tensor<si32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

coreai.graph @quantize_narrow_axis(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<-1> : tensor<si16>
  // expected-error @below {{axis 65535 is out of range for a tensor of rank 2}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<5xsi8>, tensor<5xf32>, tensor<si16>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

// Over all axes there is one for the whole tensor.
coreai.graph @quantize_all_axes(%x: tensor<4x5xf32>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<[0, 1]> : tensor<2xsi32>
  // expected-error @below {{scale must be a scalar when all axes are listed}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<5xf32>,
      tensor<5xsi8>, tensor<5xf32>, tensor<2xsi32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

coreai.graph @quantize_axes_order(%x: tensor<4x5xf32>, %y: tensor<f32>,
    %z: tensor<si8>, %u: tensor<f32>) {
  %c0 = coreai.constant dense<[1, 0]> : tensor<2xsi32>
  // expected-error @below {{axes must be all axes in order}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xf32>, tensor<f32>,
      tensor<si8>, tensor<f32>, tensor<2xsi32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

coreai.graph @quantize_axes_count(%x: tensor<4x5xf32>, %y: tensor<f32>,
    %z: tensor<si8>, %u: tensor<f32>, %v: tensor<3xsi32>) {
  // expected-error @below {{axis must be one axis or list all of them, got}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %v) : (tensor<4x5xf32>, tensor<f32>,
      tensor<si8>, tensor<f32>, tensor<3xsi32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

coreai.graph @quantize_axes_unknown(%x: tensor<4x5xf32>, %y: tensor<f32>,
    %z: tensor<si8>, %u: tensor<f32>, %v: tensor<?xsi32>) {
  // expected-error @below {{axis must be one axis or list all of them, got}}
  %r = "coreai.quantize"(%x, %y, %z, %u, %v) : (tensor<4x5xf32>, tensor<f32>,
      tensor<si8>, tensor<f32>, tensor<?xsi32>) -> tensor<4x5xsi8>
  coreai.output
}

// -----

coreai.graph @dequantize_offset(%x: tensor<4x5xsi8>, %y: tensor<5xf32>,
    %z: tensor<5xui8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{{input, offset1} have same element type}}
  %r = "coreai.dequantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xsi8>,
      tensor<5xf32>, tensor<5xui8>, tensor<5xf32>, tensor<si32>) ->
      tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @dequantize_result(%x: tensor<4x5xsi8>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{{offset2, output} have same element type}}
  %r = "coreai.dequantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xsi8>,
      tensor<5xf32>, tensor<5xsi8>, tensor<5xf32>, tensor<si32>) ->
      tensor<4x5xf16>
  coreai.output
}

// -----

coreai.graph @dequantize_length(%x: tensor<4x5xsi8>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{scale must have an element for each of 4, got}}
  %r = "coreai.dequantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xsi8>,
      tensor<5xf32>, tensor<5xsi8>, tensor<5xf32>, tensor<si32>) ->
      tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @dequantize_all_axes(%x: tensor<4x5xsi8>, %y: tensor<5xf32>,
    %z: tensor<5xsi8>, %u: tensor<5xf32>) {
  %c0 = coreai.constant dense<[0, 1]> : tensor<2xsi32>
  // expected-error @below {{scale must be a scalar when all axes are listed}}
  %r = "coreai.dequantize"(%x, %y, %z, %u, %c0) : (tensor<4x5xsi8>,
      tensor<5xf32>, tensor<5xsi8>, tensor<5xf32>, tensor<2xsi32>) ->
      tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @blockwise_extent(%x: tensor<4x6xsi8>, %y: tensor<2x3xf16>,
    %z: tensor<2x3xsi8>, %u: tensor<2x3xf16>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %z, %u) : (tensor<4x6xsi8>,
      tensor<2x3xf16>, tensor<2x3xsi8>, tensor<2x3xf16>) -> tensor<4x7xf16>
  coreai.output
}

// -----

coreai.graph @blockwise_result(%x: tensor<4x6xsi8>, %y: tensor<2x3xf16>,
    %z: tensor<2x3xsi8>, %u: tensor<2x3xf16>) {
  // expected-error @below {{{offset2, output} have same element type}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %z, %u) : (tensor<4x6xsi8>,
      tensor<2x3xf16>, tensor<2x3xsi8>, tensor<2x3xf16>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @blockwise_offset(%x: tensor<4x6xsi8>, %y: tensor<2x3xf16>,
    %z: tensor<2x3xui8>, %u: tensor<2x3xf16>) {
  // expected-error @below {{{data, offset1} have same element type}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %z, %u) : (tensor<4x6xsi8>,
      tensor<2x3xf16>, tensor<2x3xui8>, tensor<2x3xf16>) -> tensor<4x6xf16>
  coreai.output
}

// -----

coreai.graph @blockwise_parameters(%x: tensor<4x6xsi8>, %y: tensor<2x3xf16>,
    %z: tensor<2x3xsi8>, %u: tensor<2x2xf16>) {
  // expected-error @below {{operands must have the same shape}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %z, %u) : (tensor<4x6xsi8>,
      tensor<2x3xf16>, tensor<2x3xsi8>, tensor<2x2xf16>) -> tensor<4x6xf16>
  coreai.output
}

// -----

coreai.graph @blockwise_blocks(%x: tensor<4x6xsi8>, %y: tensor<3x3xf16>,
    %z: tensor<3x3xsi8>, %u: tensor<3x3xf16>) {
  // expected-error @below {{cannot divide an extent of 4 into 3 blocks}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %z, %u) : (tensor<4x6xsi8>,
      tensor<3x3xf16>, tensor<3x3xsi8>, tensor<3x3xf16>) -> tensor<4x6xf16>
  coreai.output
}

// -----

coreai.graph @blockwise_no_blocks(%x: tensor<4x6xsi8>, %y: tensor<0x3xf16>,
    %z: tensor<0x3xsi8>, %u: tensor<0x3xf16>) {
  // expected-error @below {{cannot divide an extent of 4 into 0 blocks}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %z, %u) : (tensor<4x6xsi8>,
      tensor<0x3xf16>, tensor<0x3xsi8>, tensor<0x3xf16>) -> tensor<4x6xf16>
  coreai.output
}

// -----

// Small floats are scaled by few types, and not shifted.
coreai.graph @blockwise_f8_scale(%x: tensor<2xf8E5M2>, %y: tensor<1xf64>) {
  %c0 = coreai.constant dense<0.0> : tensor<1xf8E5M2>
  %c1 = coreai.constant dense<0.0> : tensor<1xf16>
  // expected-error @below {{cannot scale 'f8E5M2' by 'f64'}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %c0, %c1) : (tensor<2xf8E5M2>,
      tensor<1xf64>, tensor<1xf8E5M2>, tensor<1xf16>) -> tensor<2xf16>
  coreai.output
}

// -----

coreai.graph @blockwise_f4_scale(%x: tensor<2xf4E2M1FN>, %y: tensor<1xf32>) {
  %c0 = coreai.constant dense<0.0> : tensor<1xf4E2M1FN>
  %c1 = coreai.constant dense<0.0> : tensor<1xf16>
  // expected-error @below {{cannot scale 'f4E2M1FN' by 'f32'}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %c0, %c1) : (tensor<2xf4E2M1FN>,
      tensor<1xf32>, tensor<1xf4E2M1FN>, tensor<1xf16>) -> tensor<2xf16>
  coreai.output
}

// -----

coreai.graph @blockwise_shift(%x: tensor<2xf8E5M2>, %y: tensor<1xf32>) {
  %c0 = coreai.constant dense<0.0> : tensor<1xf8E5M2>
  %c1 = coreai.constant dense<1.0> : tensor<1xf16>
  // expected-error @below {{offsets of 'f8E5M2' must be constant zeros}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %c0, %c1) : (tensor<2xf8E5M2>,
      tensor<1xf32>, tensor<1xf8E5M2>, tensor<1xf16>) -> tensor<2xf16>
  coreai.output
}

// -----

coreai.graph @blockwise_unknown_shift(%x: tensor<2xf8E5M2>, %y: tensor<1xf32>,
    %z: tensor<1xf8E5M2>) {
  %c0 = coreai.constant dense<0.0> : tensor<1xf16>
  // expected-error @below {{offsets of 'f8E5M2' must be constant zeros}}
  %r = "coreai.blockwise_shift_scale"(%x, %y, %z, %c0) : (tensor<2xf8E5M2>,
      tensor<1xf32>, tensor<1xf8E5M2>, tensor<1xf16>) -> tensor<2xf16>
  coreai.output
}

// -----

coreai.graph @statistics_range(%x: tensor<4x5xf32>, %y: tensor<3xsi8>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{range must have 2 elements, got 3}}
  %r = "coreai.symmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<3xsi8>, tensor<si32>) -> tensor<5xf32>
  coreai.output
}

// -----

coreai.graph @statistics_axis(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense<2> : tensor<si32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.symmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si32>) -> tensor<5xf32>
  coreai.output
}

// -----

coreai.graph @statistics_narrow_axis(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense<-1> : tensor<si16>
  // expected-error @below {{axis 65535 is out of range for a tensor of rank 2}}
  %r = "coreai.symmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si16>) -> tensor<5xf32>
  coreai.output
}

// -----

coreai.graph @statistics_length(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{results must have 5 elements, got 4}}
  %r = "coreai.symmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si32>) -> tensor<4xf32>
  coreai.output
}

// -----

coreai.graph @statistics_element(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{{input, scale} have same element type}}
  %r = "coreai.symmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si32>) -> tensor<5xf16>
  coreai.output
}

// -----

coreai.graph @statistics_resource(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense_resource<axis> : tensor<si32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.symmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si32>) -> tensor<5xf32>
  coreai.output
}

// -----

coreai.graph @zero_point_element(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{{range, zero_point} have same element type}}
  %r:2 = "coreai.asymmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si32>) -> (tensor<5xf32>,
      tensor<5xui8>)
  coreai.output
}

// -----

coreai.graph @zero_point_shape(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{scale and zero point must have one shape}}
  %r:2 = "coreai.asymmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si32>) -> (tensor<5xf32>,
      tensor<?xsi8>)
  coreai.output
}

// -----

coreai.graph @zero_point_length(%x: tensor<4x5xf32>, %y: tensor<2xsi8>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{results must have 5 elements, got 4}}
  %r:2 = "coreai.asymmetric_quantization_statistics"(%x, %y, %c0) :
      (tensor<4x5xf32>, tensor<2xsi8>, tensor<si32>) -> (tensor<4xf32>,
      tensor<4xsi8>)
  coreai.output
}

// -----

// A table is [blocks..., 2^bits, V].
coreai.graph @lut_rank(%x: tensor<4x6xui2>, %y: tensor<2x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{table must have two axes more than the indices}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>, tensor<2x4x1xf32>,
      tensor<si16>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @lut_entries(%x: tensor<4x6xui2>, %y: tensor<2x3x8x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{table must have 4 entries for 'ui2', got}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<2x3x8x1xf32>, tensor<si16>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @lut_blocks(%x: tensor<4x6xui2>, %y: tensor<3x3x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{cannot divide an extent of 4 into 3 blocks}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<3x3x4x1xf32>, tensor<si16>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @lut_no_blocks(%x: tensor<4x6xui2>, %y: tensor<0x3x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{cannot divide an extent of 4 into 0 blocks}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<0x3x4x1xf32>, tensor<si16>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @lut_unknown(%x: tensor<4x?xui2>, %y: tensor<2x3x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{indices and table must be of static shape}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x?xui2>,
      tensor<2x3x4x1xf32>, tensor<si16>) -> tensor<4x?xf32>
  coreai.output
}

// -----

coreai.graph @lut_axis(%x: tensor<4x6xui2>, %y: tensor<2x3x4x2xf32>) {
  %c0 = coreai.constant dense<2> : tensor<si16>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<2x3x4x2xf32>, tensor<si16>) -> tensor<4x12xf32>
  coreai.output
}

// -----

coreai.graph @lut_negative_axis(%x: tensor<4x6xui2>, %y: tensor<2x3x4x2xf32>) {
  %c0 = coreai.constant dense<-1> : tensor<si16>
  // expected-error @below {{axis 65535 is out of range for a tensor of rank 2}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<2x3x4x2xf32>, tensor<si16>) -> tensor<4x12xf32>
  coreai.output
}

// -----

coreai.graph @lut_wide_axis(%x: tensor<4x6xui2>, %y: tensor<2x3x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{operand #2 must be}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<2x3x4x1xf32>, tensor<si32>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @lut_result(%x: tensor<4x6xui2>, %y: tensor<2x3x4x2xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{result must have the shape of 'tensor<8x6xf32>',}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<2x3x4x2xf32>, tensor<si16>) -> tensor<4x12xf32>
  coreai.output
}

// -----

coreai.graph @lut_element(%x: tensor<4x6xui2>, %y: tensor<2x3x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{{lut, result} have same element type}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<2x3x4x1xf32>, tensor<si16>) -> tensor<4x6xf16>
  coreai.output
}

// -----

coreai.graph @lut_resource(%x: tensor<4x6xui2>, %y: tensor<2x3x4x1xf32>) {
  %c0 = coreai.constant dense_resource<axis> : tensor<si16>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.lut_to_dense"(%x, %y, %c0) : (tensor<4x6xui2>,
      tensor<2x3x4x1xf32>, tensor<si16>) -> tensor<4x6xf32>
  coreai.output
}

// -----

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @sparse_lut_result(%x: tensor<4x6xui2, #bitmask>,
    %y: tensor<2x3x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{result must have the shape of 'tensor<4x6xf32>',}}
  %r = "coreai.lut_to_sparse_with_bitmask"(%x, %y, %c0) :
      (tensor<4x6xui2, #bitmask>, tensor<2x3x4x1xf32>, tensor<si16>) ->
      tensor<4x7xf32, #bitmask>
  coreai.output
}

// -----

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @sparse_lut_dense_result(%x: tensor<4x6xui2, #bitmask>,
    %y: tensor<2x3x4x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{result #0 must be}}
  %r = "coreai.lut_to_sparse_with_bitmask"(%x, %y, %c0) :
      (tensor<4x6xui2, #bitmask>, tensor<2x3x4x1xf32>, tensor<si16>) ->
      tensor<4x6xf32>
  coreai.output
}

// -----

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @sparse_lut_entries(%x: tensor<4x6xui2, #bitmask>,
    %y: tensor<2x3x8x1xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si16>
  // expected-error @below {{table must have 4 entries for 'ui2', got}}
  %r = "coreai.lut_to_sparse_with_bitmask"(%x, %y, %c0) :
      (tensor<4x6xui2, #bitmask>, tensor<2x3x8x1xf32>, tensor<si16>) ->
      tensor<4x6xf32, #bitmask>
  coreai.output
}

// -----

coreai.graph @sparse_dense_result(%x: tensor<3xf32>, %y: tensor<2x3xui1>) {
  // expected-error @below {{result #0 must be}}
  %r = "coreai.build_sparse_with_bitmask"(%x, %y) : (tensor<3xf32>,
      tensor<2x3xui1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @sparse_shape(%x: tensor<3xf32>, %y: tensor<2x3xui1>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.build_sparse_with_bitmask"(%x, %y) : (tensor<3xf32>,
      tensor<2x3xui1>) -> tensor<2x4xf32, #bitmask>
  coreai.output
}

// -----

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @sparse_element(%x: tensor<3xf32>, %y: tensor<2x3xui1>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.build_sparse_with_bitmask"(%x, %y) : (tensor<3xf32>,
      tensor<2x3xui1>) -> tensor<2x3xf16, #bitmask>
  coreai.output
}

// -----

#csr = #coreai.sparse_tensor_encoding<csr, posWidth = 8, crdWidth = 8>
coreai.graph @sparse_scheme(%x: tensor<2x3xf32, #csr>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.sparse_with_bitmask_to_dense"(%x) : (tensor<2x3xf32, #csr>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @to_dense_shape(%x: tensor<2x3xf32, #bitmask>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.sparse_with_bitmask_to_dense"(%x) : (tensor<2x3xf32, #bitmask>)
      -> tensor<2x4xf32>
  coreai.output
}

// -----

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @to_dense_element(%x: tensor<2x3xf32, #bitmask>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.sparse_with_bitmask_to_dense"(%x) : (tensor<2x3xf32, #bitmask>)
      -> tensor<2x3xf16>
  coreai.output
}
