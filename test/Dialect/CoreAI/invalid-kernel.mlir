// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// Arguments and results of a kernel live in Metal buffers.
#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @argument(%x: tensor<2xf32>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf32>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>) ->
      tensor<2xf32, #buffer>
  coreai.output
}

// -----

#surface = #coreaix.hw_constraints<IOSurface,
    alignments: [1x1], interleave: [1]>
#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @argument_surface(%x: tensor<2xf32, #surface>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf32, #surface>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>)
      -> tensor<2xf32, #buffer>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @argument_element(%x: tensor<2xf64, #buffer>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>) {
  // expected-error @below {{operand #0 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf64, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>)
      -> tensor<2xf32, #buffer>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @result(%x: tensor<2xf32, #buffer>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>) {
  // expected-error @below {{result #0 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>)
      -> tensor<2xf32>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @grid(%x: tensor<2xf32, #buffer>, %y: tensor<2xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>) {
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf32, #buffer>, tensor<2xui32>, tensor<3xui32>, tensor<1xui32>)
      -> tensor<2xf32, #buffer>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @grid_unknown(%x: tensor<2xf32, #buffer>, %y: tensor<?xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>) {
  // expected-error @below {{operand #1 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf32, #buffer>, tensor<?xui32>, tensor<3xui32>, tensor<1xui32>)
      -> tensor<2xf32, #buffer>
  coreai.output
}

// -----

// There is one shape of static length per result.
#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @no_shapes(%x: tensor<2xf32, #buffer>, %y: tensor<3xui32>,
    %z: tensor<3xui32>) {
  // expected-error @below {{needs one shape per result, got 0 for 1}}
  %r = "coreai.metal4_kernel"(%x, %y, %z) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 0>}> :
      (tensor<2xf32, #buffer>, tensor<3xui32>, tensor<3xui32>) ->
      tensor<2xf32, #buffer>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @two_shapes(%x: tensor<2xf32, #buffer>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>, %v: tensor<1xui32>) {
  // expected-error @below {{needs one shape per result, got 2 for 1}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u, %v) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 2>}> :
      (tensor<2xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>,
      tensor<1xui32>) -> tensor<2xf32, #buffer>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @shape_unknown(%x: tensor<2xf32, #buffer>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<?xui32>) {
  // expected-error @below {{operand #3 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<?xui32>)
      -> tensor<2xf32, #buffer>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @shape_width(%x: tensor<2xf32, #buffer>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui16>) {
  // expected-error @below {{operand #3 must be}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 1>}> :
      (tensor<2xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui16>)
      -> tensor<2xf32, #buffer>
  coreai.output
}

// -----

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>
coreai.graph @segments(%x: tensor<2xf32, #buffer>, %y: tensor<3xui32>,
    %z: tensor<3xui32>, %u: tensor<1xui32>) {
  // expected-error @below {{operand count (4) does not match with the total}}
  %r = "coreai.metal4_kernel"(%x, %y, %z, %u) <{kernel_name = "k",
      kernel_source = "s", operandSegmentSizes = array<i32: 1, 1, 1, 3>}> :
      (tensor<2xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>)
      -> tensor<2xf32, #buffer>
  coreai.output
}
