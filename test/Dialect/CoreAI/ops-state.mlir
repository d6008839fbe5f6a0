// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @state
coreai.graph @state(%handle: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}, %x: tensor<2xf32>) -> (!coreai.token {coreai.name = "s"}) {
  // CHECK: %[[FRESH:.*]] = coreai.create_token : !coreai.token{{$}}
  %fresh = coreai.create_token : !coreai.token
  // Ops with several results name them, and handles print without a prefix.
  // CHECK: %output, %out_token = coreai.read_handle %{{.*}}, %[[FRESH]] : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token) {test.note}
  %old, %read = coreai.read_handle %handle, %fresh : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token) {test.note}
  // CHECK: coreai.write_handle %{{.*}}, %{{.*}}, %out_token : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  %written = coreai.write_handle %handle, %x, %read : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  // CHECK: coreai.join_token %{{.*}}, %{{.*}} : (!coreai.token, !coreai.token) -> !coreai.token
  %joined = coreai.join_token %written, %read : (!coreai.token, !coreai.token) -> !coreai.token
  coreai.output %joined : !coreai.token
}
