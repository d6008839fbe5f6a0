// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Chains of elements are one program, whatever views they read.

// CHECK-LABEL: plan.function @gated
// CHECK: plan.kernel "Tile"() with(
// CHECK: "Silu"
// CHECK-NEXT: "Mul"
// CHECK-NOT: plan.kernel
// CHECK: plan.return
coreai.graph @gated(%x: tensor<5x64xf32>, %y: tensor<5x64xf32>) -> (tensor<5x64xf32>) {
  %0 = coreai.silu %x : (tensor<5x64xf32>) -> tensor<5x64xf32>
  %1 = coreai.mul %0, %y : (tensor<5x64xf32>, tensor<5x64xf32>) -> tensor<5x64xf32>
  coreai.output %1 : tensor<5x64xf32>
}

// A rotary embedding by halves: each is one program, which reads both. They are
// put together behind it.
// CHECK-LABEL: plan.function @rotaryHalves
// CHECK: "Tile"
// CHECK: "Tile"
// CHECK-NOT: "Tile"
// CHECK: plan.return
coreai.graph @rotaryHalves(%x: tensor<1x5x4x16xf32>, %cos: tensor<5x1x8xf32>, %sin: tensor<5x1x8xf32>) -> (tensor<1x5x4x16xf32>) {
  %0 = coreai.constant dense<0> : tensor<4xsi32>
  %1 = coreai.constant dense<[1, 5, 4, 8]> : tensor<4xsi32>
  %2 = coreai.constant dense<1> : tensor<4xsi32>
  %3 = coreai.constant dense<[0, 0, 0, 8]> : tensor<4xsi32>
  %4 = coreai.constant dense<[1, 5, 4, 16]> : tensor<4xsi32>
  %5 = coreai.slice %x, %0, %1, %2 : (tensor<1x5x4x16xf32>, tensor<4xsi32>, tensor<4xsi32>, tensor<4xsi32>) -> tensor<1x5x4x8xf32>
  %6 = coreai.slice %x, %3, %4, %2 : (tensor<1x5x4x16xf32>, tensor<4xsi32>, tensor<4xsi32>, tensor<4xsi32>) -> tensor<1x5x4x8xf32>
  %7 = coreai.decomposable.broadcasting_mul %5, %cos : (tensor<1x5x4x8xf32>, tensor<5x1x8xf32>) -> tensor<1x5x4x8xf32>
  %8 = coreai.decomposable.broadcasting_mul %6, %sin : (tensor<1x5x4x8xf32>, tensor<5x1x8xf32>) -> tensor<1x5x4x8xf32>
  %9 = coreai.decomposable.broadcasting_sub %7, %8 : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>) -> tensor<1x5x4x8xf32>
  %10 = coreai.decomposable.broadcasting_mul %6, %cos : (tensor<1x5x4x8xf32>, tensor<5x1x8xf32>) -> tensor<1x5x4x8xf32>
  %11 = coreai.decomposable.broadcasting_mul %5, %sin : (tensor<1x5x4x8xf32>, tensor<5x1x8xf32>) -> tensor<1x5x4x8xf32>
  %12 = coreai.decomposable.broadcasting_add %10, %11 : (tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>) -> tensor<1x5x4x8xf32>
  %13 = coreai.constant dense<3> : tensor<si32>
  %14 = coreai.concat %13, %9, %12 : (tensor<si32>, tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>) -> tensor<1x5x4x16xf32>
  coreai.output %14 : tensor<1x5x4x16xf32>
}
