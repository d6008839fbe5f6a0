// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// The pixels of an image have exactly one type.
coreai.graph @pixels(%x: !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.image_to_tensor"(%x) :
      (!coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) -> tensor<4x6x4xui8>
  coreai.output
}

// -----

coreai.graph @pixels_unknown(%x: !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.image_to_tensor"(%x) :
      (!coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) -> tensor<4x?x3xui8>
  coreai.output
}

// -----

coreai.graph @image_of_floats(%x: tensor<4x6x3xf32>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.tensor_to_image"(%x) : (tensor<4x6x3xf32>) ->
      !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>
  coreai.output
}

// -----

coreai.graph @interpolate_shape(%x: tensor<4x5xf32>) {
  %c0 = coreai.constant dense<[8]> : tensor<1xsi32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  %c2 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{expected one element for each of 2 axes, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate"(%x, %c0, %c1,
      %c2) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<1xsi32>, tensor<2xf32>, tensor<2xf32>) ->
      tensor<8x5xf32>
  coreai.output
}

// -----

coreai.graph @interpolate_unknown_length(%x: tensor<4x5xf32>,
    %y: tensor<?xsi32>) {
  %c0 = coreai.constant dense<1.0> : tensor<2xf32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.interpolate"(%x, %y, %c0,
      %c1) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<?xsi32>, tensor<2xf32>, tensor<2xf32>) ->
      tensor<8x9xf32>
  coreai.output
}

// -----

coreai.graph @interpolate_negative(%x: tensor<4x5xf32>) {
  %c0 = coreai.constant dense<[-8, 9]> : tensor<2xsi32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  %c2 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{extents must not be negative, got -8}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate"(%x, %c0, %c1,
      %c2) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<2xf32>) ->
      tensor<8x9xf32>
  coreai.output
}

// -----

coreai.graph @interpolate_scale(%x: tensor<4x5xf32>, %y: tensor<3xf32>) {
  %c0 = coreai.constant dense<[8, 9]> : tensor<2xsi32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{expected one element for each of 2 axes, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate"(%x, %c0, %y,
      %c1) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<2xsi32>, tensor<3xf32>, tensor<2xf32>) ->
      tensor<8x9xf32>
  coreai.output
}

// -----

coreai.graph @interpolate_offset(%x: tensor<4x5xf32>, %y: tensor<1xf32>) {
  %c0 = coreai.constant dense<[8, 9]> : tensor<2xsi32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{expected one element for each of 2 axes, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate"(%x, %c0, %c1,
      %y) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<1xf32>) ->
      tensor<8x9xf32>
  coreai.output
}

// -----

coreai.graph @interpolate_rank(%x: tensor<4x5xf32>) {
  %c0 = coreai.constant dense<[8, 9]> : tensor<2xsi32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  %c2 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate"(%x, %c0, %c1,
      %c2) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<2xf32>) ->
      tensor<72xf32>
  coreai.output
}

// -----

coreai.graph @interpolate_element(%x: tensor<4x5xf32>) {
  %c0 = coreai.constant dense<[8, 9]> : tensor<2xsi32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  %c2 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate"(%x, %c0, %c1,
      %c2) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<2xsi32>, tensor<2xf32>, tensor<2xf32>) ->
      tensor<8x9xf16>
  coreai.output
}

// -----

coreai.graph @interpolate_mode(%x: tensor<4x5xf32>) {
  %c0 = coreai.constant dense<[8, 9]> : tensor<2xsi32>
  %c1 = coreai.constant dense<1.0> : tensor<2xf32>
  %c2 = coreai.constant dense<1.0> : tensor<2xf32>
  // expected-error @below {{requires attribute 'interpolation_mode'}}
  %r = "coreai.interpolate"(%x, %c0, %c1, %c2) : (tensor<4x5xf32>,
      tensor<2xsi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8x9xf32>
  coreai.output
}

// -----

coreai.graph @coordinates(%x: tensor<4x5xf32>, %y: tensor<7x3xf32>) {
  // expected-error @below {{expected rows of 2 coordinates, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate_coordinates"(%x,
      %y) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<7x3xf32>) -> tensor<7xf32>
  coreai.output
}

// -----

coreai.graph @coordinates_element(%x: tensor<4x5xf32>, %y: tensor<7x2xf32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.interpolate_coordinates"(%x,
      %y) <{interpolation_mode = #coreai.interpolation_mode<linear>}> :
      (tensor<4x5xf32>, tensor<7x2xf32>) -> tensor<7xf16>
  coreai.output
}
