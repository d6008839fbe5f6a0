// RUN: corten compile %s --explain | FileCheck %s
// RUN: corten compile %s --explain --shape n=64,8 | FileCheck %s --check-prefix SIZES
// RUN: not corten compile %s --explain --shape n=0x 2>&1 | FileCheck %s --check-prefix TEXT
// RUN: not corten compile %s --explain --shape m=64,8 2>&1 | FileCheck %s --check-prefix NAME
// RUN: not corten compile %s --explain --shape n=64 2>&1 | FileCheck %s --check-prefix RANK
// RUN: not corten compile %s --shape n=64,8 2>&1 | FileCheck %s --check-prefix ALONE
//
// What stayed apart, and why.

// TEXT: --shape: want NAME=1,3,224,224, not n=0x
// NAME: --shape: no input or state is called 'm'; there are x, q, k, v, n
// RANK: --shape: 'n' is f32[{{.*}}, 8], and cannot have another shape
// ALONE: --shape requires --explain

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

// Memory that calls decide is that of the shapes that are said.
// CHECK-LABEL: open: 2 kernels in a call
// CHECK: write
// CHECK: load and pack weights
// CHECK: open depends on the inputs: say --shape
// SIZES: open 2.0 kB 2.0 kB 2.0 kB 2
coreai.graph @open(%n: tensor<?x8xf32> {coreai.name = "n"}) -> (tensor<?x1xf32> {coreai.name = "z"}) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %last = coreai.constant dense<1> : tensor<si32>
  %0 = coreai.softmax %n, %last : (tensor<?x8xf32>, tensor<si32>) -> tensor<?x8xf32>
  %1 = coreai.reduce_max %0, %axis : (tensor<?x8xf32>, tensor<1xsi32>) -> tensor<?x1xf32>
  coreai.output %1 : tensor<?x1xf32>
}
