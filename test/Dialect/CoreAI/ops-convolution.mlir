// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @plane
coreai.graph @plane(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %wt: tensor<4x6x3x3xf32>) {
  %zeros = coreai.constant dense<0> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %groups = coreai.constant dense<1> : tensor<ui32>
  %ceil = coreai.constant dense<false> : tensor<i1>
  // CHECK: coreai.conv2d %{{.*}}, %{{.*}}, %[[ONES:.*]], %[[ONES]], %{{.*}} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x6x6xf32>
  %conv = coreai.conv2d %x, %w, %ones, %ones, %groups : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x6x6xf32>
  // CHECK: coreai.conv_transpose2d {{.*}} -> tensor<1x6x10x10xf32> {test.note}
  %transposed = coreai.conv_transpose2d %x, %wt, %ones, %zeros, %ones, %zeros, %groups : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32> {test.note}
  // CHECK: coreai.max_pool_2d %{{.*}} : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) -> tensor<1x4x4x4xf32>
  %max = coreai.max_pool_2d %x, %twos, %twos, %ones, %ceil : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) -> tensor<1x4x4x4xf32>
  // CHECK: coreai.sum_pool_2d %{{.*}} : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  %sum = coreai.sum_pool_2d %x, %twos, %twos, %ones : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  coreai.output
}

// CHECK-LABEL: coreai.graph @space
coreai.graph @space(%x: tensor<1x4x8x8x8xf32>, %w: tensor<6x4x3x3x3xf32>, %wt: tensor<4x6x3x3x3xf32>) {
  %zeros = coreai.constant dense<0> : tensor<3xui32>
  %ones = coreai.constant dense<1> : tensor<3xui32>
  %twos = coreai.constant dense<2> : tensor<3xui32>
  %groups = coreai.constant dense<1> : tensor<ui32>
  %ceil = coreai.constant dense<false> : tensor<i1>
  // CHECK: coreai.conv3d %{{.*}} -> tensor<1x6x6x6x6xf32>
  %conv = coreai.conv3d %x, %w, %ones, %ones, %groups : (tensor<1x4x8x8x8xf32>, tensor<6x4x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) -> tensor<1x6x6x6x6xf32>
  // CHECK: coreai.conv_transpose3d %{{.*}} -> tensor<1x6x10x10x10xf32>
  %transposed = coreai.conv_transpose3d %x, %wt, %ones, %zeros, %ones, %zeros, %groups : (tensor<1x4x8x8x8xf32>, tensor<4x6x3x3x3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>) -> tensor<1x6x10x10x10xf32>
  // CHECK: coreai.max_pool_3d %{{.*}} -> tensor<1x4x4x4x4xf32>
  %max = coreai.max_pool_3d %x, %twos, %twos, %ones, %ceil : (tensor<1x4x8x8x8xf32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<i1>) -> tensor<1x4x4x4x4xf32>
  // CHECK: coreai.sum_pool_3d %{{.*}} -> tensor<1x4x4x4x4xf32>
  %sum = coreai.sum_pool_3d %x, %twos, %twos, %ones : (tensor<1x4x8x8x8xf32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) -> tensor<1x4x4x4x4xf32>
  coreai.output
}
