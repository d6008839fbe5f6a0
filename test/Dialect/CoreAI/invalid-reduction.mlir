// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// Axes are a vector of signed indices.
coreai.graph @axes_unsigned(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xui32>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.reduce_sum"(%x, %c0) : (tensor<2x3xf32>, tensor<1xui32>) ->
      tensor<2x1xf32>
  coreai.output
}

// -----

coreai.graph @axes_scalar(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.reduce_sum"(%x, %c0) : (tensor<2x3xf32>, tensor<si32>) ->
      tensor<2x1xf32>
  coreai.output
}

// -----

coreai.graph @axes_wide(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi64>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.reduce_sum"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi64>) ->
      tensor<2x1xf32>
  coreai.output
}

// -----

// There are no more axes than the rank.
coreai.graph @too_many_axes(%x: tensor<2xf32>) {
  %c0 = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  // expected-error @below {{lists 2 axes of a tensor of rank 1}}
  %r = "coreai.reduce_sum"(%x, %c0) : (tensor<2xf32>, tensor<2xsi32>) ->
      tensor<1xf32>
  coreai.output
}

// -----

coreai.graph @too_many_unknown_axes(%x: tensor<2xf32>, %y: tensor<2xsi32>) {
  // expected-error @below {{lists 2 axes of a tensor of rank 1}}
  %r = "coreai.reduce_max"(%x, %y) : (tensor<2xf32>, tensor<2xsi32>) ->
      tensor<1xf32>
  coreai.output
}

// -----

// The rank is kept.
coreai.graph @reduced_rank(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reduce_mean"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @reduced_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reduce_min"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi32>) ->
      tensor<2x1xf16>
  coreai.output
}

// -----

coreai.graph @product_rank(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.reduce_product"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

// The logical reductions want an axis, in range.
coreai.graph @all_no_axes(%x: tensor<2x3xi1>) {
  %c0 = coreai.constant dense<[]> : tensor<0xsi32>
  // expected-error @below {{needs at least one axis}}
  %r = "coreai.all"(%x, %c0) : (tensor<2x3xi1>, tensor<0xsi32>) ->
      tensor<2x3xi1>
  coreai.output
}

// -----

coreai.graph @all_axis(%x: tensor<2x3xi1>) {
  %c0 = coreai.constant dense<[2]> : tensor<1xsi32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.all"(%x, %c0) : (tensor<2x3xi1>, tensor<1xsi32>) ->
      tensor<2x3xi1>
  coreai.output
}

// -----

coreai.graph @any_axis(%x: tensor<2x3xi1>) {
  %c0 = coreai.constant dense<[-3]> : tensor<1xsi32>
  // expected-error @below {{axis -3 is out of range for a tensor of rank 2}}
  %r = "coreai.any"(%x, %c0) : (tensor<2x3xi1>, tensor<1xsi32>) ->
      tensor<2x3xi1>
  coreai.output
}

// -----

coreai.graph @any_axes(%x: tensor<2x3xi1>) {
  %c0 = coreai.constant dense<[0, 1, 0]> : tensor<3xsi32>
  // expected-error @below {{lists 3 axes of a tensor of rank 2}}
  %r = "coreai.any"(%x, %c0) : (tensor<2x3xi1>, tensor<3xsi32>) ->
      tensor<1x1xi1>
  coreai.output
}

// -----

// Constant axes are inline.
coreai.graph @all_resource(%x: tensor<2x3xi1>) {
  %c0 = coreai.constant dense_resource<axes> : tensor<1xsi32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.all"(%x, %c0) : (tensor<2x3xi1>, tensor<1xsi32>) ->
      tensor<2x1xi1>
  coreai.output
}

// -----

// The generic reductions compare element types only.
coreai.graph @reduce_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{{input, output} have same element type}}
  %r = "coreai.reduce"(%x, %c0, %c1) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "coreai.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "coreai.yield"(%s) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf16>
  coreai.output
}

// -----

coreai.graph @reduce_no_block(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-error @below {{region #0 ('reduction') failed to verify}}
  %r = "coreai.reduce"(%x, %c0, %c1) ({}) : (tensor<2x3xf32>, tensor<1xsi32>,
      tensor<f32>) -> tensor<2x1xf32>
  coreai.output
}

// -----

// Their regions are isolated.
coreai.graph @reduce_capture(%x: tensor<f32>) {
  %c0 = coreai.constant dense<[0]> : tensor<1xsi32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  // expected-note @below {{required by region isolation constraints}}
  %r = "coreai.reduce"(%x, %c0, %c1) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @below {{using value defined outside the region}}
    "coreai.yield"(%x) : (tensor<f32>) -> ()
  }) : (tensor<f32>, tensor<1xsi32>, tensor<f32>) -> tensor<f32>
  coreai.output
}

// -----

coreai.graph @reduce_index_init(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  %c1 = coreai.constant dense<0.0> : tensor<f16>
  %c2 = coreai.constant dense<0> : tensor<ui32>
  // expected-error @below {{{input, init_value} have same element type}}
  %r = "coreai.reduce_index"(%x, %c0, %c1, %c2) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "coreai.greater"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "coreai.yield"(%s) : (tensor<i1>) -> ()
  }) : (tensor<2x3xf32>, tensor<si32>, tensor<f16>, tensor<ui32>) ->
      tensor<2x1xui32>
  coreai.output
}

// -----

coreai.graph @reduce_index_result(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  %c1 = coreai.constant dense<0.0> : tensor<f32>
  %c2 = coreai.constant dense<0> : tensor<ui32>
  // expected-error @below {{{init_index, output} have same element type}}
  %r = "coreai.reduce_index"(%x, %c0, %c1, %c2) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "coreai.greater"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "coreai.yield"(%s) : (tensor<i1>) -> ()
  }) : (tensor<2x3xf32>, tensor<si32>, tensor<f32>, tensor<ui32>) ->
      tensor<2x1xui16>
  coreai.output
}

// -----

coreai.graph @argmax_axes(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<[1]> : tensor<1xsi32>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.argmax"(%x, %c0) : (tensor<2x3xf32>, tensor<1xsi32>) ->
      tensor<2x1xui32>
  coreai.output
}

// -----

coreai.graph @argmax_result(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{result #0 must be}}
  %r = "coreai.argmax"(%x, %c0) : (tensor<2x3xf32>, tensor<si32>) ->
      tensor<2x1xsi32>
  coreai.output
}

// -----

coreai.graph @softmax_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.softmax"(%x, %c0) : (tensor<2x3xf32>, tensor<si32>) ->
      tensor<2x3xf16>
  coreai.output
}

// -----

// The axis of a scan is unsigned.
coreai.graph @scan_signed(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.scan"(%x, %c0, %c1) <{scan_op = 0 : i32}> : (tensor<2x3xf32>,
      tensor<si32>, tensor<i1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @scan_axis(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<2> : tensor<ui32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.scan"(%x, %c0, %c1) <{scan_op = 0 : i32}> : (tensor<2x3xf32>,
      tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @scan_resource(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense_resource<axis> : tensor<ui32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.scan"(%x, %c0, %c1) <{scan_op = 0 : i32}> : (tensor<2x3xf32>,
      tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @scan_extent(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<ui32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.scan"(%x, %c0, %c1) <{scan_op = 0 : i32}> : (tensor<2x3xf32>,
      tensor<ui32>, tensor<i1>) -> tensor<2x4xf32>
  coreai.output
}

// -----

coreai.graph @scan_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<ui32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.scan"(%x, %c0, %c1) <{scan_op = 0 : i32}> : (tensor<2x3xf32>,
      tensor<ui32>, tensor<i1>) -> tensor<2x3xf16>
  coreai.output
}

// -----

coreai.graph @scan_combiner(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<ui32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{Invalid attribute `scan_op`}}
  %r = "coreai.scan"(%x, %c0, %c1) <{scan_op = 4 : i32}> : (tensor<2x3xf32>,
      tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @sort_dim(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<2> : tensor<si32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.sort"(%x, %c0, %c1, %c2) : (tensor<2x3xf32>, tensor<si32>,
      tensor<i1>, tensor<i1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

// A negative si16 is read by its bits here.
coreai.graph @sort_narrow_dim(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<-1> : tensor<si16>
  %c1 = coreai.constant dense<false> : tensor<i1>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{axis 65535 is out of range for a tensor of rank 2}}
  %r = "coreai.sort"(%x, %c0, %c1, %c2) : (tensor<2x3xf32>, tensor<si16>,
      tensor<i1>, tensor<i1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @sort_resource(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense_resource<dim> : tensor<si32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.sort"(%x, %c0, %c1, %c2) : (tensor<2x3xf32>, tensor<si32>,
      tensor<i1>, tensor<i1>) -> tensor<2x3xf32>
  coreai.output
}

// -----

coreai.graph @sort_extent(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{result must have the shape of the input}}
  %r = "coreai.sort"(%x, %c0, %c1, %c2) : (tensor<2x3xf32>, tensor<si32>,
      tensor<i1>, tensor<i1>) -> tensor<2x4xf32>
  coreai.output
}

// -----

coreai.graph @sort_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{{input, result} have same element type}}
  %r = "coreai.sort"(%x, %c0, %c1, %c2) : (tensor<2x3xf32>, tensor<si32>,
      tensor<i1>, tensor<i1>) -> tensor<2x3xf16>
  coreai.output
}

// -----

// The result of argsort is exact.
coreai.graph @argsort_refined(%x: tensor<?x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.argsort"(%x, %c0, %c1, %c2) : (tensor<?x3xf32>, tensor<si32>,
      tensor<i1>, tensor<i1>) -> tensor<2x3xsi32>
  coreai.output
}

// -----

coreai.graph @argsort_element(%x: tensor<2x3xf32>) {
  %c0 = coreai.constant dense<1> : tensor<si32>
  %c1 = coreai.constant dense<false> : tensor<i1>
  %c2 = coreai.constant dense<false> : tensor<i1>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.argsort"(%x, %c0, %c1, %c2) : (tensor<2x3xf32>, tensor<si32>,
      tensor<i1>, tensor<i1>) -> tensor<2x3xsi16>
  coreai.output
}
