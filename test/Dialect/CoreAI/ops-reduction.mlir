// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @reductions
coreai.graph @reductions(%x: tensor<2x3xf32>, %b: tensor<2x3xi1>) {
  %axes = coreai.constant dense<-1> : tensor<1xsi32>
  // CHECK: coreai.reduce_sum %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  %sum = coreai.reduce_sum %x, %axes : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  // CHECK: coreai.reduce_mean %{{.*}}, %{{.*}} attributes {test.note} : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  %mean = coreai.reduce_mean %x, %axes attributes {test.note} : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  %product = coreai.reduce_product %x, %axes : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  %max = coreai.reduce_max %x, %axes : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  %min = coreai.reduce_min %x, %axes : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  // CHECK: coreai.all %{{.*}}, %{{.*}} : (tensor<2x3xi1>, tensor<1xsi32>) -> tensor<2x1xi1>
  %all = coreai.all %b, %axes : (tensor<2x3xi1>, tensor<1xsi32>) -> tensor<2x1xi1>
  %any = coreai.any %b, %axes : (tensor<2x3xi1>, tensor<1xsi32>) -> tensor<2x1xi1>
  coreai.output
}

// CHECK-LABEL: coreai.graph @regions
coreai.graph @regions(%x: tensor<2x3xf32>) {
  %axis = coreai.constant dense<1> : tensor<si32>
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %first = coreai.constant dense<0> : tensor<ui32>
  // CHECK: coreai.reduce %{{.*}}, %{{.*}}, init %{{.*}} {
  // CHECK-NEXT: ^bb0(%[[SO_FAR:.*]]: tensor<f32>, %[[NEXT:.*]]: tensor<f32>):
  // CHECK-NEXT: coreai.add %[[SO_FAR]], %[[NEXT]]
  // CHECK: } : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf32> {test.note}
  %sum = coreai.reduce %x, %axes, init %zero {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = coreai.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    coreai.yield %c : tensor<f32>
  } : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf32> {test.note}
  // CHECK: coreai.reduce_index %{{.*}}, %{{.*}}, init %{{.*}} init_index %{{.*}} {
  // CHECK: } : (tensor<2x3xf32>, tensor<si32>, tensor<f32>, tensor<ui32>) -> tensor<2x1xui32>
  %argmax = coreai.reduce_index %x, %axis, init %zero init_index %first {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = coreai.greater %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    coreai.yield %c : tensor<i1>
  } : (tensor<2x3xf32>, tensor<si32>, tensor<f32>, tensor<ui32>) -> tensor<2x1xui32>
  coreai.output
}

// CHECK-LABEL: coreai.graph @along_an_axis
coreai.graph @along_an_axis(%x: tensor<2x3xf32>) {
  %axis = coreai.constant dense<1> : tensor<si32>
  %unsigned = coreai.constant dense<1> : tensor<ui32>
  %no = coreai.constant dense<false> : tensor<i1>
  // CHECK: coreai.argmax %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<si32>) -> tensor<2x1xui32>
  %argmax = coreai.argmax %x, %axis : (tensor<2x3xf32>, tensor<si32>) -> tensor<2x1xui32>
  // softmax is decomposable but prints like a primitive op.
  // CHECK: coreai.softmax %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<si32>) -> tensor<2x3xf32> {test.note}
  %softmax = coreai.softmax %x, %axis : (tensor<2x3xf32>, tensor<si32>) -> tensor<2x3xf32> {test.note}
  // CHECK: coreai.scan %{{.*}}, %{{.*}}, %{{.*}} combiner = <sum> : (tensor<2x3xf32>, tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>{{$}}
  %sum = coreai.scan %x, %unsigned, %no combiner = <sum> : (tensor<2x3xf32>, tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>
  // CHECK: combiner = <product>
  %product = coreai.scan %x, %unsigned, %no combiner = <product> : (tensor<2x3xf32>, tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>
  // CHECK: combiner = <min>
  %min = coreai.scan %x, %unsigned, %no combiner = <min> : (tensor<2x3xf32>, tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>
  // CHECK: combiner = <max> : (tensor<2x3xf32>, tensor<ui32>, tensor<i1>) -> tensor<2x3xf32> {test.note}
  %max = coreai.scan %x, %unsigned, %no combiner = <max> : (tensor<2x3xf32>, tensor<ui32>, tensor<i1>) -> tensor<2x3xf32> {test.note}
  // CHECK: coreai.sort %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} attributes {test.note} : (tensor<2x3xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<2x3xf32>
  %sort = coreai.sort %x, %axis, %no, %no attributes {test.note} : (tensor<2x3xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<2x3xf32>
  // CHECK: coreai.argsort %{{.*}} -> tensor<2x3xsi32> {test.note}
  %argsort = coreai.argsort %x, %axis, %no, %no : (tensor<2x3xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<2x3xsi32> {test.note}
  coreai.output
}
