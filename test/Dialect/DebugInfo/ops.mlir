// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s
// RUN: corten-opt %s --canonicalize --cse | FileCheck %s

// CHECK: #[[LINE:.*]] = loc("a.py":3:1)
// CHECK: #[[X:.*]] = #debuginfo.local_variable<name = "x", line = #[[LINE]], scope = @main, alignInBits = 0> : !debuginfo.unresolved<tensor<2xf32>>
%x = udml.placeholder "x"() : () -> tensor<2xf32>

// CHECK: debuginfo.record(%{{.*}} : tensor<2xf32>) 42
debuginfo.record(%x : tensor<2xf32>) 42
// CHECK: debuginfo.record(%{{.*}} : tensor<2xf32>) 18446744073709551615 {a.b}
debuginfo.record(%x : tensor<2xf32>) 18446744073709551615 {a.b}

// CHECK: debuginfo.value(%{{.*}} : tensor<2xf32>) #[[X]] {a.b}
debuginfo.value(%x : tensor<2xf32>) #debuginfo.local_variable<name = "x", line = loc("a.py":3:1), scope = @main, alignInBits = 0> : !debuginfo.unresolved<tensor<2xf32>> {a.b}
