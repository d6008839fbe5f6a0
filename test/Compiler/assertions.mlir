// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// What the compiler has to ask for.

// A part of a known size that begins where data says.
// CHECK-LABEL: plan.function @part
// CHECK: plan.assert %{{.*}}, "a part of a tensor reaches out of it" of ["start", "the extent", "the number of elements"]
// CHECK: plan.assert %{{.*}}, "a part of a tensor has another number of elements than the program says" of ["start", "end", "the extent", "the number of elements"]
// CHECK-NOT: plan.assert
coreai.graph @part(%x: tensor<8xf32> {coreai.name = "x"}, %i: tensor<1xsi32> {coreai.name = "i"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %two = coreai.constant dense<2> : tensor<1xsi32>
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %end = coreai.decomposable.broadcasting_add %i, %two : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
  %0 = coreai.slice %x, %i, %end, %one : (tensor<8xf32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// Two extents that the program does not know to be the same, asked for once.
// CHECK-LABEL: plan.function @sum
// CHECK: plan.assert %{{.*}}, "two axes cannot be broadcast together" of ["one", "the other"]
// CHECK-NOT: plan.assert
coreai.graph @sum(%x: tensor<?xf32> {coreai.name = "x"}, %y: tensor<?xf32> {coreai.name = "y"}) -> (tensor<?xf32> {coreai.name = "z"}) {
  %0 = coreai.decomposable.broadcasting_add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = coreai.decomposable.broadcasting_mul %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = coreai.decomposable.broadcasting_add %0, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  coreai.output %2 : tensor<?xf32>
}

// Shapes that are put together, which the data may be behind.
// CHECK-LABEL: plan.function @shapes
// CHECK: plan.assert %{{.*}}, "two axes cannot be broadcast together" of ["one", "the other"]
// CHECK-NOT: plan.assert
coreai.graph @shapes(%x: tensor<?xf32> {coreai.name = "x"}, %y: tensor<?xf32> {coreai.name = "y"}) -> (tensor<1xui32> {coreai.name = "z"}) {
  %0 = coreai.get_shape %x : tensor<?xf32> -> tensor<1xui32>
  %1 = coreai.get_shape %y : tensor<?xf32> -> tensor<1xui32>
  %2 = coreai.broadcast_shapes %0, %1 : (tensor<1xui32>, tensor<1xui32>) -> tensor<1xui32>
  coreai.output %2 : tensor<1xui32>
}

// Windows along an axis that is open have to fit; along the other they do.
// CHECK-LABEL: plan.function @windows
// CHECK: plan.assert %{{.*}}, "a window is larger than what it is to move over" of ["the window", "the extent"]
// CHECK-NOT: plan.assert
coreai.graph @windows(%x: tensor<1x2x?x5xf32> {coreai.name = "x"}) -> (tensor<1x2x?x2xf32> {coreai.name = "y"}) {
  %two = coreai.constant dense<2> : tensor<2xui32>
  %one = coreai.constant dense<1> : tensor<2xui32>
  %0 = coreai.sum_pool_2d %x, %two, %two, %one : (tensor<1x2x?x5xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x2x?x2xf32>
  coreai.output %0 : tensor<1x2x?x2xf32>
}
