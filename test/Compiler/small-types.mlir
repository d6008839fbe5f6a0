// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Elements of fewer than 32 bits. Sums and products of whole numbers wrap around
// sooner than lanes of a program do: each is a kernel of its own.

// CHECK-LABEL: plan.function @bytes
// CHECK: plan.kernel "Add"(%arg0, %arg1)
// CHECK: plan.kernel "Sub"(%arg0, %arg1)
// CHECK: plan.kernel "Mul"(%arg0, %arg1)
// CHECK: plan.kernel "Divide"(%arg0, %arg1)
// CHECK: plan.kernel "FloorDivide"(%arg0, %arg1)
// CHECK: plan.kernel "Modulo"(%arg0, %arg1)
// CHECK: plan.kernel "Pow"(%arg0, %arg1)
// CHECK: plan.kernel "Abs"(%arg0)
coreai.graph @bytes(%x: tensor<3x40xsi8>, %y: tensor<3x40xsi8>) -> (tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>) {
  %0 = coreai.add %x, %y : (tensor<3x40xsi8>, tensor<3x40xsi8>) -> tensor<3x40xsi8>
  %1 = coreai.sub %x, %y : (tensor<3x40xsi8>, tensor<3x40xsi8>) -> tensor<3x40xsi8>
  %2 = coreai.mul %x, %y : (tensor<3x40xsi8>, tensor<3x40xsi8>) -> tensor<3x40xsi8>
  %3 = coreai.divide %x, %y : (tensor<3x40xsi8>, tensor<3x40xsi8>) -> tensor<3x40xsi8>
  %4 = coreai.floor_divide %x, %y : (tensor<3x40xsi8>, tensor<3x40xsi8>) -> tensor<3x40xsi8>
  %5 = coreai.modulo %x, %y : (tensor<3x40xsi8>, tensor<3x40xsi8>) -> tensor<3x40xsi8>
  %6 = coreai.pow %x, %y : (tensor<3x40xsi8>, tensor<3x40xsi8>) -> tensor<3x40xsi8>
  %7 = coreai.abs %x : tensor<3x40xsi8> -> tensor<3x40xsi8>
  coreai.output %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>, tensor<3x40xsi8>
}

// CHECK-LABEL: plan.function @unsigned_words
// CHECK: plan.kernel "Add"(%arg0, %arg1)
// CHECK: plan.kernel "Sub"(%arg0, %arg1)
// CHECK: plan.kernel "Mul"(%arg0, %arg1)
// CHECK: plan.kernel "Divide"(%arg0, %arg1)
// CHECK: plan.kernel "FloorDivide"(%arg0, %arg1)
// CHECK: plan.kernel "Modulo"(%arg0, %arg1)
// CHECK: plan.kernel "Pow"(%arg0, %arg1)
coreai.graph @unsigned_words(%x: tensor<3x40xui16>, %y: tensor<3x40xui16>) -> (tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>) {
  %0 = coreai.add %x, %y : (tensor<3x40xui16>, tensor<3x40xui16>) -> tensor<3x40xui16>
  %1 = coreai.sub %x, %y : (tensor<3x40xui16>, tensor<3x40xui16>) -> tensor<3x40xui16>
  %2 = coreai.mul %x, %y : (tensor<3x40xui16>, tensor<3x40xui16>) -> tensor<3x40xui16>
  %3 = coreai.divide %x, %y : (tensor<3x40xui16>, tensor<3x40xui16>) -> tensor<3x40xui16>
  %4 = coreai.floor_divide %x, %y : (tensor<3x40xui16>, tensor<3x40xui16>) -> tensor<3x40xui16>
  %5 = coreai.modulo %x, %y : (tensor<3x40xui16>, tensor<3x40xui16>) -> tensor<3x40xui16>
  %6 = coreai.pow %x, %y : (tensor<3x40xui16>, tensor<3x40xui16>) -> tensor<3x40xui16>
  coreai.output %0, %1, %2, %3, %4, %5, %6 : tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>, tensor<3x40xui16>
}

// Floats are what they are in f32, too, wherever that is computed.
// CHECK-LABEL: plan.function @halves
// CHECK: plan.kernel "MatMulPacked"
// CHECK: plan.kernel "Softmax"
// CHECK: plan.kernel "ReduceSum"
// CHECK: plan.kernel "ScanSum"
// CHECK: plan.kernel "Sort"
coreai.graph @halves(%x: tensor<4x20xf16>) -> (tensor<4x8xf16>, tensor<4x20xf16>, tensor<4x1xf16>, tensor<4x20xf16>, tensor<4x20xf16>) {
  %w = coreai.constant dense<0.5> : tensor<20x8xf16>
  %axes = coreai.constant dense<[1]> : tensor<1xsi32>
  %axis = coreai.constant dense<1> : tensor<si32>
  %unsigned = coreai.constant dense<1> : tensor<ui32>
  %no = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<4x20xf16>, tensor<20x8xf16>) -> tensor<4x8xf16>
  %1 = coreai.relu %0 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %2 = coreai.softmax %x, %axis : (tensor<4x20xf16>, tensor<si32>) -> tensor<4x20xf16>
  %3 = coreai.reduce_sum %x, %axes : (tensor<4x20xf16>, tensor<1xsi32>) -> tensor<4x1xf16>
  %4 = coreai.scan %x, %unsigned, %no combiner = <sum> : (tensor<4x20xf16>, tensor<ui32>, tensor<i1>) -> tensor<4x20xf16>
  %5 = coreai.sort %x, %axis, %no, %no : (tensor<4x20xf16>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<4x20xf16>
  coreai.output %1, %2, %3, %4, %5 : tensor<4x8xf16>, tensor<4x20xf16>, tensor<4x1xf16>, tensor<4x20xf16>, tensor<4x20xf16>
}

// CHECK-LABEL: plan.function @images_halves
// CHECK: plan.kernel "ConvolutionPacked"
// CHECK: plan.kernel "MaxPool"
coreai.graph @images_halves(%x: tensor<1x4x8x8xf16>) -> (tensor<1x6x6x6xf16>, tensor<1x4x4x4xf16>) {
  %w = coreai.constant dense<0.5> : tensor<6x4x3x3xf16>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %ceil = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x4x8x8xf16>, tensor<6x4x3x3xf16>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x6x6xf16>
  %1 = coreai.max_pool_2d %x, %twos, %twos, %ones, %ceil : (tensor<1x4x8x8xf16>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) -> tensor<1x4x4x4xf16>
  coreai.output %0, %1 : tensor<1x6x6x6xf16>, tensor<1x4x4x4xf16>
}

// CHECK-LABEL: plan.function @short_floats
// CHECK: plan.kernel "MatMulPacked"
// CHECK: plan.kernel "Softmax"
// CHECK: plan.kernel "ReduceSum"
// CHECK: plan.kernel "ScanSum"
// CHECK: plan.kernel "Sort"
coreai.graph @short_floats(%x: tensor<4x20xbf16>) -> (tensor<4x8xbf16>, tensor<4x20xbf16>, tensor<4x1xbf16>, tensor<4x20xbf16>, tensor<4x20xbf16>) {
  %w = coreai.constant dense<0.5> : tensor<20x8xbf16>
  %axes = coreai.constant dense<[1]> : tensor<1xsi32>
  %axis = coreai.constant dense<1> : tensor<si32>
  %unsigned = coreai.constant dense<1> : tensor<ui32>
  %no = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<4x20xbf16>, tensor<20x8xbf16>) -> tensor<4x8xbf16>
  %1 = coreai.relu %0 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %2 = coreai.softmax %x, %axis : (tensor<4x20xbf16>, tensor<si32>) -> tensor<4x20xbf16>
  %3 = coreai.reduce_sum %x, %axes : (tensor<4x20xbf16>, tensor<1xsi32>) -> tensor<4x1xbf16>
  %4 = coreai.scan %x, %unsigned, %no combiner = <sum> : (tensor<4x20xbf16>, tensor<ui32>, tensor<i1>) -> tensor<4x20xbf16>
  %5 = coreai.sort %x, %axis, %no, %no : (tensor<4x20xbf16>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<4x20xbf16>
  coreai.output %1, %2, %3, %4, %5 : tensor<4x8xbf16>, tensor<4x20xbf16>, tensor<4x1xbf16>, tensor<4x20xbf16>, tensor<4x20xbf16>
}

// CHECK-LABEL: plan.function @images_short_floats
// CHECK: plan.kernel "ConvolutionPacked"
// CHECK: plan.kernel "MaxPool"
coreai.graph @images_short_floats(%x: tensor<1x4x8x8xbf16>) -> (tensor<1x6x6x6xbf16>, tensor<1x4x4x4xbf16>) {
  %w = coreai.constant dense<0.5> : tensor<6x4x3x3xbf16>
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %ceil = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %group : (tensor<1x4x8x8xbf16>, tensor<6x4x3x3xbf16>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x6x6xbf16>
  %1 = coreai.max_pool_2d %x, %twos, %twos, %ones, %ceil : (tensor<1x4x8x8xbf16>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) -> tensor<1x4x4x4xbf16>
  coreai.output %0, %1 : tensor<1x6x6x6xbf16>, tensor<1x4x4x4xbf16>
}
