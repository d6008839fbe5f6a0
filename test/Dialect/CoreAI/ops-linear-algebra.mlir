// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @products
coreai.graph @products(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>, %w: tensor<4x5xf32>) {
  // CHECK: coreai.batch_matmul %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {test.note}
  %plain = coreai.batch_matmul %x, %y : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {test.note}
  // CHECK: coreai.decomposable.broadcasting_batch_matmul %{{.*}}, %{{.*}} attributes {test.note} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %broadcasting = coreai.decomposable.broadcasting_batch_matmul %x, %w attributes {test.note} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  coreai.output
}
