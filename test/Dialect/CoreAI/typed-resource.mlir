// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
//
// Bytecode is left out: it stores the attribute as text and so loses the blob
// of the key, in the Core AI compiler as well.

// CHECK: a = #coreai.typed_resource<pixels> : !coreai.image<<k24RGB> x 1 : i64 x 1 : i64>
udml.placeholder "test"() {a = #coreai.typed_resource<pixels> : !coreai.image<<k24RGB> x 1 x 1>} : () -> ()

// Blobs are stored with those of dense resources.
// CHECK:      {-#
// CHECK-NEXT: dialect_resources: {
// CHECK-NEXT: builtin: {
// CHECK-NEXT: pixels: "0x04000000010203"
{-#
  dialect_resources: {
    builtin: { pixels: "0x04000000010203" }
  }
#-}
