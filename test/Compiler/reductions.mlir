// RUN: corten-opt --coreai-to-plan %s | FileCheck %s

// What is reduced is computed on the way: here a sum of squares.
// CHECK-LABEL: plan.function @squares
// CHECK: plan.kernel "TileReduce"() with(%{{.*}}) numbers [0]
// CHECK: plan.lane "Mul"
// CHECK: plan.yield
// CHECK-NOT: plan.kernel
coreai.graph @squares(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<4x1xf32> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = coreai.reduce_sum %0, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  coreai.output %1 : tensor<4x1xf32>
}

// Truth values too, along any axis, with a chain before.
// CHECK-LABEL: plan.function @truth
// CHECK: plan.kernel "TileReduce"() with({{.*}}) numbers [6]
// CHECK: plan.lane "Abs"
// CHECK: plan.lane "Greater"
// CHECK-NOT: plan.kernel
coreai.graph @truth(%x: tensor<4x8xf16> {coreai.name = "x"}, %y: tensor<4x8xf16> {coreai.name = "y"}) -> (tensor<1x8xi1> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[0]> : tensor<1xsi32>
  %0 = coreai.abs %x : tensor<4x8xf16> -> tensor<4x8xf16>
  %1 = coreai.greater %0, %y : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xi1>
  %2 = coreai.any %1, %axis : (tensor<4x8xi1>, tensor<1xsi32>) -> tensor<1x8xi1>
  coreai.output %2 : tensor<1x8xi1>
}

// What somebody else uses is stored anyway.
// CHECK-LABEL: plan.function @used
// CHECK: plan.kernel "Tile"
// CHECK: plan.kernel "ReduceMax"
coreai.graph @used(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<4x8xf32> {coreai.name = "y"}, tensor<4x1xf32> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = coreai.reduce_max %0, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  coreai.output %0, %1 : tensor<4x8xf32>, tensor<4x1xf32>
}

// A sum of bytes wraps around sooner than one of lanes.
// CHECK-LABEL: plan.function @bytes
// CHECK: plan.kernel "Tile"
// CHECK: plan.kernel "ReduceSum"
coreai.graph @bytes(%x: tensor<4x8xsi8> {coreai.name = "x"}, %y: tensor<4x8xsi8> {coreai.name = "y"}) -> (tensor<4x1xsi8> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.maximum %x, %y : (tensor<4x8xsi8>, tensor<4x8xsi8>) -> tensor<4x8xsi8>
  %1 = coreai.reduce_sum %0, %axis : (tensor<4x8xsi8>, tensor<1xsi32>) -> tensor<4x1xsi8>
  coreai.output %1 : tensor<4x1xsi8>
}

// Which element is largest is no number of elements.
// CHECK-LABEL: plan.function @which
// CHECK: plan.kernel "Tile"
// CHECK: plan.kernel "Argmax"
coreai.graph @which(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<4x1xui32> {coreai.name = "z"}) {
  %axis = coreai.constant dense<1> : tensor<si32>
  %0 = coreai.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = coreai.argmax %0, %axis : (tensor<4x8xf32>, tensor<si32>) -> tensor<4x1xui32>
  coreai.output %1 : tensor<4x1xui32>
}
