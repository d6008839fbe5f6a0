// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

#buffer = #coreaix.hw_constraints<MTLBuffer, alignments: [1x16x1], interleave: [1x1]>
#heap = #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [2x1]>
#surface = #coreaix.hw_constraints<IOSurface, alignments: [1x1x4], interleave: [1x1]>

%source = udml.placeholder "source"() : () -> tensor<2x3xf32>

// CHECK: %[[PLACED:.*]] = coreaix.copy_with_constraints(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x16x1], interleave: [1x1]>>
%placed = coreaix.copy_with_constraints(%source) : (tensor<2x3xf32>) -> tensor<2x3xf32, #buffer>

// CHECK: %[[CAST:.*]] = coreaix.cast(%[[PLACED]]) {hint = 1 : i64} : (tensor<2x3xf32, {{.*}}>) -> tensor<2x3xf16, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [2x1]>>
%cast = coreaix.cast(%placed) {hint = 1} : (tensor<2x3xf32, #buffer>) -> tensor<2x3xf16, #heap>

// The source spans 2 rows of 16 elements, which 2x4 elements of 4 just fill.
// CHECK: coreaix.view(%[[PLACED]]) : (tensor<2x3xf32, {{.*}}>) -> tensor<2x4xf32, #coreaix.hw_constraints<IOSurface, alignments: [1x1x4], interleave: [1x1]>>
%view = coreaix.view(%placed) : (tensor<2x3xf32, #buffer>) -> tensor<2x4xf32, #surface>

// CHECK: coreaix.view(%[[PLACED]]) : {{.*}} -> tensor<?x3xf32, #coreaix.hw_constraints<MTLBuffer, alignments: [1x16x1], interleave: [1x1]>>
%open = coreaix.view(%placed) : (tensor<2x3xf32, #buffer>) -> tensor<?x3xf32, #buffer>

// Shapes are not compared: a copy may also reshape.
// CHECK: coreaix.copy_discarding_constraints(%[[CAST]]) : {{.*}} -> tensor<6xf16>
%result = coreaix.copy_discarding_constraints(%cast) : (tensor<2x3xf16, #heap>) -> tensor<6xf16>

// CHECK: coreaix.copy_with_constraints({{.*}}) : (tensor<f32>) -> tensor<f32, #coreaix.hw_constraints<MTLBuffer, alignments: [1], interleave: []>>
%scalar = udml.placeholder "source"() : () -> tensor<f32>
%placed_scalar = coreaix.copy_with_constraints(%scalar) : (tensor<f32>) -> tensor<f32, #coreaix.hw_constraints<MTLBuffer, alignments: [1], interleave: []>>

// CHECK: [#coreaix.image_constraints<CVPixelBuffer, rowAlignmentsPerPlane: []>, #coreaix.image_constraints<MTLTexture, rowAlignmentsPerPlane: [64x32]>, !coreaix.hw_constraints]
udml.placeholder "test"() {a = [#coreaix.image_constraints<CVPixelBuffer, rowAlignmentsPerPlane: []>, #coreaix.image_constraints<MTLTexture, rowAlignmentsPerPlane: [64x32]>, !coreaix.hw_constraints]} : () -> ()

// As an attribute of its own a layout belongs to no shape yet.
// CHECK: a = #coreaix.hw_constraints<Heap, alignments: [?x4], interleave: [?]>
udml.placeholder "test"() {a = #coreaix.hw_constraints<Heap, alignments: [?x4], interleave: [?]>} : () -> ()
