// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK: [#coreai.approximate<none>, #coreai.approximate<tanh>, #coreai.approximate<sigmoid>]
udml.placeholder "test"() {a = [#coreai.approximate<none>, #coreai.approximate<tanh>, #coreai.approximate<sigmoid>]} : () -> ()

// CHECK: [#coreai.padding_mode<circular>, #coreai.padding_mode<constant>, #coreai.padding_mode<reflect>, #coreai.padding_mode<replicate>, #coreai.padding_mode<symmetric>]
udml.placeholder "test"() {a = [#coreai.padding_mode<circular>, #coreai.padding_mode<constant>, #coreai.padding_mode<reflect>, #coreai.padding_mode<replicate>, #coreai.padding_mode<symmetric>]} : () -> ()

// CHECK: [#coreai.interpolation_mode<linear>, #coreai.interpolation_mode<nearest_neighbor>]
udml.placeholder "test"() {a = [#coreai.interpolation_mode<linear>, #coreai.interpolation_mode<nearest_neighbor>]} : () -> ()

// CHECK: [#coreai.scatter_mode<update>, #coreai.scatter_mode<add>, #coreai.scatter_mode<sub>, #coreai.scatter_mode<mul>, #coreai.scatter_mode<div>, #coreai.scatter_mode<max>, #coreai.scatter_mode<min>]
udml.placeholder "test"() {a = [#coreai.scatter_mode<update>, #coreai.scatter_mode<add>, #coreai.scatter_mode<sub>, #coreai.scatter_mode<mul>, #coreai.scatter_mode<div>, #coreai.scatter_mode<max>, #coreai.scatter_mode<min>]} : () -> ()

// CHECK: [#coreai.sampling_mode<half_pixel>, #coreai.sampling_mode<align_corners>]
udml.placeholder "test"() {a = [#coreai.sampling_mode<half_pixel>, #coreai.sampling_mode<align_corners>]} : () -> ()

// CHECK: [#coreai.compilation<full>, #coreai.compilation<partial>, #coreai.compilation<finalized>]
udml.placeholder "test"() {a = [#coreai.compilation<full>, #coreai.compilation<partial>, #coreai.compilation<finalized>]} : () -> ()

// The order of the fields is free on input.
// CHECK: a = #coreai.target_spec<triple = "arm64", soc = "t8132", delegateOptions = {level = 2 : i64}>
udml.placeholder "test"() {a = #coreai.target_spec<soc = "t8132", triple = "arm64", delegateOptions = {level = 2}>} : () -> ()

// No dictionary and an empty one are different attributes.
// CHECK: [#coreai.composite_declaration<"rope">, #coreai.composite_declaration<"rope" = {}>]
udml.placeholder "test"() {a = [#coreai.composite_declaration<"rope">, #coreai.composite_declaration<"rope" = {}>]} : () -> ()

// CHECK: a = #coreai.composite_declaration<"rms_norm" = {input_names = ["x", "w"], op_attrs = {axes = [-1 : si64], eps = 9.99999997E-7 : f32}, output_names = ["y"]}>
udml.placeholder "test"() {a = #coreai.composite_declaration<"rms_norm" = {input_names = ["x", "w"], op_attrs = {axes = [-1 : si64], eps = 1.0e-6 : f32}, output_names = ["y"]}>} : () -> ()

// CHECK: [#coreai.fourcc<kUnknown>, #coreai.fourcc<k24RGB>, #coreai.fourcc<k32ARGB>, #coreai.fourcc<k32BGRA>, #coreai.fourcc<k420YpCbCr8Planar>]
udml.placeholder "test"() {a = [#coreai.fourcc<0>, #coreai.fourcc<24>, #coreai.fourcc<k32ARGB>, #coreai.fourcc<"BGRA">, #coreai.fourcc<"y420">]} : () -> ()

// Codes without a name: readable ones as text, the others as numbers.
// CHECK: [#coreai.fourcc<"abcd">, #coreai.fourcc<7>, #coreai.fourcc<4294967291>, #coreai.fourcc<1633821284>]
udml.placeholder "test"() {a = [#coreai.fourcc<1633837924>, #coreai.fourcc<7>, #coreai.fourcc<-5>, #coreai.fourcc<"ab\22d">]} : () -> ()

// CHECK: tensor<4x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
udml.placeholder "test"() {a = tensor<4x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>} : () -> ()

// CHECK: #coreai.sparse_tensor_encoding<bitmask, numNonZero = 0, posWidth = 1, crdWidth = 1>
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<bitmask, numNonZero = 0, posWidth = 1, crdWidth = 1>} : () -> ()

// CHECK: [#coreai.sparse_tensor_encoding<coo, posWidth = 8, crdWidth = 64>, #coreai.sparse_tensor_encoding<csr, posWidth = 3, crdWidth = 16>, #coreai.sparse_tensor_encoding<csc, numNonZero = 5, posWidth = 6, crdWidth = 4>]
udml.placeholder "test"() {a = [#coreai.sparse_tensor_encoding<coo, posWidth = 8, crdWidth = 64>, #coreai.sparse_tensor_encoding<csr, posWidth = 3, crdWidth = 16>, #coreai.sparse_tensor_encoding<csc, numNonZero = 5, posWidth = 6, crdWidth = 4>]} : () -> ()

// CHECK: #coreai.sparse_tensor_encoding<bsr, posWidth = 8, crdWidth = 32, blockSize = [2, 4]>
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<bsr, posWidth = 8, crdWidth = 32, blockSize = [2, 4]>} : () -> ()

// CHECK: a = #coreai.file_resource<"weights.bin", 64 : i64> : tensor<4xf32>
udml.placeholder "test"() {a = #coreai.file_resource<"weights.bin", 64> : tensor<4xf32>} : () -> ()

// These have round brackets, so no short form of the dialect prefix.
// CHECK: [#coreai<tensor_encoding(0, 2, -1)>, #coreai<extern("libm")>, #coreai<torch_location_extras("a", "b")>]
udml.placeholder "test"() {a = [#coreai<tensor_encoding(0, 2, -1)>, #coreai<extern("libm")>, #coreai<torch_location_extras("a", "b")>]} : () -> ()

// CHECK: #coreai<odie_location_frame_attr(method = "f", codeSnippet = "x + y", frontendAttribute = 1 : i64)>
udml.placeholder "test"() {a = #coreai<odie_location_frame_attr(method = "f", codeSnippet = "x + y", frontendAttribute = 1)>} : () -> ()
