// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Convolutions of 3x3 by squares of results.

// CHECK-LABEL: plan.function @fires
// CHECK: "PackWinograd"
// CHECK-SAME: tensor<16x1x16x32xf32>
// CHECK: "ConvolutionWinograd"
// CHECK: plan.lane "Relu"
coreai.graph @fires(%x: tensor<1x16x10x10xf32>) -> (tensor<1x16x8x8xf32>) {
  %w = coreai.constant dense<0.3> : tensor<16x16x3x3xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x16x8x8xf32>
  %1 = coreai.relu %0 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  coreai.output %1 : tensor<1x16x8x8xf32>
}

// A stride, and few channels.
// CHECK-LABEL: plan.function @strides
// CHECK-NOT: Winograd
coreai.graph @strides(%x: tensor<1x16x9x9xf32>) -> (tensor<1x16x4x4xf32>) {
  %w = coreai.constant dense<0.3> : tensor<16x16x3x3xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %twos, %ones, %group : (tensor<1x16x9x9xf32>, tensor<16x16x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x16x4x4xf32>
  coreai.output %0 : tensor<1x16x4x4xf32>
}

// CHECK-LABEL: plan.function @fewChannels
// CHECK-SAME: plan.near_misses = {{.*}}"convolution by squares", "it has fewer than 16 channels"
// CHECK-NOT: Winograd
coreai.graph @fewChannels(%x: tensor<1x3x10x10xf32>) -> (tensor<1x16x8x8xf32>) {
  %w = coreai.constant dense<0.3> : tensor<16x3x3x3xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x3x10x10xf32>, tensor<16x3x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x16x8x8xf32>
  coreai.output %0 : tensor<1x16x8x8xf32>
}

// One line of results: half of every square would be outside.
// CHECK-LABEL: plan.function @oneLine
// CHECK-SAME: plan.near_misses = {{.*}}"convolution by squares", "its results are so few that squares save too little"
// CHECK-NOT: Winograd
coreai.graph @oneLine(%x: tensor<1x16x3x5xf32>) -> (tensor<1x16x1x3xf32>) {
  %w = coreai.constant dense<0.3> : tensor<16x16x3x3xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x16x3x5xf32>, tensor<16x16x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x16x1x3xf32>
  coreai.output %0 : tensor<1x16x1x3xf32>
}
