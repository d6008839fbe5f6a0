// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
// RUN: corten-opt --coreai-to-plan=precision=int8 %s | FileCheck %s --check-prefix INT8
// RUN: corten-opt --coreai-to-plan=precision=bf16 %s | FileCheck %s --check-prefix BF16
//
// Products and gathers take compressed constants as they are.

// A transposed weight with a scale for each row and block: codes and scales are
// packed, and what comes after is done by the product.
// CHECK-LABEL: plan.function @blocks
// CHECK-DAG: plan.kernel "PackCodes"({{.*}}) numbers [8] prepared : ({{.*}}) -> tensor<1x2x64xui8>
// CHECK-DAG: plan.kernel "PackMatrix"({{.*}}) numbers [] prepared : ({{.*}}) -> tensor<1x2x32xf32>
// CHECK: plan.kernel "MatMulCompressed"({{.*}}) with({{.*}}) numbers [1, 8, 0]
// CHECK: plan.lane "Add"
// CHECK-NOT: "MatMulPacked"
// Two k do not make a group of four bytes.
// INT8: "MatMulCompressed"({{.*}}) with({{.*}}) numbers [1, 8, 0]
// BF16: "MatMulCompressed"({{.*}}) with({{.*}}) numbers [1, 8, 0]
coreai.graph @blocks(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xsi8>
  %scale = coreai.constant dense<[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]> : tensor<3x2xf32>
  %zero = coreai.constant dense<0> : tensor<3x2xsi8>
  %none = coreai.constant dense<0.0> : tensor<3x2xf32>
  %bias = coreai.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %order = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<3x4xsi8>, tensor<3x2xf32>, tensor<3x2xsi8>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %t = coreai.transpose %w, %order : (tensor<3x4xf32>, tensor<2xui32>) -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %1 = coreai.decomposable.broadcasting_add %0, %bias : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  coreai.output %1 : tensor<5x3xf32>
}

// Zeros that are some are packed as f16.
// CHECK-LABEL: plan.function @zeros
// CHECK: plan.kernel "PackMatrix"({{.*}}) numbers [] prepared : ({{.*}}xf16>) -> tensor<1x1x32xf16>
// CHECK: plan.kernel "MatMulCompressed"({{.*}}) numbers [2, 8, 0]
// Rows are rounded for who allows it.
// INT8: "MatMulCompressed"({{.*}}) numbers [2, 8, 8]
// BF16: "MatMulCompressed"({{.*}}) numbers [2, 8, 0]
coreai.graph @zeros(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xui8>
  %scale = coreai.constant dense<[[0.1, 0.2, 0.3]]> : tensor<1x3xf32>
  %zero = coreai.constant dense<[[1, 2, 3]]> : tensor<1x3xui8>
  %none = coreai.constant dense<0.0> : tensor<1x3xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<4x3xui8>, tensor<1x3xf32>, tensor<1x3xui8>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// A palette.
// CHECK-LABEL: plan.function @palette
// CHECK: plan.kernel "PackCodes"({{.*}}) numbers [2] prepared : ({{.*}}) -> tensor<1x1x128xui8>
// CHECK: plan.kernel "MatMulCompressed"({{.*}}) numbers [0, 2, 0]
// INT8: "MatMulCompressed"({{.*}}) numbers [0, 2, 0]
coreai.graph @palette(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %i = coreai.constant dense<[[1, 2, 3], [0, 1, 2], [3, 0, 1], [2, 2, 2]]> : tensor<4x3xui2>
  %lut = coreai.constant dense<[[[[0.1], [0.2], [0.3], [0.4]]]]> : tensor<1x1x4x1xf32>
  %axis = coreai.constant dense<0> : tensor<si16>
  %w = coreai.lut_to_dense %i, %lut, %axis : (tensor<4x3xui2>, tensor<1x1x4x1xf32>, tensor<si16>) -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// Entries that are vectors go on as floats.
// CHECK-LABEL: plan.function @vectors
// CHECK: plan.kernel "PackMatrix"{{.*}}plan.expanded = "entries of its table are vectors"
// CHECK: plan.kernel "MatMulPacked"
coreai.graph @vectors(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %i = coreai.constant dense<[[1, 0, 1], [0, 1, 0]]> : tensor<2x3xui1>
  %lut = coreai.constant dense<[[[[0.1, 0.2], [0.3, 0.4]]]]> : tensor<1x1x2x2xf32>
  %axis = coreai.constant dense<0> : tensor<si16>
  %w = coreai.lut_to_dense %i, %lut, %axis : (tensor<2x3xui1>, tensor<1x1x2x2xf32>, tensor<si16>) -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// A part of what was compressed.
// CHECK-LABEL: plan.function @part
// CHECK: plan.kernel "PackMatrix"{{.*}}plan.expanded = "the matrix is only a part of it, or mixes k and n"
// CHECK: plan.kernel "MatMulPacked"
coreai.graph @part(%x: tensor<5x2xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xsi8>
  %scale = coreai.constant dense<[[0.1, 0.2, 0.3]]> : tensor<1x3xf32>
  %zero = coreai.constant dense<0> : tensor<1x3xsi8>
  %none = coreai.constant dense<0.0> : tensor<1x3xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<4x3xsi8>, tensor<1x3xf32>, tensor<1x3xsi8>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %begin = coreai.constant dense<0> : tensor<2xsi32>
  %end = coreai.constant dense<[2, 3]> : tensor<2xsi32>
  %step = coreai.constant dense<1> : tensor<2xsi32>
  %p = coreai.slice %w, %begin, %end, %step : (tensor<4x3xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %p : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// Only the rows that are wanted are decompressed, with their own scales.
// CHECK-LABEL: plan.function @rows
// CHECK: %[[CODES:.*]] = plan.kernel "GatherNd"({{.*}}) numbers [] : ({{.*}}) -> tensor<2x2x2xsi8>
// CHECK: %[[SCALES:.*]] = plan.kernel "GatherNd"({{.*}}) numbers [] : ({{.*}}) -> tensor<2x2x1xf32>
// CHECK: plan.kernel "Dequantize"(%[[CODES]]
coreai.graph @rows(%i: tensor<2x1xsi32> {coreai.name = "i"}) -> (tensor<2x4xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xsi8>
  %scale = coreai.constant dense<[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]> : tensor<3x2xf32>
  %zero = coreai.constant dense<0> : tensor<3x2xsi8>
  %none = coreai.constant dense<0.0> : tensor<3x2xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<3x4xsi8>, tensor<3x2xf32>, tensor<3x2xsi8>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %0 = coreai.gather_nd %w at %i : (tensor<3x4xf32>, tensor<2x1xsi32>) to tensor<2x4xf32>
  coreai.output %0 : tensor<2x4xf32>
}

// Scales that several rows share stay with them.
// CHECK-LABEL: plan.function @sharedRows
// CHECK: plan.kernel "Dequantize"({{.*}}) numbers [] prepared
// CHECK: plan.kernel "GatherNd"
coreai.graph @sharedRows(%i: tensor<2x1xsi32> {coreai.name = "i"}) -> (tensor<2x2xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xsi8>
  %scale = coreai.constant dense<[[0.1], [0.3]]> : tensor<2x1xf32>
  %zero = coreai.constant dense<0> : tensor<2x1xsi8>
  %none = coreai.constant dense<0.0> : tensor<2x1xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<4x2xsi8>, tensor<2x1xf32>, tensor<2x1xsi8>, tensor<2x1xf32>) -> tensor<4x2xf32>
  %0 = coreai.gather_nd %w at %i : (tensor<4x2xf32>, tensor<2x1xsi32>) to tensor<2x2xf32>
  coreai.output %0 : tensor<2x2xf32>
}

// A convolution of single elements is a product of pixels, whose result has its
// channels last in memory; what comes after it is a part of it.
// CHECK-LABEL: plan.function @pointwise
// CHECK: plan.kernel "PackCodes"
// CHECK: plan.kernel "MatMulCompressed"({{.*}}) with({{.*}}) numbers [1, 8, 0] order [0, 2, 3, 1]
// CHECK-SAME: (tensor<1x4x5x2xf32>
// CHECK-SAME: -> tensor<1x3x4x5xf32>
// CHECK: plan.lane "Add"
// CHECK-NOT: "ConvolutionPacked"
// CHECK: plan.return
coreai.graph @pointwise(%x: tensor<1x2x4x5xf32> {coreai.name = "x"}) -> (tensor<1x3x4x5xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]], [[[5]], [[6]]]]> : tensor<3x2x1x1xsi8>
  %scale = coreai.constant dense<[[[[0.1]]], [[[0.2]]], [[[0.3]]]]> : tensor<3x1x1x1xf32>
  %zero = coreai.constant dense<0> : tensor<3x1x1x1xsi8>
  %none = coreai.constant dense<0.0> : tensor<3x1x1x1xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<3x2x1x1xsi8>, tensor<3x1x1x1xf32>, tensor<3x1x1x1xsi8>, tensor<3x1x1x1xf32>) -> tensor<3x2x1x1xf32>
  %bias = coreai.constant dense<[[[0.1]], [[0.2]], [[0.3]]]> : tensor<3x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x4x5xf32>
  %1 = coreai.decomposable.broadcasting_add %0, %bias : (tensor<1x3x4x5xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x5xf32>
  coreai.output %1 : tensor<1x3x4x5xf32>
}

// Numbers that channels are multiplied with do not go into codes.
// CHECK-LABEL: plan.function @scaled
// CHECK: plan.kernel "MatMulCompressed"({{.*}}) with({{.*}}) numbers [1, 8, 0] order [0, 2, 3, 1]
// CHECK: plan.lane "Mul"
// CHECK-NOT: "ConvolutionPacked"
// CHECK: plan.return
coreai.graph @scaled(%x: tensor<1x2x4x5xf32> {coreai.name = "x"}) -> (tensor<1x3x4x5xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]], [[[5]], [[6]]]]> : tensor<3x2x1x1xsi8>
  %scale = coreai.constant dense<[[[[0.1]]], [[[0.2]]], [[[0.3]]]]> : tensor<3x1x1x1xf32>
  %zero = coreai.constant dense<0> : tensor<3x1x1x1xsi8>
  %none = coreai.constant dense<0.0> : tensor<3x1x1x1xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<3x2x1x1xsi8>, tensor<3x1x1x1xf32>, tensor<3x1x1x1xsi8>, tensor<3x1x1x1xf32>) -> tensor<3x2x1x1xf32>
  %weight = coreai.constant dense<[[[7.0]], [[8.0]], [[9.0]]]> : tensor<3x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x4x5xf32>
  %1 = coreai.decomposable.broadcasting_mul %0, %weight : (tensor<1x3x4x5xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x5xf32>
  coreai.output %1 : tensor<1x3x4x5xf32>
}

// A step of two leaves pixels out.
// CHECK-LABEL: plan.function @steps
// CHECK: plan.kernel "PackMatrix"{{.*}}plan.expanded = "convolutions with strides or margins take floats"
// CHECK: plan.kernel "ConvolutionPacked"
coreai.graph @steps(%x: tensor<1x2x4x4xf32> {coreai.name = "x"}) -> (tensor<1x3x2x2xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]], [[[5]], [[6]]]]> : tensor<3x2x1x1xsi8>
  %scale = coreai.constant dense<[[[[0.1]]], [[[0.2]]], [[[0.3]]]]> : tensor<3x1x1x1xf32>
  %zero = coreai.constant dense<0> : tensor<3x1x1x1xsi8>
  %none = coreai.constant dense<0.0> : tensor<3x1x1x1xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<3x2x1x1xsi8>, tensor<3x1x1x1xf32>, tensor<3x1x1x1xsi8>, tensor<3x1x1x1xf32>) -> tensor<3x2x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %twos, %ones, %group : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x2x2xf32>
  coreai.output %0 : tensor<1x3x2x2xf32>
}

// Each channel is on its own.
// CHECK-LABEL: plan.function @channels
// CHECK: plan.expanded = "convolutions in groups take floats"
// CHECK: plan.kernel "ConvolutionDepthwise"
coreai.graph @channels(%x: tensor<1x3x4x4xf32> {coreai.name = "x"}) -> (tensor<1x3x4x4xf32> {coreai.name = "z"}) {
  %q = coreai.constant dense<[[[[1]]], [[[3]]], [[[5]]]]> : tensor<3x1x1x1xsi8>
  %scale = coreai.constant dense<[[[[0.1]]], [[[0.2]]], [[[0.3]]]]> : tensor<3x1x1x1xf32>
  %zero = coreai.constant dense<0> : tensor<3x1x1x1xsi8>
  %none = coreai.constant dense<0.0> : tensor<3x1x1x1xf32>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<3x1x1x1xsi8>, tensor<3x1x1x1xf32>, tensor<3x1x1x1xsi8>, tensor<3x1x1x1xf32>) -> tensor<3x1x1x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %groups = coreai.constant dense<3> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %groups : (tensor<1x3x4x4xf32>, tensor<3x1x1x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x3x4x4xf32>
  coreai.output %0 : tensor<1x3x4x4xf32>
}
