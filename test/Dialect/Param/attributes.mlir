// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK: [!param.symbol, !param.type, !param.param_ref<#param.ref<T> : !param.type>]
udml.placeholder "test"() {a = [!param.symbol, !param.type, !param.param_ref<#param.ref<T> : !param.type>]} : () -> ()

// A reference to a known type is that type.
// CHECK: a = tensor<f32>
udml.placeholder "test"() {a = tensor<!param.param_ref<#param.constant<f32> : !param.type>>} : () -> ()

// CHECK: [#param.decl<T: !param.type> : !param.type, #param.decl<"a b": i32 = 5> : i32]
udml.placeholder "test"() {a = [#param.decl<T: !param.type>, #param.decl<"a b": i32 = 5>]} : () -> ()

// CHECK: [#param.decl.array<[]>, #param.decl.array<[<T: !param.type>, <n: i32 = 4>]>]
udml.placeholder "test"() {a = [#param.decl.array<[]>, #param.decl.array<[#param.decl<T: !param.type>, <n: i32 = 4>]>]} : () -> ()

// CHECK: [#param.constant<@main> : !param.symbol, #param.constant<@a::@b> : !param.symbol]
udml.placeholder "test"() {a = [#param.constant<@main>, #param.constant<@a::@b> : !param.symbol]} : () -> ()

// The width of a number survives, wherever it was written.
// CHECK: [#param.constant<5> : i32, #param.constant<5> : i32, #param.constant<5> : i64, #param.constant<-5> : si8]
udml.placeholder "test"() {a = [#param.constant<5 : i32>, #param.constant<5> : i32, #param.constant<5>, #param.constant<-5> : si8]} : () -> ()

// CHECK: [#param.constant<f32> : !param.type, #param.constant<1.000000e+00> : f32, #param.constant<true> : i1, #param.constant<unit>]
udml.placeholder "test"() {a = [#param.constant<f32>, #param.constant<1.0 : f32>, #param.constant<true>, #param.constant<unit>]} : () -> ()

// CHECK: [#param.ref<T> : !param.type, #param.ref<"a b"> : i32]
udml.placeholder "test"() {a = [#param.ref<T> : !param.type, #param.ref<"a b"> : i32]} : () -> ()

// CHECK: [#param.bind<@f, [f32, 4 : i64, @g]> : !param.symbol, #param.constant<@f> : !param.symbol]
udml.placeholder "test"() {a = [#param.bind<@f, [#param.constant<f32> : !param.type, 4, @g]> : !param.symbol, #param.bind<@f, []> : !param.symbol]} : () -> ()

// CHECK: #param.bind<#param.bind<@f, [f32]>, [#param.ref<T> : !param.type]> : !param.symbol
udml.placeholder "test"() {a = #param.bind<#param.bind<@f, [f32]> : !param.symbol, [#param.ref<T> : !param.type]> : !param.symbol} : () -> ()
