// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @creation
coreai.graph @creation() {
  // CHECK: coreai.constant dense<[1, -2]> : tensor<2xsi32>{{$}}
  %dense = coreai.constant dense<[1, -2]> : tensor<2xsi32>
  // CHECK: coreai.constant dense<true> : tensor<4xi1> {test.note}
  %splat = coreai.constant dense<true> : tensor<4xi1> {test.note}
  // CHECK: coreai.constant dense_resource<weights> : tensor<256xf16>
  %resource = coreai.constant dense_resource<weights> : tensor<256xf16>
  // CHECK: coreai.constant #coreai.file_resource<"w.bin", 16 : i64> : tensor<2xf32>
  %file = coreai.constant #coreai.file_resource<"w.bin", 16 : i64> : tensor<2xf32>
  %zero = coreai.constant dense<0> : tensor<si32>
  %five = coreai.constant dense<5> : tensor<si32>
  %two = coreai.constant dense<2> : tensor<si32>
  // CHECK: coreai.range %{{.*}}, %{{.*}}, %{{.*}} : (tensor<si32>, tensor<si32>, tensor<si32>) -> tensor<3xsi32>
  %range = coreai.range %zero, %five, %two : (tensor<si32>, tensor<si32>, tensor<si32>) -> tensor<3xsi32>
  coreai.output
}

// CHECK-LABEL: coreai.graph @changes_of_shape
coreai.graph @changes_of_shape(%x: tensor<2x3xf32>, %one: tensor<1x3xf32>) {
  // CHECK: %[[SHAPE:.*]] = coreai.get_shape %{{.*}} : tensor<2x3xf32> -> tensor<2xui32>
  %shape = coreai.get_shape %x : tensor<2x3xf32> -> tensor<2xui32>
  // CHECK: coreai.broadcast_shapes %[[SHAPE]], %[[SHAPE]] : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
  %shapes = coreai.broadcast_shapes %shape, %shape : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
  %flat = coreai.constant dense<-1> : tensor<1xsi32>
  // CHECK: coreai.reshape %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<6xf32>
  %reshape = coreai.reshape %x, %flat : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<6xf32>
  %permutation = coreai.constant dense<[1, 0]> : tensor<2xui32>
  // CHECK: coreai.transpose %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<2xui32>) -> tensor<3x2xf32>
  %transpose = coreai.transpose %x, %permutation : (tensor<2x3xf32>, tensor<2xui32>) -> tensor<3x2xf32>
  %front = coreai.constant dense<0> : tensor<1xsi32>
  // CHECK: coreai.expand_dims %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<1xsi32>) to tensor<1x2x3xf32> {test.note}
  %expand_dims = coreai.expand_dims %x, %front : (tensor<2x3xf32>, tensor<1xsi32>) to tensor<1x2x3xf32> {test.note}
  // CHECK: coreai.shrink_dims %{{.*}}, %{{.*}} : (tensor<1x3xf32>, tensor<1xsi32>) to tensor<3xf32>
  %shrink_dims = coreai.shrink_dims %one, %front : (tensor<1x3xf32>, tensor<1xsi32>) to tensor<3xf32>
  // CHECK: coreai.broadcast_to %{{.*}}, %[[SHAPE]] : (tensor<1x3xf32>, tensor<2xui32>) -> tensor<2x3xf32>
  %broadcast_to = coreai.broadcast_to %one, %shape : (tensor<1x3xf32>, tensor<2xui32>) -> tensor<2x3xf32>
  %sizes = coreai.constant dense<4> : tensor<1xui32>
  // CHECK: coreai.broadcast_in_dims %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x3xf32>, tensor<1xui32>, tensor<1xsi32>) -> tensor<4x3xf32>
  %broadcast_in_dims = coreai.broadcast_in_dims %one, %sizes, %front : (tensor<1x3xf32>, tensor<1xui32>, tensor<1xsi32>) -> tensor<4x3xf32>
  // tile is decomposable but prints like a primitive op.
  // CHECK: coreai.tile %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<1xui32>) -> tensor<2x12xf32> {test.note}
  %tile = coreai.tile %x, %sizes : (tensor<2x3xf32>, tensor<1xui32>) -> tensor<2x12xf32> {test.note}
  coreai.output
}

// CHECK-LABEL: coreai.graph @parts
coreai.graph @parts(%x: tensor<5x6xf32>, %block: tensor<3x3xf32>) {
  %axis = coreai.constant dense<0> : tensor<si32>
  // CHECK: coreai.concat %{{.*}}, %{{.*}}, %{{.*}} : (tensor<si32>, tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<10x6xf32>
  %concat = coreai.concat %axis, %x, %x : (tensor<si32>, tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<10x6xf32>
  %sections = coreai.constant dense<[2, 3]> : tensor<2xui32>
  // CHECK: %{{.*}}:2 = coreai.split %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5x6xf32>, tensor<2xui32>, tensor<si32>) -> (tensor<2x6xf32>, tensor<3x6xf32>)
  %split:2 = coreai.split %x, %sections, %axis : (tensor<5x6xf32>, tensor<2xui32>, tensor<si32>) -> (tensor<2x6xf32>, tensor<3x6xf32>)
  %five = coreai.constant dense<5> : tensor<ui32>
  // One result keeps the parentheses.
  // CHECK: coreai.split {{.*}} -> (tensor<5x6xf32>) {test.note}
  %whole = coreai.split %x, %five, %axis : (tensor<5x6xf32>, tensor<ui32>, tensor<si32>) -> (tensor<5x6xf32>) {test.note}
  %starts = coreai.constant dense<[1, 2]> : tensor<2xsi32>
  %ends = coreai.constant dense<[4, 5]> : tensor<2xsi32>
  %ones = coreai.constant dense<1> : tensor<2xsi32>
  // CHECK: coreai.slice %{{.*}}, %[[STARTS:.*]], %[[ENDS:.*]], %[[ONES:.*]] : (tensor<5x6xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<3x3xf32>
  %slice = coreai.slice %x, %starts, %ends, %ones : (tensor<5x6xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<3x3xf32>
  // The update is the last operand but is printed second.
  // CHECK: coreai.slice_update %{{.*}} with %{{.*}} at (%[[STARTS]], %[[ENDS]], %[[ONES]]) : (tensor<5x6xf32>, tensor<3x3xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) to tensor<5x6xf32>
  %slice_update = coreai.slice_update %x with %block at (%starts, %ends, %ones) : (tensor<5x6xf32>, tensor<3x3xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) to tensor<5x6xf32>
  %margins = coreai.constant dense<[0, 0, 1, 2]> : tensor<4xui32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  // CHECK: coreai.pad %{{.*}}, %{{.*}}, %{{.*}} mode = <constant> : (tensor<5x6xf32>, tensor<4xui32>, tensor<f32>) -> tensor<5x9xf32>
  %pad = coreai.pad %x, %margins, %zero mode = <constant> : (tensor<5x6xf32>, tensor<4xui32>, tensor<f32>) -> tensor<5x9xf32>
  // CHECK: mode = <reflect> : {{.*}} {test.note}
  %reflect = coreai.pad %x, %margins, %zero mode = <reflect> : (tensor<5x6xf32>, tensor<4xui32>, tensor<f32>) -> tensor<5x9xf32> {test.note}
  %axes = coreai.constant dense<[0, -1]> : tensor<2xsi32>
  // CHECK: coreai.reverse %{{.*}}, %{{.*}} : (tensor<5x6xf32>, tensor<2xsi32>) -> tensor<5x6xf32>
  %reverse = coreai.reverse %x, %axes : (tensor<5x6xf32>, tensor<2xsi32>) -> tensor<5x6xf32>
  coreai.output
}
