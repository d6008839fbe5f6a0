// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
// RUN: corten-opt --coreai-to-plan=precision=int8 %s | FileCheck %s --check-prefix INT8
//
// Products and gathers take sparse constants as they are.

// A transposed weight: where it has values, and these.
// CHECK-LABEL: plan.function @floats
// CHECK: %[[PLACES:.*]] = plan.kernel "PackPlaces"({{.*}}) numbers [] prepared : ({{.*}}) -> tensor<1x6xui32>
// CHECK: %[[VALUES:.*]] = plan.kernel "PackValues"({{.*}}, %[[PLACES]]) numbers [32] prepared : ({{.*}}) -> tensor<139xf32>
// CHECK: plan.kernel "MatMulSparse"({{.*}}, %[[PLACES]], %[[VALUES]], {{.*}}) with({{.*}}) numbers [5, 32, 1, 0]
// CHECK: plan.lane "Add"
// CHECK-NOT: "MatMulPacked"
coreai.graph @floats(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = coreai.constant dense<[[1, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]> : tensor<3x4xui1>
  %bias = coreai.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %order = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xf32>, tensor<3x4xui1>) -> tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<3x4xf32>
  %t = coreai.transpose %w, %order : (tensor<3x4xf32>, tensor<2xui32>) -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %t : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %1 = coreai.decomposable.broadcasting_add %0, %bias : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  coreai.output %1 : tensor<5x3xf32>
}

// Codes with a scale for each column. In int8, all of them are taken, which
// there are instructions for.
// CHECK-LABEL: plan.function @codes
// CHECK: plan.kernel "PackValues"({{.*}}) numbers [8] prepared : ({{.*}}) -> tensor<139xui8>
// CHECK: plan.kernel "MatMulSparse"({{.*}}) numbers [1, 8, 1, 0]
// INT8-LABEL: plan.function @codes
// INT8: plan.kernel "MatMulCompressed"({{.*}}) numbers [1, 8, 8]
coreai.graph @codes(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1, -2, 3, 4]> : tensor<4xsi8>
  %m = coreai.constant dense<[[1, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]]> : tensor<4x3xui1>
  %scale = coreai.constant dense<[[0.1, 0.2, 0.3]]> : tensor<1x3xf32>
  %zero = coreai.constant dense<0> : tensor<1x3xsi8>
  %none = coreai.constant dense<0.0> : tensor<1x3xf32>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xsi8>, tensor<4x3xui1>) -> tensor<4x3xsi8, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %q = coreai.sparse_with_bitmask_to_dense %s : tensor<4x3xsi8, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<4x3xsi8>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<4x3xsi8>, tensor<1x3xf32>, tensor<1x3xsi8>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// Codes with a mask that takes more than half of their memory.
// CHECK-LABEL: plan.function @manyCodes
// CHECK: plan.kernel "MatMulCompressed"({{.*}}) numbers [1, 8, 0]
// CHECK-NOT: "MatMulSparse"
coreai.graph @manyCodes(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1, -2, 3, 4, 5, 6]> : tensor<6xsi8>
  %m = coreai.constant dense<[[1, 0, 1], [0, 1, 1], [0, 0, 0], [0, 1, 1]]> : tensor<4x3xui1>
  %scale = coreai.constant dense<[[0.1, 0.2, 0.3]]> : tensor<1x3xf32>
  %zero = coreai.constant dense<0> : tensor<1x3xsi8>
  %none = coreai.constant dense<0.0> : tensor<1x3xf32>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<6xsi8>, tensor<4x3xui1>) -> tensor<4x3xsi8, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %q = coreai.sparse_with_bitmask_to_dense %s : tensor<4x3xsi8, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<4x3xsi8>
  %w = coreai.blockwise_shift_scale %q, %scale, %zero, %none : (tensor<4x3xsi8>, tensor<1x3xf32>, tensor<1x3xsi8>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// Indices of a sparse tensor; where there is none there is a zero.
// CHECK-LABEL: plan.function @palette
// CHECK: plan.kernel "MatMulSparse"({{.*}}) numbers [0, 4, 1, 1]
// INT8-LABEL: plan.function @palette
// INT8: plan.kernel "MatMulSparse"({{.*}}) numbers [0, 4, 1, 1]
coreai.graph @palette(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1, 2, 3, 0]> : tensor<4xui4>
  %m = coreai.constant dense<[[1, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]]> : tensor<4x3xui1>
  %lut = coreai.constant dense<0.5> : tensor<1x1x16x1xf32>
  %axis = coreai.constant dense<0> : tensor<si16>
  %i = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xui4>, tensor<4x3xui1>) -> tensor<4x3xui4, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %s = coreai.lut_to_sparse_with_bitmask %i, %lut, %axis : (tensor<4x3xui4, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, tensor<1x1x16x1xf32>, tensor<si16>) -> tensor<4x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<4x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// Values that were looked up are kept as indices.
// CHECK-LABEL: plan.function @tableOfValues
// CHECK: plan.kernel "PackValues"({{.*}}) numbers [2] prepared : ({{.*}}) -> tensor<131xui8>
// CHECK: plan.kernel "MatMulSparse"({{.*}}) numbers [0, 2, 1, 1]
coreai.graph @tableOfValues(%x: tensor<5x4xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %i = coreai.constant dense<[1, 2, 3, 0]> : tensor<4xui2>
  %m = coreai.constant dense<[[1, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]]> : tensor<4x3xui1>
  %lut = coreai.constant dense<[[[0.1], [0.2], [0.3], [0.4]]]> : tensor<1x4x1xf32>
  %axis = coreai.constant dense<0> : tensor<si16>
  %v = coreai.lut_to_dense %i, %lut, %axis : (tensor<4xui2>, tensor<1x4x1xf32>, tensor<si16>) -> tensor<4xf32>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xf32>, tensor<4x3xui1>) -> tensor<4x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<4x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<4x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// A mask has to pay: here all elements are there.
// CHECK-LABEL: plan.function @full
// CHECK: plan.kernel "PackMatrix"{{.*}}plan.expanded = "hardly any of its elements are zeros"
// CHECK: plan.kernel "MatMulPacked"
// CHECK-NOT: "MatMulSparse"
coreai.graph @full(%x: tensor<5x2xf32> {coreai.name = "x"}) -> (tensor<5x2xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = coreai.constant dense<1> : tensor<2x2xui1>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xf32>, tensor<2x2xui1>) -> tensor<2x2xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<2x2xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<2x2xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %w : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  coreai.output %0 : tensor<5x2xf32>
}

// A part of what was compressed.
// CHECK-LABEL: plan.function @part
// CHECK: plan.kernel "PackMatrix"{{.*}}plan.expanded = "the matrix is only a part of it, or mixes k and n"
// CHECK: plan.kernel "MatMulPacked"
coreai.graph @part(%x: tensor<5x2xf32> {coreai.name = "x"}) -> (tensor<5x3xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = coreai.constant dense<[[1, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 0]]> : tensor<4x3xui1>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xf32>, tensor<4x3xui1>) -> tensor<4x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<4x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<4x3xf32>
  %begin = coreai.constant dense<0> : tensor<2xsi32>
  %end = coreai.constant dense<[2, 3]> : tensor<2xsi32>
  %step = coreai.constant dense<1> : tensor<2xsi32>
  %p = coreai.slice %w, %begin, %end, %step : (tensor<4x3xf32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<2x3xf32>
  %0 = coreai.decomposable.broadcasting_batch_matmul %x, %p : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  coreai.output %0 : tensor<5x3xf32>
}

// Rows by the mask as it is in the file.
// CHECK-LABEL: plan.function @rows
// CHECK: %[[STARTS:.*]] = plan.kernel "CountPlaces"({{.*}}) numbers [4] prepared : (tensor<2xui8>) -> tensor<3xsi64>
// CHECK: plan.kernel "GatherSparse"({{.*}}, %[[STARTS]], {{.*}}) numbers [] : ({{.*}}) -> tensor<2x4xf32>
coreai.graph @rows(%i: tensor<2x1xsi32> {coreai.name = "i"}) -> (tensor<2x4xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = coreai.constant dense_resource<mask> : tensor<3x4xui1>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xf32>, tensor<3x4xui1>) -> tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<3x4xf32>
  %0 = coreai.gather_nd %w at %i : (tensor<3x4xf32>, tensor<2x1xsi32>) to tensor<2x4xf32>
  coreai.output %0 : tensor<2x4xf32>
}

// Of indices, and zeros where there is none.
// CHECK-LABEL: plan.function @rowsOfPalette
// CHECK: %[[CODES:.*]] = plan.kernel "GatherSparse"({{.*}}) numbers [] : ({{.*}}) -> tensor<2x4xui4>
// CHECK: %[[FOUND:.*]] = plan.kernel "LutToDense"(%[[CODES]]
// CHECK: %[[SET:.*]] = plan.kernel "GatherSparse"({{.*}}) numbers [] : ({{.*}}) -> tensor<2x4xi1>
// CHECK: plan.kernel "Where"(%[[SET]], %[[FOUND]],
coreai.graph @rowsOfPalette(%r: tensor<2x1xsi32> {coreai.name = "i"}) -> (tensor<2x4xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1, 2, 3, 0]> : tensor<4xui4>
  %m = coreai.constant dense_resource<mask> : tensor<3x4xui1>
  %lut = coreai.constant dense<0.5> : tensor<1x1x16x1xf32>
  %axis = coreai.constant dense<0> : tensor<si16>
  %i = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xui4>, tensor<3x4xui1>) -> tensor<3x4xui4, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %s = coreai.lut_to_sparse_with_bitmask %i, %lut, %axis : (tensor<3x4xui4, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>, tensor<1x1x16x1xf32>, tensor<si16>) -> tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<3x4xf32>
  %0 = coreai.gather_nd %w at %r : (tensor<3x4xf32>, tensor<2x1xsi32>) to tensor<2x4xf32>
  coreai.output %0 : tensor<2x4xf32>
}

// A mask in the program itself is small; then so is the table.
// CHECK-LABEL: plan.function @smallRows
// CHECK: plan.kernel "SparseToDense"({{.*}}) numbers [] prepared
// CHECK: plan.kernel "GatherNd"
// CHECK-NOT: "GatherSparse"
coreai.graph @smallRows(%i: tensor<2x1xsi32> {coreai.name = "i"}) -> (tensor<2x4xf32> {coreai.name = "z"}) {
  %v = coreai.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %m = coreai.constant dense<[[1, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]> : tensor<3x4xui1>
  %s = coreai.build_sparse_with_bitmask %v, %m : (tensor<4xf32>, tensor<3x4xui1>) -> tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %w = coreai.sparse_with_bitmask_to_dense %s : tensor<3x4xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>> -> tensor<3x4xf32>
  %0 = coreai.gather_nd %w at %i : (tensor<3x4xf32>, tensor<2x1xsi32>) to tensor<2x4xf32>
  coreai.output %0 : tensor<2x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      mask: "0x010000004508"
    }
  }
#-}
