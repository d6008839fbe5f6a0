// RUN: corten-opt --coreai-to-plan %s | FileCheck %s

// A chain is one tile program; a number everywhere is part of it.
// CHECK-LABEL: plan.function @chain
// CHECK: plan.kernel "Tile"() with(%{{.*}}, %{{.*}})
// CHECK: plan.immediate 2.0
// CHECK: plan.lane "Mul"
// CHECK: plan.lane "Add"
// CHECK: plan.lane "Tanh"
// CHECK: plan.yield
// CHECK-NOT: plan.kernel
coreai.graph @chain(%x: tensor<4x8xf32> {coreai.name = "x"}, %y: tensor<4x8xf32> {coreai.name = "y"}) -> (tensor<4x8xf32> {coreai.name = "z"}) {
  %two = coreai.constant dense<2.0> : tensor<f32>
  %0 = coreai.decomposable.broadcasting_mul %x, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = coreai.add %0, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = coreai.tanh %1 : tensor<4x8xf32> -> tensor<4x8xf32>
  coreai.output %2 : tensor<4x8xf32>
}

// What is used twice is computed once.
// CHECK-LABEL: plan.function @shared
// CHECK: plan.kernel "Tile"
// CHECK: plan.lane "Exp"
// CHECK: plan.kernel "ReduceSum"
// CHECK: plan.kernel "Tile"
// CHECK: plan.lane "Divide"
coreai.graph @shared(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<4x8xf32> {coreai.name = "z"}) {
  %0 = coreai.exp %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %1 = coreai.reduce_sum %0, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  %2 = coreai.decomposable.broadcasting_divide %0, %1 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  coreai.output %2 : tensor<4x8xf32>
}

// Bytes wrap around sooner than the lanes of a program do.
// CHECK-LABEL: plan.function @bytes
// CHECK: plan.kernel "Add"(
coreai.graph @bytes(%x: tensor<4xsi8> {coreai.name = "x"}) -> (tensor<4xsi8> {coreai.name = "z"}) {
  %0 = coreai.add %x, %x : (tensor<4xsi8>, tensor<4xsi8>) -> tensor<4xsi8>
  coreai.output %0 : tensor<4xsi8>
}

// Bias and activation are done by the product; the weight is packed once.
// CHECK-LABEL: plan.function @linear
// CHECK: plan.kernel "PackMatrix"({{.*}}) numbers [] prepared
// CHECK: plan.kernel "MatMulPacked"({{.*}}) with(
// CHECK: plan.lane "Add"
// CHECK: plan.lane "Relu"
// CHECK-NOT: plan.kernel
coreai.graph @linear(%x: tensor<4x2xf32> {coreai.name = "x"}) -> (tensor<4x3xf32> {coreai.name = "z"}) {
  %w = coreai.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = coreai.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %1 = coreai.decomposable.broadcasting_add %0, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %2 = coreai.relu %1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  coreai.output %2 : tensor<4x3xf32>
}

// So is a cast to another type of floats, of what was rounded to its own; one to
// whole numbers is not.
// CHECK-LABEL: plan.function @castAfter
// CHECK: plan.kernel "MatMulPacked"({{.*}}) -> tensor<4x3xf32>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: %[[ROUNDED:.*]] = plan.lane "RoundToF16"(%[[SUM]])
// CHECK-NEXT: plan.yield %[[ROUNDED]]
// CHECK-NOT: "Tile"
// CHECK: plan.kernel "MatMulPacked"({{.*}}) -> tensor<4x3xf16>
// CHECK: plan.kernel "Tile"
// CHECK-NOT: plan.kernel
coreai.graph @castAfter(%x: tensor<4x2xf16> {coreai.name = "x"}, %y: tensor<4x2xf16> {coreai.name = "y"}) -> (tensor<4x3xf32> {coreai.name = "z"}, tensor<4x3xsi32> {coreai.name = "n"}) {
  %w = coreai.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
  %0 = coreai.batch_matmul %x, %w : (tensor<4x2xf16>, tensor<2x3xf16>) -> tensor<4x3xf16>
  %1 = coreai.cast %0 : tensor<4x3xf16> to tensor<4x3xf32>
  %2 = coreai.batch_matmul %y, %w : (tensor<4x2xf16>, tensor<2x3xf16>) -> tensor<4x3xf16>
  %3 = coreai.cast %2 : tensor<4x3xf16> to tensor<4x3xsi32>
  coreai.output %1, %3 : tensor<4x3xf32>, tensor<4x3xsi32>
}

// What follows a product in another shape is a part of it too.
// CHECK-LABEL: plan.function @otherShape
// CHECK: "MatMulPacked"(%{{.*}}) with(%{{.*}})
// CHECK: plan.lane "Add"
// CHECK-NOT: "Tile"
// CHECK: plan.return
coreai.graph @otherShape(%x: tensor<2x3x4xf32> {coreai.name = "x"}, %r: tensor<2x3x5xf32> {coreai.name = "r"}) -> (tensor<2x3x5xf32> {coreai.name = "z"}) {
  %w = coreai.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 6.0], [1.0, 2.0, 3.0, 4.0, 7.0], [1.0, 2.0, 3.0, 4.0, 8.0]]> : tensor<4x5xf32>
  %rows = coreai.constant dense<[6, 4]> : tensor<2xsi32>
  %shape = coreai.constant dense<[2, 3, 5]> : tensor<3xsi32>
  %0 = coreai.reshape %x, %rows : (tensor<2x3x4xf32>, tensor<2xsi32>) -> tensor<6x4xf32>
  %1 = coreai.batch_matmul %0, %w : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = coreai.reshape %1, %shape : (tensor<6x5xf32>, tensor<3xsi32>) -> tensor<2x3x5xf32>
  %3 = coreai.add %2, %r : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  coreai.output %3 : tensor<2x3x5xf32>
}
