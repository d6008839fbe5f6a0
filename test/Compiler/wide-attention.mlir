// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Attention is one kernel for heads of any size. It has few rows, so that plans
// of it are small enough to be fuzzed.

// CHECK-LABEL: plan.function @wide
// CHECK: "Attention"
// CHECK-NOT: "MatMul"
// CHECK: plan.return
coreai.graph @wide(%q: tensor<1x4x513xf32>, %k: tensor<1x513x4xf32>, %v: tensor<1x4x1000xf32>) -> (tensor<1x4x1000xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<1x4x513xf32>, tensor<1x513x4xf32>) -> tensor<1x4x4xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.softmax %0, %1 : (tensor<1x4x4xf32>, tensor<si32>) -> tensor<1x4x4xf32>
  %3 = coreai.batch_matmul %2, %v : (tensor<1x4x4xf32>, tensor<1x4x1000xf32>) -> tensor<1x4x1000xf32>
  coreai.output %3 : tensor<1x4x1000xf32>
}
