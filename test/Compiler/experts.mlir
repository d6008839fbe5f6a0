// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
// RUN: corten-opt --coreai-to-plan=precision=bf16 %s | FileCheck %s --check-prefix BF16
// RUN: corten-opt --coreai-to-plan=precision=int8 %s | FileCheck %s --check-prefix INT8
//
// Products with matrices that indices take from a constant read them where they
// are.

// CHECK-LABEL: plan.function @routed
// CHECK: plan.kernel "PackMatrix"({{.*}}) numbers [] prepared : (tensor<2x2x3xf32>) -> tensor<2x1x2x32xf32>
// CHECK-NOT: "GatherNd"
// CHECK: plan.kernel "MatMulRouted"({{.*}}) numbers []
// CHECK: plan.lane "Relu"
// In bf16 they are kept so; rows are as they are.
// BF16-LABEL: plan.function @routed
// BF16: plan.kernel "PackMatrix"({{.*}}) numbers [] prepared : (tensor<2x2x3xbf16>) -> tensor<2x1x2x32xbf16>
// BF16: plan.kernel "MatMulRouted"({{.*}} : (tensor<4x1x2xf32>, tensor<2x1x2x32xbf16>,
// INT8-LABEL: plan.function @routed
// INT8: -> tensor<2x1x2x32xf32>
// INT8: plan.kernel "MatMulRouted"
coreai.graph @routed(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %i: tensor<4x1xsi32> {coreai.name = "i"}) -> (tensor<4x1x3xf32> {coreai.name = "z"}) {
  %w = coreai.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]]> : tensor<2x2x3xf32>
  %t = coreai.gather_nd %w at %i : (tensor<2x2x3xf32>, tensor<4x1xsi32>) to tensor<4x2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<4x2x3xf32>) -> tensor<4x1x3xf32>
  %1 = coreai.relu %0 : (tensor<4x1x3xf32>) -> tensor<4x1x3xf32>
  coreai.output %1 : tensor<4x1x3xf32>
}

// One index for all of a batch: what it takes is used again and again.
// CHECK-LABEL: plan.function @broadcast
// CHECK: plan.kernel "GatherNd"
// CHECK: plan.kernel "MatMul"(
coreai.graph @broadcast(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %i: tensor<1x1xsi32> {coreai.name = "i"}) -> (tensor<4x1x3xf32> {coreai.name = "z"}) {
  %w = coreai.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]]> : tensor<2x2x3xf32>
  %t = coreai.gather_nd %w at %i : (tensor<2x2x3xf32>, tensor<1x1xsi32>) to tensor<1x2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<1x2x3xf32>) -> tensor<4x1x3xf32>
  coreai.output %0 : tensor<4x1x3xf32>
}

// Of no constant.
// CHECK-LABEL: plan.function @computed
// CHECK: plan.kernel "GatherNd"
// CHECK: plan.kernel "MatMul"(
coreai.graph @computed(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %w: tensor<2x2x3xf32> {coreai.name = "w"}, %i: tensor<4x1xsi32> {coreai.name = "i"}) -> (tensor<4x1x3xf32> {coreai.name = "z"}) {
  %t = coreai.gather_nd %w at %i : (tensor<2x2x3xf32>, tensor<4x1xsi32>) to tensor<4x2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<4x2x3xf32>) -> tensor<4x1x3xf32>
  coreai.output %0 : tensor<4x1x3xf32>
}

// index_select has an index for each element.
// CHECK-LABEL: plan.function @selected
// CHECK-NOT: "GatherAlongAxis"
// CHECK: plan.kernel "MatMulRouted"
coreai.graph @selected(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %i: tensor<4x1x1xsi32> {coreai.name = "i"}) -> (tensor<4x1x3xf32> {coreai.name = "z"}) {
  %w = coreai.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]]> : tensor<2x2x3xf32>
  %shape = coreai.constant dense<[4, 2, 3]> : tensor<3xui32>
  %axis = coreai.constant dense<0> : tensor<si32>
  %all = coreai.broadcast_to %i, %shape : (tensor<4x1x1xsi32>, tensor<3xui32>) -> tensor<4x2x3xsi32>
  %t = coreai.gather_along_axis %w at %all along %axis : (tensor<2x2x3xf32>, tensor<4x2x3xsi32>, tensor<si32>) to tensor<4x2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<4x2x3xf32>) -> tensor<4x1x3xf32>
  coreai.output %0 : tensor<4x1x3xf32>
}

// Each element by an index of its own.
// CHECK-LABEL: plan.function @elements
// CHECK: plan.kernel "GatherAlongAxis"
// CHECK: plan.kernel "MatMul"(
coreai.graph @elements(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %i: tensor<4x2x3xsi32> {coreai.name = "i"}) -> (tensor<4x1x3xf32> {coreai.name = "z"}) {
  %w = coreai.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [1.0, 1.0, 1.0]]]> : tensor<2x2x3xf32>
  %axis = coreai.constant dense<0> : tensor<si32>
  %t = coreai.gather_along_axis %w at %i along %axis : (tensor<2x2x3xf32>, tensor<4x2x3xsi32>, tensor<si32>) to tensor<4x2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<4x2x3xf32>) -> tensor<4x1x3xf32>
  coreai.output %0 : tensor<4x1x3xf32>
}

// Compressed ones stay so: panels of all of them, side by side.
// CHECK-LABEL: plan.function @compressed
// CHECK: plan.kernel "PackCodes"({{.*}}) numbers [8] prepared : ({{.*}}) -> tensor<2x1x64xui8>
// CHECK-NOT: "Dequantize"
// CHECK: plan.kernel "MatMulRoutedCompressed"({{.*}}) numbers [1, 8]
// CHECK: plan.lane "Relu"
coreai.graph @compressed(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %i: tensor<4x1xsi32> {coreai.name = "i"}) -> (tensor<4x1x32xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[[-7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2], [-4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1, 6, -4, 1]], [[0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5, -5, 0, 5], [3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7, -2, 3, -7]]]> : tensor<2x2x32xsi8>
  %scale = coreai.constant dense<[[[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]], [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]]> : tensor<2x1x32xf32>
  %zero = coreai.constant dense<0> : tensor<2x1x32xsi8>
  %none = coreai.constant dense<0.0> : tensor<2x1x32xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<2x2x32xsi8>, tensor<2x1x32xf32>, tensor<2x1x32xsi8>, tensor<2x1x32xf32>) -> tensor<2x2x32xf32>
  %t = coreai.gather_nd %w at %i : (tensor<2x2x32xf32>, tensor<4x1xsi32>) to tensor<4x2x32xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<4x2x32xf32>) -> tensor<4x1x32xf32>
  %1 = coreai.relu %0 : (tensor<4x1x32xf32>) -> tensor<4x1x32xf32>
  coreai.output %1 : tensor<4x1x32xf32>
}

// Transposed, as layers have their weights.
// CHECK-LABEL: plan.function @turned
// CHECK: plan.kernel "PackCodes"({{.*}}) numbers [8] prepared : ({{.*}}) -> tensor<2x1x64xui8>
// CHECK-NOT: "Dequantize"
// CHECK: plan.kernel "MatMulRoutedCompressed"({{.*}}) numbers [1, 8]
coreai.graph @turned(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %i: tensor<4x1xsi32> {coreai.name = "i"}) -> (tensor<4x1x32xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[[-7, -2], [-4, 1], [-1, 4], [2, 7], [5, -5], [-7, -2], [-4, 1], [-1, 4], [2, 7], [5, -5], [-7, -2], [-4, 1], [-1, 4], [2, 7], [5, -5], [-7, -2], [-4, 1], [-1, 4], [2, 7], [5, -5], [-7, -2], [-4, 1], [-1, 4], [2, 7], [5, -5], [-7, -2], [-4, 1], [-1, 4], [2, 7], [5, -5], [-7, -2], [-4, 1]], [[0, 5], [3, -7], [6, -4], [-6, -1], [-3, 2], [0, 5], [3, -7], [6, -4], [-6, -1], [-3, 2], [0, 5], [3, -7], [6, -4], [-6, -1], [-3, 2], [0, 5], [3, -7], [6, -4], [-6, -1], [-3, 2], [0, 5], [3, -7], [6, -4], [-6, -1], [-3, 2], [0, 5], [3, -7], [6, -4], [-6, -1], [-3, 2], [0, 5], [3, -7]]]> : tensor<2x32x2xsi8>
  %scale = coreai.constant dense<[[[0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5]], [[1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0]]]> : tensor<2x32x1xf32>
  %zero = coreai.constant dense<0> : tensor<2x32x1xsi8>
  %none = coreai.constant dense<0.0> : tensor<2x32x1xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<2x32x2xsi8>, tensor<2x32x1xf32>, tensor<2x32x1xsi8>, tensor<2x32x1xf32>) -> tensor<2x32x2xf32>
  %order = coreai.constant dense<[0, 2, 1]> : tensor<3xui32>
  %m = coreai.transpose %w, %order : (tensor<2x32x2xf32>, tensor<3xui32>) -> tensor<2x2x32xf32>
  %t = coreai.gather_nd %m at %i : (tensor<2x2x32xf32>, tensor<4x1xsi32>) to tensor<4x2x32xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<4x2x32xf32>) -> tensor<4x1x32xf32>
  %1 = coreai.relu %0 : (tensor<4x1x32xf32>) -> tensor<4x1x32xf32>
  coreai.output %1 : tensor<4x1x32xf32>
}

// Panels would have columns of two matrices: rows are decompressed.
// CHECK-LABEL: plan.function @narrow
// CHECK: "Dequantize"
// CHECK: plan.kernel "MatMul"(
coreai.graph @narrow(%x: tensor<4x1x2xf32> {coreai.name = "x"}, %i: tensor<4x1xsi32> {coreai.name = "i"}) -> (tensor<4x1x3xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[[-7, -2, 3], [-4, 1, 6]], [[0, 5, -5], [3, -7, -2]]]> : tensor<2x2x3xsi8>
  %scale = coreai.constant dense<[[[0.5, 0.5, 0.5]], [[1.0, 1.0, 1.0]]]> : tensor<2x1x3xf32>
  %zero = coreai.constant dense<0> : tensor<2x1x3xsi8>
  %none = coreai.constant dense<0.0> : tensor<2x1x3xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<2x2x3xsi8>, tensor<2x1x3xf32>, tensor<2x1x3xsi8>, tensor<2x1x3xf32>) -> tensor<2x2x3xf32>
  %t = coreai.gather_nd %w at %i : (tensor<2x2x3xf32>, tensor<4x1xsi32>) to tensor<4x2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<4x1x2xf32>, tensor<4x2x3xf32>) -> tensor<4x1x3xf32>
  %1 = coreai.relu %0 : (tensor<4x1x3xf32>) -> tensor<4x1x3xf32>
  coreai.output %1 : tensor<4x1x3xf32>
}
