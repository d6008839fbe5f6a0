// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other names, several programs in one, one of several.
//
// RUN: split-file %s %t
// RUN: corten edit %t/state.mlir -o %t/out.aimodel --rename main=step \
// RUN:   --input-names x=tokens --output-names y --state-names k=k0
// RUN: corten print %t/out.aimodel | FileCheck %s --check-prefix=NAMES
// RUN: corten edit %t/state.mlir --entrypoint call=%t/calls.mlir \
// RUN:   --entrypoint again=%t/calls.mlir -o %t/all.aimodel
// RUN: corten print %t/all.aimodel | FileCheck %s --check-prefix=MERGED
// RUN: corten edit %t/all.aimodel --extract again -o %t/one.aimodel
// RUN: corten print %t/one.aimodel | FileCheck %s --check-prefix=ONE
// RUN: corten edit %t/public.mlir --extract main -o %t/hidden.aimodel
// RUN: corten print %t/hidden.aimodel | FileCheck %s --check-prefix=HIDDEN
// RUN: not corten edit %t/state.mlir %t/calls.mlir -o %t/no.aimodel 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE
// RUN: not ls %t/no.aimodel

// A state has one name for both of its sides.
// NAMES: coreai.graph @step(%{{.*}}: tensor<2xf32> {coreai.name = "tokens"},
// NAMES-SAME: {MutableBuffers.buffer_mutation = "k0", coreai.name = "k0"}) ->
// NAMES-SAME: (tensor<2xf32> {coreai.name = "k0"}, tensor<2xf32> {coreai.name = "y"})
//--- state.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}, %k: tensor<2xf32> {MutableBuffers.buffer_mutation = "k", coreai.name = "k"}) -> (tensor<2xf32> {coreai.name = "k"}, tensor<2xf32> {coreai.name = "sum"}) {
  %0 = coreai.decomposable.broadcasting_add %x, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0, %0 : tensor<2xf32>, tensor<2xf32>
}

// A private graph gets another name where its own is taken, and is called by it.
// MERGED: coreai.graph @main
// MERGED: coreai.graph private @inner(
// MERGED: coreai.graph @call(
// MERGED: coreai.invoke @inner(
// MERGED: coreai.graph private @inner_1(
// MERGED: coreai.graph @again(
// MERGED: coreai.invoke @inner_1(
// ONE-NOT: coreai.graph @
// ONE: coreai.graph private @inner_1(
// ONE: coreai.graph @again(
// ONE-NOT: coreai.graph
//--- calls.mlir
coreai.graph private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = coreai.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %0 = coreai.invoke @inner(%x) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// An entry point that another one calls is needed, but no entry point any more.
// HIDDEN: coreai.graph private @inner(
// HIDDEN: coreai.graph @main(
//--- public.mlir
coreai.graph @inner(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %0 = coreai.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}) -> (tensor<2xf32> {coreai.name = "y"}) {
  %0 = coreai.invoke @inner(%x) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// TWICE: corten: error: two entry points are called 'main': rename one of them
