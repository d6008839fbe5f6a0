// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// Convolutions have a fixed rank and no integers.
coreai.graph @conv_rank(%x: tensor<4x8x8xf32>, %y: tensor<6x4x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_integers(%x: tensor<1x4x8x8xsi8>, %y: tensor<6x4x3x3xsi8>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xsi8>,
      tensor<6x4x3x3xsi8>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_elements(%x: tensor<1x4x8x8xf32>, %y: tensor<6x4x3x3xf16>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{{input, weight} have same element type}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf16>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_strides(%x: tensor<1x4x8x8xf32>, %y: tensor<6x4x3x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{expected one number for each of 2 axes, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<1xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_dilations(%x: tensor<1x4x8x8xf32>, %y: tensor<6x4x3x3xf32>,
    %z: tensor<3xui32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{expected one number for each of 2 axes, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %z, %c1) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<3xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_zero_stride(%x: tensor<1x4x8x8xf32>, %y: tensor<6x4x3x3xf32>)
    {
  %c0 = coreai.constant dense<[0, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{strides must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_zero_groups(%x: tensor<1x4x8x8xf32>, %y: tensor<6x4x3x3xf32>)
    {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<0> : tensor<ui32>
  // expected-error @below {{groups must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_groups(%x: tensor<1x4x8x8xf32>, %y: tensor<6x4x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<2> : tensor<ui32>
  // expected-error @below {{cannot group 4 channels by 2 for a weight of 4}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_uneven_groups(%x: tensor<1x4x8x8xf32>,
    %y: tensor<6x1x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<3> : tensor<ui32>
  // expected-error @below {{cannot group 4 channels by 3 for a weight of 1}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x1x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_unknown_groups(%x: tensor<1x4x8x8xf32>,
    %y: tensor<6x4x3x3xf32>, %z: tensor<ui32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  // expected-error @below {{groups must be a constant}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %z) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_unknown_channels(%x: tensor<1x4x8x8xf32>,
    %y: tensor<6x?x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{cannot group 4 channels by 1 for a weight of}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x?x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_large_kernel(%x: tensor<1x4x8x8xf32>,
    %y: tensor<6x4x9x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{a kernel of 9 elements does not fit into 8}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x9x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_resource(%x: tensor<1x4x8x8xf32>, %y: tensor<6x4x3x3xf32>) {
  %c0 = coreai.constant dense_resource<stride> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv_groups_resource(%x: tensor<1x4x8x8xf32>,
    %y: tensor<6x4x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense_resource<groups> : tensor<ui32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) ->
      tensor<1x6x6x6xf32>
  coreai.output
}

// -----

// In three dimensions the vectors have a static length.
coreai.graph @conv3d_unknown_length(%x: tensor<1x4x8x8x8xf32>,
    %y: tensor<6x4x3x3x3xf32>, %z: tensor<?xui32>) {
  %c0 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c1 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{operand #2 must be}}
  %r = "coreai.conv3d"(%x, %y, %z, %c0, %c1) : (tensor<1x4x8x8x8xf32>,
      tensor<6x4x3x3x3xf32>, tensor<?xui32>, tensor<3xui32>, tensor<ui32>) ->
      tensor<1x6x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv3d_zero_dilation(%x: tensor<1x4x8x8x8xf32>,
    %y: tensor<6x4x3x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c1 = coreai.constant dense<[0, 1, 1]> : tensor<3xui32>
  %c2 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{dilations must be positive}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv3d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8x8xf32>,
      tensor<6x4x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) ->
      tensor<1x6x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @conv3d_groups(%x: tensor<1x4x8x8x8xf32>,
    %y: tensor<6x4x3x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c1 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c2 = coreai.constant dense<2> : tensor<ui32>
  // expected-error @below {{cannot group 4 channels by 2 for a weight of 4}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.conv3d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8x8xf32>,
      tensor<6x4x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) ->
      tensor<1x6x6x6x6xf32>
  coreai.output
}

// -----

coreai.graph @transposed_batch(%x: tensor<1x4x8x8xf32>, %y: tensor<4x6x3x3xf32>)
    {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c4 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{result must have the batch extent of the input}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %c1, %c2, %c3, %c4) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>,
      tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<2x6x10x10xf32>
  coreai.output
}

// -----

coreai.graph @transposed_scalar(%x: tensor<1x4x8x8xf32>,
    %y: tensor<4x6x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c4 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{result must have the batch extent of the input}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %c1, %c2, %c3, %c4) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>,
      tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<f32>
  coreai.output
}

// -----

coreai.graph @transposed_strides(%x: tensor<1x4x8x8xf32>,
    %y: tensor<4x6x3x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xui32>
  %c1 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c4 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{expected one number for each of 2 axes, got}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %c1, %c2, %c3, %c4) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<1xui32>, tensor<2xui32>,
      tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32>
  coreai.output
}

// -----

coreai.graph @transposed_padding(%x: tensor<1x4x8x8xf32>,
    %y: tensor<4x6x3x3xf32>, %z: tensor<3xui32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c3 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{expected one number for each of 2 axes, got}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %z, %c1, %c2, %c3) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<3xui32>,
      tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32>
  coreai.output
}

// -----

coreai.graph @transposed_dilation(%x: tensor<1x4x8x8xf32>,
    %y: tensor<4x6x3x3xf32>, %z: tensor<3xui32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c2 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c3 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{expected one number for each of 2 axes, got}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %c1, %z, %c2, %c3) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>,
      tensor<3xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32>
  coreai.output
}

// -----

coreai.graph @transposed_output_pad(%x: tensor<1x4x8x8xf32>,
    %y: tensor<4x6x3x3xf32>, %z: tensor<3xui32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<1> : tensor<ui32>
  // expected-error @below {{expected one number for each of 2 axes, got}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %c1, %c2, %z, %c3) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>,
      tensor<2xui32>, tensor<3xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32>
  coreai.output
}

// -----

coreai.graph @transposed_groups(%x: tensor<1x4x8x8xf32>,
    %y: tensor<4x6x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c4 = coreai.constant dense<3> : tensor<ui32>
  // expected-error @below {{cannot group 4 channels by 3}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %c1, %c2, %c3, %c4) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>,
      tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32>
  coreai.output
}

// -----

coreai.graph @transposed_zero_groups(%x: tensor<1x4x8x8xf32>,
    %y: tensor<4x6x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %c4 = coreai.constant dense<0> : tensor<ui32>
  // expected-error @below {{cannot group 4 channels by 0}}
  %r = "coreai.conv_transpose2d"(%x, %y, %c0, %c1, %c2, %c3, %c4) :
      (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>,
      tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32>
  coreai.output
}

// -----

coreai.graph @transposed_3d_groups(%x: tensor<1x4x8x8x8xf32>,
    %y: tensor<4x6x3x3x3xf32>) {
  %c0 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c1 = coreai.constant dense<[0, 0, 0]> : tensor<3xui32>
  %c2 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c3 = coreai.constant dense<[0, 0, 0]> : tensor<3xui32>
  %c4 = coreai.constant dense<3> : tensor<ui32>
  // expected-error @below {{cannot group 4 channels by 3}}
  %r = "coreai.conv_transpose3d"(%x, %y, %c0, %c1, %c2, %c3, %c4) :
      (tensor<1x4x8x8x8xf32>, tensor<4x6x3x3x3xf32>, tensor<3xui32>,
      tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) ->
      tensor<1x6x10x10x10xf32>
  coreai.output
}

// -----

coreai.graph @max_pool_dilation(%x: tensor<1x4x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense<[0, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{dilation must be positive}}
  %r = "coreai.max_pool_2d"(%x, %c0, %c1, %c2, %c3) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) ->
      tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @max_pool_resource(%x: tensor<1x4x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense_resource<dilation> : tensor<2xui32>
  %c3 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.max_pool_2d"(%x, %c0, %c1, %c2, %c3) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) ->
      tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @max_pool_length(%x: tensor<1x4x8x8xf32>, %y: tensor<?xui32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.max_pool_2d"(%x, %y, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<?xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) ->
      tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @max_pool_element(%x: tensor<1x4x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c3 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{{input, output} have same element type}}
  %r = "coreai.max_pool_2d"(%x, %c0, %c1, %c2, %c3) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) ->
      tensor<1x4x4x4xf16>
  coreai.output
}

// -----

coreai.graph @max_pool_3d_dilation(%x: tensor<1x4x8x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 2, 2]> : tensor<3xui32>
  %c1 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c2 = coreai.constant dense<[1, 0, 1]> : tensor<3xui32>
  %c3 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{dilation must be positive}}
  %r = "coreai.max_pool_3d"(%x, %c0, %c1, %c2, %c3) : (tensor<1x4x8x8x8xf32>,
      tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<i1>) ->
      tensor<1x4x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @sum_pool_kernel(%x: tensor<1x4x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 0]> : tensor<2xui32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  // expected-error @below {{kernel size must be positive}}
  %r = "coreai.sum_pool_2d"(%x, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @sum_pool_stride(%x: tensor<1x4x?x?xf32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[0, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  // expected-error @below {{stride must be positive}}
  %r = "coreai.sum_pool_2d"(%x, %c0, %c1, %c2) : (tensor<1x4x?x?xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @sum_pool_dilation(%x: tensor<1x4x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 0]> : tensor<2xui32>
  // expected-error @below {{dilation must be positive}}
  %r = "coreai.sum_pool_2d"(%x, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @sum_pool_window(%x: tensor<1x4x8x8xf32>) {
  %c0 = coreai.constant dense<[100, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  // expected-error @below {{a window of 100 elements does not fit into 8}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.sum_pool_2d"(%x, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @sum_pool_element(%x: tensor<1x4x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.sum_pool_2d"(%x, %c0, %c1, %c2) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf16>
  coreai.output
}

// -----

coreai.graph @sum_pool_resource(%x: tensor<1x4x8x8xf32>, %y: tensor<2xui32>) {
  %c0 = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %c1 = coreai.constant dense_resource<dilation> : tensor<2xui32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.sum_pool_2d"(%x, %c0, %y, %c1) : (tensor<1x4x8x8xf32>,
      tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  coreai.output
}

// -----

coreai.graph @sum_pool_3d_dilation(%x: tensor<1x4x8x8x8xf32>) {
  %c0 = coreai.constant dense<[2, 2, 2]> : tensor<3xui32>
  %c1 = coreai.constant dense<[1, 1, 1]> : tensor<3xui32>
  %c2 = coreai.constant dense<[1, 1, 0]> : tensor<3xui32>
  // expected-error @below {{dilation must be positive}}
  %r = "coreai.sum_pool_3d"(%x, %c0, %c1, %c2) : (tensor<1x4x8x8x8xf32>,
      tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) -> tensor<1x4x4x4x4xf32>
  coreai.output
}
