// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @double_negation
// CHECK-SAME:    %[[X:.*]]: tensor<?xi1>
// CHECK:         coreai.output %[[X]]
coreai.graph @double_negation(%x: tensor<?xi1>) -> tensor<?xi1> {
  %0 = coreai.not %x : tensor<?xi1> -> tensor<?xi1>
  %1 = coreai.not %0 : tensor<?xi1> -> tensor<?xi1>
  coreai.output %1 : tensor<?xi1>
}

// CHECK-LABEL: @constant_negation
// CHECK:         %[[R:.*]] = coreai.constant dense<[false, true]> : tensor<2xi1>
// CHECK:         coreai.output %[[R]]
coreai.graph @constant_negation() -> tensor<2xi1> {
  %0 = coreai.constant dense<[true, false]> : tensor<2xi1>
  %1 = coreai.not %0 : tensor<2xi1> -> tensor<2xi1>
  coreai.output %1 : tensor<2xi1>
}

// -----

// CHECK-LABEL: @cast_to_same
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>
// CHECK:         coreai.output %[[X]]
coreai.graph @cast_to_same(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = coreai.cast %x : tensor<?xf32> to tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// A cast that forgets an extent stays.
// CHECK-LABEL: @cast_to_unknown
// CHECK:         coreai.cast
coreai.graph @cast_to_unknown(%x: tensor<2xf32>) -> tensor<?xf32> {
  %0 = coreai.cast %x : tensor<2xf32> to tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// Integers saturate in both directions.
// CHECK-LABEL: @cast_integers
// CHECK:         coreai.constant dense<[0, 7, 255]> : tensor<3xui8>
coreai.graph @cast_integers() -> tensor<3xui8> {
  %0 = coreai.constant dense<[-1, 7, 300]> : tensor<3xsi32>
  %1 = coreai.cast %0 : tensor<3xsi32> to tensor<3xui8>
  coreai.output %1 : tensor<3xui8>
}

// CHECK-LABEL: @cast_unsigned
// CHECK:         coreai.constant dense<2147483647> : tensor<si32>
coreai.graph @cast_unsigned() -> tensor<si32> {
  %0 = coreai.constant dense<2147483648> : tensor<ui32>
  %1 = coreai.cast %0 : tensor<ui32> to tensor<si32>
  coreai.output %1 : tensor<si32>
}

// Floats truncate and saturate; NaN is 0.
// CHECK-LABEL: @cast_floats
// CHECK:         coreai.constant dense<[-1, 2147483647, 0, -2147483648]>
coreai.graph @cast_floats() -> tensor<4xsi32> {
  %0 = coreai.constant
      dense<[-1.9, 1.0e+20, 0x7FC00000, 0xFF800000]> : tensor<4xf32>
  %1 = coreai.cast %0 : tensor<4xf32> to tensor<4xsi32>
  coreai.output %1 : tensor<4xsi32>
}

// Anything but zero is true.
// CHECK-LABEL: @cast_to_bool
// CHECK:         coreai.constant dense<[true, false, false, true]>
coreai.graph @cast_to_bool() -> tensor<4xi1> {
  %0 = coreai.constant dense<[0.1, 0.0, -0.0, 0x7FC00000]> : tensor<4xf32>
  %1 = coreai.cast %0 : tensor<4xf32> to tensor<4xi1>
  coreai.output %1 : tensor<4xi1>
}

// CHECK-LABEL: @cast_from_bool
// CHECK:         coreai.constant dense<[1.000000e+00, 0.000000e+00]>
coreai.graph @cast_from_bool() -> tensor<2xf32> {
  %0 = coreai.constant dense<[true, false]> : tensor<2xi1>
  %1 = coreai.cast %0 : tensor<2xi1> to tensor<2xf32>
  coreai.output %1 : tensor<2xf32>
}

// CHECK-LABEL: @cast_narrowing
// CHECK:         coreai.constant dense<[2.048000e+03, 0x7C00]> : tensor<2xf16>
coreai.graph @cast_narrowing() -> tensor<2xf16> {
  %0 = coreai.constant dense<[2049.0, 1.0e+6]> : tensor<2xf32>
  %1 = coreai.cast %0 : tensor<2xf32> to tensor<2xf16>
  coreai.output %1 : tensor<2xf16>
}

// Formats whose overflow rules are their own are left to the runtime.
// CHECK-LABEL: @cast_small_float
// CHECK:         coreai.cast
coreai.graph @cast_small_float() -> tensor<f8E4M3FN> {
  %0 = coreai.constant dense<1.0e+6> : tensor<f32>
  %1 = coreai.cast %0 : tensor<f32> to tensor<f8E4M3FN>
  coreai.output %1 : tensor<f8E4M3FN>
}

// -----

// CHECK-LABEL: @shape_static
// CHECK:         coreai.constant dense<[2, 3]> : tensor<2xui32>
coreai.graph @shape_static(%x: tensor<2x3xf32>) -> tensor<2xui32> {
  %0 = coreai.get_shape %x : tensor<2x3xf32> -> tensor<2xui32>
  coreai.output %0 : tensor<2xui32>
}

// CHECK-LABEL: @shape_unknown
// CHECK:         coreai.get_shape
coreai.graph @shape_unknown(%x: tensor<2x?xf32>) -> tensor<2xui32> {
  %0 = coreai.get_shape %x : tensor<2x?xf32> -> tensor<2xui32>
  coreai.output %0 : tensor<2xui32>
}

// What shape computations are made of: query, cut, join, convert.
// CHECK-LABEL: @shape_computation
// CHECK-NEXT:    %[[R:.*]] = coreai.constant dense<[3, -1]> : tensor<2xsi32>
// CHECK-NEXT:    coreai.output %[[R]]
coreai.graph @shape_computation(%x: tensor<2x3x4xf32>) -> tensor<2xsi32> {
  %zero = coreai.constant dense<0> : tensor<si32>
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %two = coreai.constant dense<2> : tensor<1xsi32>
  %rest = coreai.constant dense<-1> : tensor<1xsi32>
  %0 = coreai.get_shape %x : tensor<2x3x4xf32> -> tensor<3xui32>
  %1 = coreai.cast %0 : tensor<3xui32> to tensor<3xsi32>
  %2 = coreai.slice %1, %one, %two, %one
      : (tensor<3xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>)
      -> tensor<1xsi32>
  %3 = coreai.concat %zero, %2, %rest
      : (tensor<si32>, tensor<1xsi32>, tensor<1xsi32>) -> tensor<2xsi32>
  coreai.output %3 : tensor<2xsi32>
}

// -----

// CHECK-LABEL: @reshape_to_same
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>
// CHECK:         coreai.output %[[X]]
coreai.graph @reshape_to_same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %shape = coreai.constant dense<[2, 3]> : tensor<2xsi32>
  %0 = coreai.reshape %x, %shape
      : (tensor<2x3xf32>, tensor<2xsi32>) -> tensor<2x3xf32>
  coreai.output %0 : tensor<2x3xf32>
}

// Equal types with `?` in them can still be different shapes.
// CHECK-LABEL: @reshape_unknown
// CHECK:         coreai.reshape
coreai.graph @reshape_unknown(%x: tensor<?x?xf32>, %shape: tensor<2xsi32>)
    -> tensor<?x?xf32> {
  %0 = coreai.reshape %x, %shape
      : (tensor<?x?xf32>, tensor<2xsi32>) -> tensor<?x?xf32>
  coreai.output %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @regroup_constants
// CHECK-DAG:     %[[A:.*]] = coreai.constant dense<{{\[}}[1, 2], [3, 4]]>
// CHECK-DAG:     %[[B:.*]] = coreai.constant dense<{{\[\[}}1, 2, 3, 4]]>
// CHECK:         coreai.output %[[A]], %[[B]]
coreai.graph @regroup_constants() -> (tensor<2x2xsi32>, tensor<1x4xsi32>) {
  %x = coreai.constant dense<[1, 2, 3, 4]> : tensor<4xsi32>
  %shape = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %axes = coreai.constant dense<0> : tensor<1xsi32>
  %0 = coreai.reshape %x, %shape
      : (tensor<4xsi32>, tensor<2xsi32>) -> tensor<2x2xsi32>
  %1 = coreai.expand_dims %x, %axes
      : (tensor<4xsi32>, tensor<1xsi32>) to tensor<1x4xsi32>
  coreai.output %0, %1 : tensor<2x2xsi32>, tensor<1x4xsi32>
}

// CHECK-LABEL: @shrink_constant
// CHECK:         coreai.constant dense<7> : tensor<si32>
coreai.graph @shrink_constant() -> tensor<si32> {
  %x = coreai.constant dense<7> : tensor<1xsi32>
  %axes = coreai.constant dense<0> : tensor<1xsi32>
  %0 = coreai.shrink_dims %x, %axes
      : (tensor<1xsi32>, tensor<1xsi32>) to tensor<si32>
  coreai.output %0 : tensor<si32>
}

// Resources are left alone.
// CHECK-LABEL: @reshape_resource
// CHECK:         coreai.reshape
coreai.graph @reshape_resource() -> tensor<2x2xsi32> {
  %x = coreai.constant dense_resource<weights> : tensor<4xsi32>
  %shape = coreai.constant dense<[2, 2]> : tensor<2xsi32>
  %0 = coreai.reshape %x, %shape
      : (tensor<4xsi32>, tensor<2xsi32>) -> tensor<2x2xsi32>
  coreai.output %0 : tensor<2x2xsi32>
}

// -----

// CHECK-LABEL: @identity_permutation
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>
// CHECK:         coreai.output %[[X]]
coreai.graph @identity_permutation(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %permutation = coreai.constant dense<[0, 1]> : tensor<2xui32>
  %0 = coreai.transpose %x, %permutation
      : (tensor<?x?xf32>, tensor<2xui32>) -> tensor<?x?xf32>
  coreai.output %0 : tensor<?x?xf32>
}

// CHECK-LABEL: @square_permutation
// CHECK:         coreai.transpose
coreai.graph @square_permutation(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %permutation = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %0 = coreai.transpose %x, %permutation
      : (tensor<2x2xf32>, tensor<2xui32>) -> tensor<2x2xf32>
  coreai.output %0 : tensor<2x2xf32>
}

// CHECK-LABEL: @splats
// CHECK-DAG:     %[[A:.*]] = coreai.constant dense<1.000000e+00> : tensor<3x2xf32>
// CHECK-DAG:     %[[B:.*]] = coreai.constant dense<1.000000e+00> : tensor<4x2x3xf32>
// CHECK:         coreai.output %[[A]], %[[B]]
coreai.graph @splats() -> (tensor<3x2xf32>, tensor<4x2x3xf32>) {
  %x = coreai.constant dense<1.0> : tensor<2x3xf32>
  %permutation = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %shape = coreai.constant dense<[4, 2, 3]> : tensor<3xui32>
  %0 = coreai.transpose %x, %permutation
      : (tensor<2x3xf32>, tensor<2xui32>) -> tensor<3x2xf32>
  %1 = coreai.broadcast_to %x, %shape
      : (tensor<2x3xf32>, tensor<3xui32>) -> tensor<4x2x3xf32>
  coreai.output %0, %1 : tensor<3x2xf32>, tensor<4x2x3xf32>
}

// -----

// CHECK-LABEL: @concat_one
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>
// CHECK:         coreai.output %[[X]]
coreai.graph @concat_one(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = coreai.constant dense<0> : tensor<si32>
  %0 = coreai.concat %zero, %x : (tensor<si32>, tensor<?xf32>) -> tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// A scalar joins as a vector: the type changes, so the op stays.
// CHECK-LABEL: @concat_scalar
// CHECK:         coreai.concat
coreai.graph @concat_scalar(%x: tensor<f32>) -> tensor<1xf32> {
  %zero = coreai.constant dense<0> : tensor<si32>
  %0 = coreai.concat %zero, %x : (tensor<si32>, tensor<f32>) -> tensor<1xf32>
  coreai.output %0 : tensor<1xf32>
}

// Bounds are resolved as the op does it.
// CHECK-LABEL: @slice_from_end
// CHECK:         coreai.constant dense<[3, 5]> : tensor<2xsi32>
coreai.graph @slice_from_end() -> tensor<2xsi32> {
  %x = coreai.constant dense<[1, 2, 3, 4, 5]> : tensor<5xsi32>
  %start = coreai.constant dense<-3> : tensor<1xsi32>
  %end = coreai.constant dense<100> : tensor<1xsi32>
  %stride = coreai.constant dense<2> : tensor<1xsi32>
  %0 = coreai.slice %x, %start, %end, %stride
      : (tensor<5xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>)
      -> tensor<2xsi32>
  coreai.output %0 : tensor<2xsi32>
}
