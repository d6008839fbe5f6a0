// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that are missing, short, unused or stored twice; graphs that nobody
// calls. Duplicates, which have to be large, are in python/tests/corten.
//
// RUN: split-file %s %t
// RUN: corten doctor %t/fine.mlir | FileCheck %s --check-prefix=FINE
// RUN: not corten doctor %t/missing.mlir | FileCheck %s --check-prefix=MISSING
// RUN: not corten doctor %t/short.mlir | FileCheck %s --check-prefix=SHORT
// RUN: corten doctor %t/unused.mlir | FileCheck %s --check-prefix=UNUSED

// Sub-byte weights are streams of bits, booleans are bytes; an index that
// nothing reads is no weight.
// FINE: fine.mlir: nothing found
//--- fine.mlir
coreai.graph @main(%x: tensor<3xsi4> {coreai.name = "x"}, %y: tensor<3xi1> {coreai.name = "y"}) -> (tensor<3xf32> {coreai.name = "a"}, tensor<3xi1> {coreai.name = "b"}) {
  %four = coreai.constant dense_resource<four> : tensor<3xsi4>
  %0 = coreai.cast %four : tensor<3xsi4> to tensor<3xf32>
  %bools = coreai.constant dense_resource<bools> : tensor<3xi1>
  %1 = coreai.and %y, %bools : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  %axis = coreai.constant dense<1> : tensor<1xsi32>
  coreai.output %0, %1 : tensor<3xf32>, tensor<3xi1>
}
{-#
  dialect_resources: { builtin: { four: "0x010000002103", bools: "0x01000000010001" } }
#-}

// MISSING: 1 finding
// MISSING-NEXT: error: missing-weight
// MISSING-NEXT:   main: coreai.constant at missing.mlir:2 nowhere
//--- missing.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %w = coreai.constant dense_resource<nowhere> : tensor<2xf32>
  %0 = coreai.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// SHORT: 1 finding
// SHORT-NEXT: error: short-weight
// SHORT-NEXT:   main: coreai.constant at short.mlir:2 weight: tensor<2xf32>, 4 B, should be 8 B
//--- short.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %w = coreai.constant dense_resource<weight> : tensor<2xf32>
  %0 = coreai.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}
{-#
  dialect_resources: { builtin: { weight: "0x040000000000803F" } }
#-}

// UNUSED: nothing found, 2 notes
// UNUSED-NEXT: note: unused-weight
// UNUSED-NEXT:   main: coreai.constant at unused.mlir:5: tensor<2xf32>, 8 B
// UNUSED: note: unused-graph
// UNUSED-NEXT:   graph inner
//--- unused.mlir
coreai.graph private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  coreai.output %x : tensor<2xf32>
}
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %w = coreai.constant dense<[1.0, 2.0]> : tensor<2xf32>
  coreai.output %x : tensor<2xf32>
}
