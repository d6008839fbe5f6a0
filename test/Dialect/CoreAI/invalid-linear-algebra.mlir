// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -split-input-file -verify-diagnostics

// There are no vectors in matrix products.
coreai.graph @matmul_vector(%x: tensor<3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @below {{expected at least two axes, got 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.batch_matmul"(%x, %y) : (tensor<3xf32>, tensor<3x4xf32>) ->
      tensor<4xf32>
  coreai.output
}

// -----

coreai.graph @matmul_inner(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  // expected-error @below {{cannot multiply 'tensor<2x3xf32>' by}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.batch_matmul"(%x, %y) : (tensor<2x3xf32>, tensor<4x5xf32>) ->
      tensor<2x5xf32>
  coreai.output
}

// -----

coreai.graph @matmul_batch(%x: tensor<2x3x4xf32>, %y: tensor<1x4x5xf32>) {
  // expected-error @below {{batches differ: 'tensor<2x3x4xf32>' and}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.batch_matmul"(%x, %y) : (tensor<2x3x4xf32>, tensor<1x4x5xf32>) ->
      tensor<2x3x5xf32>
  coreai.output
}

// -----

coreai.graph @matmul_ranks(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @below {{batches differ: 'tensor<2x3x4xf32>' and}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.batch_matmul"(%x, %y) : (tensor<2x3x4xf32>, tensor<4x5xf32>) ->
      tensor<2x3x5xf32>
  coreai.output
}

// -----

coreai.graph @matmul_elements(%x: tensor<2x3xf32>, %y: tensor<3x4xf16>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.batch_matmul"(%x, %y) : (tensor<2x3xf32>, tensor<3x4xf16>) ->
      tensor<2x4xf32>
  coreai.output
}

// -----

coreai.graph @matmul_result(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.batch_matmul"(%x, %y) : (tensor<2x3xf32>, tensor<3x4xf32>) ->
      tensor<2x4xf16>
  coreai.output
}

// -----

coreai.graph @broadcasting_vector(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{expected at least two axes, got}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.decomposable.broadcasting_batch_matmul"(%x, %y) :
      (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  coreai.output
}

// -----

coreai.graph @broadcasting_inner(%x: tensor<2x3xf32>, %y: tensor<1x4x5xf32>) {
  // expected-error @below {{cannot multiply 'tensor<2x3xf32>' by}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.decomposable.broadcasting_batch_matmul"(%x, %y) :
      (tensor<2x3xf32>, tensor<1x4x5xf32>) -> tensor<1x2x5xf32>
  coreai.output
}

// -----

coreai.graph @broadcasting_batch(%x: tensor<2x3x4xf32>, %y: tensor<3x4x5xf32>) {
  // expected-error @below {{batches do not broadcast: 'tensor<2x3x4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %r = "coreai.decomposable.broadcasting_batch_matmul"(%x, %y) :
      (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<3x3x5xf32>
  coreai.output
}

// -----

coreai.graph @broadcasting_elements(%x: tensor<2x3xf32>, %y: tensor<3x4xf16>) {
  // expected-error @below {{requires the same element type for all operands}}
  %r = "coreai.decomposable.broadcasting_batch_matmul"(%x, %y) :
      (tensor<2x3xf32>, tensor<3x4xf16>) -> tensor<2x4xf32>
  coreai.output
}
