// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-inline-graphs -symbol-dce -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s
// RUN: corten-opt %s -pass-pipeline='builtin.module(coreai-inline-graphs{keep-composites=known})' -split-input-file | FileCheck %s --check-prefix=KNOWN
// RUN: corten-opt %s -pass-pipeline='builtin.module(coreai-inline-graphs{keep-marked})' -split-input-file | FileCheck %s --check-prefix=MARKED
// RUN: not corten-opt %s -pass-pipeline='builtin.module(coreai-inline-graphs{max-ops=8})' -split-input-file 2>&1 | FileCheck %s --check-prefix=LIMIT

// `noinline` is no reason to keep a composite that nobody knows; the caller is
// one in the location.

// CHECK-NOT: @composite
coreai.graph private noinline @composite(%x: tensor<2xf32>) -> tensor<2xf32> attributes {composite_decl = #coreai.composite_declaration<"known">} {
  %0 = coreai.exp %x : tensor<2xf32> -> tensor<2xf32> loc(#debuginfo.location<loc("body.py":1:2) in unit>)
  coreai.output %0 : tensor<2xf32>
}

// CHECK-LABEL: coreai.graph @composites
// CHECK:         %[[E:.*]] = coreai.exp {{.*}} loc(#debuginfo.location<loc("body.py":1:2) in unit fused with [<loc("call.py":3:4) in unit>]>)
// CHECK:         coreai.output %[[E]]
// KNOWN-LABEL: coreai.graph @composites
// KNOWN:         coreai.invoke @composite
// MARKED-LABEL: coreai.graph @composites
// MARKED:        coreai.invoke @composite
coreai.graph @composites(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = coreai.invoke @composite(%x) : (tensor<2xf32>) -> tensor<2xf32> loc(#debuginfo.location<loc("call.py":3:4) in unit>)
  coreai.output %0 : tensor<2xf32>
}

// -----

// Through several graphs, and into regions; a graph may return more than it
// promises.

coreai.graph private @inner(%x: tensor<2xf32>) -> tensor<?xf32> {
  coreai.output %x : tensor<2xf32>
}
coreai.graph private @outer(%x: tensor<2xf32>) -> tensor<?xf32> {
  %0 = coreai.invoke @inner(%x) : (tensor<2xf32>) -> tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// CHECK-LABEL: coreai.graph @nested
// CHECK-NOT:     coreai.invoke
// CHECK:         coreai.if
// CHECK:           %[[Y:.*]] = coreai.cast %{{.*}} : tensor<2xf32> to tensor<?xf32>
// CHECK:           coreai.yield %[[Y]]
// MARKED-LABEL: coreai.graph @nested
// MARKED-NOT:    coreai.invoke
// MARKED:        coreai.output
// LIMIT: error: has 18 operations when calls are inlined, more than the 8
coreai.graph @nested(%flag: tensor<i1>, %x: tensor<2xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = coreai.if %flag {
    %1 = coreai.invoke @outer(%x) : (tensor<2xf32>) -> tensor<?xf32>
    coreai.yield %1 : tensor<?xf32>
  } else {
    coreai.yield %y : tensor<?xf32>
  } : tensor<i1> -> tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// -----

// What calls itself, also by a detour, and what has no body.

coreai.graph private @declared(tensor<2xf32>) -> tensor<2xf32>
coreai.graph private @here(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = coreai.invoke @there(%x) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}
coreai.graph private @there(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = coreai.invoke @here(%x) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0 : tensor<2xf32>
}

// CHECK-LABEL: coreai.graph @kept
// CHECK:         coreai.invoke @declared
// CHECK:         coreai.invoke @here
coreai.graph @kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = coreai.invoke @declared(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = coreai.invoke @here(%0) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %1 : tensor<2xf32>
}

// -----

// Marks count only where it is asked for.

coreai.graph externalize @external(%x: tensor<2xf32>) -> tensor<2xf32> {
  coreai.output %x : tensor<2xf32>
}
coreai.graph private noinline @closed(%x: tensor<2xf32>) -> tensor<2xf32> {
  coreai.output %x : tensor<2xf32>
}

// CHECK-LABEL: coreai.graph @marked
// CHECK-NOT:     coreai.invoke
// MARKED-LABEL: coreai.graph @marked
// MARKED:        coreai.invoke @external
// MARKED:        coreai.invoke @closed
coreai.graph @marked(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = coreai.invoke @external(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = coreai.invoke @closed(%0) : (tensor<2xf32>) -> tensor<2xf32>
  coreai.output %1 : tensor<2xf32>
}

// -----

// A callee goes on with the history of a state.

coreai.graph private @step(%s: !coreai.handle<tensor<2xf32>>) -> !coreai.token {
  %t = coreai.create_token : !coreai.token
  %v, %t1 = coreai.read_handle %s, %t : (<tensor<2xf32>>, !coreai.token) -> (tensor<2xf32>, !coreai.token)
  %e = coreai.exp %v : tensor<2xf32> -> tensor<2xf32>
  %t2 = coreai.write_handle %s, %e, %t1 : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  coreai.output %t2 : !coreai.token
}

// CHECK-LABEL: coreai.graph @state
// CHECK:         %[[WRITTEN:.*]] = coreai.write_handle
// CHECK:         coreai.read_handle %{{.*}}, %[[WRITTEN]]
// CHECK:         %[[LAST:.*]] = coreai.write_handle
// CHECK:         coreai.output %[[LAST]]
coreai.graph @state(%s: !coreai.handle<tensor<2xf32>> {coreai.name = "s"}, %x: tensor<2xf32>) -> (!coreai.token {coreai.name = "s"}) {
  %t = coreai.create_token : !coreai.token
  %t1 = coreai.write_handle %s, %x, %t : (<tensor<2xf32>>, tensor<2xf32>, !coreai.token) -> !coreai.token
  %t2 = coreai.invoke @step(%s) : (!coreai.handle<tensor<2xf32>>) -> !coreai.token
  coreai.output %t2 : !coreai.token
}
