// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States that are not written, and writes that are lost. Once as arguments that
// name a result, once behind handles.
//
// RUN: split-file %s %t
// RUN: corten doctor %t/written.mlir %t/handle-written.mlir | FileCheck %s --check-prefix=FINE
// RUN: not corten doctor %t/unwritten.mlir | FileCheck %s --check-prefix=UNWRITTEN
// RUN: not corten doctor %t/handle-unwritten.mlir | FileCheck %s --check-prefix=HANDLE
// RUN: not corten doctor %t/lost.mlir | FileCheck %s --check-prefix=LOST

// FINE: written.mlir: nothing found
// FINE: handle-written.mlir: nothing found
//--- written.mlir
coreai.graph @main(%s: tensor<2xf32> {coreai.name = "s", MutableBuffers.buffer_mutation = "s"}) -> (tensor<2xf32> {coreai.name = "s"}) {
  %0 = coreai.exp %s : tensor<2xf32> -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}
//--- handle-written.mlir
coreai.graph @main(%s: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}) -> !coreai.token {
  %t = coreai.create_token : !coreai.token
  %x, %u = coreai.read_handle %s, %t : (!coreai.handle<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  %y = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
  %v = coreai.write_handle %s, %y, %u : (!coreai.handle<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  %z, %w = coreai.read_handle %s, %v : (!coreai.handle<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  coreai.output %w : !coreai.token
}

// UNWRITTEN: 2 findings
// UNWRITTEN-NEXT: warning: state-never-written
// UNWRITTEN-NEXT:   main: state s: returned as it was
// UNWRITTEN-NEXT:   main: state t: no output is called "t"
//--- unwritten.mlir
coreai.graph @main(%s: tensor<2xf32> {coreai.name = "s", MutableBuffers.buffer_mutation = "s"}, %t: tensor<2xf32> {coreai.name = "t", MutableBuffers.buffer_mutation = "t"}) -> (tensor<2xf32> {coreai.name = "s"}, tensor<2xf32> {coreai.name = "y"}) {
  %0 = coreai.exp %t : tensor<2xf32> -> tensor<2xf32>
  coreai.output %s, %0 : tensor<2xf32>, tensor<2xf32>
}

// HANDLE: 1 finding
// HANDLE-NEXT: warning: state-never-written
// HANDLE-NEXT:   main: state s: only read
//--- handle-unwritten.mlir
coreai.graph @main(%s: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}) -> (!coreai.token, tensor<2xf32> {coreai.name = "y"}) {
  %t = coreai.create_token : !coreai.token
  %x, %u = coreai.read_handle %s, %t : (!coreai.handle<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  coreai.output %u, %x : !coreai.token, tensor<2xf32>
}

// The second write is based on the first, but the first one's token is
// returned.
// LOST: 1 finding
// LOST-NEXT: warning: lost-write
// LOST-NEXT:   main: coreai.write_handle at lost.mlir:6
//--- lost.mlir
coreai.graph @main(%s: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}) -> !coreai.token {
  %t = coreai.create_token : !coreai.token
  %x, %u = coreai.read_handle %s, %t : (!coreai.handle<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  %y = coreai.exp %x : tensor<2xf32> -> tensor<2xf32>
  %v = coreai.write_handle %s, %y, %u : (!coreai.handle<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  %w = coreai.write_handle %s, %x, %v : (!coreai.handle<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  coreai.output %v : !coreai.token
}
