// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Normalizations are one kernel, whether a composite or a hand wrote them.

// CHECK-LABEL: plan.function @layer
// CHECK-NOT: "ReduceMean"
// CHECK: "LayerNorm"(%{{.*}}) numbers [1, {{[0-9]+}}] : (tensor<2x5x16xf16>, tensor<16xf16>, tensor<16xf16>) -> tensor<2x5x16xf16>
// CHECK-NOT: plan.kernel
coreai.graph @layer(%x: tensor<2x5x16xf16>, %w: tensor<16xf16>, %b: tensor<16xf16>) -> (tensor<2x5x16xf16>) {
  %0 = coreai.cast %x : tensor<2x5x16xf16> to tensor<2x5x16xf32>
  %1 = coreai.constant dense<2> : tensor<1xsi32>
  %2 = coreai.reduce_mean %0, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %3 = coreai.decomposable.broadcasting_sub %0, %2 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  %4 = coreai.mul %3, %3 : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
  %5 = coreai.reduce_mean %4, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %6 = coreai.constant dense<9.99999974E-6> : tensor<f32>
  %7 = coreai.decomposable.broadcasting_add %5, %6 : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
  %8 = coreai.rsqrt %7 : tensor<2x5x1xf32> -> tensor<2x5x1xf32>
  %9 = coreai.decomposable.broadcasting_mul %3, %8 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  %10 = coreai.cast %9 : tensor<2x5x16xf32> to tensor<2x5x16xf16>
  %11 = coreai.decomposable.broadcasting_mul %10, %w : (tensor<2x5x16xf16>, tensor<16xf16>) -> tensor<2x5x16xf16>
  %12 = coreai.decomposable.broadcasting_add %11, %b : (tensor<2x5x16xf16>, tensor<16xf16>) -> tensor<2x5x16xf16>
  coreai.output %12 : tensor<2x5x16xf16>
}

// What is added has a number for each element: no bias, but a residual.
// CHECK-LABEL: plan.function @rootMeanSquare
// CHECK: %[[NORM:.*]] = plan.kernel "RmsNorm"(%{{.*}}) numbers [1, {{[0-9]+}}] : (tensor<2x5x16xf32>, tensor<16xf32>, none) -> tensor<2x5x16xf32>
// CHECK: "Tile"() with(%[[NORM]], %arg2)
coreai.graph @rootMeanSquare(%x: tensor<2x5x16xf32>, %w: tensor<16xf32>, %r: tensor<2x5x16xf32>) -> (tensor<2x5x16xf32>) {
  %1 = coreai.constant dense<2.000000e+00> : tensor<f32>
  %2 = coreai.decomposable.broadcasting_pow %x, %1 : (tensor<2x5x16xf32>, tensor<f32>) -> tensor<2x5x16xf32>
  %3 = coreai.constant dense<2> : tensor<1xsi32>
  %4 = coreai.reduce_mean %2, %3 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %5 = coreai.constant dense<1.1920929E-7> : tensor<f32>
  %6 = coreai.decomposable.broadcasting_add %4, %5 : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
  %7 = coreai.rsqrt %6 : tensor<2x5x1xf32> -> tensor<2x5x1xf32>
  %8 = coreai.decomposable.broadcasting_mul %x, %7 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  %9 = coreai.decomposable.broadcasting_mul %8, %w : (tensor<2x5x16xf32>, tensor<16xf32>) -> tensor<2x5x16xf32>
  %10 = coreai.add %9, %r : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
  coreai.output %10 : tensor<2x5x16xf32>
}

// CHECK-LABEL: plan.function @groups
// CHECK: "GroupNorm"(%{{.*}}) numbers [4, {{[0-9]+}}] : (tensor<2x16x3x3xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x16x3x3xf32>
// CHECK-NOT: plan.kernel
coreai.graph @groups(%x: tensor<2x16x3x3xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<2x16x3x3xf32>) {
  %0 = coreai.constant dense<[2, 4, 4, 9]> : tensor<4xsi32>
  %1 = coreai.reshape %x, %0 : (tensor<2x16x3x3xf32>, tensor<4xsi32>) -> tensor<2x4x4x9xf32>
  %2 = coreai.constant dense<[2, 3]> : tensor<2xsi32>
  %3 = coreai.reduce_mean %1, %2 : (tensor<2x4x4x9xf32>, tensor<2xsi32>) -> tensor<2x4x1x1xf32>
  %4 = coreai.decomposable.broadcasting_sub %1, %3 : (tensor<2x4x4x9xf32>, tensor<2x4x1x1xf32>) -> tensor<2x4x4x9xf32>
  %5 = coreai.mul %4, %4 : (tensor<2x4x4x9xf32>, tensor<2x4x4x9xf32>) -> tensor<2x4x4x9xf32>
  %6 = coreai.reduce_mean %5, %2 : (tensor<2x4x4x9xf32>, tensor<2xsi32>) -> tensor<2x4x1x1xf32>
  %7 = coreai.constant dense<9.99999974E-6> : tensor<f32>
  %8 = coreai.decomposable.broadcasting_add %6, %7 : (tensor<2x4x1x1xf32>, tensor<f32>) -> tensor<2x4x1x1xf32>
  %9 = coreai.rsqrt %8 : tensor<2x4x1x1xf32> -> tensor<2x4x1x1xf32>
  %10 = coreai.decomposable.broadcasting_mul %4, %9 : (tensor<2x4x4x9xf32>, tensor<2x4x1x1xf32>) -> tensor<2x4x4x9xf32>
  %11 = coreai.constant dense<[2, 16, 3, 3]> : tensor<4xsi32>
  %12 = coreai.reshape %10, %11 : (tensor<2x4x4x9xf32>, tensor<4xsi32>) -> tensor<2x16x3x3xf32>
  %13 = coreai.constant dense<[16, 1, 1]> : tensor<3xsi32>
  %14 = coreai.reshape %w, %13 : (tensor<16xf32>, tensor<3xsi32>) -> tensor<16x1x1xf32>
  %15 = coreai.reshape %b, %13 : (tensor<16xf32>, tensor<3xsi32>) -> tensor<16x1x1xf32>
  %16 = coreai.decomposable.broadcasting_mul %12, %14 : (tensor<2x16x3x3xf32>, tensor<16x1x1xf32>) -> tensor<2x16x3x3xf32>
  %17 = coreai.decomposable.broadcasting_add %16, %15 : (tensor<2x16x3x3xf32>, tensor<16x1x1xf32>) -> tensor<2x16x3x3xf32>
  coreai.output %17 : tensor<2x16x3x3xf32>
}

// The mean is over another axis than the mean of squares.
// CHECK-LABEL: plan.function @twoAxes
// CHECK-NOT: "LayerNorm"
// CHECK: "RmsNorm"
coreai.graph @twoAxes(%x: tensor<2x5x16xf32>) -> (tensor<2x5x16xf32>) {
  %0 = coreai.constant dense<1> : tensor<1xsi32>
  %1 = coreai.constant dense<2> : tensor<1xsi32>
  %2 = coreai.reduce_mean %x, %0 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x1x16xf32>
  %3 = coreai.decomposable.broadcasting_sub %x, %2 : (tensor<2x5x16xf32>, tensor<2x1x16xf32>) -> tensor<2x5x16xf32>
  %4 = coreai.mul %3, %3 : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
  %5 = coreai.reduce_mean %4, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %6 = coreai.constant dense<9.99999974E-6> : tensor<f32>
  %7 = coreai.decomposable.broadcasting_add %5, %6 : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
  %8 = coreai.rsqrt %7 : tensor<2x5x1xf32> -> tensor<2x5x1xf32>
  %9 = coreai.decomposable.broadcasting_mul %3, %8 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  coreai.output %9 : tensor<2x5x16xf32>
}

// The middle axis is no last one.
// CHECK-LABEL: plan.function @middle
// CHECK-SAME: plan.near_misses = {{.*}}"normalization", "its mean is not over the last axes"
// CHECK-NOT: Norm"
// CHECK: plan.return
coreai.graph @middle(%x: tensor<2x5x16xf32>) -> (tensor<2x5x16xf32>) {
  %1 = coreai.constant dense<1> : tensor<1xsi32>
  %4 = coreai.mul %x, %x : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
  %5 = coreai.reduce_mean %4, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x1x16xf32>
  %6 = coreai.constant dense<9.99999974E-6> : tensor<f32>
  %7 = coreai.decomposable.broadcasting_add %5, %6 : (tensor<2x1x16xf32>, tensor<f32>) -> tensor<2x1x16xf32>
  %8 = coreai.rsqrt %7 : tensor<2x1x16xf32> -> tensor<2x1x16xf32>
  %9 = coreai.decomposable.broadcasting_mul %x, %8 : (tensor<2x5x16xf32>, tensor<2x1x16xf32>) -> tensor<2x5x16xf32>
  coreai.output %9 : tensor<2x5x16xf32>
}

// A bias without a weight, as is left of a weight of ones.
// CHECK-LABEL: plan.function @biasAlone
// CHECK: "LayerNorm"(%{{.*}}) numbers [1, {{[0-9]+}}] : (tensor<2x5x16xf32>, none, tensor<16xf32>) -> tensor<2x5x16xf32>
// CHECK-NOT: "Tile"
coreai.graph @biasAlone(%x: tensor<2x5x16xf32>, %b: tensor<16xf32>) -> (tensor<2x5x16xf32>) {
  %1 = coreai.constant dense<2> : tensor<1xsi32>
  %2 = coreai.reduce_mean %x, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %3 = coreai.decomposable.broadcasting_sub %x, %2 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  %4 = coreai.mul %3, %3 : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
  %5 = coreai.reduce_mean %4, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %6 = coreai.constant dense<9.99999974E-6> : tensor<f32>
  %7 = coreai.decomposable.broadcasting_add %5, %6 : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
  %8 = coreai.rsqrt %7 : tensor<2x5x1xf32> -> tensor<2x5x1xf32>
  %9 = coreai.decomposable.broadcasting_mul %3, %8 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  %10 = coreai.decomposable.broadcasting_add %9, %b : (tensor<2x5x16xf32>, tensor<16xf32>) -> tensor<2x5x16xf32>
  coreai.output %10 : tensor<2x5x16xf32>
}

// What is added is no bias.
// CHECK-LABEL: plan.function @residualAlone
// CHECK: "LayerNorm"
// CHECK: "Tile"
coreai.graph @residualAlone(%x: tensor<2x5x16xf32>, %r: tensor<2x5x16xf32>) -> (tensor<2x5x16xf32>) {
  %1 = coreai.constant dense<2> : tensor<1xsi32>
  %2 = coreai.reduce_mean %x, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %3 = coreai.decomposable.broadcasting_sub %x, %2 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  %4 = coreai.mul %3, %3 : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
  %5 = coreai.reduce_mean %4, %1 : (tensor<2x5x16xf32>, tensor<1xsi32>) -> tensor<2x5x1xf32>
  %6 = coreai.constant dense<9.99999974E-6> : tensor<f32>
  %7 = coreai.decomposable.broadcasting_add %5, %6 : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
  %8 = coreai.rsqrt %7 : tensor<2x5x1xf32> -> tensor<2x5x1xf32>
  %9 = coreai.decomposable.broadcasting_mul %3, %8 : (tensor<2x5x16xf32>, tensor<2x5x1xf32>) -> tensor<2x5x16xf32>
  %10 = coreai.add %9, %r : (tensor<2x5x16xf32>, tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
  coreai.output %10 : tensor<2x5x16xf32>
}
