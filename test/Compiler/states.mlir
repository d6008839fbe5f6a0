// RUN: corten-opt --coreai-to-plan %s | FileCheck %s

// CHECK-LABEL: plan.function @cache inputs ["x"] states ["k"] outputs ["sum"]
// CHECK: ^bb0(%[[X:.*]]: tensor<1x4xf32>, %[[K:.*]]: tensor<8x4xf32>):
// CHECK: %[[NEW:.*]] = plan.insert %[[X]] into %[[K]]
// CHECK: plan.kernel "ReduceSum"(%[[NEW]])
// CHECK: plan.store %[[NEW]] to %[[K]]
coreai.graph @cache(%x: tensor<1x4xf32> {coreai.name = "x"}, %k: tensor<8x4xf32> {MutableBuffers.buffer_mutation = "k", coreai.name = "k"}) -> (tensor<8x4xf32> {coreai.name = "k"}, tensor<1x4xf32> {coreai.name = "sum"}) {
  %start = coreai.constant dense<[2, 0]> : tensor<2xsi32>
  %end = coreai.constant dense<[3, 4]> : tensor<2xsi32>
  %one = coreai.constant dense<1> : tensor<2xsi32>
  %0 = coreai.slice_update %k with %x at (%start, %end, %one) : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) to tensor<8x4xf32>
  %axis = coreai.constant dense<[0]> : tensor<1xsi32>
  %1 = coreai.reduce_sum %0, %axis : (tensor<8x4xf32>, tensor<1xsi32>) -> tensor<1x4xf32>
  coreai.output %0, %1 : tensor<8x4xf32>, tensor<1x4xf32>
}

// All of a state whose extents calls say is the state itself, and no view: an
// update can be made where it lies.
// CHECK-LABEL: plan.function @rows
// CHECK: ^bb0(%[[X:.*]]: tensor<1x4xf32>, %[[AT:.*]]: tensor<1x1xsi32>, %[[K:.*]]: tensor<?x4xf32>):
// CHECK: %[[NEW:.*]] = plan.kernel "ScatterNd"(%[[K]], %[[AT]], %[[X]])
// CHECK: plan.store %[[NEW]] to %[[K]]
coreai.graph @rows(%x: tensor<1x4xf32> {coreai.name = "x"}, %at: tensor<1x1xsi32> {coreai.name = "at"}, %k: tensor<?x4xf32> {MutableBuffers.buffer_mutation = "k", coreai.name = "k"}) -> (tensor<?x4xf32> {coreai.name = "k"}) {
  %0 = coreai.scatter_nd %k with %x at %at {
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    coreai.yield %new : tensor<f32>
  } : (tensor<?x4xf32>, tensor<1x4xf32>, tensor<1x1xsi32>) to tensor<?x4xf32>
  coreai.output %0 : tensor<?x4xf32>
}
