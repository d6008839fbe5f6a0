// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @gather
coreai.graph @gather(%x: tensor<3x4x5xf32>, %indices: tensor<3x2x5xsi32>, %vectors: tensor<2x1xsi32>) {
  %axis = coreai.constant dense<1> : tensor<si32>
  // CHECK: coreai.gather_along_axis %{{.*}} at %{{.*}} along %{{.*}} : (tensor<3x4x5xf32>, tensor<3x2x5xsi32>, tensor<si32>) to tensor<3x2x5xf32> {test.note}
  %along_axis = coreai.gather_along_axis %x at %indices along %axis : (tensor<3x4x5xf32>, tensor<3x2x5xsi32>, tensor<si32>) to tensor<3x2x5xf32> {test.note}
  // CHECK: coreai.gather_nd %{{.*}} at %{{.*}} : (tensor<3x4x5xf32>, tensor<2x1xsi32>) to tensor<2x4x5xf32>
  %nd = coreai.gather_nd %x at %vectors : (tensor<3x4x5xf32>, tensor<2x1xsi32>) to tensor<2x4x5xf32>
  // CHECK: coreai.non_zero %{{.*}} : tensor<3x4x5xf32> -> tensor<?x3xsi32>
  %non_zero = coreai.non_zero %x : tensor<3x4x5xf32> -> tensor<?x3xsi32>
  coreai.output
}

// CHECK-LABEL: coreai.graph @scatter
coreai.graph @scatter(%x: tensor<4x3xf32>, %indices: tensor<2x3xsi32>, %vectors: tensor<2x1xsi32>, %updates: tensor<2x3xf32>) {
  %axis = coreai.constant dense<0> : tensor<si32>
  // CHECK: coreai.scatter_along_axis %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x3xf32>, tensor<2x3xsi32>, tensor<2x3xf32>, tensor<si32>) -> tensor<4x3xf32>
  %update = coreai.scatter_along_axis %x, %indices, %updates, %axis scatter_mode = <update> : (tensor<4x3xf32>, tensor<2x3xsi32>, tensor<2x3xf32>, tensor<si32>) -> tensor<4x3xf32>
  // CHECK: coreai.scatter_along_axis {{.*}} scatter_mode = <max> : {{.*}} {test.note}
  %max = coreai.scatter_along_axis %x, %indices, %updates, %axis scatter_mode = <max> : (tensor<4x3xf32>, tensor<2x3xsi32>, tensor<2x3xf32>, tensor<si32>) -> tensor<4x3xf32> {test.note}
  // The updates are the last operand but are printed second.
  // CHECK: coreai.scatter_nd %{{.*}} with %{{.*}} at %{{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %[[NEW:.*]]: tensor<f32>):
  // CHECK-NEXT: coreai.yield %[[NEW]] : tensor<f32>
  // CHECK-NEXT: } : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x1xsi32>) to tensor<4x3xf32> {test.note}
  %nd = coreai.scatter_nd %x with %updates at %vectors {
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    coreai.yield %new : tensor<f32>
  } : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x1xsi32>) to tensor<4x3xf32> {test.note}
  coreai.output
}
