// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-simplification | FileCheck %s
// RUN: corten-opt %s -coreai-simplification=keep-composites=twice | FileCheck %s --check-prefix=KEPT
// RUN: corten-opt %s -coreai-simplification=keep-marked=true | FileCheck %s --check-prefix=KEPT
// RUN: corten-opt %s -coreai-simplification=max-bytes=4 | FileCheck %s --check-prefix=SMALL
//
// The passes in the order in which they help each other.

// Nobody calls it any more.
// CHECK-NOT:   @twice
// KEPT-LABEL: coreai.graph private noinline @twice
coreai.graph private noinline @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {composite_decl = #coreai.composite_declaration<"twice" = {input_names = ["x"]}>, template_op = "twice"} {
  %0 = coreai.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  coreai.output %0 : tensor<2x3xf32>
}

// Two calls become the same operation, which is done once; a shape becomes a
// constant, that a condition, and that the branch that is taken. What only the
// other one used goes.
// CHECK-LABEL: @all_of_it
// CHECK-NEXT:    %[[TWICE:.*]] = coreai.add %arg0, %arg0
// CHECK-NEXT:    %[[Y:.*]] = coreai.mul %[[TWICE]], %[[TWICE]]
// CHECK-NEXT:    coreai.output %[[Y]]
// KEPT-LABEL: @all_of_it
// KEPT:          coreai.invoke @twice
// KEPT-NOT:      coreai.if
coreai.graph @all_of_it(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = coreai.invoke @twice(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = coreai.invoke @twice(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %unused = coreai.sin %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %shape = coreai.get_shape %x : tensor<2x3xf32> -> tensor<2xui32>
  %zero = coreai.constant dense<0> : tensor<1xsi32>
  %first = coreai.constant dense<1> : tensor<1xsi32>
  %rows = coreai.slice %shape, %zero, %first, %first : (tensor<2xui32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xui32>
  %none = coreai.constant dense<> : tensor<0xsi32>
  %count = coreai.reshape %rows, %none : (tensor<1xui32>, tensor<0xsi32>) -> tensor<ui32>
  %limit = coreai.constant dense<1> : tensor<ui32>
  %many = coreai.greater %count, %limit : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %2 = coreai.if %many {
    %3 = coreai.mul %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    coreai.yield %3 : tensor<2x3xf32>
  } else {
    coreai.yield %unused : tensor<2x3xf32>
  } : tensor<i1> -> tensor<2x3xf32>
  coreai.output %2 : tensor<2x3xf32>
}

// What only a call knows decides nothing.
// KEPT-LABEL: @not_known
// CHECK-LABEL: @not_known
// CHECK:         coreai.get_shape %arg0
// CHECK:         coreai.if
coreai.graph @not_known(%x: tensor<?xf32>) -> tensor<?xf32> {
  %shape = coreai.get_shape %x : tensor<?xf32> -> tensor<1xui32>
  %none = coreai.constant dense<> : tensor<0xsi32>
  %count = coreai.reshape %shape, %none : (tensor<1xui32>, tensor<0xsi32>) -> tensor<ui32>
  %limit = coreai.constant dense<1> : tensor<ui32>
  %many = coreai.greater %count, %limit : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %0 = coreai.if %many {
    %1 = coreai.sin %x : tensor<?xf32> -> tensor<?xf32>
    coreai.yield %1 : tensor<?xf32>
  } else {
    coreai.yield %x : tensor<?xf32>
  } : tensor<i1> -> tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// Constants are computed up to a size.
// CHECK-LABEL: @large
// CHECK-NOT:     coreai.sin
// CHECK:         coreai.output
// SMALL-LABEL: @large
// SMALL:         coreai.sin
coreai.graph @large() -> tensor<4xf32> {
  %x = coreai.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = coreai.sin %x : tensor<4xf32> -> tensor<4xf32>
  coreai.output %0 : tensor<4xf32>
}
