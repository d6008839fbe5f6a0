// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected one of [none, tanh, sigmoid] for formula of gelu, got: erf}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = #coreai.approximate<erf>} : () -> ()

// -----

// expected-error @below {{expected one of [circular, constant, reflect, replicate, symmetric]}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = #coreai.padding_mode<zero>} : () -> ()

// -----

// expected-error @below {{expected ','}}
udml.placeholder "test"() {a = #coreai.target_spec<triple = "a", soc = "b">} : () -> ()

// -----

// expected-error @below {{invalid kind of attribute specified}}
// expected-error @below {{failed to parse}}
udml.placeholder "test"() {a = #coreai.composite_declaration<"rope" = 5>} : () -> ()

// -----

// expected-error @below {{a pixel format has four characters}}
udml.placeholder "test"() {a = #coreai.fourcc<"abc">} : () -> ()

// -----

// expected-error @below {{unknown pixel format 'k24BGR'}}
udml.placeholder "test"() {a = #coreai.fourcc<k24BGR>} : () -> ()

// -----

// expected-error @below {{integer value too large}}
udml.placeholder "test"() {a = #coreai.fourcc<5000000000>} : () -> ()

// -----

// expected-error @below {{posWidth = 5 is not a width that indices are stored with}}
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<coo, posWidth = 5, crdWidth = 32>} : () -> ()

// -----

// expected-error @below {{crdWidth = 0 is not a width that indices are stored with}}
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<coo, posWidth = 8, crdWidth = 0>} : () -> ()

// -----

// expected-error @below {{a bitmask has posWidth = 1 and crdWidth = 1}}
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 2>} : () -> ()

// -----

// expected-error @below {{bsr needs a blockSize of two extents, not of 0}}
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<bsr, posWidth = 8, crdWidth = 8>} : () -> ()

// -----

// expected-error @below {{bsr needs a blockSize of two extents, not of 3}}
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<bsr, posWidth = 8, crdWidth = 8, blockSize = [1, 2, 3]>} : () -> ()

// -----

// expected-error @below {{only bsr has a blockSize}}
udml.placeholder "test"() {a = #coreai.sparse_tensor_encoding<csr, posWidth = 8, crdWidth = 8, blockSize = [1, 2]>} : () -> ()

// -----

// expected-error @below {{data in a file need a type}}
udml.placeholder "test"() {a = #coreai.file_resource<"weights.bin", 0>} : () -> ()

// -----

// expected-error @below {{unknown attribute `unheard_of` in dialect `coreai`}}
udml.placeholder "test"() {a = #coreai.unheard_of} : () -> ()
