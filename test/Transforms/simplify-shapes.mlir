// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-simplify-shapes | FileCheck %s

// CHECK-LABEL: @known
// CHECK-DAG:     %[[SHAPE:.*]] = coreai.constant dense<[2, 3]> : tensor<2xui32>
// CHECK-DAG:     %[[AXIS:.*]] = coreai.constant dense<3> : tensor<1xui32>
// CHECK-DAG:     %[[GATHERED:.*]] = coreai.constant dense<3> : tensor<1xsi32>
// CHECK-NOT:     coreai.get_shape
// CHECK:         coreai.output %[[SHAPE]]
coreai.graph @known(%x: tensor<2x3xf32>, %y: tensor<?x3xf32>) -> (tensor<2xui32>, tensor<1xui32>, tensor<1xsi32>) {
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %two = coreai.constant dense<2> : tensor<1xsi32>
  %last = coreai.constant dense<-1> : tensor<1x1xsi32>
  %0 = coreai.get_shape %x : tensor<2x3xf32> -> tensor<2xui32>
  %1 = coreai.get_shape %y : tensor<?x3xf32> -> tensor<2xui32>
  %2 = coreai.slice %1, %one, %two, %one : (tensor<2xui32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xui32>
  %signed = coreai.cast %1 : tensor<2xui32> to tensor<2xsi32>
  %3 = coreai.gather_nd %signed at %last : (tensor<2xsi32>, tensor<1x1xsi32>) to tensor<1xsi32>
  coreai.output %0, %2, %3 : tensor<2xui32>, tensor<1xui32>, tensor<1xsi32>
}

// CHECK-LABEL: @unknown
// CHECK:         coreai.get_shape
// CHECK:         coreai.slice
// CHECK:         coreai.gather_nd
coreai.graph @unknown(%y: tensor<?x3xf32>, %i: tensor<1x1xsi32>) -> (tensor<1xui32>, tensor<1xui32>) {
  %zero = coreai.constant dense<0> : tensor<1xsi32>
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %1 = coreai.get_shape %y : tensor<?x3xf32> -> tensor<2xui32>
  %2 = coreai.slice %1, %zero, %one, %one : (tensor<2xui32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xui32>
  %3 = coreai.gather_nd %1 at %i : (tensor<2xui32>, tensor<1x1xsi32>) to tensor<1xui32>
  coreai.output %2, %3 : tensor<1xui32>, tensor<1xui32>
}

// The shape that something was given, or had before.
// CHECK-LABEL: @given
// CHECK:         %[[BEFORE:.*]] = coreai.get_shape %arg0
// CHECK:         coreai.output %arg1, %[[BEFORE]]
coreai.graph @given(%x: tensor<?x?xf32>, %s: tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>) {
  %0 = coreai.reshape %x, %s : (tensor<?x?xf32>, tensor<2xui32>) -> tensor<?x?xf32>
  %1 = coreai.get_shape %0 : tensor<?x?xf32> -> tensor<2xui32>
  %2 = coreai.exp %x : tensor<?x?xf32> -> tensor<?x?xf32>
  %3 = coreai.get_shape %2 : tensor<?x?xf32> -> tensor<2xui32>
  coreai.output %1, %3 : tensor<2xui32>, tensor<2xui32>
}

// A signed shape may leave an extent open.
// CHECK-LABEL: @open
// CHECK:         coreai.reshape
// CHECK:         coreai.get_shape
coreai.graph @open(%x: tensor<?x?xf32>, %s: tensor<2xsi32>) -> tensor<2xui32> {
  %0 = coreai.reshape %x, %s : (tensor<?x?xf32>, tensor<2xsi32>) -> tensor<?x?xf32>
  %1 = coreai.get_shape %0 : tensor<?x?xf32> -> tensor<2xui32>
  coreai.output %1 : tensor<2xui32>
}

// CHECK-LABEL: @whole_slices
// CHECK-NEXT:    coreai.output %arg0, %arg1, %arg2
coreai.graph @whole_slices(%x: tensor<?x4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %starts = coreai.constant dense<[0, -4]> : tensor<2xsi32>
  %ends = coreai.constant dense<2147483647> : tensor<2xsi32>
  %steps = coreai.constant dense<1> : tensor<2xsi32>
  %0 = coreai.slice %x, %starts, %ends, %steps : (tensor<?x4xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<?x4xf32>
  %start = coreai.constant dense<0> : tensor<1xsi32>
  %end = coreai.constant dense<4> : tensor<1xsi32>
  %step = coreai.constant dense<1> : tensor<1xsi32>
  %1 = coreai.slice %y, %start, %end, %step : (tensor<4xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<4xf32>
  %2 = coreai.slice_update %y with %z at (%start, %end, %step) : (tensor<4xf32>, tensor<4xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) to tensor<4xf32>
  coreai.output %0, %1, %2 : tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Backwards, from the second on of an unknown number, and up to the fourth of
// an unknown number.
// CHECK-LABEL: @part_slices
// CHECK-COUNT-3: coreai.slice
// CHECK:         coreai.slice_update
coreai.graph @part_slices(%x: tensor<4xf32>, %y: tensor<?xf32>, %u: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<4xf32>) {
  %last = coreai.constant dense<3> : tensor<1xsi32>
  %before = coreai.constant dense<-5> : tensor<1xsi32>
  %back = coreai.constant dense<-1> : tensor<1xsi32>
  %zero = coreai.constant dense<0> : tensor<1xsi32>
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %four = coreai.constant dense<4> : tensor<1xsi32>
  %end = coreai.constant dense<2147483647> : tensor<1xsi32>
  %0 = coreai.slice %x, %last, %before, %back : (tensor<4xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<4xf32>
  %1 = coreai.slice %y, %one, %end, %one : (tensor<?xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<?xf32>
  %2 = coreai.slice %y, %zero, %four, %one : (tensor<?xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<?xf32>
  %3 = coreai.slice_update %x with %u at (%zero, %four, %one) : (tensor<4xf32>, tensor<?xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) to tensor<4xf32>
  coreai.output %0, %1, %2, %3 : tensor<4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<4xf32>
}

// 10 elements, every second from 1 on, of those the second and third: 3 and 5.
// CHECK-LABEL: @slice_of_slice
// CHECK-DAG:     %[[START:.*]] = coreai.constant dense<3> : tensor<1xsi32>
// CHECK-DAG:     %[[END:.*]] = coreai.constant dense<6> : tensor<1xsi32>
// CHECK-DAG:     %[[STEP:.*]] = coreai.constant dense<2> : tensor<1xsi32>
// CHECK:         %[[R:.*]] = coreai.slice %arg0, %[[START]], %[[END]], %[[STEP]]
// CHECK-NEXT:    coreai.output %[[R]]
coreai.graph @slice_of_slice(%x: tensor<10xf32>) -> tensor<2xf32> {
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %two = coreai.constant dense<2> : tensor<1xsi32>
  %three = coreai.constant dense<3> : tensor<1xsi32>
  %end = coreai.constant dense<10> : tensor<1xsi32>
  %0 = coreai.slice %x, %one, %end, %two : (tensor<10xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<5xf32>
  %1 = coreai.slice %0, %one, %three, %one : (tensor<5xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<2xf32>
  coreai.output %1 : tensor<2xf32>
}

// CHECK-LABEL: @concat
// CHECK:         %[[ALL:.*]] = coreai.concat %{{.*}}, %arg0, %arg1, %arg0
// CHECK-NEXT:    coreai.output %arg0, %[[ALL]], %arg0
coreai.graph @concat(%x: tensor<4xf32>, %y: tensor<2xf32>, %none: tensor<0xf32>) -> (tensor<4xf32>, tensor<10xf32>, tensor<4xf32>) {
  %axis = coreai.constant dense<0> : tensor<si32>
  %two = coreai.constant dense<2> : tensor<ui32>
  %0 = coreai.concat %axis, %x : (tensor<si32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = coreai.concat %axis, %x, %none, %y : (tensor<si32>, tensor<4xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<6xf32>
  %2 = coreai.concat %axis, %1, %x : (tensor<si32>, tensor<6xf32>, tensor<4xf32>) -> tensor<10xf32>
  %3:2 = coreai.split %x, %two, %axis : (tensor<4xf32>, tensor<ui32>, tensor<si32>) -> (tensor<2xf32>, tensor<2xf32>)
  %4 = coreai.concat %axis, %3#0, %3#1 : (tensor<si32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  coreai.output %0, %2, %4 : tensor<4xf32>, tensor<10xf32>, tensor<4xf32>
}

// Along another axis, in another order, with parts that are used elsewhere.
// CHECK-LABEL: @other_concat
// CHECK-COUNT-4: coreai.concat
coreai.graph @other_concat(%x: tensor<2x2xf32>) -> (tensor<4x4xf32>, tensor<2x2xf32>, tensor<1x4xf32>, tensor<2x4xf32>) {
  %rows = coreai.constant dense<0> : tensor<si32>
  %columns = coreai.constant dense<1> : tensor<si32>
  %one = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.concat %columns, %x, %x : (tensor<si32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %1 = coreai.concat %rows, %0, %0 : (tensor<si32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %2:2 = coreai.split %x, %one, %rows : (tensor<2x2xf32>, tensor<ui32>, tensor<si32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
  %3 = coreai.concat %rows, %2#1, %2#0 : (tensor<si32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %4 = coreai.concat %columns, %2#0, %2#1 : (tensor<si32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  coreai.output %1, %3, %4, %0 : tensor<4x4xf32>, tensor<2x2xf32>, tensor<1x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @nowhere
// CHECK-NEXT:    coreai.output %arg0, %arg1, %arg0, %arg0, %arg0, %arg0
coreai.graph @nowhere(%x: tensor<1x3xf32>, %y: tensor<?xf32>) -> (tensor<1x3xf32>, tensor<?xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %shape = coreai.constant dense<[1, 3]> : tensor<2xui32>
  %0 = coreai.broadcast_to %x, %shape : (tensor<1x3xf32>, tensor<2xui32>) -> tensor<1x3xf32>
  %own = coreai.get_shape %y : tensor<?xf32> -> tensor<1xui32>
  %1 = coreai.broadcast_to %y, %own : (tensor<?xf32>, tensor<1xui32>) -> tensor<?xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %2 = coreai.tile %x, %ones : (tensor<1x3xf32>, tensor<2xui32>) -> tensor<1x3xf32>
  %none = coreai.constant dense<0> : tensor<4xui32>
  %fill = coreai.constant dense<0.0> : tensor<f32>
  %3 = coreai.pad %x, %none, %fill mode = <constant> : (tensor<1x3xf32>, tensor<4xui32>, tensor<f32>) -> tensor<1x3xf32>
  %rows = coreai.constant dense<0> : tensor<1xsi32>
  %4 = coreai.reduce_max %x, %rows : (tensor<1x3xf32>, tensor<1xsi32>) -> tensor<1x3xf32>
  %columns = coreai.constant dense<1> : tensor<1xsi32>
  %5 = coreai.reverse %x, %columns : (tensor<1x3xf32>, tensor<1xsi32>) -> tensor<1x3xf32>
  %6 = coreai.reverse %5, %columns : (tensor<1x3xf32>, tensor<1xsi32>) -> tensor<1x3xf32>
  coreai.output %0, %1, %2, %3, %4, %6 : tensor<1x3xf32>, tensor<?xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}

// Sums start with 0; a shape that is asked of something else may be another.
// CHECK-LABEL: @somewhere
// CHECK:         coreai.reduce_sum
// CHECK:         coreai.broadcast_to
// CHECK:         coreai.reverse
// CHECK:         coreai.reverse
coreai.graph @somewhere(%x: tensor<1x3xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<1x3xf32>, tensor<?xf32>, tensor<1x3xf32>) {
  %rows = coreai.constant dense<0> : tensor<1xsi32>
  %columns = coreai.constant dense<1> : tensor<1xsi32>
  %both = coreai.constant dense<[0, 1]> : tensor<2xsi32>
  %0 = coreai.reduce_sum %x, %rows : (tensor<1x3xf32>, tensor<1xsi32>) -> tensor<1x3xf32>
  %own = coreai.get_shape %z : tensor<?xf32> -> tensor<1xui32>
  %1 = coreai.broadcast_to %y, %own : (tensor<?xf32>, tensor<1xui32>) -> tensor<?xf32>
  %2 = coreai.reverse %x, %columns : (tensor<1x3xf32>, tensor<1xsi32>) -> tensor<1x3xf32>
  %3 = coreai.reverse %2, %both : (tensor<1x3xf32>, tensor<2xsi32>) -> tensor<1x3xf32>
  coreai.output %0, %1, %3 : tensor<1x3xf32>, tensor<?xf32>, tensor<1x3xf32>
}

// CHECK-LABEL: @shapes
// CHECK:         %[[BOTH:.*]] = coreai.broadcast_shapes
// CHECK:         coreai.output %arg0, %arg0, %[[BOTH]]
coreai.graph @shapes(%s: tensor<2xui32>, %t: tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) {
  %ones = coreai.constant dense<1> : tensor<1xui32>
  %0 = coreai.broadcast_shapes %s, %s : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
  %1 = coreai.broadcast_shapes %ones, %s : (tensor<1xui32>, tensor<2xui32>) -> tensor<2xui32>
  %2 = coreai.broadcast_shapes %s, %t : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
  coreai.output %0, %1, %2 : tensor<2xui32>, tensor<2xui32>, tensor<2xui32>
}
