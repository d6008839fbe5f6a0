// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// Indices are 16 or 32 bits wide.
coreai.graph @indices_wide(%x: tensor<4xf32>, %y: tensor<2xsi64>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.gather_along_axis"(%x, %y, %c0) : (tensor<4xf32>, tensor<2xsi64>,
      tensor<si32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @gather_axis(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>) {
  %c0 = coreai.constant dense<2> : tensor<si32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.gather_along_axis"(%x, %y, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<si32>) -> tensor<2x5xf32>
  coreai.output
}

// -----

coreai.graph @gather_narrow_axis(%x: tensor<4x5xf32>, %y: tensor<4x2xsi32>) {
  %c0 = coreai.constant dense<-1> : tensor<si16>
  // expected-error @below {{axis 65535 is out of range for a tensor of rank 2}}
  %r = "coreai.gather_along_axis"(%x, %y, %c0) : (tensor<4x5xf32>,
      tensor<4x2xsi32>, tensor<si16>) -> tensor<4x2xf32>
  coreai.output
}

// -----

coreai.graph @gather_resource(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>) {
  %c0 = coreai.constant dense_resource<axis> : tensor<si32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.gather_along_axis"(%x, %y, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<si32>) -> tensor<2x5xf32>
  coreai.output
}

// -----

coreai.graph @gather_off_axis(%x: tensor<4x5xf32>, %y: tensor<2x4xsi32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{input and indices differ in extent 1}}
  %r = "coreai.gather_along_axis"(%x, %y, %c0) : (tensor<4x5xf32>,
      tensor<2x4xsi32>, tensor<si32>) -> tensor<2x4xf32>
  coreai.output
}

// -----

coreai.graph @gather_ranks(%x: tensor<4x5xf32>, %y: tensor<2xsi32>,
    %z: tensor<si32>) {
  // expected-error @below {{indices must have the rank of the input}}
  %r = "coreai.gather_along_axis"(%x, %y, %z) : (tensor<4x5xf32>,
      tensor<2xsi32>, tensor<si32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @gather_extent(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.gather_along_axis"(%x, %y, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<si32>) -> tensor<3x5xf32>
  coreai.output
}

// -----

coreai.graph @gather_element(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.gather_along_axis"(%x, %y, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<si32>) -> tensor<2x5xf16>
  coreai.output
}

// -----

// Index vectors are of a known length, at most the rank.
coreai.graph @gather_nd_unknown(%x: tensor<4x5xf32>, %y: tensor<2x?xsi32>) {
  // expected-error @below {{last extent of the indices must be static}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.gather_nd"(%x, %y) : (tensor<4x5xf32>, tensor<2x?xsi32>) ->
      tensor<2x5xf32>
  coreai.output
}

// -----

coreai.graph @gather_nd_depth(%x: tensor<4x5xf32>, %y: tensor<2x3xsi32>) {
  // expected-error @below {{index vectors of 3 elements for a tensor of rank}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.gather_nd"(%x, %y) : (tensor<4x5xf32>, tensor<2x3xsi32>) ->
      tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @gather_nd_scalar(%x: tensor<4x5xf32>, %y: tensor<si32>) {
  // expected-error @below {{indices must have at least one axis}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.gather_nd"(%x, %y) : (tensor<4x5xf32>, tensor<si32>) ->
      tensor<5xf32>
  coreai.output
}

// -----

// The result is exact.
coreai.graph @gather_nd_refined(%x: tensor<4x?xf32>, %y: tensor<2x1xsi32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.gather_nd"(%x, %y) : (tensor<4x?xf32>, tensor<2x1xsi32>) ->
      tensor<2x5xf32>
  coreai.output
}

// -----

coreai.graph @gather_nd_element(%x: tensor<4x5xf32>, %y: tensor<2x1xsi32>) {
  // expected-error @below {{are incompatible with return type(s)}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.gather_nd"(%x, %y) : (tensor<4x5xf32>, tensor<2x1xsi32>) ->
      tensor<2x5xf16>
  coreai.output
}

// -----

coreai.graph @scatter_axis(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>,
    %z: tensor<2x5xf32>) {
  %c0 = coreai.constant dense<2> : tensor<si32>
  // expected-error @below {{axis 2 is out of range for a tensor of rank 2}}
  %r = "coreai.scatter_along_axis"(%x, %y, %z, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<2x5xf32>, tensor<si32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_result(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>,
    %z: tensor<2x5xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{result must have the type of the input}}
  %r = "coreai.scatter_along_axis"(%x, %y, %z, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<2x5xf32>, tensor<si32>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @scatter_element(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>,
    %z: tensor<2x5xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{result must have the type of the input}}
  %r = "coreai.scatter_along_axis"(%x, %y, %z, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<2x5xf32>, tensor<si32>) -> tensor<4x5xf16>
  coreai.output
}

// -----

coreai.graph @scatter_updates(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>,
    %z: tensor<2x4xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{operands must have the same shape, got}}
  %r = "coreai.scatter_along_axis"(%x, %y, %z, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<2x4xf32>, tensor<si32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_off_axis(%x: tensor<4x5xf32>, %y: tensor<2x4xsi32>,
    %z: tensor<2x4xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{input and indices differ in extent 1}}
  %r = "coreai.scatter_along_axis"(%x, %y, %z, %c0) : (tensor<4x5xf32>,
      tensor<2x4xsi32>, tensor<2x4xf32>, tensor<si32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_ranks(%x: tensor<4x5xf32>, %y: tensor<2xsi32>,
    %z: tensor<2xf32>) {
  %c0 = coreai.constant dense<0> : tensor<si32>
  // expected-error @below {{indices must have the rank of the input}}
  %r = "coreai.scatter_along_axis"(%x, %y, %z, %c0) : (tensor<4x5xf32>,
      tensor<2xsi32>, tensor<2xf32>, tensor<si32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_resource(%x: tensor<4x5xf32>, %y: tensor<2x5xsi32>,
    %z: tensor<2x5xf32>) {
  %c0 = coreai.constant dense_resource<axis> : tensor<si32>
  // expected-error @below {{constant shape and index operands must be}}
  %r = "coreai.scatter_along_axis"(%x, %y, %z, %c0) : (tensor<4x5xf32>,
      tensor<2x5xsi32>, tensor<2x5xf32>, tensor<si32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_updates(%x: tensor<4x5xf32>, %y: tensor<2x1xsi32>,
    %z: tensor<2x6xf32>) {
  // expected-error @below {{updates must be 'tensor<2x5xf32>', got}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x6xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

// In the updates, `?` does not match a number.
coreai.graph @scatter_nd_unknown(%x: tensor<4x?xf32>, %y: tensor<2x1xsi32>,
    %z: tensor<2x5xf32>) {
  // expected-error @below {{updates must be 'tensor<2x?xf32>', got}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<4x?xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x?xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_element(%x: tensor<4x5xf32>, %y: tensor<2x1xsi32>,
    %z: tensor<2x5xf16>) {
  // expected-error @below {{{input, updates, output} have same element type}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf16>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_result(%x: tensor<4x5xf32>, %y: tensor<2x1xsi32>,
    %z: tensor<2x5xf32>) {
  // expected-error @below {{result must have the shape of the input}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x6xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_depth(%x: tensor<4x5xf32>, %y: tensor<2x3xsi32>,
    %z: tensor<2xf32>) {
  // expected-error @below {{index vectors of 3 elements for a tensor of rank}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x3xsi32>, tensor<2xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_scalar(%x: tensor<4x5xf32>, %y: tensor<si32>,
    %z: tensor<5xf32>) {
  // expected-error @below {{indices must have at least one axis}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"(%b) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<si32>, tensor<5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

// The region only chooses between its two arguments.
coreai.graph @scatter_nd_arguments(%x: tensor<4x5xf32>, %y: tensor<2x1xsi32>,
    %z: tensor<2x5xf32>) {
  // expected-error @below {{region must have two arguments, got 1}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>):
    "coreai.yield"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_argument_element(%x: tensor<4x5xf32>,
    %y: tensor<2x1xsi32>, %z: tensor<2x5xf32>) {
  // expected-error @below {{arguments of the region must be tensors of}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f16>):
    "coreai.yield"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_argument_kind(%x: tensor<4x5xf32>,
    %y: tensor<2x1xsi32>, %z: tensor<2x5xf32>) {
  // expected-error @below {{arguments of the region must be tensors of}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: f32, %b: f32):
    "coreai.yield"(%a) : (f32) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_body(%x: tensor<4x5xf32>, %y: tensor<2x1xsi32>,
    %z: tensor<2x5xf32>) {
  // expected-error @below {{region may hold nothing but its 'coreai.yield'}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "coreai.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "coreai.yield"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_yields_nothing(%x: tensor<4x5xf32>,
    %y: tensor<2x1xsi32>, %z: tensor<2x5xf32>) {
  // expected-error @below {{region must yield one tensor of 'f32'}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"() : () -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_yielded_element(%x: tensor<4x5xf32>,
    %y: tensor<2x1xsi32>, %z: tensor<2x5xf32>) {
  // expected-error @below {{region must yield one tensor of 'f32'}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "coreai.yield"(%y) : (tensor<2x1xsi32>) -> ()
  }) : (tensor<4x5xf32>, tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @scatter_nd_no_block(%x: tensor<4x5xf32>, %y: tensor<2x1xsi32>,
    %z: tensor<2x5xf32>) {
  // expected-error @below {{region #0 ('update_fn') failed to verify}}
  %r = "coreai.scatter_nd"(%x, %y, %z) ({}) : (tensor<4x5xf32>,
      tensor<2x1xsi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  coreai.output
}

// -----

coreai.graph @non_zero_depth(%x: tensor<4x5xf32>) {
  // expected-error @below {{second extent of the result must be 2}}
  %r = "coreai.non_zero"(%x) : (tensor<4x5xf32>) -> tensor<?x3xsi32>
  coreai.output
}

// -----

coreai.graph @non_zero_unknown(%x: tensor<4x5xf32>) {
  // expected-error @below {{second extent of the result must be 2}}
  %r = "coreai.non_zero"(%x) : (tensor<4x5xf32>) -> tensor<?x?xsi32>
  coreai.output
}

// -----

coreai.graph @non_zero_element(%x: tensor<4x5xf32>) {
  // expected-error @below {{result #0 must be}}
  %r = "coreai.non_zero"(%x) : (tensor<4x5xf32>) -> tensor<?x2xui32>
  coreai.output
}
