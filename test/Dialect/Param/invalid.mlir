// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{a type must come from a '!param.type' parameter, not from one of type 'i32'}}
udml.placeholder "test"() {a = !param.param_ref<#param.ref<T> : i32>} : () -> ()

// -----

// expected-error @below {{expected '['}}
udml.placeholder "test"() {a = #param.decl.array<>} : () -> ()

// -----

// expected-error @below {{expected ':'}}
udml.placeholder "test"() {a = #param.decl<T>} : () -> ()

// -----

// expected-error @below {{expected '>'}}
udml.placeholder "test"() {a = #param.decl<n: i32 = 5 : i64>} : () -> ()

// -----

// expected-error @below {{value of type '!param.symbol' in a constant of type 'i32'}}
udml.placeholder "test"() {a = #param.constant<@f> : i32} : () -> ()

// -----

// expected-error @below {{expected 'i64', but got 'i32'}}
udml.placeholder "test"() {a = #param.constant<#param.ref<T> : i32> : i64} : () -> ()

// -----

// expected-error @below {{constant must be a symbol, a type or a typed value, not [1]}}
udml.placeholder "test"() {a = #param.constant<[1]>} : () -> ()

// -----

// expected-error @below {{bound symbol needs a type after it}}
udml.placeholder "test"() {a = #param.bind<@f, [f32]>} : () -> ()

// -----

// expected-error @below {{expected '!param.symbol', but got 'i32'}}
udml.placeholder "test"() {a = #param.bind<#param.ref<T> : i32, [f32]> : !param.symbol} : () -> ()

// -----

// expected-error @below {{arguments can only be bound to a symbol}}
udml.placeholder "test"() {a = #param.bind<f32, [f32]> : !param.symbol} : () -> ()
