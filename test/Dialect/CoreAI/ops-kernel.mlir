// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x1], interleave: [1]>

// CHECK-LABEL: coreai.graph @kernels
coreai.graph @kernels(%x: tensor<4xf32, #buffer>) {
  %threads = coreai.constant dense<1> : tensor<3xui32>
  %shape = coreai.constant dense<4> : tensor<1xui32>
  // CHECK: coreai.metal4_kernel kernel_args(%[[X:.*]]), threads_per_grid %[[THREADS:.*]], threads_per_thread_group %[[THREADS]], result_shapes(%[[SHAPE:.*]]) {kernel_name = "k", kernel_source = "kernel void k() {}"} : (tensor<4xf32, {{.*}}>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>) -> tensor<4xf32, {{.*}}>
  %one = coreai.metal4_kernel kernel_args(%x), threads_per_grid %threads, threads_per_thread_group %threads, result_shapes(%shape) {kernel_name = "k", kernel_source = "kernel void k() {}"} : (tensor<4xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>) -> tensor<4xf32, #buffer>
  // Two groups of operands vary in size, so bytecode must tell them apart.
  // CHECK: coreai.metal4_kernel kernel_args(%[[X]], %[[X]], %[[X]]), threads_per_grid %[[THREADS]], threads_per_thread_group %[[THREADS]], result_shapes(%[[SHAPE]], %[[SHAPE]])
  %two:2 = coreai.metal4_kernel kernel_args(%x, %x, %x), threads_per_grid %threads, threads_per_thread_group %threads, result_shapes(%shape, %shape) {kernel_name = "k", kernel_source = "kernel void k() {}"} : (tensor<4xf32, #buffer>, tensor<4xf32, #buffer>, tensor<4xf32, #buffer>, tensor<3xui32>, tensor<3xui32>, tensor<1xui32>, tensor<1xui32>) -> (tensor<4xf32, #buffer>, tensor<4xf32, #buffer>)
  coreai.output
}
