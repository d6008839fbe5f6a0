// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// The first of sorted rows are chosen: nobody sorts the others.

// Values and places are made at once.
// CHECK-LABEL: plan.function @topk
// CHECK: %[[FIRST:.*]]:2 = plan.kernel "TopK"(%arg0) numbers [1, 1] : (tensor<4x60xf32>) -> (tensor<4x8xf32>, tensor<4x8xsi32>)
// CHECK-NOT: ort"
// CHECK: plan.return %[[FIRST]]#0, %[[FIRST]]#1
coreai.graph @topk(%x: tensor<4x60xf32>) -> (tensor<4x8xf32>, tensor<4x8xsi32>) {
  %0 = coreai.constant dense<1> : tensor<si32>
  %1 = coreai.constant dense<true> : tensor<i1>
  %2 = coreai.constant dense<0> : tensor<2xsi32>
  %3 = coreai.constant dense<[4, 8]> : tensor<2xsi32>
  %4 = coreai.constant dense<1> : tensor<2xsi32>
  %5 = coreai.sort %x, %0, %1, %1 : (tensor<4x60xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<4x60xf32>
  %6 = coreai.argsort %x, %0, %1, %1 : (tensor<4x60xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<4x60xsi32>
  %7 = coreai.slice %5, %2, %3, %4 : (tensor<4x60xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<4x8xf32>
  %8 = coreai.slice %6, %2, %3, %4 : (tensor<4x60xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<4x8xsi32>
  coreai.output %7, %8 : tensor<4x8xf32>, tensor<4x8xsi32>
}

// The last ones are others.
// CHECK-LABEL: plan.function @last
// CHECK-NOT: "TopK"
// CHECK: plan.return
coreai.graph @last(%x: tensor<4x60xf32>) -> (tensor<4x8xf32>) {
  %0 = coreai.constant dense<1> : tensor<si32>
  %1 = coreai.constant dense<true> : tensor<i1>
  %2 = coreai.constant dense<[0, 52]> : tensor<2xsi32>
  %3 = coreai.constant dense<[4, 60]> : tensor<2xsi32>
  %4 = coreai.constant dense<1> : tensor<2xsi32>
  %5 = coreai.sort %x, %0, %1, %1 : (tensor<4x60xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<4x60xf32>
  %7 = coreai.slice %5, %2, %3, %4 : (tensor<4x60xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<4x8xf32>
  coreai.output %7 : tensor<4x8xf32>
}

// Some rows, each of them as a whole.
// CHECK-LABEL: plan.function @rows
// CHECK-NOT: "TopK"
// CHECK: plan.return
coreai.graph @rows(%x: tensor<4x60xf32>) -> (tensor<2x60xf32>) {
  %0 = coreai.constant dense<1> : tensor<si32>
  %1 = coreai.constant dense<true> : tensor<i1>
  %2 = coreai.constant dense<0> : tensor<2xsi32>
  %3 = coreai.constant dense<[2, 60]> : tensor<2xsi32>
  %4 = coreai.constant dense<1> : tensor<2xsi32>
  %5 = coreai.sort %x, %0, %1, %1 : (tensor<4x60xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<4x60xf32>
  %7 = coreai.slice %5, %2, %3, %4 : (tensor<4x60xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<2x60xf32>
  coreai.output %7 : tensor<2x60xf32>
}

// Somebody wants them all.
// CHECK-LABEL: plan.function @allToo
// CHECK-NOT: "TopK"
// CHECK: plan.return
coreai.graph @allToo(%x: tensor<4x60xf32>) -> (tensor<4x8xf32>, tensor<4x60xf32>) {
  %0 = coreai.constant dense<1> : tensor<si32>
  %1 = coreai.constant dense<true> : tensor<i1>
  %2 = coreai.constant dense<0> : tensor<2xsi32>
  %3 = coreai.constant dense<[4, 8]> : tensor<2xsi32>
  %4 = coreai.constant dense<1> : tensor<2xsi32>
  %5 = coreai.sort %x, %0, %1, %1 : (tensor<4x60xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<4x60xf32>
  %7 = coreai.slice %5, %2, %3, %4 : (tensor<4x60xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<4x8xf32>
  coreai.output %7, %5 : tensor<4x8xf32>, tensor<4x60xf32>
}

// As many rows as a call has.
// CHECK-LABEL: plan.function @anyRows
// CHECK: "TopK"(%arg0)
// CHECK-NOT: "Sort"
// CHECK: plan.return
coreai.graph @anyRows(%x: tensor<?x48xf32>) -> (tensor<?x4xf32>) {
  %0 = coreai.constant dense<1> : tensor<si32>
  %1 = coreai.constant dense<true> : tensor<i1>
  %2 = coreai.constant dense<0> : tensor<2xsi32>
  %3 = coreai.constant dense<[2147483647, 4]> : tensor<2xsi32>
  %4 = coreai.constant dense<1> : tensor<2xsi32>
  %5 = coreai.sort %x, %0, %1, %1 : (tensor<?x48xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<?x48xf32>
  %6 = coreai.slice %5, %2, %3, %4 : (tensor<?x48xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<?x4xf32>
  coreai.output %6 : tensor<?x4xf32>
}
