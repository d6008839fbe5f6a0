// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{height of an image must be positive, not 0 : i64}}
udml.placeholder "test"() {t = !coreai.image<<k24RGB> x 0 x 6>} : () -> ()

// -----

// expected-error @below {{width of an image must be positive, not -6 : i64}}
udml.placeholder "test"() {t = !coreai.image<<k24RGB> x 4 x -6>} : () -> ()

// -----

// The Core AI compiler reads the bits as a signed number.
// expected-error @below {{height of an image must be positive, not 255 : ui8}}
udml.placeholder "test"() {t = !coreai.image<<k24RGB> x 255 : ui8 x 6>} : () -> ()

// -----

// expected-error @below {{height of an image must be an integer, not "a"}}
udml.placeholder "test"() {t = !coreai.image<<k24RGB> x "a" x 6>} : () -> ()

// -----

// expected-error @below {{width of an image must be an integer, not 6 : index}}
udml.placeholder "test"() {t = !coreai.image<<k24RGB> x 4 x 6 : index>} : () -> ()

// -----

// expected-error @below {{expected 'image_constraints'}}
udml.placeholder "test"() {t = !coreai.image<<k24RGB> x 4 x 6, other = 5>} : () -> ()

// -----

// expected-error @below {{expected '<'}}
udml.placeholder "test"() {t = !coreai.handle} : () -> ()

// -----

// expected-error @below {{expected a symbol or a parameter expression of type '!param.symbol'}}
udml.placeholder "test"() {t = !coreai.symbol_ref<5>} : () -> ()

// -----

// expected-error @below {{expected a symbol or a parameter expression of type '!param.symbol'}}
udml.placeholder "test"() {t = !coreai.symbol_ref<#param.ref<S> : !param.type>} : () -> ()

// -----

// expected-error @below {{unknown  type `unheard_of` in dialect `coreai`}}
udml.placeholder "test"() {t = !coreai.unheard_of} : () -> ()
