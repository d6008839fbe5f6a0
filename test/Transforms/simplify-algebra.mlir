// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-simplify-algebra | FileCheck %s

// CHECK-LABEL: @floats
// CHECK-NEXT:    coreai.output %arg0, %arg0, %arg0, %arg0, %arg0
coreai.graph @floats(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %one = coreai.constant dense<1.0> : tensor<1x4xf32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %minus_zero = coreai.constant dense<-0.0> : tensor<f32>
  %0 = coreai.decomposable.broadcasting_mul %one, %x : (tensor<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = coreai.decomposable.broadcasting_sub %x, %zero : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %2 = coreai.decomposable.broadcasting_add %x, %minus_zero : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %3 = coreai.decomposable.broadcasting_divide %x, %one : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  %4 = coreai.decomposable.broadcasting_pow %x, %one : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  coreai.output %0, %1, %2, %3, %4 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// These make 0 of -0, or cut off.
// CHECK-LABEL: @zeros
// CHECK:         broadcasting_add
// CHECK:         broadcasting_sub
// CHECK:         broadcasting_floor_divide
// CHECK:         broadcasting_mul
coreai.graph @zeros(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = coreai.constant dense<1.0> : tensor<f32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %minus_zero = coreai.constant dense<-0.0> : tensor<f32>
  %0 = coreai.decomposable.broadcasting_add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = coreai.decomposable.broadcasting_sub %x, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = coreai.decomposable.broadcasting_floor_divide %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = coreai.decomposable.broadcasting_mul %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  coreai.output %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A constant may be what gives the result its shape.
// CHECK-LABEL: @spread
// CHECK:         broadcasting_mul
// CHECK:         broadcasting_mul
coreai.graph @spread(%x: tensor<1xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %one = coreai.constant dense<1.0> : tensor<4xf32>
  %0 = coreai.decomposable.broadcasting_mul %x, %one : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = coreai.decomposable.broadcasting_mul %y, %one : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  coreai.output %0, %1 : tensor<4xf32>, tensor<?xf32>
}

// CHECK-LABEL: @complex
// CHECK:         coreai.mul
coreai.graph @complex(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %one = coreai.constant dense<(1.0, 0.0)> : tensor<2xcomplex<f32>>
  %0 = coreai.mul %x, %one : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  coreai.output %0 : tensor<2xcomplex<f32>>
}

// CHECK-LABEL: @integers
// CHECK-DAG:     %[[ZERO:.*]] = coreai.constant dense<0> : tensor<2xsi32>
// CHECK-DAG:     %[[SUM:.*]] = coreai.constant dense<5> : tensor<2xsi32>
// CHECK:         %[[ADD:.*]] = coreai.add %arg0, %[[SUM]]
// CHECK:         coreai.output %arg0, %arg0, %arg0, %[[ZERO]], %[[ADD]]
coreai.graph @integers(%x: tensor<2xsi32>) -> (tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) {
  %one = coreai.constant dense<1> : tensor<2xsi32>
  %zero = coreai.constant dense<0> : tensor<2xsi32>
  %two = coreai.constant dense<2> : tensor<2xsi32>
  %three = coreai.constant dense<3> : tensor<2xsi32>
  %0 = coreai.add %zero, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %1 = coreai.floor_divide %x, %one : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %2 = coreai.sub %zero, %x : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %3 = coreai.sub %zero, %2 : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %4 = coreai.mul %x, %zero : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %5 = coreai.add %x, %two : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %6 = coreai.add %5, %three : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  coreai.output %0, %1, %3, %4, %6 : tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>
}

// Sums of floats are not reassociated, and 0 - (0 - x) makes 0 of -0.
// CHECK-LABEL: @rounding
// CHECK-COUNT-2: coreai.add
// CHECK-COUNT-2: coreai.sub
coreai.graph @rounding(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %two = coreai.constant dense<2.0> : tensor<2xf32>
  %zero = coreai.constant dense<0.0> : tensor<2xf32>
  %0 = coreai.add %x, %two : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = coreai.add %0, %two : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = coreai.sub %zero, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = coreai.sub %zero, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %1, %3 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @negations
// CHECK-NEXT:    %[[ABS:.*]] = coreai.abs %arg0
// CHECK-NEXT:    coreai.output %arg0, %arg0, %[[ABS]]
coreai.graph @negations(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %minus = coreai.constant dense<-1.0> : tensor<2xf32>
  %zero = coreai.constant dense<-0.0> : tensor<2xf32>
  %0 = coreai.mul %x, %minus : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = coreai.mul %minus, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = coreai.sub %zero, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = coreai.divide %2, %minus : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = coreai.abs %0 : tensor<2xf32> -> tensor<2xf32>
  coreai.output %1, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @logic
// CHECK:         %[[NOT:.*]] = coreai.not %arg0
// CHECK:         %[[DIFFERENT:.*]] = coreai.not_equal %arg1, %arg2
// CHECK:         %[[NO:.*]] = coreai.not %arg0
// CHECK:         coreai.output %arg0, %arg0, %[[NOT]], %[[DIFFERENT]], %[[NO]], %arg0
coreai.graph @logic(%c: tensor<?xi1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>) {
  %true = coreai.constant dense<true> : tensor<i1>
  %false = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.decomposable.broadcasting_and %c, %true : (tensor<?xi1>, tensor<i1>) -> tensor<?xi1>
  %1 = coreai.or %c, %c : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
  %2 = coreai.decomposable.broadcasting_xor %c, %true : (tensor<?xi1>, tensor<i1>) -> tensor<?xi1>
  %3 = coreai.equal %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
  %4 = coreai.not %3 : tensor<?xi1> -> tensor<?xi1>
  %5 = coreai.decomposable.broadcasting_equal %c, %false : (tensor<?xi1>, tensor<i1>) -> tensor<?xi1>
  %6 = coreai.decomposable.broadcasting_not_equal %c, %false : (tensor<?xi1>, tensor<i1>) -> tensor<?xi1>
  coreai.output %0, %1, %2, %4, %5, %6 : tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>, tensor<?xi1>
}

// NaN is neither greater nor not.
// CHECK-LABEL: @unordered
// CHECK:         coreai.greater
// CHECK:         coreai.not
coreai.graph @unordered(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xi1> {
  %0 = coreai.greater %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %1 = coreai.not %0 : tensor<2xi1> -> tensor<2xi1>
  coreai.output %1 : tensor<2xi1>
}

// CHECK-LABEL: @selection
// CHECK-NEXT:    %[[R:.*]] = coreai.where %arg0, %arg2, %arg1
// CHECK-NEXT:    coreai.output %arg1, %arg2, %[[R]]
coreai.graph @selection(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %false = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.where %c, %x, %x : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = coreai.decomposable.broadcasting_where %false, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = coreai.not %c : tensor<2xi1> -> tensor<2xi1>
  %3 = coreai.where %2, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  coreai.output %0, %1, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// A condition spreads what it selects, or may.
// CHECK-LABEL: @wide_condition
// CHECK-COUNT-2: broadcasting_where
coreai.graph @wide_condition(%c: tensor<4xi1>, %d: tensor<?xi1>, %x: tensor<1xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %0 = coreai.decomposable.broadcasting_where %c, %x, %x : (tensor<4xi1>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = coreai.decomposable.broadcasting_where %d, %y, %y : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  coreai.output %0, %1 : tensor<4xf32>, tensor<?xf32>
}

// CHECK-LABEL: @twice
// CHECK-NEXT:    %[[ABS:.*]] = coreai.abs
// CHECK-NEXT:    %[[RELU:.*]] = coreai.relu %arg0
// CHECK-NEXT:    coreai.output %[[ABS]], %[[RELU]], %[[ABS]], %arg1
coreai.graph @twice(%x: tensor<2xf32>, %i: tensor<2xsi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xsi32>) {
  %0 = coreai.abs %x : tensor<2xf32> -> tensor<2xf32>
  %1 = coreai.abs %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = coreai.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %3 = coreai.relu %2 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = coreai.relu %0 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = coreai.round %i : tensor<2xsi32> -> tensor<2xsi32>
  coreai.output %1, %3, %4, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xsi32>
}

// -0 passes a relu, and the smallest integer passes abs.
// CHECK-LABEL: @not_twice
// CHECK:         coreai.relu
// CHECK:         coreai.abs
// CHECK:         coreai.abs
// CHECK:         coreai.relu
coreai.graph @not_twice(%x: tensor<2xf32>, %i: tensor<2xsi32>) -> (tensor<2xf32>, tensor<2xsi32>) {
  %0 = coreai.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = coreai.abs %0 : tensor<2xf32> -> tensor<2xf32>
  %2 = coreai.abs %i : tensor<2xsi32> -> tensor<2xsi32>
  %3 = coreai.relu %2 : (tensor<2xsi32>) -> tensor<2xsi32>
  coreai.output %1, %3 : tensor<2xf32>, tensor<2xsi32>
}

// CHECK-LABEL: @parts
// CHECK-NEXT:    coreai.output %arg0, %arg1, %arg2
coreai.graph @parts(%a: tensor<2xf32>, %b: tensor<2xf32>, %z: tensor<2xcomplex<f32>>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>) {
  %0 = coreai.create_complex %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %1 = coreai.real_part %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = coreai.imaginary_part %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %3 = coreai.real_part %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %4 = coreai.imaginary_part %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %5 = coreai.create_complex %3, %4 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  coreai.output %1, %2, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>
}
