// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What overflows, narrows or is no number.
//
// RUN: split-file %s %t
// RUN: not corten doctor %t/exp.mlir | FileCheck %s --check-prefix=EXP
// RUN: corten doctor %t/bounded-exp.mlir %t/f32-exp.mlir | FileCheck %s --check-prefix=FINE-EXP
// RUN: not corten doctor %t/squares.mlir | FileCheck %s --check-prefix=SQUARES
// RUN: corten doctor %t/small-squares.mlir %t/composite-squares.mlir | FileCheck %s --check-prefix=FINE-SQUARES
// RUN: not corten doctor %t/infinite.mlir | FileCheck %s --check-prefix=INFINITE
// RUN: corten doctor %t/finite.mlir | FileCheck %s --check-prefix=FINITE
// RUN: not corten doctor %t/narrowed.mlir | FileCheck %s --check-prefix=NARROWED
// RUN: corten doctor %t/fitting.mlir | FileCheck %s --check-prefix=FITTING
// RUN: not corten doctor %t/nan.mlir | FileCheck %s --check-prefix=NAN

// EXP: 2 findings
// EXP-NEXT: warning: f16-exp
// EXP-NEXT:   main: coreai.exp at exp.mlir:2
// EXP-NEXT:   main: coreai.exp at exp.mlir:5
//--- exp.mlir
coreai.graph @main(%x: tensor<2x4xf16> {coreai.name = "x"}) -> (tensor<2x4xf16> {coreai.name = "y"}, tensor<2x4xf16> {coreai.name = "z"}) {
  %0 = coreai.exp %x : tensor<2x4xf16> -> tensor<2x4xf16>
  %twelve = coreai.constant dense<12.0> : tensor<f16>
  %1 = coreai.decomposable.broadcasting_minimum %x, %twelve : (tensor<2x4xf16>, tensor<f16>) -> tensor<2x4xf16>
  %2 = coreai.exp %1 : tensor<2x4xf16> -> tensor<2x4xf16>
  coreai.output %0, %2 : tensor<2x4xf16>, tensor<2x4xf16>
}

// A clamp, a subtracted maximum and the negative of a square keep it below.
// FINE-EXP: bounded-exp.mlir: nothing found
// FINE-EXP: f32-exp.mlir: nothing found
//--- bounded-exp.mlir
coreai.graph @main(%x: tensor<2x4xf16> {coreai.name = "x"}) -> (tensor<2x4xf16> {coreai.name = "a"}, tensor<2x4xf16> {coreai.name = "b"}, tensor<2x4xf16> {coreai.name = "c"}) {
  %eleven = coreai.constant dense<11.0> : tensor<f16>
  %0 = coreai.decomposable.broadcasting_minimum %x, %eleven : (tensor<2x4xf16>, tensor<f16>) -> tensor<2x4xf16>
  %1 = coreai.exp %0 : tensor<2x4xf16> -> tensor<2x4xf16>
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %2 = coreai.reduce_max %x, %axes : (tensor<2x4xf16>, tensor<1xsi32>) -> tensor<2x1xf16>
  %3 = coreai.decomposable.broadcasting_sub %x, %2 : (tensor<2x4xf16>, tensor<2x1xf16>) -> tensor<2x4xf16>
  %4 = coreai.exp %3 : tensor<2x4xf16> -> tensor<2x4xf16>
  %5 = coreai.mul %x, %x : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %minus = coreai.constant dense<-0.5> : tensor<f16>
  %6 = coreai.decomposable.broadcasting_mul %5, %minus : (tensor<2x4xf16>, tensor<f16>) -> tensor<2x4xf16>
  %7 = coreai.exp %6 : tensor<2x4xf16> -> tensor<2x4xf16>
  coreai.output %1, %4, %7 : tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>
}
//--- f32-exp.mlir
coreai.graph @main(%x: tensor<2x4xf32> {coreai.name = "x"}) -> (tensor<2x4xf32> {coreai.name = "y"}) {
  %0 = coreai.exp %x : tensor<2x4xf32> -> tensor<2x4xf32>
  coreai.output %0 : tensor<2x4xf32>
}

// SQUARES: 1 finding
// SQUARES-NEXT: warning: f16-square-sum
// SQUARES-NEXT:   main: coreai.reduce_mean
//--- squares.mlir
coreai.graph @main(%x: tensor<2x4xf16> {coreai.name = "x"}) -> (tensor<2x1xf16> {coreai.name = "y"}) {
  %two = coreai.constant dense<2.0> : tensor<f16>
  %0 = coreai.decomposable.broadcasting_pow %x, %two : (tensor<2x4xf16>, tensor<f16>) -> tensor<2x4xf16>
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %1 = coreai.reduce_mean %0, %axes : (tensor<2x4xf16>, tensor<1xsi32>) -> tensor<2x1xf16>
  coreai.output %1 : tensor<2x1xf16>
}
// FINE-SQUARES: small-squares.mlir: nothing found
// FINE-SQUARES: composite-squares.mlir: nothing found
//--- small-squares.mlir
coreai.graph @main(%x: tensor<2x4xf16> {coreai.name = "x"}) -> (tensor<2x1xf16> {coreai.name = "y"}) {
  %0 = coreai.tanh %x : tensor<2x4xf16> -> tensor<2x4xf16>
  %1 = coreai.mul %0, %0 : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %2 = coreai.reduce_mean %1, %axes : (tensor<2x4xf16>, tensor<1xsi32>) -> tensor<2x1xf16>
  coreai.output %2 : tensor<2x1xf16>
}
//--- composite-squares.mlir
coreai.graph private noinline @norm(%x: tensor<2x4xf16>) -> tensor<2x1xf16> attributes {composite_decl = #coreai.composite_declaration<"norm">} {
  %0 = coreai.mul %x, %x : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %1 = coreai.reduce_mean %0, %axes : (tensor<2x4xf16>, tensor<1xsi32>) -> tensor<2x1xf16>
  coreai.output %1 : tensor<2x1xf16>
}
coreai.graph @main(%x: tensor<2x4xf16> {coreai.name = "x"}) -> (tensor<2x1xf16> {coreai.name = "y"}) {
  %0 = coreai.invoke @norm(%x) : (tensor<2x4xf16>) -> tensor<2x1xf16>
  coreai.output %0 : tensor<2x1xf16>
}

// INFINITE: 1 finding
// INFINITE-NEXT: warning: f16-infinite
// INFINITE-NEXT:   main: coreai.constant at infinite.mlir:2
//--- infinite.mlir
coreai.graph @main(%x: tensor<2xf16> {coreai.name = "x"}) -> (tensor<2xf16> {coreai.name = "y"}) {
  %mask = coreai.constant dense<[0.0, 0xFC00]> : tensor<2xf16>
  %0 = coreai.add %x, %mask : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  coreai.output %0 : tensor<2xf16>
}
// The most negative number of f16, and infinity in f32.
// FINITE: finite.mlir: nothing found
//--- finite.mlir
coreai.graph @main(%x: tensor<2xf16> {coreai.name = "x"}, %y: tensor<2xf32> {coreai.name = "y"}) -> (tensor<2xf16> {coreai.name = "a"}, tensor<2xf32> {coreai.name = "b"}) {
  %mask = coreai.constant dense<[0.0, -65504.0]> : tensor<2xf16>
  %0 = coreai.add %x, %mask : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %wide = coreai.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>
  %1 = coreai.add %y, %wide : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0, %1 : tensor<2xf16>, tensor<2xf32>
}

// NARROWED: 4 findings
// NARROWED-NEXT: warning: narrowed-constant
// NARROWED-NEXT:   main: coreai.constant at narrowed.mlir:2: holds an end of the range of si32
// NARROWED-NEXT:   main: coreai.cast at narrowed.mlir:5: from f32 to f16
// NARROWED-NEXT:   main: coreai.cast at narrowed.mlir:7: from si32 to si8
// NARROWED-NEXT:   main: coreai.cast at narrowed.mlir:9: from si32 to ui32
//--- narrowed.mlir
coreai.graph @main(%x: tensor<2xsi32> {coreai.name = "x"}) -> (tensor<2xsi32> {coreai.name = "a"}, tensor<2xf16> {coreai.name = "b"}, tensor<2xsi8> {coreai.name = "c"}, tensor<2xui32> {coreai.name = "d"}) {
  %end = coreai.constant dense<[1, 2147483647]> : tensor<2xsi32>
  %0 = coreai.add %x, %end : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %large = coreai.constant dense<[1.0, 70000.0]> : tensor<2xf32>
  %1 = coreai.cast %large : tensor<2xf32> to tensor<2xf16>
  %byte = coreai.constant dense<[1, 128]> : tensor<2xsi32>
  %2 = coreai.cast %byte : tensor<2xsi32> to tensor<2xsi8>
  %negative = coreai.constant dense<[1, -1]> : tensor<2xsi32>
  %3 = coreai.cast %negative : tensor<2xsi32> to tensor<2xui32>
  coreai.output %0, %1, %2, %3 : tensor<2xsi32>, tensor<2xf16>, tensor<2xsi8>, tensor<2xui32>
}
// "To the end" of a slice is the end of the range, and casts that lose only
// digits are what casts are for.
// FITTING: fitting.mlir: nothing found
//--- fitting.mlir
coreai.graph @main(%x: tensor<4xsi32> {coreai.name = "x"}) -> (tensor<?xsi32> {coreai.name = "a"}, tensor<2xf16> {coreai.name = "b"}, tensor<2xsi8> {coreai.name = "c"}, tensor<2xui32> {coreai.name = "d"}) {
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %end = coreai.constant dense<2147483647> : tensor<1xsi32>
  %0 = coreai.slice %x, %one, %end, %one : (tensor<4xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<3xsi32>
  %large = coreai.constant dense<[0.1, 65504.0]> : tensor<2xf32>
  %1 = coreai.cast %large : tensor<2xf32> to tensor<2xf16>
  %byte = coreai.constant dense<[-128, 127]> : tensor<2xsi32>
  %2 = coreai.cast %byte : tensor<2xsi32> to tensor<2xsi8>
  %positive = coreai.constant dense<[1, 2]> : tensor<2xsi32>
  %3 = coreai.cast %positive : tensor<2xsi32> to tensor<2xui32>
  coreai.output %0, %1, %2, %3 : tensor<3xsi32>, tensor<2xf16>, tensor<2xsi8>, tensor<2xui32>
}

// NAN: 3 findings
// NAN-NEXT: warning: nan-weight
// NAN-NEXT:   main: coreai.constant at nan.mlir:2: weight
// NAN-NEXT:   main: coreai.constant at nan.mlir:4
// NAN-NEXT:   main: coreai.constant at nan.mlir:6
//--- nan.mlir
coreai.graph @main(%x: tensor<2xf32> {coreai.name = "x"}, %y: tensor<2xf16> {coreai.name = "y"}, %z: tensor<2xbf16> {coreai.name = "z"}) -> (tensor<2xf32> {coreai.name = "a"}, tensor<2xf16> {coreai.name = "b"}, tensor<2xbf16> {coreai.name = "c"}) {
  %w = coreai.constant dense_resource<weight> : tensor<2xf32>
  %0 = coreai.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %h = coreai.constant dense<[1.0, 0x7E00]> : tensor<2xf16>
  %1 = coreai.add %y, %h : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %b = coreai.constant dense<[1.0, 0x7FC0]> : tensor<2xbf16>
  %2 = coreai.add %z, %b : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  coreai.output %0, %1, %2 : tensor<2xf32>, tensor<2xf16>, tensor<2xbf16>
}
{-#
  dialect_resources: { builtin: { weight: "0x040000000000803F0000C07F" } }
#-}
