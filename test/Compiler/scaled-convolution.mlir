// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Numbers for each channel after a convolution go into its weights.

// CHECK-LABEL: plan.function @batchNorm
// CHECK: "ConvolutionPacked"
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT: plan.lane "Add"
// CHECK-NEXT: plan.lane "Relu"
// CHECK-NEXT: plan.yield
// CHECK-NOT: "Tile"
coreai.graph @batchNorm(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x4x4xf32>) {
  %w = coreai.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %mean = coreai.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %deviation = coreai.constant dense<[[[4.0]], [[5.0]], [[6.0]]]> : tensor<3x1x1xf32>
  %weight = coreai.constant dense<[[[7.0]], [[8.0]], [[9.0]]]> : tensor<3x1x1xf32>
  %bias = coreai.constant dense<[[[0.1]], [[0.2]], [[0.3]]]> : tensor<3x1x1xf32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x4x4xf32>
  %1 = coreai.decomposable.broadcasting_sub %0, %mean : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %2 = coreai.decomposable.broadcasting_divide %1, %deviation : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %3 = coreai.decomposable.broadcasting_mul %2, %weight : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %4 = coreai.decomposable.broadcasting_add %3, %bias : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %5 = coreai.relu %4 : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  coreai.output %5 : tensor<1x3x4x4xf32>
}

// Numbers for columns, and a result that is wanted as it is.
// CHECK-LABEL: plan.function @columns
// CHECK: "ConvolutionPacked"
// CHECK: plan.lane "Mul"
coreai.graph @columns(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x4x4xf32>) {
  %w = coreai.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %c = coreai.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x4x4xf32>
  %1 = coreai.decomposable.broadcasting_mul %0, %c : (tensor<1x3x4x4xf32>, tensor<4xf32>) -> tensor<1x3x4x4xf32>
  coreai.output %1 : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: plan.function @usedTwice
// CHECK: "ConvolutionPacked"
// CHECK: "Tile"
// CHECK: plan.lane "Mul"
coreai.graph @usedTwice(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) {
  %w = coreai.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %c = coreai.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x4x4xf32>
  %1 = coreai.decomposable.broadcasting_mul %0, %c : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  coreai.output %0, %1 : tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>
}
