// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// Element sets are part of the operand constraints.
coreai.graph @abs_of_bool(%x: tensor<2xi1>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.abs"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  coreai.output
}

// -----

// Signless integers are not accepted anywhere, except for i1.
coreai.graph @add_of_signless(%x: tensor<2xi32>, %y: tensor<2xi32>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.add"(%x, %y) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  coreai.output
}

// -----

// Tensors are ranked.
coreai.graph @unranked(%x: tensor<*xf32>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.abs"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  coreai.output
}

// -----

// A scalar is a tensor of rank 0.
coreai.graph @bare_float(%x: f32) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.abs"(%x) : (f32) -> f32
  coreai.output
}

// -----

// Sparse tensors are for the sparse ops only.
#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>
coreai.graph @sparse_operand(%x: tensor<4xf32, #bitmask>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.abs"(%x) : (tensor<4xf32, #bitmask>) -> tensor<4xf32>
  coreai.output
}

// -----

// The result has the element type of the operand.
coreai.graph @unary_element(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.abs"(%x) : (tensor<2xf32>) -> tensor<2xf16>
  coreai.output
}

// -----

// Static extents agree.
coreai.graph @unary_extent(%x: tensor<2xf32>) {
  // expected-error @below {{all non-scalar operands/results must have the}}
  %r = "coreai.abs"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @unary_rank(%x: tensor<2xf32>) {
  // expected-error @below {{all non-scalar operands/results must have the}}
  %r = "coreai.exp"(%x) : (tensor<2xf32>) -> tensor<1x2xf32>
  coreai.output
}

// -----

// Operands have one element type.
coreai.graph @binary_elements(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.add"(%x, %y) : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  coreai.output
}

// -----

// There is no broadcasting without the broadcasting form.
coreai.graph @binary_extents(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @below {{all non-scalar operands/results must have the}}
  %r = "coreai.mul"(%x, %y) : (tensor<2x3xf32>, tensor<1x3xf32>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @binary_ranks(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{all non-scalar operands/results must have the}}
  %r = "coreai.mul"(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) ->
      tensor<2x3xf32>
  coreai.output
}

// -----

// Comparisons give booleans, of operands of one type.
coreai.graph @comparison_result(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{result #0 must be}}
  %r = "coreai.greater"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @comparison_elements(%x: tensor<2xf32>, %y: tensor<2xsi32>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.equal"(%x, %y) : (tensor<2xf32>, tensor<2xsi32>) -> tensor<2xi1>
  coreai.output
}

// -----

// The result of `not` is exactly the operand's type.
coreai.graph @not_refined(%x: tensor<?xi1>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.not"(%x) : (tensor<?xi1>) -> tensor<2xi1>
  coreai.output
}

// -----

coreai.graph @relu_extent(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and}}
  %r = "coreai.relu"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @gelu_extent(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and}}
  %r = "coreai.gelu"(%x) <{approximate = #coreai.approximate<none>}> :
      (tensor<2xf32>) -> tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @sigmoid_element(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.sigmoid"(%x) : (tensor<2xf32>) -> tensor<2xf16>
  coreai.output
}

// -----

// Both choices of `where` are of one type, `?` included.
coreai.graph @where_choices(%x: tensor<2xi1>, %y: tensor<?xf32>,
    %z: tensor<2xf32>) {
  // expected-error @below {{{a, b} have same type}}
  %r = "coreai.where"(%x, %y, %z) : (tensor<2xi1>, tensor<?xf32>, tensor<2xf32>)
      -> tensor<2xf32>
  coreai.output
}

// -----

// The condition has their shape, if that is static.
coreai.graph @where_condition(%x: tensor<3xi1>, %y: tensor<2xf32>,
    %z: tensor<2xf32>) {
  // expected-error @below {{operands must have the same shape, got}}
  %r = "coreai.where"(%x, %y, %z) : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>)
      -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @where_result(%x: tensor<2xi1>, %y: tensor<2xf32>,
    %z: tensor<2xf32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.where"(%x, %y, %z) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>)
      -> tensor<2xf16>
  coreai.output
}

// -----

// A cast changes the element type only.
coreai.graph @cast_rank(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and}}
  %r = "coreai.cast"(%x) : (tensor<2xf32>) -> tensor<1x2xf16>
  coreai.output
}

// -----

coreai.graph @cast_extent(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and}}
  %r = "coreai.cast"(%x) : (tensor<2xf32>) -> tensor<3xf16>
  coreai.output
}

// -----

// Parts of complex numbers have exactly the inferred types.
coreai.graph @complex_refined(%x: tensor<?xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.create_complex"(%x, %y) : (tensor<?xf32>, tensor<2xf32>) ->
      tensor<2xcomplex<f32>>
  coreai.output
}

// -----

coreai.graph @complex_extents(%x: tensor<3xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and}}
  %r = "coreai.create_complex"(%x, %y) : (tensor<3xf32>, tensor<2xf32>) ->
      tensor<3xcomplex<f32>>
  coreai.output
}

// -----

coreai.graph @real_part_element(%x: tensor<2xcomplex<f32>>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.real_part"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xf16>
  coreai.output
}

// -----

coreai.graph @imaginary_part_refined(%x: tensor<?xcomplex<f32>>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.imaginary_part"(%x) : (tensor<?xcomplex<f32>>) -> tensor<2xf32>
  coreai.output
}

// -----

// Operands of the broadcasting forms broadcast.
coreai.graph @broadcasting_operands(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{operands don't have broadcast-compatible shapes}}
  %r = "coreai.decomposable.broadcasting_add"(%x, %y) : (tensor<2x3xf32>,
      tensor<2xf32>) -> tensor<2x3xf32>
  coreai.output
}

// -----

// Zero does not stretch.
coreai.graph @broadcasting_empty(%x: tensor<0x3xf32>, %y: tensor<4x3xf32>) {
  // expected-error @below {{operands don't have broadcast-compatible shapes}}
  %r = "coreai.decomposable.broadcasting_add"(%x, %y) : (tensor<0x3xf32>,
      tensor<4x3xf32>) -> tensor<0x3xf32>
  coreai.output
}

// -----

// The result must be what they broadcast to.
coreai.graph @broadcasting_result(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{result type '4x3' not broadcast compatible with}}
  %r = "coreai.decomposable.broadcasting_mul"(%x, %y) : (tensor<2x3xf32>,
      tensor<3xf32>) -> tensor<4x3xf32>
  coreai.output
}

// -----

coreai.graph @broadcasting_result_rank(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{result type '3' not broadcast compatible with}}
  %r = "coreai.decomposable.broadcasting_mul"(%x, %y) : (tensor<2x3xf32>,
      tensor<3xf32>) -> tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @broadcasting_element(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{result #0 must be}}
  %r = "coreai.decomposable.broadcasting_pow"(%x, %y) : (tensor<2x3xf32>,
      tensor<3xf32>) -> tensor<2x3xi1>
  coreai.output
}

// -----

coreai.graph @broadcasting_comparison_elements(%x: tensor<2x3xf32>,
    %y: tensor<3xf16>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.decomposable.broadcasting_equal"(%x, %y) : (tensor<2x3xf32>,
      tensor<3xf16>) -> tensor<2x3xi1>
  coreai.output
}

// -----

coreai.graph @broadcasting_where_choices(%x: tensor<i1>, %y: tensor<3xf32>,
    %z: tensor<3xf16>) {
  // expected-error @below {{{a, b, results} have same element type}}
  %r = "coreai.decomposable.broadcasting_where"(%x, %y, %z) : (tensor<i1>,
      tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>
  coreai.output
}

// -----

coreai.graph @broadcasting_where_condition(%x: tensor<2xi1>, %y: tensor<3xf32>,
    %z: tensor<3xf32>) {
  // expected-error @below {{operands don't have broadcast-compatible shapes}}
  %r = "coreai.decomposable.broadcasting_where"(%x, %y, %z) : (tensor<2xi1>,
      tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  coreai.output
}

// -----

// Properties are checked when they are set.
coreai.graph @gelu_formula(%x: tensor<2xf32>) {
  // expected-error @below {{Invalid attribute `approximate`}}
  %r = "coreai.gelu"(%x) <{approximate = 1 : i32}> : (tensor<2xf32>) ->
      tensor<2xf32>
  coreai.output
}
