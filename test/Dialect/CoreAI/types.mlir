// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK: handle = !coreai.handle<tensor<1x128xf16>>
udml.placeholder "test"() {handle = !coreai.handle<tensor<1x128xf16>>} : () -> ()

// CHECK: scalar_handle = !coreai.handle<i32>
udml.placeholder "test"() {scalar_handle = !coreai.handle<i32>} : () -> ()

// CHECK: token = !coreai.token
udml.placeholder "test"() {token = !coreai.token} : () -> ()

// CHECK: image = !coreai.image<<k24RGB> x 4 : i64 x 6 : i64>
udml.placeholder "test"() {image = !coreai.image<<k24RGB> x 4 x 6>} : () -> ()

// CHECK: image_of_code = !coreai.image<<"abcd"> x 4 : si32 x 6 : ui8>
udml.placeholder "test"() {image_of_code = !coreai.image<#coreai.fourcc<1633837924> x 4 : si32 x 6 : ui8>} : () -> ()

// CHECK: placed_image = !coreai.image<<kUnknown> x 4 : i64 x 6 : i64, image_constraints = #coreaix.image_constraints<MTLTexture, rowAlignmentsPerPlane: [64]>>
udml.placeholder "test"() {placed_image = !coreai.image<<kUnknown> x 4 x 6, image_constraints = #coreaix.image_constraints<MTLTexture, rowAlignmentsPerPlane: [64]>>} : () -> ()

// CHECK: open_image = !coreai.image<<k32BGRA> x #param.ref<H> : i64 x 6 : i64>
udml.placeholder "test"() {open_image = !coreai.image<<k32BGRA> x #param.ref<H> : i64 x 6>} : () -> ()

// CHECK: async = !coreai.async.value<tensor<2xf32>>
udml.placeholder "test"() {async = !coreai.async.value<tensor<2xf32>>} : () -> ()

// CHECK: opaque = !coreai.opaque
udml.placeholder "test"() {opaque = !coreai.opaque} : () -> ()

// CHECK: symbol_ref = !coreai.symbol_ref<@a::@b>
udml.placeholder "test"() {symbol_ref = !coreai.symbol_ref<@a::@b>} : () -> ()

// CHECK: bound_ref = !coreai.symbol_ref<@a<f32, 4 : i64>>
udml.placeholder "test"() {bound_ref = !coreai.symbol_ref<@a<f32, 4>>} : () -> ()

// CHECK: spelled_out = !coreai.symbol_ref<@a<i32>>
udml.placeholder "test"() {spelled_out = !coreai.symbol_ref<#param.bind<@a, [i32]> : !param.symbol>} : () -> ()

// CHECK: parameter = !coreai.symbol_ref<#param.ref<S> : !param.symbol>
udml.placeholder "test"() {parameter = !coreai.symbol_ref<#param.ref<S> : !param.symbol>} : () -> ()

// CHECK: nested = !coreai.symbol_ref<<#param.bind<#param.ref<S>, [f32]> : !param.symbol>>
udml.placeholder "test"() {nested = !coreai.symbol_ref<#param.bind<#param.ref<S> : !param.symbol, [f32]> : !param.symbol>} : () -> ()
