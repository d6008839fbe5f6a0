// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points and the names of their values.
//
// RUN: split-file %s %t
// RUN: corten doctor %t/fine.mlir | FileCheck %s --check-prefix=FINE
// RUN: not corten doctor %t/private.mlir | FileCheck %s --check-prefix=PRIVATE
// RUN: not corten doctor %t/unnamed.mlir | FileCheck %s --check-prefix=UNNAMED
// RUN: not corten doctor %t/twice.mlir | FileCheck %s --check-prefix=TWICE
// RUN: not corten doctor %t/shapes.mlir | FileCheck %s --check-prefix=SHAPES

// An input may have the name of an output, and a private graph none at all.
// FINE: fine.mlir: nothing found
//--- fine.mlir
coreai.graph private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  coreai.output %x : tensor<2xf32>
}
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "x"}) {
  %0 = coreai.invoke @inner(%x) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// PRIVATE: error: no-entry-point
//--- private.mlir
coreai.graph private @main(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  coreai.output %x : tensor<2xf32>
}

// UNNAMED: 2 findings
// UNNAMED-NEXT: error: unnamed-value
// UNNAMED-NEXT:   main: input 1
// UNNAMED-NEXT:   main: output 0
// UNNAMED-NEXT:   why: callers bind inputs, outputs and states by name
// UNNAMED-NEXT:   fix: convert the model again
//--- unnamed.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}, %y: tensor<2xf32>) -> tensor<2xf32> {
  coreai.output %x : tensor<2xf32>
}

// TWICE: 1 finding
// TWICE-NEXT: error: duplicate-name
// TWICE-NEXT:   main: input 1: "x" is also the name of input 0
//--- twice.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}, %y: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "x"}) {
  coreai.output %x : tensor<2xf32>
}

// SHAPES: warning: enumerated-shapes
// SHAPES-NEXT: main: input 0: x
//--- shapes.mlir
coreai.graph @main(%x: tensor<?xf32> {coreai.name = "x", coreai.enumerated_shapes = {main = [[1], [2]]}}) -> (tensor<?xf32> {coreai.name = "y"}) {
  coreai.output %x : tensor<?xf32>
}
