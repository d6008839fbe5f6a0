// RUN: corten-opt --coreai-to-plan %s | FileCheck %s

// A shape that is computed from that of an input is an expression, and no
// kernel computes it.
// CHECK-LABEL: plan.function @flat
// CHECK: %[[N:.*]] = plan.extent %{{.*}}, 0
// CHECK: %[[M:.*]] = arith.muli %[[N]]
// CHECK-NOT: "Numbers"
// CHECK: plan.kernel "Copy"({{.*}}) numbers [] sizes(%[[M]])
coreai.graph @flat(%x: tensor<?x4xf32> {coreai.name = "x"}) -> (tensor<?xf32> {coreai.name = "y"}) {
  %0 = coreai.get_shape %x : tensor<?x4xf32> -> tensor<2xui32>
  %axis = coreai.constant dense<[0]> : tensor<1xsi32>
  %1 = coreai.reduce_product %0, %axis : (tensor<2xui32>, tensor<1xsi32>) -> tensor<1xui32>
  %2 = coreai.reshape %x, %1 : (tensor<?x4xf32>, tensor<1xui32>) -> tensor<?xf32>
  coreai.output %2 : tensor<?xf32>
}

// What depends on data is read when it is known.
// CHECK-LABEL: plan.function @found
// CHECK: %[[R:.*]] = plan.kernel "NonZero"
// CHECK: %[[N:.*]] = plan.extent %[[R]], 0
coreai.graph @found(%x: tensor<6xf32> {coreai.name = "x"}) -> (tensor<?x1xsi32> {coreai.name = "y"}) {
  %0 = coreai.non_zero %x : tensor<6xf32> -> tensor<?x1xsi32>
  coreai.output %0 : tensor<?x1xsi32>
}

// How many there are is said by a step of a call, also of a constant.
// CHECK-LABEL: plan.function @found_in_a_constant
// CHECK: %[[R:.*]] = plan.kernel "NonZero"(
// CHECK-NOT: prepared
// CHECK: %[[N:.*]] = plan.extent %[[R]], 0
coreai.graph @found_in_a_constant(%x: tensor<3xf32> {coreai.name = "x"}) -> (tensor<?xf32> {coreai.name = "y"}) {
  %mask = coreai.constant dense<[true, false, true]> : tensor<3xi1>
  %0 = coreai.non_zero %mask : tensor<3xi1> -> tensor<?x1xsi32>
  %1 = coreai.gather_nd %x at %0 : (tensor<3xf32>, tensor<?x1xsi32>) to tensor<?xf32>
  coreai.output %1 : tensor<?xf32>
}
