// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-simplify | FileCheck %s
// RUN: corten-opt %s -coreai-simplify-algebra -coreai-merge-casts -coreai-simplify-shapes -coreai-simplify-broadcasts -coreai-merge-reorderings | FileCheck %s --check-prefix=ONCE
//
// All families of rewrites until none has anything left to do.

// A one that is spread is a factor of one, once it is not spread any more;
// without it one cast follows another, and without those the transposes meet.
// One family after the other, each once, does not get there.
// CHECK-LABEL: @through_all
// CHECK-NEXT:    coreai.output %arg0 : tensor<2x3xf16>
// ONCE-LABEL: @through_all
// ONCE:          coreai.decomposable.broadcasting_mul
coreai.graph @through_all(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %order = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %shape = coreai.constant dense<[3, 2]> : tensor<2xui32>
  %one = coreai.constant dense<1.0> : tensor<f32>
  %0 = coreai.transpose %x, %order : (tensor<2x3xf16>, tensor<2xui32>) -> tensor<3x2xf16>
  %1 = coreai.cast %0 : tensor<3x2xf16> to tensor<3x2xf32>
  %ones = coreai.broadcast_to %one, %shape : (tensor<f32>, tensor<2xui32>) -> tensor<3x2xf32>
  %2 = coreai.mul %1, %ones : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = coreai.cast %2 : tensor<3x2xf32> to tensor<3x2xf16>
  %4 = coreai.transpose %3, %order : (tensor<3x2xf16>, tensor<2xui32>) -> tensor<2x3xf16>
  coreai.output %4 : tensor<2x3xf16>
}

// A zero that is added makes 0 of -0, so the casts do not meet; the transposes
// do, because they move nothing but elements.
// CHECK-LABEL: @a_bit_changes
// CHECK-NOT:     coreai.transpose
// CHECK:         %[[WIDE:.*]] = coreai.cast %arg0
// CHECK:         %[[SUM:.*]] = coreai.decomposable.broadcasting_add %[[WIDE]]
// CHECK:         %[[NARROW:.*]] = coreai.cast %[[SUM]]
// CHECK:         coreai.output %[[NARROW]]
coreai.graph @a_bit_changes(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %order = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %0 = coreai.transpose %x, %order : (tensor<2x3xf16>, tensor<2xui32>) -> tensor<3x2xf16>
  %1 = coreai.cast %0 : tensor<3x2xf16> to tensor<3x2xf32>
  %2 = coreai.decomposable.broadcasting_add %1, %zero : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %3 = coreai.cast %2 : tensor<3x2xf32> to tensor<3x2xf16>
  %4 = coreai.transpose %3, %order : (tensor<3x2xf16>, tensor<2xui32>) -> tensor<2x3xf16>
  coreai.output %4 : tensor<2x3xf16>
}

// A factor of one that gives the result its shape is none to remove.
// CHECK-LABEL: @a_shape_is_given
// CHECK:         %[[ONES:.*]] = coreai.broadcast_to
// CHECK:         %[[Y:.*]] = coreai.decomposable.broadcasting_mul %arg0, %[[ONES]]
// CHECK:         coreai.output %[[Y]]
coreai.graph @a_shape_is_given(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %shape = coreai.constant dense<[2, 3]> : tensor<2xui32>
  %one = coreai.constant dense<1.0> : tensor<f32>
  %ones = coreai.broadcast_to %one, %shape : (tensor<f32>, tensor<2xui32>) -> tensor<2x3xf32>
  %0 = coreai.decomposable.broadcasting_mul %x, %ones : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  coreai.output %0 : tensor<2x3xf32>
}
