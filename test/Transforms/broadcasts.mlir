// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-simplify-broadcasts | FileCheck %s
// RUN: corten-opt %s -coreai-expand-broadcasts | FileCheck %s --check-prefix=EXPAND
// RUN: corten-opt %s -coreai-expand-broadcasts -coreai-simplify-broadcasts -coreai-cse | FileCheck %s --check-prefix=BACK

// CHECK-LABEL: @equal
// CHECK-NEXT:    coreai.add %arg0, %arg1
// CHECK-NEXT:    coreai.mul %arg2, %arg2
// CHECK-NEXT:    coreai.where
// CHECK-NEXT:    coreai.greater
// Nothing is spread that has the shape already.
// EXPAND-LABEL: @equal
// EXPAND-NEXT:   coreai.add %arg0, %arg1
// EXPAND:        coreai.where %arg3, %arg0, %arg1
// EXPAND-NEXT:   coreai.greater %arg0, %arg1
coreai.graph @equal(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<?xf32>, %c: tensor<2x3xi1>) -> (tensor<2x3xf32>, tensor<?xf32>, tensor<2x3xf32>, tensor<2x3xi1>) {
  %0 = coreai.decomposable.broadcasting_add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = coreai.decomposable.broadcasting_mul %z, %z : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = coreai.decomposable.broadcasting_where %c, %x, %y : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = coreai.decomposable.broadcasting_greater %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  coreai.output %0, %1, %2, %3 : tensor<2x3xf32>, tensor<?xf32>, tensor<2x3xf32>, tensor<2x3xi1>
}

// One may be 1 where the other is not; the plain op takes no booleans.
// CHECK-LABEL: @unequal
// CHECK:         broadcasting_add
// CHECK:         broadcasting_mul
// CHECK:         broadcasting_greater
// EXPAND-LABEL: @unequal
// EXPAND:        %[[SX:.*]] = coreai.get_shape %arg0
// EXPAND:        %[[SY:.*]] = coreai.get_shape %arg1
// EXPAND:        %[[S:.*]] = coreai.broadcast_shapes %[[SX]], %[[SY]]
// EXPAND:        %[[X:.*]] = coreai.broadcast_to %arg0, %[[S]]
// EXPAND:        %[[Y:.*]] = coreai.broadcast_to %arg1, %[[S]]
// EXPAND:        coreai.add %[[X]], %[[Y]]
// EXPAND:        %[[SHAPE:.*]] = coreai.constant dense<[2, 3]> : tensor<2xui32>
// EXPAND:        %[[Z:.*]] = coreai.broadcast_to %arg3, %[[SHAPE]]
// EXPAND:        coreai.mul %arg2, %[[Z]]
// EXPAND:        broadcasting_greater
// BACK-LABEL: @unequal
// BACK:         broadcasting_mul %arg2, %arg3
coreai.graph @unequal(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<2x3xf32>, %w: tensor<3xf32>, %b: tensor<2xi1>) -> (tensor<?xf32>, tensor<2x3xf32>, tensor<2xi1>) {
  %0 = coreai.decomposable.broadcasting_add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = coreai.decomposable.broadcasting_mul %z, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = coreai.decomposable.broadcasting_greater %b, %b : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  coreai.output %0, %1, %2 : tensor<?xf32>, tensor<2x3xf32>, tensor<2xi1>
}

// CHECK-LABEL: @spread
// CHECK-NOT:     coreai.broadcast
// CHECK-NOT:     coreai.expand_dims
// CHECK:         coreai.decomposable.broadcasting_add %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>)
// CHECK:         coreai.decomposable.broadcasting_mul %arg2, %arg0 : (tensor<2x1xf32>, tensor<2x3xf32>)
// CHECK:         coreai.decomposable.broadcasting_sub %arg3, %arg4
// CHECK:         coreai.decomposable.broadcasting_divide %arg0, %arg1
coreai.graph @spread(%x: tensor<2x3xf32>, %b: tensor<3xf32>, %s: tensor<2x1xf32>, %y: tensor<?xf32>, %z: tensor<1xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<?xf32>, tensor<2x3xf32>) {
  %shape = coreai.constant dense<[2, 3]> : tensor<2xui32>
  %0 = coreai.broadcast_to %b, %shape : (tensor<3xf32>, tensor<2xui32>) -> tensor<2x3xf32>
  %1 = coreai.add %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %three = coreai.constant dense<3> : tensor<1xui32>
  %last = coreai.constant dense<-1> : tensor<1xsi32>
  %2 = coreai.broadcast_in_dims %s, %three, %last : (tensor<2x1xf32>, tensor<1xui32>, tensor<1xsi32>) -> tensor<2x3xf32>
  %3 = coreai.decomposable.broadcasting_mul %2, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %own = coreai.get_shape %y : tensor<?xf32> -> tensor<1xui32>
  %4 = coreai.broadcast_to %z, %own : (tensor<1xf32>, tensor<1xui32>) -> tensor<?xf32>
  %5 = coreai.decomposable.broadcasting_sub %y, %4 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %first = coreai.constant dense<0> : tensor<1xsi32>
  %6 = coreai.expand_dims %b, %first : (tensor<3xf32>, tensor<1xsi32>) to tensor<1x3xf32>
  %7 = coreai.decomposable.broadcasting_divide %x, %6 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  coreai.output %1, %3, %5, %7 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<?xf32>, tensor<2x3xf32>
}

// What gives the result its shape stays: once of two, where it is not known
// that another operand has it, and where booleans cannot be spread.
// CHECK-LABEL: @needed
// CHECK:         %[[S:.*]] = coreai.broadcast_to
// CHECK:         broadcasting_add %{{.*}}, %[[S]]
// CHECK:         coreai.broadcast_to
// CHECK:         broadcasting_sub
// CHECK:         coreai.broadcast_to
// CHECK:         coreai.add
// CHECK:         coreai.expand_dims
// CHECK:         broadcasting_mul
coreai.graph @needed(%x: tensor<3xf32>, %y: tensor<?xf32>, %z: tensor<1xf32>, %s: tensor<1xui32>, %a: tensor<2xi1>, %b: tensor<i1>, %w: tensor<2x3xf32>, %v: tensor<2xf32>) -> (tensor<2x3xf32>, tensor<?xf32>, tensor<2xi1>, tensor<2x3xf32>) {
  %shape = coreai.constant dense<[2, 3]> : tensor<2xui32>
  %0 = coreai.broadcast_to %x, %shape : (tensor<3xf32>, tensor<2xui32>) -> tensor<2x3xf32>
  %1 = coreai.add %0, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = coreai.broadcast_to %z, %s : (tensor<1xf32>, tensor<1xui32>) -> tensor<?xf32>
  %3 = coreai.decomposable.broadcasting_sub %y, %2 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %two = coreai.constant dense<2> : tensor<1xui32>
  %4 = coreai.broadcast_to %b, %two : (tensor<i1>, tensor<1xui32>) -> tensor<2xi1>
  %5 = coreai.add %a, %4 : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %last = coreai.constant dense<1> : tensor<1xsi32>
  %6 = coreai.expand_dims %v, %last : (tensor<2xf32>, tensor<1xsi32>) to tensor<2x1xf32>
  %7 = coreai.decomposable.broadcasting_mul %w, %6 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  coreai.output %1, %3, %5, %7 : tensor<2x3xf32>, tensor<?xf32>, tensor<2xi1>, tensor<2x3xf32>
}

// Products spread the axes before the last two, which is no `broadcast_to` of
// an operand: they stay as they are.
// EXPAND-LABEL: @matrices
// EXPAND-NEXT:   coreai.decomposable.broadcasting_batch_matmul %arg0, %arg1
// EXPAND:        coreai.decomposable.broadcasting_batch_matmul %arg0, %arg3
// EXPAND-NOT:    coreai.broadcast_to %arg5
// EXPAND:        coreai.decomposable.broadcasting_batch_matmul %arg5
// CHECK-LABEL: @matrices
// CHECK-NEXT:    coreai.batch_matmul %arg0, %arg1
// CHECK-NEXT:    coreai.decomposable.broadcasting_batch_matmul %arg0, %arg2 : (tensor<2x3x4xf32>, tensor<1x4x5xf32>)
// CHECK:         coreai.decomposable.broadcasting_batch_matmul %arg0, %arg3
// CHECK:         %[[S:.*]] = coreai.broadcast_to %arg4
// CHECK:         coreai.decomposable.broadcasting_batch_matmul %{{.*}}, %[[S]]
coreai.graph @matrices(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>, %z: tensor<1x4x5xf32>, %m: tensor<4x5xf32>, %n: tensor<4xf32>, %w: tensor<3x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x4xf32>) {
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %y : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %shape = coreai.constant dense<[2, 4, 5]> : tensor<3xui32>
  %1 = coreai.broadcast_to %z, %shape : (tensor<1x4x5xf32>, tensor<3xui32>) -> tensor<2x4x5xf32>
  %2 = coreai.batch_matmul %x, %1 : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %3 = coreai.decomposable.broadcasting_batch_matmul %x, %m : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %square = coreai.constant dense<[2, 4, 4]> : tensor<3xui32>
  %4 = coreai.broadcast_to %n, %square : (tensor<4xf32>, tensor<3xui32>) -> tensor<2x4x4xf32>
  %5 = coreai.decomposable.broadcasting_batch_matmul %w, %4 : (tensor<3x4xf32>, tensor<2x4x4xf32>) -> tensor<2x3x4xf32>
  coreai.output %0, %2, %3, %5 : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x4xf32>
}

// Axes that both operands got would be missing.
// CHECK-LABEL: @both_get_an_axis
// CHECK: coreai.decomposable.broadcasting_mul %arg0, %{{.*}} : (tensor<f32>, tensor<1xf32>) -> tensor<1xf32>
coreai.graph @both_get_an_axis(%x: tensor<f32>, %y: tensor<f32>) -> tensor<1xf32> {
  %axis = coreai.constant dense<[0]> : tensor<1xsi32>
  %0 = coreai.expand_dims %x, %axis : (tensor<f32>, tensor<1xsi32>) to tensor<1xf32>
  %1 = coreai.expand_dims %y, %axis : (tensor<f32>, tensor<1xsi32>) to tensor<1xf32>
  %2 = coreai.mul %0, %1 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  coreai.output %2 : tensor<1xf32>
}
