// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// What a program itself asks for. No asset has it like this, so that
// scripts/fuzz-plans leaves this file out.

// What is computed from data is a tensor.
// CHECK-LABEL: plan.function @of_data
// CHECK: %[[FLAG:.*]] = plan.kernel
// CHECK: plan.assert %[[FLAG]], "less than three" of ["n"](%{{.*}}) : (tensor<1xi1>, tensor<1xsi32>) -> ()
coreai.graph @of_data(%n: tensor<1xsi32> {coreai.name = "n"}) -> (tensor<1xsi32> {coreai.name = "y"}) {
  %three = coreai.constant dense<3> : tensor<1xsi32>
  %flag = coreai.decomposable.broadcasting_greater %three, %n : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xi1>
  plan.assert %flag, "less than three" of ["n"](%n) : (tensor<1xi1>, tensor<1xsi32>) -> ()
  coreai.output %n : tensor<1xsi32>
}

// What is computed from sizes is one.
// CHECK-LABEL: plan.function @of_sizes
// CHECK: %[[N:.*]] = plan.extent
// CHECK: plan.assert %{{.*}}, "less than three" of ["n"](%[[N]]) : (index, index) -> ()
coreai.graph @of_sizes(%x: tensor<?xf32> {coreai.name = "x"}) -> (tensor<?xf32> {coreai.name = "y"}) {
  %three = coreai.constant dense<3> : tensor<1xui32>
  %n = coreai.get_shape %x : tensor<?xf32> -> tensor<1xui32>
  %flag = coreai.decomposable.broadcasting_greater %three, %n : (tensor<1xui32>, tensor<1xui32>) -> tensor<1xi1>
  plan.assert %flag, "less than three" of ["n"](%n) : (tensor<1xi1>, tensor<1xui32>) -> ()
  coreai.output %x : tensor<?xf32>
}

// What surely holds is not asked.
// CHECK-LABEL: plan.function @holds
// CHECK-NOT: plan.assert
coreai.graph @holds(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %flag = coreai.constant dense<true> : tensor<1xi1>
  plan.assert %flag, "always" of []() : (tensor<1xi1>) -> ()
  coreai.output %x : tensor<2xf32>
}
