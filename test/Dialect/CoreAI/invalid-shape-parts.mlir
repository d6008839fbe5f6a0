// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

coreai.graph @concat_nothing() {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{needs at least one input}}
  %r = "coreai.concat"(%c0) : (tensor<si32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @concat_elements(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{inputs have element types 'f32' and 'f16'}}
  %r = "coreai.concat"(%c0, %x, %y) : (tensor<si32>, tensor<2xf32>,
      tensor<2xf16>) -> tensor<4xf32>
  coreai.output
}

// -----

coreai.graph @concat_ranks(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{inputs have different ranks}}
  %r = "coreai.concat"(%c0, %x, %y) : (tensor<si32>, tensor<2x3xf32>,
      tensor<3xf32>) -> tensor<3x3xf32>
  coreai.output
}

// -----

// Off the axis, `?` does not match a number.
coreai.graph @concat_unknown(%x: tensor<2x3xf32>, %y: tensor<?x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{inputs differ off axis 1}}
  %r = "coreai.concat"(%c0, %x, %y) : (tensor<si32>, tensor<2x3xf32>,
      tensor<?x3xf32>) -> tensor<2x6xf32>
  coreai.output
}

// -----

coreai.graph @concat_result(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{result must be 'tensor<4x3xf32>'}}
  %r = "coreai.concat"(%c0, %x, %y) : (tensor<si32>, tensor<2x3xf32>,
      tensor<2x3xf32>) -> tensor<?x3xf32>
  coreai.output
}

// -----

coreai.graph @concat_scalars(%x: tensor<f32>, %y: tensor<f32>) {
  %c0 = coreai.constant dense<-1> : tensor<si32>
  // expected-error @below {{dimension -1 is out of range for 'tensor<f32>'}}
  %r = "coreai.concat"(%c0, %x, %y) : (tensor<si32>, tensor<f32>, tensor<f32>)
      -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @concat_resource(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense_resource<axis> : tensor<si32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.concat"(%c0, %x) : (tensor<si32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

// The first part has the element type of the whole.
coreai.graph @split_element(%x: tensor<4xf32>) {
  %c0 = coreai.constant dense<2> : tensor<ui32>
  %c1 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{first result must have the element type of the}}
  %r:2 = "coreai.split"(%x, %c0, %c1) : (tensor<4xf32>, tensor<ui32>,
      tensor<si32>) -> (tensor<2xf16>, tensor<2xf32>)
  coreai.output
}

// -----

coreai.graph @split_resource(%x: tensor<4xf32>) {
  %c0 = coreai.constant dense_resource<size> : tensor<ui32>
  %c1 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{constant shape and index operands must be}}
  %r:2 = "coreai.split"(%x, %c0, %c1) : (tensor<4xf32>, tensor<ui32>,
      tensor<si32>) -> (tensor<2xf32>, tensor<2xf32>)
  coreai.output
}

// -----

coreai.graph @split_nothing(%x: tensor<4xf32>) {
  %c0 = coreai.constant dense<2> : tensor<ui32>
  %c1 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{needs at least one result}}
  "coreai.split"(%x, %c0, %c1) : (tensor<4xf32>, tensor<ui32>, tensor<si32>) ->
      ()
  coreai.output
}

// -----

coreai.graph @slice_rank(%x: tensor<4x4xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.slice"(%x, %c0, %c1, %c2) : (tensor<4x4xf32>, tensor<2xsi32>,
      tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @slice_element(%x: tensor<4x4xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.slice"(%x, %c0, %c1, %c2) : (tensor<4x4xf32>, tensor<2xsi32>,
      tensor<2xsi32>, tensor<2xsi32>) -> tensor<2x2xf16>
  coreai.output
}

// -----

coreai.graph @slice_stride(%x: tensor<4x4xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[1, 0]> : tensor<2xsi32>
  // expected-error @below {{stride must not be zero}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.slice"(%x, %c0, %c1, %c2) : (tensor<4x4xf32>, tensor<2xsi32>,
      tensor<2xsi32>, tensor<2xsi32>) -> tensor<2x2xf32>
  coreai.output
}

// -----

coreai.graph @slice_resource(%x: tensor<4x4xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense_resource<strides> : tensor<2xsi32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.slice"(%x, %c0, %c1, %c2) : (tensor<4x4xf32>, tensor<2xsi32>,
      tensor<2xsi32>, tensor<2xsi32>) -> tensor<2x2xf32>
  coreai.output
}

// -----

coreai.graph @update_shape(%x: tensor<4x4xf32>, %y: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  // expected-error @below {{extent 1 of the update must be 2, got}}
  %r = "coreai.slice_update"(%x, %c0, %c1, %c2, %y) : (tensor<4x4xf32>,
      tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2x3xf32>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @update_rank(%x: tensor<4x4xf32>, %y: tensor<2xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  // expected-error @below {{update must have the rank of the input}}
  %r = "coreai.slice_update"(%x, %c0, %c1, %c2, %y) : (tensor<4x4xf32>,
      tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xf32>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @update_element(%x: tensor<4x4xf32>, %y: tensor<2x2xf16>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  // expected-error @below {{{input, update, output} have same element type}}
  %r = "coreai.slice_update"(%x, %c0, %c1, %c2, %y) : (tensor<4x4xf32>,
      tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2x2xf16>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @update_result(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.slice_update"(%x, %c0, %c1, %c2, %y) : (tensor<4x4xf32>,
      tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2x2xf32>) ->
      tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @update_stride(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense<[0, 1]> : tensor<2xsi32>
  // expected-error @below {{stride must not be zero}}
  %r = "coreai.slice_update"(%x, %c0, %c1, %c2, %y) : (tensor<4x4xf32>,
      tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2x2xf32>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @update_lengths(%x: tensor<4x4xf32>, %y: tensor<2xsi32>,
    %z: tensor<1xsi32>, %u: tensor<2xsi32>, %v: tensor<2x2xf32>) {
  // expected-error @below {{operands must have the same shape, got}}
  %r = "coreai.slice_update"(%x, %y, %z, %u, %v) : (tensor<4x4xf32>,
      tensor<2xsi32>, tensor<1xsi32>, tensor<2xsi32>, tensor<2x2xf32>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @update_short(%x: tensor<4x4xf32>, %y: tensor<2x4xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  %c1 = coreai.constant dense<[2]> : tensor<1xsi32>
  %c2 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{lists 1 indices for a tensor of rank 2}}
  %r = "coreai.slice_update"(%x, %c0, %c1, %c2, %y) : (tensor<4x4xf32>,
      tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<2x4xf32>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @update_unknown_length(%x: tensor<4x4xf32>, %y: tensor<?xsi32>,
    %z: tensor<2xsi32>, %u: tensor<2xsi32>, %v: tensor<2x2xf32>) {
  // expected-error @below {{start indices must be of static length}}
  %r = "coreai.slice_update"(%x, %y, %z, %u, %v) : (tensor<4x4xf32>,
      tensor<?xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2x2xf32>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @update_resource(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %c1 = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %c2 = coreai.constant dense_resource<strides> : tensor<2xsi32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.slice_update"(%x, %c0, %c1, %c2, %y) : (tensor<4x4xf32>,
      tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2x2xf32>) ->
      tensor<4x4xf32>
  coreai.output
}

// -----

coreai.graph @pad_length(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{2 paddings for a tensor of rank 2}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<constant>}> : (tensor<2x3xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<4x3xf32>
  coreai.output
}

// -----

coreai.graph @pad_value(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f16>
  // expected-error @below {{{input, padding_value} have same element type}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<constant>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f16>) -> tensor<4xf32>
  coreai.output
}

// -----

coreai.graph @pad_element(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<constant>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<4xf16>
  coreai.output
}

// -----

coreai.graph @pad_rank(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<constant>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<1x4xf32>
  coreai.output
}

// -----

// A mirrored margin is narrower than the tensor.
coreai.graph @pad_reflect(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[2, 0]> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{axis 0 can be padded by at most 1}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<reflect>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<4xf32>
  coreai.output
}

// -----

coreai.graph @pad_symmetric(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[0, 3]> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{axis 0 can be padded by at most 2}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<symmetric>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<5xf32>
  coreai.output
}

// -----

coreai.graph @pad_circular(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[3, 0]> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{axis 0 can be padded by at most 2}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<circular>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<5xf32>
  coreai.output
}

// -----

coreai.graph @pad_variable_value(%x: tensor<2xf32>, %y: tensor<f32>) {
  %c0 = coreai.constant dense<[1, 0]> : tensor<2xui32>
  // expected-error @below {{padding value must be a constant in this mode}}
  %r = "coreai.pad"(%x, %c0,
      %y) <{padding_mode = #coreai.padding_mode<replicate>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @pad_resource(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense_resource<padding> : tensor<2xui32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{constant shape and index operands must be}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.pad"(%x, %c0,
      %c1) <{padding_mode = #coreai.padding_mode<constant>}> : (tensor<2xf32>,
      tensor<2xui32>, tensor<f32>) -> tensor<4xf32>
  coreai.output
}

// -----

coreai.graph @reverse_axis(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[2]> : tensor<1xsi32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.reverse"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi32>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @reverse_twice(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  // expected-error @below {{axis 1 is listed twice}}
  %r = "coreai.reverse"(%x, %c0) : (tensor<2x3xf32>, tensor<2xsi32>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @reverse_count(%x: tensor<2xf32>, %y: tensor<2xsi32>) {
  // expected-error @below {{lists 2 axes of a tensor of rank 1}}
  %r = "coreai.reverse"(%x, %y) : (tensor<2xf32>, tensor<2xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @reverse_extent(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reverse"(%x, %c0) : (tensor<2xf32>, tensor<1xsi32>) ->
      tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @reverse_element(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reverse"(%x, %c0) : (tensor<2xf32>, tensor<1xsi32>) ->
      tensor<2xf16>
  coreai.output
}

// -----

coreai.graph @reverse_resource(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense_resource<dims> : tensor<1xsi32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.reverse"(%x, %c0) : (tensor<2xf32>, tensor<1xsi32>) ->
      tensor<2xf32>
  coreai.output
}
