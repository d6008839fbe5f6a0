// RUN: corten-opt --coreai-to-plan %s | FileCheck %s

// What only moves elements is a view, and costs nothing.
// CHECK-LABEL: plan.function @moves inputs ["x"]
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<2x6xf32>):
// CHECK-NEXT: plan.view %[[X]] sizes() offset 1() strides [1, 3, 6]()
// CHECK-NEXT: plan.kernel "Copy"
// CHECK-NEXT: plan.return
coreai.graph @moves(%x: tensor<2x6xf32> {coreai.name = "x"}) -> (tensor<2x1x2xf32> {coreai.name = "y"}) {
  %shape = coreai.constant dense<[2, 2, 3]> : tensor<3xsi32>
  %0 = coreai.reshape %x, %shape : (tensor<2x6xf32>, tensor<3xsi32>) -> tensor<2x2x3xf32>
  %order = coreai.constant dense<[2, 1, 0]> : tensor<3xui32>
  %1 = coreai.transpose %0, %order : (tensor<2x2x3xf32>, tensor<3xui32>) -> tensor<3x2x2xf32>
  %start = coreai.constant dense<[1, 0, 0]> : tensor<3xsi32>
  %end = coreai.constant dense<[3, 1, 2]> : tensor<3xsi32>
  %one = coreai.constant dense<1> : tensor<3xsi32>
  %2 = coreai.slice %1, %start, %end, %one : (tensor<3x2x2xf32>, tensor<3xsi32>, tensor<3xsi32>, tensor<3xsi32>) -> tensor<2x1x2xf32>
  coreai.output %2 : tensor<2x1x2xf32>
}
