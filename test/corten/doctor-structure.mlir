// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms that loaders and runtimes stumble over.
//
// RUN: split-file %s %t
// RUN: corten doctor %t/named-reduction.mlir %t/computing-branch.mlir | FileCheck %s --check-prefix=FINE
// RUN: not corten doctor %t/reduce.mlir | FileCheck %s --check-prefix=REDUCE
// RUN: not corten doctor %t/branch.mlir | FileCheck %s --check-prefix=BRANCH

// FINE: named-reduction.mlir: nothing found
// FINE: computing-branch.mlir: nothing found

// REDUCE: error: unloadable-reduce
// REDUCE-NEXT:   main: coreai.reduce at reduce.mlir:4
//--- reduce.mlir
coreai.graph @main(%x: tensor<2x3xf32> {coreai.name = "x"}) -> (tensor<2x1xf32> {coreai.name = "y"}) {
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %0 = "coreai.reduce"(%x, %axes, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = coreai.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    coreai.yield %sum : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<2x1xf32>
  coreai.output %0 : tensor<2x1xf32>
}
//--- named-reduction.mlir
coreai.graph @main(%x: tensor<2x3xf32> {coreai.name = "x"}) -> (tensor<2x1xf32> {coreai.name = "y"}) {
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %0 = coreai.reduce_sum %x, %axes : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  coreai.output %0 : tensor<2x1xf32>
}

// BRANCH: 1 finding
// BRANCH-NEXT: warning: forwarded-branch
// BRANCH-NEXT:   main: coreai.if at branch.mlir:2: result 0
//--- branch.mlir
coreai.graph @main(%c: tensor<i1> {coreai.name = "c"}, %x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %0 = "coreai.if"(%c) ({
    coreai.yield %x : tensor<2xf32>
  }, {
    %1 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}
// What follows the branch, or is computed in it, is right.
//--- computing-branch.mlir
coreai.graph @main(%c: tensor<i1> {coreai.name = "c"}, %x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}, tensor<2xf32> {coreai.name = "z"}) {
  %0 = "coreai.if"(%c) ({
    coreai.yield %x : tensor<2xf32>
  }, {
    %1 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  %2 = coreai.exp %0 : tensor<2xf32> -> tensor<2xf32>
  %3 = "coreai.if"(%c) ({
    %4 = coreai.cos %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %4 : tensor<2xf32>
  }, {
    %5 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
    coreai.yield %5 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  coreai.output %2, %3 : tensor<2xf32>, tensor<2xf32>
}
