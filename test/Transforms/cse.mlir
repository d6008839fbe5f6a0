// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-cse -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: coreai.graph @same
// CHECK:         %[[SUM:.*]] = coreai.add %{{.*}}, %{{.*}} loc(#debuginfo.location<loc("a.py":1:1) in unit fused with [<loc("a.py":2:1) in unit>, <loc("a.py":3:1) in unit>]>)
// CHECK-NOT:     coreai.add
// CHECK:         coreai.if
// CHECK:           coreai.yield %[[SUM]]
// CHECK:         coreai.output %[[SUM]], %[[SUM]]
coreai.graph @same(%x: tensor<2xf32>, %y: tensor<2xf32>, %flag: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = coreai.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(#debuginfo.location<loc("a.py":1:1) in unit>)
  %1 = coreai.add %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(#debuginfo.location<loc("a.py":2:1) in unit>)
  %2 = coreai.if %flag {
    %3 = coreai.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc(#debuginfo.location<loc("a.py":3:1) in unit>)
    coreai.yield %3 : tensor<2xf32>
  } else {
    coreai.yield %x : tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32>
  coreai.output %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Weights of one name are one.
// CHECK-LABEL: coreai.graph @constants
// CHECK:         %[[C:.*]] = coreai.constant dense<1.0
// CHECK:         coreai.output %[[C]], %[[C]]
coreai.graph @constants() -> (tensor<f32>, tensor<f32>) {
  %0 = coreai.constant dense<1.0> : tensor<f32>
  %1 = coreai.constant dense<1.0> : tensor<f32>
  coreai.output %0, %1 : tensor<f32>, tensor<f32>
}

// Of zeros of two signs the first operand wins.
// CHECK-LABEL: coreai.graph @ordered
// CHECK-COUNT-2: coreai.maximum
// CHECK-COUNT-2: coreai.sub
coreai.graph @ordered(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = coreai.maximum %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = coreai.maximum %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = coreai.sub %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = coreai.sub %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// A value of one branch is none of the other.
// CHECK-LABEL: coreai.graph @branches
// CHECK-COUNT-2: coreai.exp
coreai.graph @branches(%x: tensor<2xf32>, %flag: tensor<i1>) -> tensor<2xf32> {
  %0 = coreai.if %flag {
    %1 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %1 : tensor<2xf32>
  } else {
    %1 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %1 : tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// CHECK-LABEL: coreai.graph @state
// CHECK:         coreai.read_handle
// CHECK:         coreai.write_handle
// CHECK:         coreai.read_handle
coreai.graph @state(%s: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, !coreai.token {coreai.name = "s"}) {
  %t = coreai.create_token : !coreai.token
  %a, %t1 = coreai.read_handle %s, %t : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  %t2 = coreai.write_handle %s, %x, %t1 : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  %b, %t3 = coreai.read_handle %s, %t : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  coreai.output %a, %b, %t2 : tensor<2xf32>, tensor<2xf32>, !coreai.token
}

// Replacing and keeping are two updates.
// CHECK-LABEL: coreai.graph @regions
// CHECK-COUNT-2: coreai.scatter_nd
// CHECK-NOT:     coreai.scatter_nd
coreai.graph @regions(%x: tensor<4xf32>, %i: tensor<1x1xsi32>, %u: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = coreai.scatter_nd %x with %u at %i {
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    coreai.yield %new : tensor<f32>
  } : (tensor<4xf32>, tensor<1xf32>, tensor<1x1xsi32>) to tensor<4xf32>
  %1 = coreai.scatter_nd %x with %u at %i {
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    coreai.yield %old : tensor<f32>
  } : (tensor<4xf32>, tensor<1xf32>, tensor<1x1xsi32>) to tensor<4xf32>
  %2 = coreai.scatter_nd %x with %u at %i {
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    coreai.yield %new : tensor<f32>
  } : (tensor<4xf32>, tensor<1xf32>, tensor<1x1xsi32>) to tensor<4xf32>
  coreai.output %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
