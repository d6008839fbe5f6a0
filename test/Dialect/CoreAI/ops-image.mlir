// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @images
coreai.graph @images(%image: !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>) {
  // The image type prints without its prefix.
  // CHECK: coreai.image_to_tensor %{{.*}} : <<k24RGB> x 4 : i64 x 6 : i64> -> tensor<4x6x3xui8>
  %pixels = coreai.image_to_tensor %image : <<k24RGB> x 4 : i64 x 6 : i64> -> tensor<4x6x3xui8>
  // CHECK: coreai.tensor_to_image %{{.*}} : tensor<4x6x3xui8> -> <<k24RGB> x 4 : i64 x 6 : i64> {test.note}
  %back = coreai.tensor_to_image %pixels : tensor<4x6x3xui8> -> <<k24RGB> x 4 : i64 x 6 : i64> {test.note}
  coreai.output
}

// CHECK-LABEL: coreai.graph @resampling
coreai.graph @resampling(%x: tensor<1x3x4x4xf32>, %places: tensor<5x4xf32>) {
  %shape = coreai.constant dense<[1, 3, 8, 8]> : tensor<4xsi32>
  %scale = coreai.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %offset = coreai.constant dense<0.0> : tensor<4xf32>
  // The mode stays in the dictionary.
  // CHECK: coreai.interpolate %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {interpolation_mode = #coreai.interpolation_mode<linear>, test.note} : (tensor<1x3x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x3x8x8xf32>
  %grid = coreai.interpolate %x, %shape, %scale, %offset {interpolation_mode = #coreai.interpolation_mode<linear>, test.note} : (tensor<1x3x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x3x8x8xf32>
  // CHECK: coreai.interpolate_coordinates %{{.*}}, %{{.*}} {interpolation_mode = #coreai.interpolation_mode<nearest_neighbor>} : (tensor<1x3x4x4xf32>, tensor<5x4xf32>) -> tensor<5xf32>
  %samples = coreai.interpolate_coordinates %x, %places {interpolation_mode = #coreai.interpolation_mode<nearest_neighbor>} : (tensor<1x3x4x4xf32>, tensor<5x4xf32>) -> tensor<5xf32>
  coreai.output
}
