// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{a tensor of rank 2 needs 3 alignments, not 2}}
udml.placeholder "test"() {t = tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1], interleave: [1x1]>>} : () -> ()

// -----

// expected-error @below {{a tensor of rank 2 needs 2 interleave factors, not 1}}
udml.placeholder "test"() {t = tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1]>>} : () -> ()

// -----

// expected-error @below {{alignments must be static}}
udml.placeholder "test"() {t = tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x?x1], interleave: [1x1]>>} : () -> ()

// -----

// expected-error @below {{interleave factor 4 does not divide extent 3}}
udml.placeholder "test"() {t = tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x4]>>} : () -> ()

// -----

// expected-error @below {{interleave factor 4 does not divide extent 6}}
udml.placeholder "test"() {t = tensor<2x6xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x4]>>} : () -> ()

// -----

// expected-error @below {{interleave factor 0 does not divide extent 2}}
udml.placeholder "test"() {t = tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [0x1]>>} : () -> ()

// -----

// expected-error @below {{interleave factor 1 does not divide extent 0}}
udml.placeholder "test"() {t = tensor<0x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>} : () -> ()

// -----

// expected-error @below {{an interleave factor is static exactly when its extent is}}
udml.placeholder "test"() {t = tensor<?x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [2x1]>>} : () -> ()

// -----

// expected-error @below {{an interleave factor is static exactly when its extent is}}
udml.placeholder "test"() {t = tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [?x1]>>} : () -> ()

// -----

// expected-error @below {{only one dimension can be interleaved}}
udml.placeholder "test"() {t = tensor<2x4xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [2x2]>>} : () -> ()

// -----

// expected-error @below {{expected one of [IOSurface, MTLBuffer, Heap] for memory that holds a tensor, got: Stack}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {t = #coreaix.hw_constraints<Stack, alignments: [1], interleave: []>} : () -> ()

// -----

// expected-error @below {{expected ']'}}
udml.placeholder "test"() {t = #coreaix.image_constraints<MTLTexture, rowAlignmentsPerPlane: [1, 2]>} : () -> ()

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32>
// expected-error @below {{operand #0 must be ranked tensor with '#coreaix.hw_constraints'}}
%0 = coreaix.cast(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{result #0 must be ranked tensor with '#coreaix.hw_constraints'}}
%0 = coreaix.cast(%x) : (tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xf32>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{operand #0 must be ranked tensor without '#coreaix.hw_constraints'}}
%0 = coreaix.copy_with_constraints(%x) : (tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32>
// expected-error @below {{result #0 must be ranked tensor with '#coreaix.hw_constraints'}}
%0 = coreaix.copy_with_constraints(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32, "elsewhere">

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf16>
// expected-error @below {{requires the same element type for all operands and results}}
%0 = coreaix.copy_with_constraints(%x) : (tensor<2x3xf16>) -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{result #0 must be ranked tensor without '#coreaix.hw_constraints'}}
%0 = coreaix.copy_discarding_constraints(%x) : (tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{requires the same element type for all operands and results}}
%0 = coreaix.copy_discarding_constraints(%x) : (tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xf16>

// -----

%x = udml.placeholder "x"() : () -> tensor<*xf32>
// expected-error @below {{operand #0 must be ranked tensor with '#coreaix.hw_constraints'}}
%0 = coreaix.view(%x) : (tensor<*xf32>) -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{requires the same element type for all operands and results}}
%0 = coreaix.view(%x) : (tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xi32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{views 8 elements of a source of 6}}
%0 = coreaix.view(%x) : (tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x4xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{views 8 elements of a source of 6}}
%0 = coreaix.view(%x) : (tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x4x1], interleave: [1x1]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<4x6xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [2x1]>>
// expected-error @below {{views 48 elements of a source of 24}}
%0 = coreaix.view(%x) : (tensor<4x6xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [2x1]>>) -> tensor<4x6xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x4], interleave: [1x2]>>

// -----

%x = udml.placeholder "x"() : () -> tensor<?x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
// expected-error @below {{views a known number of elements of a source of unknown size}}
%0 = coreaix.view(%x) : (tensor<?x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>) -> tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], interleave: [1x1]>>
