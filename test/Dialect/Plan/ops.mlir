// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: plan.function @straight inputs ["x", "i"] states ["s"] outputs ["y"] {
// CHECK-NEXT:  ^bb0(%[[X:.*]]: tensor<?x4xf32>, %[[I:.*]]: tensor<1xsi32>, %[[S:.*]]: tensor<8x4xf32>):
plan.function @straight inputs ["x", "i"] states ["s"] outputs ["y"] {
^bb0(%x: tensor<?x4xf32>, %i: tensor<1xsi32>, %s: tensor<8x4xf32>):
  // CHECK-NEXT: %[[N:.*]] = plan.extent %[[X]], 0 : tensor<?x4xf32>
  %n = plan.extent %x, 0 : tensor<?x4xf32>
  // CHECK-NEXT: %[[AT:.*]] = plan.element %[[I]], 0 : tensor<1xsi32>
  %at = plan.element %i, 0 : tensor<1xsi32>
  // CHECK-NEXT: %[[W:.*]] = plan.constant dense<1.000000e+00> : tensor<4x4xf32> : tensor<4x4xf32>
  %w = plan.constant dense<1.0> : tensor<4x4xf32> : tensor<4x4xf32>
  // CHECK-NEXT: %[[NONE:.*]] = plan.absent : none
  %none = plan.absent : none
  // CHECK-NEXT: %[[TURNED:.*]] = plan.view %[[X]] sizes(%[[N]]) offset 0() strides [1, 4]() : tensor<?x4xf32> to tensor<4x?xf32>
  %turned = plan.view %x sizes(%n) offset 0() strides [1, 4]() : tensor<?x4xf32> to tensor<4x?xf32>
  // CHECK-NEXT: %[[ROW:.*]] = plan.view %[[S]] sizes() offset -9223372036854775808(%[[AT]]) strides [-9223372036854775808](%[[N]]) : tensor<8x4xf32> to tensor<4xf32>
  %row = plan.view %s sizes() offset -9223372036854775808(%at) strides [-9223372036854775808](%n) : tensor<8x4xf32> to tensor<4xf32>
  // CHECK-NEXT: %[[P:.*]] = plan.kernel "PackMatrix"(%[[W]]) numbers [] prepared : (tensor<4x4xf32>) -> tensor<1x4x32xf32>
  %p = plan.kernel "PackMatrix"(%w) numbers [] prepared : (tensor<4x4xf32>) -> tensor<1x4x32xf32>
  // CHECK-NEXT: %[[Y:.*]] = plan.kernel "MatMulPacked"(%[[X]], %[[P]], %[[NONE]]) with(%[[X]]) numbers [1, -9223372036854775808](%[[AT]]) sizes(%[[N]]) order [1, 0] : (tensor<?x4xf32>, tensor<1x4x32xf32>, none, tensor<?x4xf32>, index, index) -> tensor<?x4xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT:   %[[TWO:.*]] = plan.immediate 2.000000e+00 : f32
  // CHECK-NEXT:   %[[SUM:.*]] = plan.lane "Add"(%[[A]], %[[TWO]]) : (f32, f32) -> f32
  // CHECK-NEXT:   plan.yield %[[SUM]] : f32
  // CHECK-NEXT: }
  %y = plan.kernel "MatMulPacked"(%x, %p, %none) with(%x) numbers [1, -9223372036854775808](%at) sizes(%n) order [1, 0] : (tensor<?x4xf32>, tensor<1x4x32xf32>, none, tensor<?x4xf32>, index, index) -> tensor<?x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %two = plan.immediate 2.0 : f32
    %sum = plan.lane "Add"(%a, %two) : (f32, f32) -> f32
    plan.yield %sum : f32
  }
  // CHECK-NEXT: %[[NEW:.*]] = plan.insert %[[ROW]] into %[[S]] offset 4() strides [1]() : tensor<4xf32> into tensor<8x4xf32>
  %new = plan.insert %row into %s offset 4() strides [1]() : tensor<4xf32> into tensor<8x4xf32>
  // CHECK-NEXT: plan.store %[[NEW]] to %[[S]] : tensor<8x4xf32> to tensor<8x4xf32>
  plan.store %new to %s : tensor<8x4xf32> to tensor<8x4xf32>
  // CHECK-NEXT: plan.return %[[Y]] : tensor<?x4xf32>
  plan.return %y : tensor<?x4xf32>
}

// CHECK-LABEL: plan.function @control
plan.function @control inputs ["flag", "x"] states [] outputs ["y", "z"] {
^bb0(%flag: tensor<i1>, %x: tensor<3xf32>):
  // CHECK: %[[ONE:.*]] = plan.if %[[FLAG:.*]] : tensor<i1> -> (tensor<3xf32>) {
  // CHECK-NEXT:   plan.return %[[X:.*]] : tensor<3xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   plan.return %[[X]] : tensor<3xf32>
  // CHECK-NEXT: }
  %one = plan.if %flag : tensor<i1> -> (tensor<3xf32>) {
    plan.return %x : tensor<3xf32>
  } else {
    plan.return %x : tensor<3xf32>
  }
  // CHECK-NEXT: %[[LAST:.*]] = plan.while(%[[ONE]]) : (tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<3xf32>):
  // CHECK-NEXT:   plan.return %[[FLAG]], %[[V]] : tensor<i1>, tensor<3xf32>
  // CHECK-NEXT: } do {
  // CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<3xf32>):
  // CHECK-NEXT:   plan.return %[[V]] : tensor<3xf32>
  // CHECK-NEXT: }
  %last = plan.while(%one) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<3xf32>):
    plan.return %flag, %v : tensor<i1>, tensor<3xf32>
  } do {
  ^bb0(%v: tensor<3xf32>):
    plan.return %v : tensor<3xf32>
  }
  plan.return %one, %last : tensor<3xf32>, tensor<3xf32>
}
