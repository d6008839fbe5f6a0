// RUN: corten compile %s --explain | FileCheck %s
//
// What stayed apart, and why.

// A reduction leaves what others use, too.
// CHECK-LABEL: used: 2 kernels in a call
// CHECK: not fused with
// CHECK: 1 Tile, step 0 its result is used 2 times
coreai.graph @used(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<4x8xf32> {coreai.name = "y"}, tensor<4x1xf32> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = coreai.reduce_max %0, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  coreai.output %0, %1 : tensor<4x8xf32>, tensor<4x1xf32>
}

// Programs have no sums of bytes.
// CHECK-LABEL: bytes: 2 kernels in a call
// CHECK: 1 Tile, step 0 programs do not reduce elements of si8 so
coreai.graph @bytes(%x: tensor<4x8xsi8> {coreai.name = "x"}) -> (tensor<4x1xsi8> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.maximum %x, %x : (tensor<4x8xsi8>, tensor<4x8xsi8>) -> tensor<4x8xsi8>
  %1 = coreai.relu %0 : (tensor<4x8xsi8>) -> tensor<4x8xsi8>
  %2 = coreai.reduce_sum %1, %axis : (tensor<4x8xsi8>, tensor<1xsi32>) -> tensor<4x1xsi8>
  coreai.output %2 : tensor<4x1xsi8>
}

// And no elements of 64 bits.
// CHECK-LABEL: wide: 2 kernels in a call
// CHECK: 1 Mul, step 0 it is no program: there is no instruction for it from si64
coreai.graph @wide(%x: tensor<4x8xsi64> {coreai.name = "x"}) -> (tensor<4x1xsi64> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.mul %x, %x : (tensor<4x8xsi64>, tensor<4x8xsi64>) -> tensor<4x8xsi64>
  %1 = coreai.reduce_sum %0, %axis : (tensor<4x8xsi64>, tensor<1xsi32>) -> tensor<4x1xsi64>
  coreai.output %1 : tensor<4x1xsi64>
}

// A reduction that takes all in has nothing to tell.
// CHECK-LABEL: whole: 1 kernels in a call
// CHECK-NOT: not fused with
coreai.graph @whole(%x: tensor<4x8xf32> {coreai.name = "x"}) -> (tensor<4x1xf32> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = coreai.reduce_sum %0, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  coreai.output %1 : tensor<4x1xf32>
}

// What is nearly one kernel has its line.
// CHECK-LABEL: misses: 3 kernels in a call
// CHECK: nearly line because
// CHECK: attention layers.py:7 its softmax is not over the last axis
coreai.graph @misses(%q: tensor<4x6x8xf32> {coreai.name = "q"}, %k: tensor<4x8x6xf32> {coreai.name = "k"}, %v: tensor<4x6x8xf32> {coreai.name = "v"}) -> (tensor<4x6x8xf32> {coreai.name = "z"}) {
  %0 = coreai.batch_matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %1 = coreai.constant dense<1> : tensor<si32>
  %2 = coreai.softmax %0, %1 : (tensor<4x6x6xf32>, tensor<si32>) -> tensor<4x6x6xf32>
  %3 = coreai.batch_matmul %2, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32> loc("model/layers.py":7:3)
  coreai.output %3 : tensor<4x6x8xf32>
}
