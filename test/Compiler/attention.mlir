// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// Attention is one kernel, whether a composite or a hand wrote it.

// A scale before the product, a mask that is added, and zeros for queries that
// see nothing. The result lies as the transposition after it wants it.
// CHECK-LABEL: plan.function @safe
// CHECK-NOT: "MatMul"
// CHECK: "Attention"(%{{.*}}) numbers [{{[0-9]+}}, 0, 1] order [0, 2, 1, 3]
// CHECK-SAME: (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x6xf32>)
// CHECK-NOT: "Softmax"
coreai.graph @safe(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf32>, %m: tensor<6x6xf32>) -> (tensor<1x6x32xf32>) {
  %0 = coreai.constant dense<0.353553385> : tensor<f32>
  %1 = coreai.decomposable.broadcasting_mul %q, %0 : (tensor<1x4x6x8xf32>, tensor<f32>) -> tensor<1x4x6x8xf32>
  %2 = coreai.constant dense<[0, 1, 3, 2]> : tensor<4xui32>
  %3 = coreai.transpose %k, %2 : (tensor<1x4x6x8xf32>, tensor<4xui32>) -> tensor<1x4x8x6xf32>
  %4 = coreai.batch_matmul %1, %3 : (tensor<1x4x6x8xf32>, tensor<1x4x8x6xf32>) -> tensor<1x4x6x6xf32>
  %5 = coreai.constant dense<0.000000e+00> : tensor<f32>
  %6 = coreai.constant dense<0xFF800000> : tensor<f32>
  %7 = coreai.decomposable.broadcasting_add %4, %m : (tensor<1x4x6x6xf32>, tensor<6x6xf32>) -> tensor<1x4x6x6xf32>
  %8 = coreai.constant dense<3> : tensor<1xsi32>
  %9 = coreai.reduce_max %7, %8 : (tensor<1x4x6x6xf32>, tensor<1xsi32>) -> tensor<1x4x6x1xf32>
  %10 = coreai.decomposable.broadcasting_equal %9, %6 : (tensor<1x4x6x1xf32>, tensor<f32>) -> tensor<1x4x6x1xi1>
  %11 = coreai.constant dense<3> : tensor<si32>
  %12 = coreai.softmax %7, %11 : (tensor<1x4x6x6xf32>, tensor<si32>) -> tensor<1x4x6x6xf32>
  %13 = coreai.decomposable.broadcasting_where %10, %5, %12 : (tensor<1x4x6x1xi1>, tensor<f32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %14 = coreai.batch_matmul %13, %v : (tensor<1x4x6x6xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  %15 = coreai.constant dense<[0, 2, 1, 3]> : tensor<4xui32>
  %16 = coreai.transpose %14, %15 : (tensor<1x4x6x8xf32>, tensor<4xui32>) -> tensor<1x6x4x8xf32>
  %17 = coreai.constant dense<[1, 6, 32]> : tensor<3xsi32>
  %18 = coreai.reshape %16, %17 : (tensor<1x6x4x8xf32>, tensor<3xsi32>) -> tensor<1x6x32xf32>
  coreai.output %18 : tensor<1x6x32xf32>
}

// Booleans of what is seen; two heads of queries share keys, which are not
// repeated in memory.
// CHECK-LABEL: plan.function @groups
// CHECK-NOT: "Copy"
// CHECK: "Attention"(%{{.*}}) numbers [{{[0-9]+}}, 0, 0]
// CHECK-SAME: (tensor<1x2x2x6x8xf32>, tensor<1x2x2x6x8xf32>, tensor<1x2x2x6x8xf32>, tensor<1x2x2x6x6xi1>)
coreai.graph @groups(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>, %m: tensor<1x1x6x6xi1>) -> (tensor<1x4x6x8xf32>) {
  %0 = coreai.constant dense<2> : tensor<1xsi32>
  %1 = coreai.expand_dims %k, %0 : (tensor<1x2x6x8xf32>, tensor<1xsi32>) to tensor<1x2x1x6x8xf32>
  %2 = coreai.constant dense<[1, 1, 2, 1, 1]> : tensor<5xui32>
  %3 = coreai.tile %1, %2 : (tensor<1x2x1x6x8xf32>, tensor<5xui32>) -> tensor<1x2x2x6x8xf32>
  %4 = coreai.constant dense<[1, 4, 6, 8]> : tensor<4xsi32>
  %5 = coreai.reshape %3, %4 : (tensor<1x2x2x6x8xf32>, tensor<4xsi32>) -> tensor<1x4x6x8xf32>
  %6 = coreai.expand_dims %v, %0 : (tensor<1x2x6x8xf32>, tensor<1xsi32>) to tensor<1x2x1x6x8xf32>
  %7 = coreai.tile %6, %2 : (tensor<1x2x1x6x8xf32>, tensor<5xui32>) -> tensor<1x2x2x6x8xf32>
  %8 = coreai.reshape %7, %4 : (tensor<1x2x2x6x8xf32>, tensor<4xsi32>) -> tensor<1x4x6x8xf32>
  %11 = coreai.constant dense<[0, 1, 3, 2]> : tensor<4xui32>
  %12 = coreai.transpose %5, %11 : (tensor<1x4x6x8xf32>, tensor<4xui32>) -> tensor<1x4x8x6xf32>
  %13 = coreai.batch_matmul %q, %12 : (tensor<1x4x6x8xf32>, tensor<1x4x8x6xf32>) -> tensor<1x4x6x6xf32>
  %15 = coreai.constant dense<0xFF800000> : tensor<f32>
  %16 = coreai.decomposable.broadcasting_where %m, %13, %15 : (tensor<1x1x6x6xi1>, tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %20 = coreai.constant dense<3> : tensor<si32>
  %21 = coreai.softmax %16, %20 : (tensor<1x4x6x6xf32>, tensor<si32>) -> tensor<1x4x6x6xf32>
  %23 = coreai.batch_matmul %21, %8 : (tensor<1x4x6x6xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  coreai.output %23 : tensor<1x4x6x8xf32>
}

// Not over the keys, and not where the scores are wanted too.
// CHECK-LABEL: plan.function @otherAxis
// CHECK-SAME: plan.near_misses = {{.*}}"attention", "its softmax is not over the last axis"
// CHECK-NOT: "Attention"
// CHECK: plan.return
coreai.graph @otherAxis(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>) -> (tensor<4x6x8xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<1> : tensor<si32>
  %2 = coreai.softmax %0, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %3 = coreai.batch_matmul %2, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %3 : tensor<4x6x8xf32>
}

// CHECK-LABEL: plan.function @scoresToo
// CHECK-SAME: plan.near_misses = {{.*}}"attention", "its weights are used elsewhere too"
// CHECK-NOT: "Attention"
// CHECK: plan.return
coreai.graph @scoresToo(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6x6xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.softmax %0, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %3 = coreai.batch_matmul %2, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %3, %2 : tensor<4x6x8xf32>, tensor<4x6x6xf32>
}

// A column of sinks behind the scores, whose weights are dropped; the largest
// element is subtracted by hand. Heads of queries share keys.
// CHECK-LABEL: plan.function @sinks
// CHECK-NOT: "MatMul"
// CHECK: "AttentionWithSinks"(%{{.*}}) numbers [{{[0-9]+}}, 0, 0]
// CHECK-SAME: (tensor<1x2x2x6x8xf32>, tensor<1x2x2x6x8xf32>, tensor<1x2x2x6x8xf32>, tensor<1x2x2x6x6xf32>, tensor<1x2x2x6x1xf32>)
// CHECK-NOT: "Softmax"
// CHECK: plan.return
coreai.graph @sinks(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>, %m: tensor<1x1x6x6xf32>, %s: tensor<4xf32>) -> (tensor<1x4x6x8xf32>) {
  %0 = coreai.constant dense<2> : tensor<1xsi32>
  %1 = coreai.expand_dims %k, %0 : (tensor<1x2x6x8xf32>, tensor<1xsi32>) to tensor<1x2x1x6x8xf32>
  %2 = coreai.constant dense<[1, 1, 2, 1, 1]> : tensor<5xui32>
  %3 = coreai.tile %1, %2 : (tensor<1x2x1x6x8xf32>, tensor<5xui32>) -> tensor<1x2x2x6x8xf32>
  %4 = coreai.constant dense<[1, 4, 6, 8]> : tensor<4xsi32>
  %5 = coreai.reshape %3, %4 : (tensor<1x2x2x6x8xf32>, tensor<4xsi32>) -> tensor<1x4x6x8xf32>
  %6 = coreai.expand_dims %v, %0 : (tensor<1x2x6x8xf32>, tensor<1xsi32>) to tensor<1x2x1x6x8xf32>
  %7 = coreai.tile %6, %2 : (tensor<1x2x1x6x8xf32>, tensor<5xui32>) -> tensor<1x2x2x6x8xf32>
  %8 = coreai.reshape %7, %4 : (tensor<1x2x2x6x8xf32>, tensor<4xsi32>) -> tensor<1x4x6x8xf32>
  %9 = coreai.constant dense<[0, 1, 3, 2]> : tensor<4xui32>
  %10 = coreai.transpose %5, %9 : (tensor<1x4x6x8xf32>, tensor<4xui32>) -> tensor<1x4x8x6xf32>
  %11 = coreai.batch_matmul %q, %10 : (tensor<1x4x6x8xf32>, tensor<1x4x8x6xf32>) -> tensor<1x4x6x6xf32>
  %12 = coreai.decomposable.broadcasting_add %11, %m : (tensor<1x4x6x6xf32>, tensor<1x1x6x6xf32>) -> tensor<1x4x6x6xf32>
  %13 = coreai.constant dense<[1, 4, 1, 1]> : tensor<4xsi32>
  %14 = coreai.reshape %s, %13 : (tensor<4xf32>, tensor<4xsi32>) -> tensor<1x4x1x1xf32>
  %15 = coreai.constant dense<[1, 1, 6, 1]> : tensor<4xui32>
  %16 = coreai.tile %14, %15 : (tensor<1x4x1x1xf32>, tensor<4xui32>) -> tensor<1x4x6x1xf32>
  %17 = coreai.constant dense<3> : tensor<si32>
  %18 = coreai.concat %17, %12, %16 : (tensor<si32>, tensor<1x4x6x6xf32>, tensor<1x4x6x1xf32>) -> tensor<1x4x6x7xf32>
  %19 = coreai.constant dense<3> : tensor<1xsi32>
  %20 = coreai.reduce_max %18, %19 : (tensor<1x4x6x7xf32>, tensor<1xsi32>) -> tensor<1x4x6x1xf32>
  %21 = coreai.decomposable.broadcasting_sub %18, %20 : (tensor<1x4x6x7xf32>, tensor<1x4x6x1xf32>) -> tensor<1x4x6x7xf32>
  %22 = coreai.softmax %21, %17 : (tensor<1x4x6x7xf32>, tensor<si32>) -> tensor<1x4x6x7xf32>
  %23 = coreai.constant dense<0> : tensor<4xsi32>
  %24 = coreai.constant dense<[1, 4, 6, 6]> : tensor<4xsi32>
  %25 = coreai.constant dense<1> : tensor<4xsi32>
  %26 = coreai.slice %22, %23, %24, %25 : (tensor<1x4x6x7xf32>, tensor<4xsi32>, tensor<4xsi32>, tensor<4xsi32>) -> tensor<1x4x6x6xf32>
  %27 = coreai.batch_matmul %26, %8 : (tensor<1x4x6x6xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  coreai.output %27 : tensor<1x4x6x8xf32>
}

// What is dropped is the first column, which is a key's.
// CHECK-LABEL: plan.function @otherColumn
// CHECK-SAME: plan.near_misses = {{.*}}"attention", "some columns of its weights are dropped, which are not one last column"
// CHECK-NOT: "Attention
// CHECK: plan.return
coreai.graph @otherColumn(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>, %s: tensor<4x6x1xf32>) -> (tensor<4x6x8xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.concat %1, %0, %s : (tensor<si32>, tensor<4x6x6xf32>, tensor<4x6x1xf32>) -> tensor<4x6x7xf32>
  %3 = coreai.softmax %2, %1 : (tensor<4x6x7xf32>, tensor<si32>) -> tensor<4x6x7xf32>
  %4 = coreai.constant dense<[0, 0, 1]> : tensor<3xsi32>
  %5 = coreai.constant dense<[4, 6, 7]> : tensor<3xsi32>
  %6 = coreai.constant dense<1> : tensor<3xsi32>
  %7 = coreai.slice %3, %4, %5, %6 : (tensor<4x6x7xf32>, tensor<3xsi32>, tensor<3xsi32>, tensor<3xsi32>) -> tensor<4x6x6xf32>
  %8 = coreai.batch_matmul %7, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %8 : tensor<4x6x8xf32>
}

// Two columns are joined to the scores, and one of them is dropped: the other
// one has a value.
// CHECK-LABEL: plan.function @twoColumns
// CHECK-SAME: plan.near_misses = {{.*}}"attention", "a column of its weights is dropped, and not one was joined to its scores"
// CHECK-NOT: "Attention
// CHECK: plan.return
coreai.graph @twoColumns(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x7x8xf32>, %s: tensor<4x6x2xf32>) -> (tensor<4x6x8xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.concat %1, %0, %s : (tensor<si32>, tensor<4x6x6xf32>, tensor<4x6x2xf32>) -> tensor<4x6x8xf32>
  %3 = coreai.softmax %2, %1 : (tensor<4x6x8xf32>, tensor<si32>) -> tensor<4x6x8xf32>
  %4 = coreai.constant dense<0> : tensor<3xsi32>
  %5 = coreai.constant dense<[4, 6, 7]> : tensor<3xsi32>
  %6 = coreai.constant dense<1> : tensor<3xsi32>
  %7 = coreai.slice %3, %4, %5, %6 : (tensor<4x6x8xf32>, tensor<3xsi32>, tensor<3xsi32>, tensor<3xsi32>) -> tensor<4x6x7xf32>
  %8 = coreai.batch_matmul %7, %v : (tensor<4x6x7xf32>, tensor<4x7x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %8 : tensor<4x6x8xf32>
}

// What a product of PyTorch with several leading axes becomes: they are one.
// CHECK-LABEL: plan.function @mergedBatch
// CHECK-NOT: "MatMul"
// CHECK: "Attention"(%{{.*}}) numbers [{{[0-9]+}}, 0, 0]
// CHECK-SAME: (tensor<2x2x2x6x8xf32>, tensor<2x2x2x6x8xf32>, tensor<2x2x2x6x8xf32>, tensor<2x2x2x6x6xf32>)
// CHECK-NOT: "Softmax"
// CHECK: plan.return
coreai.graph @mergedBatch(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x8xf32>, %m: tensor<1x1x6x6xf32>) -> (tensor<2x4x6x8xf32>) {
  %0 = coreai.constant dense<2> : tensor<1xsi32>
  %1 = coreai.expand_dims %k, %0 : (tensor<2x2x6x8xf32>, tensor<1xsi32>) to tensor<2x2x1x6x8xf32>
  %2 = coreai.constant dense<[1, 1, 2, 1, 1]> : tensor<5xui32>
  %3 = coreai.tile %1, %2 : (tensor<2x2x1x6x8xf32>, tensor<5xui32>) -> tensor<2x2x2x6x8xf32>
  %4 = coreai.constant dense<[2, 4, 6, 8]> : tensor<4xsi32>
  %5 = coreai.reshape %3, %4 : (tensor<2x2x2x6x8xf32>, tensor<4xsi32>) -> tensor<2x4x6x8xf32>
  %6 = coreai.expand_dims %v, %0 : (tensor<2x2x6x8xf32>, tensor<1xsi32>) to tensor<2x2x1x6x8xf32>
  %7 = coreai.tile %6, %2 : (tensor<2x2x1x6x8xf32>, tensor<5xui32>) -> tensor<2x2x2x6x8xf32>
  %8 = coreai.reshape %7, %4 : (tensor<2x2x2x6x8xf32>, tensor<4xsi32>) -> tensor<2x4x6x8xf32>
  %9 = coreai.constant dense<[0, 1, 3, 2]> : tensor<4xui32>
  %10 = coreai.transpose %5, %9 : (tensor<2x4x6x8xf32>, tensor<4xui32>) -> tensor<2x4x8x6xf32>
  %11 = coreai.constant dense<[8, 6, 8]> : tensor<3xsi32>
  %12 = coreai.reshape %q, %11 : (tensor<2x4x6x8xf32>, tensor<3xsi32>) -> tensor<8x6x8xf32>
  %13 = coreai.constant dense<[8, 8, 6]> : tensor<3xsi32>
  %14 = coreai.reshape %10, %13 : (tensor<2x4x8x6xf32>, tensor<3xsi32>) -> tensor<8x8x6xf32>
  %15 = coreai.batch_matmul %12, %14 : (tensor<8x6x8xf32>, tensor<8x8x6xf32>) -> tensor<8x6x6xf32>
  %16 = coreai.constant dense<[2, 4, 6, 6]> : tensor<4xsi32>
  %17 = coreai.reshape %15, %16 : (tensor<8x6x6xf32>, tensor<4xsi32>) -> tensor<2x4x6x6xf32>
  %18 = coreai.decomposable.broadcasting_add %17, %m : (tensor<2x4x6x6xf32>, tensor<1x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %19 = coreai.constant dense<3> : tensor<si32>
  %20 = coreai.softmax %18, %19 : (tensor<2x4x6x6xf32>, tensor<si32>) -> tensor<2x4x6x6xf32>
  %21 = coreai.constant dense<[8, 6, 6]> : tensor<3xsi32>
  %22 = coreai.reshape %20, %21 : (tensor<2x4x6x6xf32>, tensor<3xsi32>) -> tensor<8x6x6xf32>
  %23 = coreai.reshape %8, %11 : (tensor<2x4x6x8xf32>, tensor<3xsi32>) -> tensor<8x6x8xf32>
  %24 = coreai.batch_matmul %22, %23 : (tensor<8x6x6xf32>, tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
  %25 = coreai.reshape %24, %4 : (tensor<8x6x8xf32>, tensor<4xsi32>) -> tensor<2x4x6x8xf32>
  coreai.output %25 : tensor<2x4x6x8xf32>
}

// They come back as others, so a mask is another one's.
// CHECK-LABEL: plan.function @otherBatch
// CHECK-SAME: plan.near_misses = {{.*}}"attention", "axes of queries and keys were merged in another way than those of its scores are split"
// CHECK-NOT: "Attention"
// CHECK: plan.return
coreai.graph @otherBatch(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<4x2x6x8xf32>, %m: tensor<1x2x6x6xf32>) -> (tensor<8x6x8xf32>) {
  %0 = coreai.constant dense<[8, 6, 8]> : tensor<3xsi32>
  %1 = coreai.reshape %q, %0 : (tensor<2x4x6x8xf32>, tensor<3xsi32>) -> tensor<8x6x8xf32>
  %2 = coreai.constant dense<[8, 8, 6]> : tensor<3xsi32>
  %3 = coreai.reshape %k, %2 : (tensor<2x4x8x6xf32>, tensor<3xsi32>) -> tensor<8x8x6xf32>
  %4 = coreai.batch_matmul %1, %3 : (tensor<8x6x8xf32>, tensor<8x8x6xf32>) -> tensor<8x6x6xf32>
  %5 = coreai.constant dense<[4, 2, 6, 6]> : tensor<4xsi32>
  %6 = coreai.reshape %4, %5 : (tensor<8x6x6xf32>, tensor<4xsi32>) -> tensor<4x2x6x6xf32>
  %7 = coreai.decomposable.broadcasting_add %6, %m : (tensor<4x2x6x6xf32>, tensor<1x2x6x6xf32>) -> tensor<4x2x6x6xf32>
  %8 = coreai.constant dense<3> : tensor<si32>
  %9 = coreai.softmax %7, %8 : (tensor<4x2x6x6xf32>, tensor<si32>) -> tensor<4x2x6x6xf32>
  %10 = coreai.constant dense<[8, 6, 6]> : tensor<3xsi32>
  %11 = coreai.reshape %9, %10 : (tensor<4x2x6x6xf32>, tensor<3xsi32>) -> tensor<8x6x6xf32>
  %12 = coreai.reshape %v, %0 : (tensor<4x2x6x8xf32>, tensor<3xsi32>) -> tensor<8x6x8xf32>
  %13 = coreai.batch_matmul %11, %12 : (tensor<8x6x6xf32>, tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
  coreai.output %13 : tensor<8x6x8xf32>
}

// Scores that somebody else wants are products of their own.
// CHECK-LABEL: plan.function @productToo
// CHECK-SAME: plan.near_misses = {{.*}}"attention", "its scores are used elsewhere too"
// CHECK-NOT: "Attention"
// CHECK: plan.return
coreai.graph @productToo(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>) -> (tensor<4x6x8xf32>, tensor<4x6x6xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.softmax %0, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %3 = coreai.batch_matmul %2, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %3, %0 : tensor<4x6x8xf32>, tensor<4x6x6xf32>
}

// Where all is hidden, another number is no mask.
// CHECK-LABEL: plan.function @otherMask
// CHECK-SAME: plan.near_misses = {{.*}}"attention", "what its mask hides is another number than minus infinity"
// CHECK-NOT: "Attention"
// CHECK: plan.return
coreai.graph @otherMask(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>, %m: tensor<4x6x6xi1>) -> (tensor<4x6x8xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.constant dense<-1.0e4> : tensor<f32>
  %3 = coreai.decomposable.broadcasting_where %m, %0, %2 : (tensor<4x6x6xi1>, tensor<4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
  %4 = coreai.softmax %3, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %5 = coreai.batch_matmul %4, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %5 : tensor<4x6x8xf32>
}

// Truth values of what is hidden, as simplification leaves them, also where
// hidden weights are replaced by zeros.
// CHECK-LABEL: plan.function @hidden
// CHECK-NOT: "MatMul"
// CHECK: plan.lane "Not"
// CHECK: "Attention"(%{{.*}}) numbers [{{[0-9]+}}, 0, 1]
// CHECK-NOT: "Softmax"
// CHECK: plan.return
coreai.graph @hidden(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>, %m: tensor<6x6xi1>) -> (tensor<4x6x8xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.constant dense<0xFF800000> : tensor<f32>
  %3 = coreai.decomposable.broadcasting_where %m, %2, %0 : (tensor<6x6xi1>, tensor<f32>, tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %4 = coreai.softmax %3, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %5 = coreai.constant dense<0.0> : tensor<f32>
  %6 = coreai.decomposable.broadcasting_where %m, %5, %4 : (tensor<6x6xi1>, tensor<f32>, tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %7 = coreai.batch_matmul %6, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %7 : tensor<4x6x8xf32>
}

// What is seen gets zeros here.
// CHECK-LABEL: plan.function @seen
// CHECK-NOT: "Attention"
// CHECK: plan.return
coreai.graph @seen(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>, %m: tensor<6x6xi1>) -> (tensor<4x6x8xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.constant dense<0xFF800000> : tensor<f32>
  %3 = coreai.decomposable.broadcasting_where %m, %2, %0 : (tensor<6x6xi1>, tensor<f32>, tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %4 = coreai.softmax %3, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %5 = coreai.constant dense<0.0> : tensor<f32>
  %6 = coreai.decomposable.broadcasting_where %m, %4, %5 : (tensor<6x6xi1>, tensor<4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
  %7 = coreai.batch_matmul %6, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %7 : tensor<4x6x8xf32>
}

// Another number hides nothing, and is in the place of scores.
// CHECK-LABEL: plan.function @lowered
// CHECK-NOT: "Attention"
// CHECK: plan.return
coreai.graph @lowered(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>, %m: tensor<6x6xi1>) -> (tensor<4x6x8xf32>) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<2> : tensor<si32>
  %2 = coreai.constant dense<-1.0e4> : tensor<f32>
  %3 = coreai.decomposable.broadcasting_where %m, %2, %0 : (tensor<6x6xi1>, tensor<f32>, tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %4 = coreai.softmax %3, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %5 = coreai.batch_matmul %4, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  coreai.output %5 : tensor<4x6x8xf32>
}
