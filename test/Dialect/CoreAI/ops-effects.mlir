// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --canonicalize | FileCheck %s

// Which ops may be removed when nothing uses them, and which operands may be
// exchanged.

// CHECK-LABEL: coreai.graph @removed
coreai.graph @removed(%x: tensor<2x3xf32>, %flag: tensor<i1>, %handle: !coreai.handle<tensor<2x3xf32>>) -> !coreai.token {
  // CHECK-NEXT: %[[FRESH:.*]] = coreai.create_token
  // CHECK-NEXT: coreai.output %[[FRESH]]
  %fresh = coreai.create_token : !coreai.token
  %add = coreai.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %sum = coreai.reduce %x, %axes, init %zero {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = coreai.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    coreai.yield %c : tensor<f32>
  } : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf32>
  %if = coreai.if %flag {
    coreai.yield %x : tensor<2x3xf32>
  } else {
    coreai.yield %add : tensor<2x3xf32>
  } : tensor<i1> -> tensor<2x3xf32>
  %while = coreai.while %x {
  ^bb0(%state: tensor<2x3xf32>):
    coreai.condition %flag, %state : (tensor<i1>, tensor<2x3xf32>)
  } do {
  ^bb0(%state: tensor<2x3xf32>):
    coreai.yield %state : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> (tensor<2x3xf32>)
  %group = coreai.isolated_group<"Interpreter">(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%inside: tensor<2x3xf32>):
    coreai.yield %inside : tensor<2x3xf32>
  }
  // Even a write, when its token goes nowhere.
  %written = coreai.write_handle %handle, %x, %fresh : (<tensor<2x3xf32>>, tensor<2x3xf32>, !coreai.token) -> !coreai.token
  coreai.output %fresh : !coreai.token
}

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>

// CHECK-LABEL: coreai.graph @kept
coreai.graph @kept(%x: tensor<4xf32>, %constrained: tensor<4xf32, #buffer>) {
  %axis = coreai.constant dense<0> : tensor<ui32>
  %no = coreai.constant dense<false> : tensor<i1>
  %threads = coreai.constant dense<1> : tensor<3xui32>
  %shape = coreai.constant dense<4> : tensor<1xui32>
  // CHECK: coreai.scan
  %scan = coreai.scan %x, %axis, %no combiner = <sum> : (tensor<4xf32>, tensor<ui32>, tensor<i1>) -> tensor<4xf32>
  // CHECK: coreai.metal4_kernel
  %kernel = coreai.metal4_kernel kernel_args(%constrained), threads_per_grid %threads, threads_per_thread_group %threads, result_shapes(%shape) {kernel_name = "k", kernel_source = ""} : (tensor<4xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>) -> tensor<4xf32, #buffer>
  // CHECK: coreai.delegate
  %delegate = coreai.delegate<"X">(%x) {resource = array<i8>} : (tensor<4xf32>) -> tensor<4xf32>
  coreai.output
}

// CHECK-LABEL: coreai.graph @exchanged
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
coreai.graph @exchanged(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[C:.*]] = coreai.constant
  %c = coreai.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: coreai.add %[[X]], %[[C]]
  %add = coreai.add %c, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: coreai.decomposable.broadcasting_mul %[[X]], %[[C]]
  %mul = coreai.decomposable.broadcasting_mul %c, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: coreai.sub %[[C]], %[[X]]
  %sub = coreai.sub %c, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: coreai.decomposable.broadcasting_maximum %[[C]], %[[X]]
  %max = coreai.decomposable.broadcasting_maximum %c, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %add, %mul, %sub, %max : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
