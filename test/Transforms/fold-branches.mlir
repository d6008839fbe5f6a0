// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-fold-branches | FileCheck %s

// CHECK-LABEL: @known
// CHECK-NOT:     coreai.if
// CHECK:         %[[R:.*]] = coreai.exp %arg0
// CHECK-NEXT:    coreai.output %[[R]]
coreai.graph @known(%x: tensor<2xf32>) -> tensor<2xf32> {
  %yes = coreai.constant dense<true> : tensor<i1>
  %no = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.if %yes {
    %1 = coreai.if %no {
      coreai.yield %x : tensor<2xf32>
    } else {
      %2 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
      coreai.yield %2 : tensor<2xf32>
    } : tensor<i1> -> tensor<2xf32>
    coreai.yield %1 : tensor<2xf32>
  } else {
    coreai.yield %x : tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// CHECK-LABEL: @unknown
// CHECK:         coreai.if
coreai.graph @unknown(%flag: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = coreai.if %flag {
    coreai.yield %x : tensor<2xf32>
  } else {
    %2 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %2 : tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// A constant that only one of the branches gives is not known.
// CHECK-LABEL: @depends
// CHECK-COUNT-2: coreai.if
coreai.graph @depends(%flag: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %yes = coreai.constant dense<true> : tensor<i1>
  %c = coreai.if %flag {
    coreai.yield %yes : tensor<i1>
  } else {
    coreai.yield %flag : tensor<i1>
  } : tensor<i1> -> tensor<i1>
  %0 = coreai.if %c {
    coreai.yield %x : tensor<2xf32>
  } else {
    %2 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %2 : tensor<2xf32>
  } : tensor<i1> -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}
