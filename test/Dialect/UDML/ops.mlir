// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// Inside these operations `udml.` is understood.
// CHECK-LABEL: udml.namespace @space<T: !param.type, n: i32 = 4> attributes {a.b = 1 : i64} {
udml.namespace @space<T: !param.type, n: i32 = 4> attributes {a.b = 1} {
  // CHECK-NEXT: import [MLIR] @other
  udml.import [MLIR] @other
  // CHECK-NEXT: import [ClangModule] @clang from "Module" {a.b}
  import [ClangModule] @clang from "Module" {a.b}
  // CHECK-NEXT: namespace @inner {
  // CHECK-NEXT: }
  namespace @inner {
  }
  // CHECK-NEXT: class @empty {
  // CHECK-NEXT: }
  class @empty {
  }
}

// CHECK-LABEL: udml.class @fields<T: !param.type> attributes {extern_c} {
udml.class @fields<T: !param.type> attributes {extern_c} {
  // CHECK-NEXT: member @plain : f32
  member @plain : f32
  // CHECK-NEXT: member @initial : f32 = 1.000000e+00 : f32 {offset_in_bits = 32 : ui64}
  member @initial : f32 = 1.0 : f32 {offset_in_bits = 32 : ui64}
  // CHECK-NEXT: member @generic : !param.param_ref<#param.ref<T> : !param.type>
  member @generic : !param.param_ref<#param.ref<T> : !param.type>
  // CHECK-NEXT: class @nested {
  class @nested {
  }
}

// CHECK-LABEL: udml.func @declared(f32, i32) -> (f32, i32)
udml.func @declared(f32, i32) -> (f32, i32)

// CHECK-LABEL: udml.func extern_c noinline @phases(
// CHECK-SAME:  %{{.*}}: tensor<2xf32> {udml.intent = #udml.intent<in>}) -> (tensor<2xf32> {udml.intent = #udml.intent<out>})
// CHECK-SAME:  attributes {lifecycle_phases = #udml.lifecycle<init,encode>, udml.pure} {
udml.func extern_c noinline @phases(%x: tensor<2xf32> {udml.intent = #udml.intent<in>}) -> (tensor<2xf32> {udml.intent = #udml.intent<out>}) attributes {lifecycle_phases = #udml.lifecycle<encode, init>, udml.pure} {
  // CHECK-NEXT: %{{.*}} = is_defined(%[[X:.*]]) : tensor<2xf32>
  %0 = is_defined(%x) : tensor<2xf32>
  // CHECK-NEXT: %[[Y:.*]] = call @phases(%[[X]])  {lifecycle_phases = #udml.lifecycle<init,encode>} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @phases(%x) {lifecycle_phases = #udml.lifecycle<init,encode>} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: return %[[Y]] : tensor<2xf32> {a.b}
  return %1 : tensor<2xf32> {a.b}
}

// CHECK-LABEL: udml.func @generic<T: !param.type, n: i64 = 2>(
udml.func @generic<T: !param.type, n: i64 = 2>(%x: !param.param_ref<#param.ref<T> : !param.type>) {
  // CHECK-NEXT: %[[V:.*]]:2 = placeholder "my.op"(%{{.*}}) {keep_placeholder, note = "n"} : (!param.param_ref<#param.ref<T> : !param.type>) -> (f32, i32)
  %0:2 = placeholder "my.op"(%x) {keep_placeholder, note = "n"} : (!param.param_ref<#param.ref<T> : !param.type>) -> (f32, i32)
  // Parameters with a default need no argument.
  // CHECK-NEXT: call @generic<f32>(%[[V]]#0)  : (f32 {a.b = 1 : i64}) -> ()
  call @generic<f32>(%0#0) : (f32 {a.b = 1}) -> ()
  // CHECK-NEXT: call @generic<i32, 3 : i64>(%[[V]]#1)  : (i32) -> ()
  call @generic<i32, 3>(%0#1) : (i32) -> ()
  // CHECK-NEXT: call @library()  : () -> (f32 {a.b})
  %1 = call @library() : () -> (f32 {a.b})
  // CHECK-NEXT: return
  return
}
udml.import [MLIR] @library

// CHECK-LABEL: udml.func @memory
udml.func @memory() {
  // CHECK-NEXT: to_memref(buffer <@a : !udml.ptr>, aligned <@b : !udml.ptr<#param.constant<f32> : !param.type>>, dims <@c : !udml.array<1 : index, #param.constant<index> : !param.type>>, strides <@d : !udml.array<1 : index, #param.constant<index> : !param.type>>) : memref<?xf32> attributes {a.b}
  %0 = to_memref(buffer <@a : !udml.ptr>, aligned <@b : !udml.ptr<#param.constant<f32> : !param.type>>, dims <@c : !udml.array<1 : index, #param.constant<index> : !param.type>>, strides <@d : !udml.array<1 : index, #param.constant<index> : !param.type>>) : memref<?xf32> attributes {a.b}
  return
}

// CHECK: [#udml.intent<out>, #udml.intent<inout>, #udml.intent<return>, #udml.intent<in>, #udml.intent<param>, #udml.intent<metadata>]
udml.placeholder "test"() {a = [#udml.intent<out>, #udml.intent<inout>, #udml.intent<return>, #udml.intent<in>, #udml.intent<param>, #udml.intent<metadata>]} : () -> ()

// CHECK: [#udml.lifecycle<stateless>, #udml.lifecycle<init>, #udml.lifecycle<init,reshape,prepare,encode>]
udml.placeholder "test"() {a = [#udml.lifecycle<stateless>, #udml.lifecycle<stateless, init>, #udml.lifecycle<encode, prepare, reshape, init>]} : () -> ()

// CHECK: [#udml.kernel_ref<"k">, #udml.typed_symbol_ref<@a::@b : f32> : f32]
udml.placeholder "test"() {a = [#udml.kernel_ref<"k">, #udml.typed_symbol_ref<@a::@b : f32>]} : () -> ()
