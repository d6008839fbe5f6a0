// RUN: corten-opt --coreai-to-plan %s | FileCheck %s --check-prefix=FULL
// RUN: corten-opt --coreai-to-plan=precision=bf16 %s | FileCheck %s --check-prefix=BF16
// RUN: corten-opt --coreai-to-plan=precision=int8 %s | FileCheck %s --check-prefix=INT8
// RUN: not corten-opt --coreai-to-plan=precision=f8 %s 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: there is no precision 'f8'; there are bf16 and int8

// Weights are rounded when the plan is loaded; the result is what it was, and
// what follows is a part of the product.
// FULL-LABEL: plan.function @linear
// FULL: "PackMatrix"
// FULL: "MatMulPacked"
// BF16-LABEL: plan.function @linear
// BF16: plan.kernel "PackPairs"({{.*}}) numbers [] prepared : {{.*}} -> tensor<1x2x64xbf16>
// BF16: plan.kernel "MatMulPairs"
// BF16: plan.lane "Relu"
// BF16-NOT: plan.kernel
// INT8-LABEL: plan.function @linear
// INT8: plan.kernel "PackQuads"({{.*}}) numbers [] prepared : {{.*}} -> tensor<1x2x128xui8>
// INT8: plan.kernel "MatMulQuads"
// INT8: plan.lane "Relu"
// INT8-NOT: plan.kernel
coreai.graph @linear(%x: tensor<4x3xf32> {coreai.name = "x"}) -> (tensor<4x3xf32> {coreai.name = "z"}) {
  %w = coreai.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.5]]> : tensor<3x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %1 = coreai.relu %0 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  coreai.output %1 : tensor<4x3xf32>
}

// Matrices that a call computes are multiplied as they are.
// BF16-LABEL: plan.function @both
// BF16: "MatMul"
// INT8-LABEL: plan.function @both
// INT8: "MatMul"
coreai.graph @both(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>) -> (tensor<4x5xf32>) {
  %0 = coreai.batch_matmul %x, %y : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  coreai.output %0 : tensor<4x5xf32>
}

// Convolutions have bf16, and no int8.
// BF16-LABEL: plan.function @convolution
// BF16: "PackPairs"({{.*}}) numbers [] prepared : {{.*}} -> tensor<1x1x1x64xbf16>
// BF16: "ConvolutionPairs"
// INT8-LABEL: plan.function @convolution
// INT8: "ConvolutionPacked"
coreai.graph @convolution(%x: tensor<1x2x4x4xf32>) -> (tensor<1x3x4x4xf32>) {
  %w = coreai.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x4x4xf32>
  coreai.output %0 : tensor<1x3x4x4xf32>
}

// Pairs of channels would be of two groups.
// BF16-LABEL: plan.function @oddGroups
// BF16: "ConvolutionPacked"
coreai.graph @oddGroups(%x: tensor<1x6x4x4xf32>) -> (tensor<1x4x4x4xf32>) {
  %w = coreai.constant dense<1.0> : tensor<4x3x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<2> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x6x4x4xf32>, tensor<4x3x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x4x4x4xf32>
  coreai.output %0 : tensor<1x4x4x4xf32>
}

// What is only multiplied is stored as it will be rounded; what is also
// returned is not.
// BF16-LABEL: plan.function @twoLayers
// BF16: "MatMulPairs"({{.*}}) -> tensor<4x2xbf16>
// BF16: "MatMulPairs"({{.*}}) numbers [] : (tensor<4x2xbf16>, {{.*}}) -> tensor<4x2xf32>
// BF16: "MatMulPairs"({{.*}}) numbers [] : (tensor<4x2xf32>, {{.*}}) -> tensor<4x2xf32>
coreai.graph @twoLayers(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %w = coreai.constant dense<[[1.0, 2.0], [4.0, 5.0]]> : tensor<2x2xf32>
  %0 = coreai.batch_matmul %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = coreai.relu %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = coreai.batch_matmul %1, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %3 = coreai.batch_matmul %2, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  coreai.output %2, %3 : tensor<4x2xf32>, tensor<4x2xf32>
}
