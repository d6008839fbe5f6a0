// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Weights of a transposed convolution are packed once, and it does what follows.

// CHECK-LABEL: plan.function @biased
// CHECK: "PackMatrix"({{.*}}) numbers [] prepared : {{.*}} -> tensor<1x1x8x32xf32>
// CHECK: "ConvolutionTransposedPacked"({{.*}}) with(
// CHECK: plan.lane "Add"
// CHECK: plan.lane "Relu"
// CHECK-NOT: "Tile"
// CHECK: plan.return
coreai.graph @biased(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x8x8xf32>) {
  %w = coreai.constant dense<0.5> : tensor<2x3x2x2xf32>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %zeros = coreai.constant dense<0> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %b = coreai.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %0 = coreai.conv_transpose2d %x, %w, %twos, %zeros, %ones, %zeros, %group : (tensor<1x2x4x4xf32>, tensor<2x3x2x2xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x8x8xf32>
  %1 = coreai.decomposable.broadcasting_add %0, %b : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %2 = coreai.relu %1 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  coreai.output %2 : tensor<1x3x8x8xf32>
}

// Channels of groups are packed for each of them.
// CHECK-LABEL: plan.function @grouped
// CHECK: "PackMatrix"({{.*}}) numbers [] prepared : {{.*}} -> tensor<2x1x8x32xf32>
// CHECK: "ConvolutionTransposedPacked"
coreai.graph @grouped(%x: tensor<1x4x4x4xf32>) -> (tensor<1x6x8x8xf32>) {
  %w = coreai.constant dense<0.5> : tensor<4x3x2x2xf32>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %zeros = coreai.constant dense<0> : tensor<2xui32>
  %groups = coreai.constant dense<2> : tensor<ui32>
  %0 = coreai.conv_transpose2d %x, %w, %twos, %zeros, %ones, %zeros, %groups : (tensor<1x4x4x4xf32>, tensor<4x3x2x2xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x8x8xf32>
  coreai.output %0 : tensor<1x6x8x8xf32>
}

// Weights that only a call knows are not packed.
// CHECK-LABEL: plan.function @computed
// CHECK: "ConvolutionTransposed"(
// CHECK: "Tile"
coreai.graph @computed(%x: tensor<1x2x4x4xf32>, %w: tensor<2x3x2x2xf32>) -> (tensor<1x3x8x8xf32>) {
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %zeros = coreai.constant dense<0> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv_transpose2d %x, %w, %twos, %zeros, %ones, %zeros, %group : (tensor<1x2x4x4xf32>, tensor<2x3x2x2xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x8x8xf32>
  %1 = coreai.relu %0 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  coreai.output %1 : tensor<1x3x8x8xf32>
}

// A result that is wanted as it is.
// CHECK-LABEL: plan.function @usedTwice
// CHECK: "ConvolutionTransposedPacked"
// CHECK: "Tile"
coreai.graph @usedTwice(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) {
  %w = coreai.constant dense<0.5> : tensor<2x3x2x2xf32>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %zeros = coreai.constant dense<0> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv_transpose2d %x, %w, %twos, %zeros, %ones, %zeros, %group : (tensor<1x2x4x4xf32>, tensor<2x3x2x2xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x8x8xf32>
  %1 = coreai.relu %0 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  coreai.output %0, %1 : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>
}
