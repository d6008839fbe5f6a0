// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// The result of a constant is exactly its type.
coreai.graph @constant_refined() {
  // expected-error @below {{{value, result} have same type}}
  %r = "coreai.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () ->
      tensor<?xf32>
  coreai.output
}

// -----

coreai.graph @constant_untyped() {
  // expected-error @below {{Invalid attribute `value`}}
  %r = "coreai.constant"() <{value = unit}> : () -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @range_step() {
  %c0 = coreai.constant dense<0> : tensor<si32>
  %c1 = coreai.constant dense<3> : tensor<si32>
  %c2 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{step must not be zero}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.range"(%c0, %c1, %c2) : (tensor<si32>, tensor<si32>,
      tensor<si32>) -> tensor<?xsi32>
  coreai.output
}

// -----

coreai.graph @range_float_step() {
  %c0 = coreai.constant dense<0.0> : tensor<f32>
  %c1 = coreai.constant dense<3.0> : tensor<f32>
  %c2 = coreai.constant dense<-0.0> : tensor<f32>
  // expected-error @below {{step must not be zero}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.range"(%c0, %c1, %c2) : (tensor<f32>, tensor<f32>, tensor<f32>)
      -> tensor<?xf32>
  coreai.output
}

// -----

coreai.graph @range_elements() {
  %c0 = coreai.constant dense<0> : tensor<si32>
  %c1 = coreai.constant dense<3> : tensor<ui32>
  %c2 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.range"(%c0, %c1, %c2) : (tensor<si32>, tensor<ui32>,
      tensor<si32>) -> tensor<3xsi32>
  coreai.output
}

// -----

coreai.graph @range_result() {
  %c0 = coreai.constant dense<0> : tensor<si32>
  %c1 = coreai.constant dense<3> : tensor<si32>
  %c2 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.range"(%c0, %c1, %c2) : (tensor<si32>, tensor<si32>,
      tensor<si32>) -> tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @range_resource() {
  %c0 = coreai.constant dense<0> : tensor<si32>
  %c1 = coreai.constant dense_resource<stop> : tensor<si32>
  %c2 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.range"(%c0, %c1, %c2) : (tensor<si32>, tensor<si32>,
      tensor<si32>) -> tensor<?xsi32>
  coreai.output
}

// -----

// The type of a shape is exact.
coreai.graph @get_shape_length(%x: tensor<2x3xf32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.get_shape"(%x) : (tensor<2x3xf32>) -> tensor<3xui32>
  coreai.output
}

// -----

coreai.graph @get_shape_unknown(%x: tensor<2x3xf32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.get_shape"(%x) : (tensor<2x3xf32>) -> tensor<?xui32>
  coreai.output
}

// -----

coreai.graph @get_shape_width(%x: tensor<2x3xf32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.get_shape"(%x) : (tensor<2x3xf32>) -> tensor<2xui16>
  coreai.output
}

// -----

coreai.graph @broadcast_shapes_elements(%x: tensor<2xui32>, %y: tensor<2xui16>)
    {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.broadcast_shapes"(%x, %y) : (tensor<2xui32>, tensor<2xui16>) ->
      tensor<2xui32>
  coreai.output
}

// -----

coreai.graph @broadcast_shapes_result(%x: tensor<2xui32>, %y: tensor<2xui32>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.broadcast_shapes"(%x, %y) : (tensor<2xui32>, tensor<2xui32>) ->
      tensor<2xui16>
  coreai.output
}

// -----

// Reshaping keeps the number of elements.
coreai.graph @reshape_count(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[4, 2]> : tensor<2xsi32>
  // expected-error @below {{cannot reshape 'tensor<2x3xf32>' into 8 elements}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<2xsi32>) ->
      tensor<4x2xf32>
  coreai.output
}

// -----

coreai.graph @reshape_remainder(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[-1, 4]> : tensor<2xsi32>
  // expected-error @below {{cannot reshape 'tensor<2x3xf32>' into 4 times}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<2xsi32>) ->
      tensor<?x4xf32>
  coreai.output
}

// -----

coreai.graph @reshape_two_open(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[-1, -1]> : tensor<2xsi32>
  // expected-error @below {{only one extent may be -1}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<2xsi32>) ->
      tensor<?x?xf32>
  coreai.output
}

// -----

// Zero is refused even where it would be right.
coreai.graph @reshape_zero(%x: tensor<0x3xf32>) {
  %c0 = coreai.constant dense<[0, 3]> : tensor<2xsi32>
  // expected-error @below {{extents must be positive or -1, got 0}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<0x3xf32>, tensor<2xsi32>) ->
      tensor<0x3xf32>
  coreai.output
}

// -----

coreai.graph @reshape_negative(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[-2, 3]> : tensor<2xsi32>
  // expected-error @below {{extents must be positive or -1, got -2}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<2xsi32>) ->
      tensor<?x3xf32>
  coreai.output
}

// -----

coreai.graph @reshape_narrow(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[-1]> : tensor<1xsi16>
  // expected-error @below {{cannot reshape 'tensor<2x3xf32>' into 65535}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi16>) ->
      tensor<6xf32>
  coreai.output
}

// -----

coreai.graph @reshape_unknown_rank(%x: tensor<2x3xf32>, %y: tensor<?xsi32>) {
  // expected-error @below {{length of the shape must be static, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %y) : (tensor<2x3xf32>, tensor<?xsi32>) ->
      tensor<6xf32>
  coreai.output
}

// -----

coreai.graph @reshape_resource(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense_resource<shape> : tensor<1xsi32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi32>) ->
      tensor<6xf32>
  coreai.output
}

// -----

coreai.graph @reshape_result(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[3, 2]> : tensor<2xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<2xsi32>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @reshape_rank(%x: tensor<2x3xf32>, %y: tensor<2xsi32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %y) : (tensor<2x3xf32>, tensor<2xsi32>) ->
      tensor<6xf32>
  coreai.output
}

// -----

coreai.graph @reshape_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[6]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi32>) ->
      tensor<6xf16>
  coreai.output
}

// -----

// A shape query is looked through.
coreai.graph @reshape_queried(%x: tensor<?x3xf32>, %y: tensor<2x?xf32>) {
  %shape = "coreai.get_shape"(%y) : (tensor<2x?xf32>) -> tensor<2xui32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reshape"(%x, %shape) : (tensor<?x3xf32>, tensor<2xui32>) ->
      tensor<3x?xf32>
  coreai.output
}

// -----

coreai.graph @transpose_length(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xui32>
  // expected-error @below {{permutation of 1 axes for a tensor of rank 2}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.transpose"(%x, %c0) : (tensor<2x3xf32>, tensor<1xui32>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @transpose_axis(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[2, 0]> : tensor<2xui32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.transpose"(%x, %c0) : (tensor<2x3xf32>, tensor<2xui32>) ->
      tensor<3x2xf32>
  coreai.output
}

// -----

coreai.graph @transpose_rank(%x: tensor<2x3xf32>, %y: tensor<2xui32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.transpose"(%x, %y) : (tensor<2x3xf32>, tensor<2xui32>) ->
      tensor<6xf32>
  coreai.output
}

// -----

coreai.graph @transpose_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1, 0]> : tensor<2xui32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.transpose"(%x, %c0) : (tensor<2x3xf32>, tensor<2xui32>) ->
      tensor<3x2xf16>
  coreai.output
}

// -----

coreai.graph @transpose_extent(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1, 0]> : tensor<2xui32>
  // expected-error @below {{extent 0 of the result must be 3, got 2}}
  %r = "coreai.transpose"(%x, %c0) : (tensor<2x3xf32>, tensor<2xui32>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @transpose_resource(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense_resource<permutation> : tensor<2xui32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.transpose"(%x, %c0) : (tensor<2x3xf32>, tensor<2xui32>) ->
      tensor<3x2xf32>
  coreai.output
}

// -----

coreai.graph @expand_axis(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[2]> : tensor<1xsi32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.expand_dims"(%x, %c0) : (tensor<2xf32>, tensor<1xsi32>) ->
      tensor<2x1xf32>
  coreai.output
}

// -----

coreai.graph @expand_unknown_count(%x: tensor<2xf32>, %y: tensor<?xsi32>) {
  // expected-error @below {{length of the shape must be static, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.expand_dims"(%x, %y) : (tensor<2xf32>, tensor<?xsi32>) ->
      tensor<2x1xf32>
  coreai.output
}

// -----

coreai.graph @expand_element(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.expand_dims"(%x, %c0) : (tensor<2xf32>, tensor<1xsi32>) ->
      tensor<2x1xf16>
  coreai.output
}

// -----

coreai.graph @expand_resource(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense_resource<axes> : tensor<1xsi32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.expand_dims"(%x, %c0) : (tensor<2xf32>, tensor<1xsi32>) ->
      tensor<2x1xf32>
  coreai.output
}

// -----

// Only a known extent of 1 can be removed.
coreai.graph @shrink_extent(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  // expected-error @below {{axis 0 of 'tensor<2x1xf32>' is not of extent 1}}
  %r = "coreai.shrink_dims"(%x, %c0) : (tensor<2x1xf32>, tensor<1xsi32>) ->
      tensor<1xf32>
  coreai.output
}

// -----

coreai.graph @shrink_unknown(%x: tensor<?x2xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  // expected-error @below {{axis 0 of 'tensor<?x2xf32>' is not of extent 1}}
  %r = "coreai.shrink_dims"(%x, %c0) : (tensor<?x2xf32>, tensor<1xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @shrink_axis(%x: tensor<1x2xf32>) {
  %c0 = coreai.constant dense<[2]> : tensor<1xsi32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.shrink_dims"(%x, %c0) : (tensor<1x2xf32>, tensor<1xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @shrink_narrow_axis(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[-1]> : tensor<1xsi16>
  // expected-error @below {{axis 65535 is out of range for a tensor of rank 2}}
  %r = "coreai.shrink_dims"(%x, %c0) : (tensor<2x1xf32>, tensor<1xsi16>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @shrink_count(%x: tensor<1xf32>, %y: tensor<2xsi32>) {
  // expected-error @below {{lists 2 axes of a tensor of rank 1}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.shrink_dims"(%x, %y) : (tensor<1xf32>, tensor<2xsi32>) ->
      tensor<f32>
  coreai.output
}

// -----

coreai.graph @shrink_unknown_count(%x: tensor<1x2xf32>, %y: tensor<?xsi32>) {
  // expected-error @below {{length of the shape must be static, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.shrink_dims"(%x, %y) : (tensor<1x2xf32>, tensor<?xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @shrink_refined(%x: tensor<1x2xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  // expected-error @below {{result must be 'tensor<2xf32>'}}
  %r = "coreai.shrink_dims"(%x, %c0) : (tensor<1x2xf32>, tensor<1xsi32>) ->
      tensor<?xf32>
  coreai.output
}

// -----

coreai.graph @shrink_element(%x: tensor<1x2xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  // expected-error @below {{result must be 'tensor<2xf32>'}}
  %r = "coreai.shrink_dims"(%x, %c0) : (tensor<1x2xf32>, tensor<1xsi32>) ->
      tensor<2xf16>
  coreai.output
}

// -----

coreai.graph @shrink_resource(%x: tensor<1x2xf32>) {
  %c0 = coreai.constant dense_resource<axes> : tensor<1xsi32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.shrink_dims"(%x, %c0) : (tensor<1x2xf32>, tensor<1xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

// Of broadcast_to, nothing but the storage of the shape is checked.
coreai.graph @broadcast_to_resource(%x: tensor<1xf32>) {
  %c0 = coreai.constant dense_resource<shape> : tensor<1xui32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.broadcast_to"(%x, %c0) : (tensor<1xf32>, tensor<1xui32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @broadcast_in_dims_axis(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[3]> : tensor<1xui32>
  %c1 = coreai.constant dense<[2]> : tensor<1xsi32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.broadcast_in_dims"(%x, %c0, %c1) : (tensor<2x1xf32>,
      tensor<1xui32>, tensor<1xsi32>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @broadcast_in_dims_narrow_axis(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[3]> : tensor<1xui32>
  %c1 = coreai.constant dense<[-1]> : tensor<1xsi16>
  // expected-error @below {{axis 65535 is out of range for a tensor of rank 2}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.broadcast_in_dims"(%x, %c0, %c1) : (tensor<2x1xf32>,
      tensor<1xui32>, tensor<1xsi16>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @broadcast_in_dims_lengths(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[2, 3]> : tensor<2xui32>
  %c1 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{lists 1 axes and 2 sizes}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.broadcast_in_dims"(%x, %c0, %c1) : (tensor<2x1xf32>,
      tensor<2xui32>, tensor<1xsi32>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @broadcast_in_dims_smaller(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[3]> : tensor<1xui32>
  %c1 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{must not make 'tensor<2x1xf32>' smaller}}
  %r = "coreai.broadcast_in_dims"(%x, %c0, %c1) : (tensor<2x1xf32>,
      tensor<1xui32>, tensor<1xsi32>) -> tensor<1x3xf32>
  coreai.output
}

// -----

coreai.graph @broadcast_in_dims_rank(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[3]> : tensor<1xui32>
  %c1 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.broadcast_in_dims"(%x, %c0, %c1) : (tensor<2x1xf32>,
      tensor<1xui32>, tensor<1xsi32>) -> tensor<2x3x1xf32>
  coreai.output
}

// -----

coreai.graph @broadcast_in_dims_element(%x: tensor<2x1xf32>) {
  %c0 = coreai.constant dense<[3]> : tensor<1xui32>
  %c1 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.broadcast_in_dims"(%x, %c0, %c1) : (tensor<2x1xf32>,
      tensor<1xui32>, tensor<1xsi32>) -> tensor<2x3xf16>
  coreai.output
}

// -----

coreai.graph @tile_counts(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[1, 2]> : tensor<2xui32>
  // expected-error @below {{more counts than axes: 'tensor<2xui32>' for a}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.tile"(%x, %c0) : (tensor<2xf32>, tensor<2xui32>) ->
      tensor<1x4xf32>
  coreai.output
}

// -----

coreai.graph @tile_unknown_counts(%x: tensor<2xf32>, %y: tensor<2xui32>) {
  // expected-error @below {{more counts than axes: 'tensor<2xui32>' for a}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.tile"(%x, %y) : (tensor<2xf32>, tensor<2xui32>) ->
      tensor<1x4xf32>
  coreai.output
}

// -----

coreai.graph @tile_resource(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense_resource<dims> : tensor<1xui32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.tile"(%x, %c0) : (tensor<2xf32>, tensor<1xui32>) -> tensor<4xf32>
  coreai.output
}
