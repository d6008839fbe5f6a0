// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-remove-dead-code | FileCheck %s

// Chains go as a whole, loops and scans too, and results of branches.

// CHECK-LABEL: coreai.graph @removed
// CHECK-NEXT:    %[[R:.*]] = coreai.if
// CHECK-NEXT:      %[[E:.*]] = coreai.exp
// CHECK-NEXT:      coreai.yield %[[E]] : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      coreai.yield %{{.*}} : tensor<4xf32>
// CHECK-NEXT:    } : tensor<i1> -> tensor<4xf32>
// CHECK-NEXT:    coreai.output %[[R]]
coreai.graph @removed(%x: tensor<4xf32>, %flag: tensor<i1>) -> tensor<4xf32> {
  %axis = coreai.constant dense<0> : tensor<ui32>
  %no = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.sin %x : tensor<4xf32> -> tensor<4xf32>
  %1 = coreai.scan %0, %axis, %no combiner = <sum> : (tensor<4xf32>, tensor<ui32>, tensor<i1>) -> tensor<4xf32>
  %2 = coreai.while %1 {
  ^bb0(%state: tensor<4xf32>):
    coreai.condition %flag, %state : (tensor<i1>, tensor<4xf32>)
  } do {
  ^bb0(%state: tensor<4xf32>):
    coreai.yield %state : tensor<4xf32>
  } : (tensor<4xf32>) -> (tensor<4xf32>)
  %3:2 = coreai.if %flag {
    %4 = coreai.exp %x : tensor<4xf32> -> tensor<4xf32>
    %5 = coreai.tanh %x : tensor<4xf32> -> tensor<4xf32>
    coreai.yield %5, %4 : tensor<4xf32>, tensor<4xf32>
  } else {
    coreai.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  } : tensor<i1> -> tensor<4xf32>, tensor<4xf32>
  coreai.output %3#1 : tensor<4xf32>
}

// A write whose token is returned, and one that a later access follows.
// CHECK-LABEL: coreai.graph @state
// CHECK-COUNT-2: coreai.write_handle
coreai.graph @state(%s: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}, %x: tensor<2xf32>) -> (!coreai.token {coreai.name = "s"}) {
  %t = coreai.create_token : !coreai.token
  %t1 = coreai.write_handle %s, %x, %t : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  %v, %t2 = coreai.read_handle %s, %t1 : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  %y = coreai.exp %v : tensor<2xf32> -> tensor<2xf32>
  %t3 = coreai.write_handle %s, %y, %t2 : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  coreai.output %t3 : !coreai.token
}

// Whatever a delegate or a call does is unknown.
coreai.graph private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  coreai.output %x : tensor<4xf32>
}
// CHECK-LABEL: coreai.graph @unknown
// CHECK:         coreai.delegate
// CHECK:         coreai.invoke
coreai.graph @unknown(%x: tensor<4xf32>) {
  %0 = coreai.delegate<"X">(%x) {resource = array<i8>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = coreai.invoke @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  coreai.output
}
