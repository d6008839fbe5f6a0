// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --symbol-dce | FileCheck %s

// Visibility is `private` or `externalize` on the graph, and a use is a symbol
// within the callee attribute of an invocation.

// CHECK: coreai.graph private @used
coreai.graph private @used(%x: tensor<f32>) -> tensor<f32> {
  coreai.output %x : tensor<f32>
}

// CHECK-NOT: @unused
coreai.graph private @unused(%x: tensor<f32>) -> tensor<f32> {
  coreai.output %x : tensor<f32>
}

// CHECK: coreai.graph private @used_with_parameters
coreai.graph private @used_with_parameters<T: !param.type>(tensor<f32>) -> tensor<f32>

// CHECK: coreai.graph externalize @external
coreai.graph externalize @external() {
  coreai.output
}

// Not an entry point, so it goes as well.
// CHECK-NOT: @unused_external
coreai.graph externalize @unused_external() {
  coreai.output
}

// CHECK: coreai.graph @main
coreai.graph @main(%x: tensor<f32>) -> tensor<f32> {
  coreai.invoke @external() : () -> ()
  %0 = coreai.invoke @used(%x) : (tensor<f32>) -> tensor<f32>
  %1 = coreai.invoke @used_with_parameters<f32>(%0) : (tensor<f32>) -> tensor<f32>
  coreai.output %1 : tensor<f32>
}
