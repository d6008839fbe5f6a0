// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-merge-reorderings | FileCheck %s

// CHECK-LABEL: @transposes
// CHECK:         %[[P:.*]] = coreai.constant dense<[1, 2, 0]> : tensor<3xui32>
// CHECK:         %[[T:.*]] = coreai.transpose %arg0, %[[P]]
// CHECK-NEXT:    coreai.output %[[T]], %arg0
coreai.graph @transposes(%x: tensor<2x?x4xf32>) -> (tensor<?x4x2xf32>, tensor<2x?x4xf32>) {
  %p = coreai.constant dense<[1, 0, 2]> : tensor<3xui32>
  %q = coreai.constant dense<[0, 2, 1]> : tensor<3xui32>
  %0 = coreai.transpose %x, %p : (tensor<2x?x4xf32>, tensor<3xui32>) -> tensor<?x2x4xf32>
  %1 = coreai.transpose %0, %q : (tensor<?x2x4xf32>, tensor<3xui32>) -> tensor<?x4x2xf32>
  %2 = coreai.transpose %0, %p : (tensor<?x2x4xf32>, tensor<3xui32>) -> tensor<2x?x4xf32>
  coreai.output %1, %2 : tensor<?x4x2xf32>, tensor<2x?x4xf32>
}

// A permutation that is not known, and none at all.
// CHECK-LABEL: @other_transposes
// CHECK-COUNT-4: coreai.transpose
coreai.graph @other_transposes(%x: tensor<2x2xf32>, %p: tensor<2xui32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %q = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %twice = coreai.constant dense<[0, 0]> : tensor<2xui32>
  %0 = coreai.transpose %x, %p : (tensor<2x2xf32>, tensor<2xui32>) -> tensor<2x2xf32>
  %1 = coreai.transpose %0, %q : (tensor<2x2xf32>, tensor<2xui32>) -> tensor<2x2xf32>
  %2 = coreai.transpose %x, %twice : (tensor<2x2xf32>, tensor<2xui32>) -> tensor<2x2xf32>
  %3 = coreai.transpose %2, %q : (tensor<2x2xf32>, tensor<2xui32>) -> tensor<2x2xf32>
  coreai.output %1, %3 : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: @units
// CHECK-DAG:     %[[S:.*]] = coreai.constant dense<[3, 1, 4]> : tensor<3xui32>
// CHECK:         coreai.reshape %arg0, %[[S]] : (tensor<1x3x4xf32>, tensor<3xui32>) -> tensor<3x1x4xf32>
// CHECK:         coreai.transpose %arg0
// CHECK:         coreai.transpose %arg1
coreai.graph @units(%x: tensor<1x3x4xf32>, %y: tensor<1x?x4xf32>) -> (tensor<3x1x4xf32>, tensor<1x4x3xf32>, tensor<?x1x4xf32>) {
  %p = coreai.constant dense<[1, 0, 2]> : tensor<3xui32>
  %q = coreai.constant dense<[0, 2, 1]> : tensor<3xui32>
  %0 = coreai.transpose %x, %p : (tensor<1x3x4xf32>, tensor<3xui32>) -> tensor<3x1x4xf32>
  %1 = coreai.transpose %x, %q : (tensor<1x3x4xf32>, tensor<3xui32>) -> tensor<1x4x3xf32>
  %2 = coreai.transpose %y, %p : (tensor<1x?x4xf32>, tensor<3xui32>) -> tensor<?x1x4xf32>
  coreai.output %0, %1, %2 : tensor<3x1x4xf32>, tensor<1x4x3xf32>, tensor<?x1x4xf32>
}

// Numbers go along, as one or as many.
// CHECK-LABEL: @through_elementwise
// CHECK-NEXT:    %[[ONE:.*]] = coreai.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[A:.*]] = coreai.decomposable.broadcasting_add %arg0, %[[ONE]] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %[[TWO:.*]] = coreai.constant dense<2.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT:    %[[B:.*]] = coreai.mul %[[TWO]], %[[A]]
// CHECK:         %[[C:.*]] = coreai.relu %[[B]]
// CHECK:         %[[D:.*]] = coreai.cast %[[C]] : tensor<2x3xf32> to tensor<2x3xf16>
// CHECK-NEXT:    coreai.output %[[D]]
coreai.graph @through_elementwise(%x: tensor<2x3xf32>) -> tensor<2x3xf16> {
  %p = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %one = coreai.constant dense<1.0> : tensor<1x2xf32>
  %two = coreai.constant dense<2.0> : tensor<3x2xf32>
  %0 = coreai.transpose %x, %p : (tensor<2x3xf32>, tensor<2xui32>) -> tensor<3x2xf32>
  %1 = coreai.decomposable.broadcasting_add %0, %one : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %2 = coreai.mul %two, %1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = coreai.relu %2 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %4 = coreai.cast %3 : tensor<3x2xf32> to tensor<3x2xf16>
  %5 = coreai.transpose %4, %p : (tensor<3x2xf16>, tensor<2xui32>) -> tensor<2x3xf16>
  coreai.output %5 : tensor<2x3xf16>
}

// Not where something else needs what is between, nor through what looks along
// an axis, nor through another tensor.
// CHECK-LABEL: @not_through
// CHECK-COUNT-3: coreai.transpose
// CHECK:         coreai.softmax
// CHECK:         coreai.transpose
// CHECK:         coreai.add
// CHECK:         coreai.transpose
coreai.graph @not_through(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %p = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %axis = coreai.constant dense<0> : tensor<si32>
  %0 = coreai.transpose %x, %p : (tensor<2x3xf32>, tensor<2xui32>) -> tensor<3x2xf32>
  %1 = coreai.exp %0 : tensor<3x2xf32> -> tensor<3x2xf32>
  %2 = coreai.transpose %1, %p : (tensor<3x2xf32>, tensor<2xui32>) -> tensor<2x3xf32>
  %3 = coreai.transpose %x, %p : (tensor<2x3xf32>, tensor<2xui32>) -> tensor<3x2xf32>
  %4 = coreai.softmax %3, %axis : (tensor<3x2xf32>, tensor<si32>) -> tensor<3x2xf32>
  %5 = coreai.transpose %4, %p : (tensor<3x2xf32>, tensor<2xui32>) -> tensor<2x3xf32>
  %6 = coreai.add %0, %y : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %7 = coreai.transpose %6, %p : (tensor<3x2xf32>, tensor<2xui32>) -> tensor<2x3xf32>
  coreai.output %2, %1, %5, %7 : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @alike
// CHECK:         %[[S:.*]] = coreai.add %arg0, %arg1 : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
// CHECK:         %[[T:.*]] = coreai.transpose %[[S]]
// CHECK-NEXT:    coreai.output %[[T]]
coreai.graph @alike(%x: tensor<2x?xf32>, %y: tensor<2x?xf32>) -> tensor<?x2xf32> {
  %p = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %0 = coreai.transpose %x, %p : (tensor<2x?xf32>, tensor<2xui32>) -> tensor<?x2xf32>
  %1 = coreai.transpose %y, %p : (tensor<2x?xf32>, tensor<2xui32>) -> tensor<?x2xf32>
  %2 = coreai.add %0, %1 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  coreai.output %2 : tensor<?x2xf32>
}

// Otherwise, or used elsewhere.
// CHECK-LABEL: @not_alike
// CHECK-COUNT-2: coreai.transpose
// CHECK:         coreai.add
// CHECK-COUNT-2: coreai.transpose
// CHECK:         coreai.mul
coreai.graph @not_alike(%x: tensor<2x2x2xf32>, %y: tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>) {
  %p = coreai.constant dense<[1, 0, 2]> : tensor<3xui32>
  %q = coreai.constant dense<[0, 2, 1]> : tensor<3xui32>
  %0 = coreai.transpose %x, %p : (tensor<2x2x2xf32>, tensor<3xui32>) -> tensor<2x2x2xf32>
  %1 = coreai.transpose %y, %q : (tensor<2x2x2xf32>, tensor<3xui32>) -> tensor<2x2x2xf32>
  %2 = coreai.add %0, %1 : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %3 = coreai.transpose %x, %p : (tensor<2x2x2xf32>, tensor<3xui32>) -> tensor<2x2x2xf32>
  %4 = coreai.transpose %y, %p : (tensor<2x2x2xf32>, tensor<3xui32>) -> tensor<2x2x2xf32>
  %5 = coreai.mul %3, %4 : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  coreai.output %2, %5, %3 : tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>
}

// CHECK-LABEL: @reshapes
// CHECK:         %[[A:.*]] = coreai.reshape %arg0, %arg1
// CHECK:         %[[E:.*]] = coreai.exp %arg0 : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK:         %[[B:.*]] = coreai.reshape %[[E]], %arg1
// CHECK:         coreai.output %[[A]], %arg0, %[[B]], %arg0
coreai.graph @reshapes(%x: tensor<?x4xf32>, %s: tensor<2xsi32>) -> (tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>) {
  %flat = coreai.constant dense<-1> : tensor<1xsi32>
  %back = coreai.constant dense<[-1, 4]> : tensor<2xsi32>
  %axes = coreai.constant dense<[0, 2]> : tensor<2xsi32>
  %0 = coreai.reshape %x, %flat : (tensor<?x4xf32>, tensor<1xsi32>) -> tensor<?xf32>
  %1 = coreai.reshape %0, %s : (tensor<?xf32>, tensor<2xsi32>) -> tensor<?x?xf32>
  %2 = coreai.reshape %0, %back : (tensor<?xf32>, tensor<2xsi32>) -> tensor<?x4xf32>
  %3 = coreai.reshape %x, %flat : (tensor<?x4xf32>, tensor<1xsi32>) -> tensor<?xf32>
  %4 = coreai.exp %3 : tensor<?xf32> -> tensor<?xf32>
  %5 = coreai.reshape %4, %s : (tensor<?xf32>, tensor<2xsi32>) -> tensor<?x?xf32>
  %6 = coreai.expand_dims %x, %axes : (tensor<?x4xf32>, tensor<2xsi32>) to tensor<1x?x1x4xf32>
  %7 = coreai.shrink_dims %6, %axes : (tensor<1x?x1x4xf32>, tensor<2xsi32>) to tensor<?x4xf32>
  coreai.output %1, %2, %5, %7 : tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x?xf32>, tensor<?x4xf32>
}

// A computed shape that is known, and one of which an extent is not.
// CHECK-LABEL: @computed
// CHECK-DAG:     %[[S:.*]] = coreai.constant dense<[2, 4]> : tensor<2xui32>
// CHECK-DAG:     coreai.reshape %arg0, %[[S]]
// CHECK-DAG:     coreai.reshape %arg0, %arg1
coreai.graph @computed(%x: tensor<?x?xf32>, %s: tensor<2xui32>) -> (tensor<2x4xf32>, tensor<?x4xf32>) {
  %0 = coreai.reshape %x, %s : (tensor<?x?xf32>, tensor<2xui32>) -> tensor<2x4xf32>
  %1 = coreai.reshape %x, %s : (tensor<?x?xf32>, tensor<2xui32>) -> tensor<?x4xf32>
  coreai.output %0, %1 : tensor<2x4xf32>, tensor<?x4xf32>
}

// Two extents that are not known may have changed their places; what has an
// extent of 0 cannot be written.
// CHECK-LABEL: @not_reshapes
// CHECK:         coreai.reshape
// CHECK:         coreai.reshape
// CHECK:         coreai.expand_dims
coreai.graph @not_reshapes(%x: tensor<?x?xf32>, %s: tensor<2xsi32>, %y: tensor<0x4xf32>) -> (tensor<?x?xf32>, tensor<1x4x0xf32>) {
  %0 = coreai.reshape %x, %s : (tensor<?x?xf32>, tensor<2xsi32>) -> tensor<?x?xf32>
  %shape = coreai.constant dense<[4, -1]> : tensor<2xsi32>
  %1 = coreai.reshape %y, %shape : (tensor<0x4xf32>, tensor<2xsi32>) -> tensor<4x0xf32>
  %axes = coreai.constant dense<0> : tensor<1xsi32>
  %2 = coreai.expand_dims %1, %axes : (tensor<4x0xf32>, tensor<1xsi32>) to tensor<1x4x0xf32>
  coreai.output %0, %2 : tensor<?x?xf32>, tensor<1x4x0xf32>
}

// Axis 1 of the first result is axis 2 of the second; of what is left after
// axis 0, axis 1 is axis 2.
// CHECK-LABEL: @axes
// CHECK-DAG:     %[[IN:.*]] = coreai.constant dense<[0, 2]> : tensor<2xsi32>
// CHECK-DAG:     coreai.expand_dims %arg0, %[[IN]] : (tensor<?x?xf32>, tensor<2xsi32>) to tensor<1x?x1x?xf32>
// CHECK-DAG:     %[[OUT:.*]] = coreai.constant dense<[0, 2]> : tensor<2xsi32>
// CHECK-DAG:     coreai.shrink_dims %arg1, %[[OUT]] : (tensor<1x?x1x?xf32>, tensor<2xsi32>) to tensor<?x?xf32>
coreai.graph @axes(%x: tensor<?x?xf32>, %y: tensor<1x?x1x?xf32>) -> (tensor<1x?x1x?xf32>, tensor<?x?xf32>) {
  %zero = coreai.constant dense<0> : tensor<1xsi32>
  %one = coreai.constant dense<1> : tensor<1xsi32>
  %0 = coreai.expand_dims %x, %one : (tensor<?x?xf32>, tensor<1xsi32>) to tensor<?x1x?xf32>
  %1 = coreai.expand_dims %0, %zero : (tensor<?x1x?xf32>, tensor<1xsi32>) to tensor<1x?x1x?xf32>
  %2 = coreai.shrink_dims %y, %zero : (tensor<1x?x1x?xf32>, tensor<1xsi32>) to tensor<?x1x?xf32>
  %3 = coreai.shrink_dims %2, %one : (tensor<?x1x?xf32>, tensor<1xsi32>) to tensor<?x?xf32>
  coreai.output %1, %3 : tensor<1x?x1x?xf32>, tensor<?x?xf32>
}
