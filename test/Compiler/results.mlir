// RUN: corten-opt --coreai-to-plan %s | FileCheck %s

// A result that only has other axes is written where the caller wants it.
// CHECK-LABEL: plan.function @reshaped
// CHECK: %[[Y:.*]] = plan.kernel "Tile"
// CHECK: %[[Z:.*]] = plan.view %[[Y]]
// CHECK-NOT: plan.kernel "Copy"
// CHECK: plan.return %[[Z]] : tensor<32xf32>
coreai.graph @reshaped(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<32xf32> {coreai.name = "z"}) {
  %shape = coreai.constant dense<[32]> : tensor<1xsi32>
  %0 = coreai.exp %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = coreai.reshape %0, %shape : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<32xf32>
  coreai.output %1 : tensor<32xf32>
}

// Both results cannot have the same memory.
// CHECK-LABEL: plan.function @twice
// CHECK: %[[Y:.*]] = plan.kernel "Tile"
// CHECK: %[[V:.*]] = plan.view %[[Y]]
// CHECK: %[[Z:.*]] = plan.kernel "Copy"(%[[V]])
// CHECK: plan.return %[[Y]], %[[Z]]
coreai.graph @twice(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<4x8xf32> {coreai.name = "y"}, tensor<32xf32> {coreai.name = "z"}) {
  %shape = coreai.constant dense<[32]> : tensor<1xsi32>
  %0 = coreai.exp %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = coreai.reshape %0, %shape : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<32xf32>
  coreai.output %0, %1 : tensor<4x8xf32>, tensor<32xf32>
}

// A part of what was computed is not all of the memory.
// CHECK-LABEL: plan.function @part
// CHECK: plan.kernel "Tile"
// CHECK: plan.kernel "Copy"
coreai.graph @part(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<2x8xf32> {coreai.name = "z"}) {
  %start = coreai.constant dense<[0, 0]> : tensor<2xsi32>
  %end = coreai.constant dense<[2, 8]> : tensor<2xsi32>
  %step = coreai.constant dense<[1, 1]> : tensor<2xsi32>
  %0 = coreai.exp %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = coreai.slice %0, %start, %end, %step : (tensor<4x8xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<2x8xf32>
  coreai.output %1 : tensor<2x8xf32>
}

// What a program says about extents goes along.
// CHECK-LABEL: plan.function @limits
// CHECK-SAME: plan.ranges = {{\[\[\[}}2, 64], [3, 3{{\]\]\]}}
coreai.graph @limits(%x: tensor<?x3xf32> {coreai.name = "x", corten.shape_ranges = [[2, 64], [3, 3]]}) -> (tensor<?x3xf32> {coreai.name = "z"}) {
  %0 = coreai.exp %x : tensor<?x3xf32> -> tensor<?x3xf32>
  coreai.output %0 : tensor<?x3xf32>
}
