// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @unary
coreai.graph @unary(%x: tensor<2x?xf32>) {
  // CHECK: coreai.abs %{{.*}} : tensor<2x?xf32> -> tensor<2x?xf32>{{$}}
  %abs = coreai.abs %x : tensor<2x?xf32> -> tensor<2x?xf32>
  // The dictionary of a primitive op comes last.
  // CHECK: coreai.acos %{{.*}} : tensor<2x?xf32> -> tensor<2x?xf32> {test.note}
  %acos = coreai.acos %x : tensor<2x?xf32> -> tensor<2x?xf32> {test.note}
  %acosh = coreai.acosh %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %asin = coreai.asin %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %asinh = coreai.asinh %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %atan = coreai.atan %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %atanh = coreai.atanh %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %cos = coreai.cos %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %cosh = coreai.cosh %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %erf = coreai.erf %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %exp = coreai.exp %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %log = coreai.log %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %round = coreai.round %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %rsqrt = coreai.rsqrt %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %sin = coreai.sin %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %sinh = coreai.sinh %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %sqrt = coreai.sqrt %x : tensor<2x?xf32> -> tensor<2x?xf32>
  %tan = coreai.tan %x : tensor<2x?xf32> -> tensor<2x?xf32>
  // A declared type may state an extent that inference does not know.
  // CHECK: coreai.tanh %{{.*}} : tensor<2x?xf32> -> tensor<2x3xf32>
  %tanh = coreai.tanh %x : tensor<2x?xf32> -> tensor<2x3xf32>
  coreai.output
}

// CHECK-LABEL: coreai.graph @activations
coreai.graph @activations(%x: tensor<4xf16>) {
  // CHECK: coreai.relu %{{.*}} : (tensor<4xf16>) -> tensor<4xf16>{{$}}
  %relu = coreai.relu %x : (tensor<4xf16>) -> tensor<4xf16>
  // That of a decomposable op comes before the types.
  // CHECK: coreai.sigmoid %{{.*}} attributes {test.note} : (tensor<4xf16>) -> tensor<4xf16>
  %sigmoid = coreai.sigmoid %x attributes {test.note} : (tensor<4xf16>) -> tensor<4xf16>
  %silu = coreai.silu %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: coreai.gelu %{{.*}} : tensor<4xf16> -> tensor<4xf16>
  %none = coreai.gelu %x approximate = <none> : tensor<4xf16> -> tensor<4xf16>
  // CHECK: coreai.gelu %{{.*}} approximate = <tanh> : tensor<4xf16> -> tensor<4xf16> {test.note}
  %tanh = coreai.gelu %x approximate = <tanh> : tensor<4xf16> -> tensor<4xf16> {test.note}
  coreai.output
}

// CHECK-LABEL: coreai.graph @binary
coreai.graph @binary(%x: tensor<2xsi32>, %b: tensor<2xi1>) {
  // CHECK: coreai.add %{{.*}}, %{{.*}} : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>{{$}}
  %add = coreai.add %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  // CHECK: coreai.sub %{{.*}} -> tensor<2xsi32> {test.note}
  %sub = coreai.sub %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32> {test.note}
  %mul = coreai.mul %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %divide = coreai.divide %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %floor_divide = coreai.floor_divide %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %modulo = coreai.modulo %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %pow = coreai.pow %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %maximum = coreai.maximum %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %minimum = coreai.minimum %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %bitwise_and = coreai.bitwise_and %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %bitwise_or = coreai.bitwise_or %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %bitwise_xor = coreai.bitwise_xor %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %and = coreai.and %b, %b : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %or = coreai.or %b, %b : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %xor = coreai.xor %b, %b : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  // CHECK: coreai.not %{{.*}} : tensor<2xi1> -> tensor<2xi1>
  %not = coreai.not %b : tensor<2xi1> -> tensor<2xi1>
  // CHECK: coreai.equal %{{.*}}, %{{.*}} : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xi1>
  %equal = coreai.equal %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xi1>
  %not_equal = coreai.not_equal %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xi1>
  %greater = coreai.greater %x, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xi1>
  // CHECK: coreai.where %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2xi1>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %where = coreai.where %b, %x, %x : (tensor<2xi1>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  // CHECK: coreai.cast %{{.*}} : tensor<2xsi32> to tensor<?xf32> {test.note}
  %cast = coreai.cast %x : tensor<2xsi32> to tensor<?xf32> {test.note}
  coreai.output
}

// CHECK-LABEL: coreai.graph @complex
coreai.graph @complex(%x: tensor<2xf32>) {
  // CHECK: coreai.create_complex %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %z = coreai.create_complex %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // CHECK: coreai.real_part %{{.*}} : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %real = coreai.real_part %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: coreai.imaginary_part %{{.*}} : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %imaginary = coreai.imaginary_part %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  coreai.output
}

// CHECK-LABEL: coreai.graph @broadcasting
coreai.graph @broadcasting(%x: tensor<2x3xsi32>, %y: tensor<3xsi32>, %a: tensor<2x1xi1>, %b: tensor<i1>) {
  // CHECK: coreai.decomposable.broadcasting_add %{{.*}}, %{{.*}} : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>{{$}}
  %add = coreai.decomposable.broadcasting_add %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  // CHECK: coreai.decomposable.broadcasting_sub %{{.*}}, %{{.*}} attributes {test.note} : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %sub = coreai.decomposable.broadcasting_sub %x, %y attributes {test.note} : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %mul = coreai.decomposable.broadcasting_mul %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %divide = coreai.decomposable.broadcasting_divide %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %floor_divide = coreai.decomposable.broadcasting_floor_divide %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %modulo = coreai.decomposable.broadcasting_modulo %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %pow = coreai.decomposable.broadcasting_pow %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %maximum = coreai.decomposable.broadcasting_maximum %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %minimum = coreai.decomposable.broadcasting_minimum %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %bitwise_and = coreai.decomposable.broadcasting_bitwise_and %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %bitwise_or = coreai.decomposable.broadcasting_bitwise_or %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %bitwise_xor = coreai.decomposable.broadcasting_bitwise_xor %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %and = coreai.decomposable.broadcasting_and %a, %b : (tensor<2x1xi1>, tensor<i1>) -> tensor<2x1xi1>
  %or = coreai.decomposable.broadcasting_or %a, %b : (tensor<2x1xi1>, tensor<i1>) -> tensor<2x1xi1>
  %xor = coreai.decomposable.broadcasting_xor %a, %b : (tensor<2x1xi1>, tensor<i1>) -> tensor<2x1xi1>
  // CHECK: coreai.decomposable.broadcasting_equal %{{.*}}, %{{.*}} : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xi1>
  %equal = coreai.decomposable.broadcasting_equal %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xi1>
  %not_equal = coreai.decomposable.broadcasting_not_equal %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xi1>
  %greater = coreai.decomposable.broadcasting_greater %x, %y : (tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xi1>
  // CHECK: coreai.decomposable.broadcasting_where %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x1xi1>, tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  %where = coreai.decomposable.broadcasting_where %a, %x, %y : (tensor<2x1xi1>, tensor<2x3xsi32>, tensor<3xsi32>) -> tensor<2x3xsi32>
  coreai.output
}
