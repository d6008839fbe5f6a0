// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs/converted.mlir is a small program with all its locations, as
// coreai-core prints it. It must come back character by character.
//
// RUN: corten-opt %S/Inputs/converted.mlir --mlir-print-debuginfo | diff %S/Inputs/converted.mlir -
// RUN: corten-opt %S/Inputs/converted.mlir --mlir-print-debuginfo --mlir-print-op-generic | corten-opt --mlir-print-debuginfo | diff %S/Inputs/converted.mlir -
// RUN: corten-opt %S/Inputs/converted.mlir --mlir-print-debuginfo --mlir-print-local-scope | corten-opt --mlir-print-debuginfo | diff %S/Inputs/converted.mlir -
// RUN: corten-opt %S/Inputs/converted.mlir --emit-bytecode | corten-opt --mlir-print-debuginfo | diff %S/Inputs/converted.mlir -
//
// An error in an operation with such a location points at the source line.
//
// RUN: not corten-opt %s 2>&1 | FileCheck %s

udml.class @c {
  // CHECK: model.py:15:4: error: 'udml.member' op of type 'f32' starts with 1 : i32
  member @m : f32 = 1 : i32 loc(#debuginfo.location<loc("model.py":15:4) in @main>)
}
