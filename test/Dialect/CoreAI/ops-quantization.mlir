// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s | corten-opt | FileCheck %s
// RUN: corten-opt %s --mlir-print-op-generic | corten-opt | FileCheck %s
// RUN: corten-opt %s --emit-bytecode | corten-opt | FileCheck %s

// CHECK-LABEL: coreai.graph @scale_and_offset
coreai.graph @scale_and_offset(%x: tensor<2x3xf32>, %q: tensor<2x3xsi8>, %scale: tensor<3xf32>, %zero: tensor<3xsi8>, %offset: tensor<3xf32>, %block_scale: tensor<1x3xf32>, %block_zero: tensor<1x3xsi8>) {
  %axis = coreai.constant dense<1> : tensor<si32>
  // CHECK: coreai.quantize %{{.*}} attributes {test.note} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xsi8>
  %quantize = coreai.quantize %x, %scale, %zero, %offset, %axis attributes {test.note} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xsi8>
  // CHECK: coreai.dequantize %{{.*}} : (tensor<2x3xsi8>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xf32>
  %dequantize = coreai.dequantize %q, %scale, %zero, %offset, %axis : (tensor<2x3xsi8>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xf32>
  // CHECK: coreai.blockwise_shift_scale %{{.*}} -> tensor<2x3xf32> {test.note}
  %blockwise = coreai.blockwise_shift_scale %q, %block_scale, %block_zero, %block_scale : (tensor<2x3xsi8>, tensor<1x3xf32>, tensor<1x3xsi8>, tensor<1x3xf32>) -> tensor<2x3xf32> {test.note}
  %range = coreai.constant dense<[-127.0, 127.0]> : tensor<2xf32>
  // CHECK: coreai.symmetric_quantization_statistics %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<2xf32>, tensor<si32>) -> tensor<3xf32>
  %symmetric = coreai.symmetric_quantization_statistics %x, %range, %axis : (tensor<2x3xf32>, tensor<2xf32>, tensor<si32>) -> tensor<3xf32>
  // Ops with several results name them.
  // CHECK: %scale, %zero_point = coreai.asymmetric_quantization_statistics %{{.*}}, %{{.*}}, %{{.*}} attributes {test.note} : (tensor<2x3xf32>, tensor<2xf32>, tensor<si32>) -> (tensor<3xf32>, tensor<3xf32>)
  %asymmetric:2 = coreai.asymmetric_quantization_statistics %x, %range, %axis attributes {test.note} : (tensor<2x3xf32>, tensor<2xf32>, tensor<si32>) -> (tensor<3xf32>, tensor<3xf32>)
  coreai.output
}

#bitmask = #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>

// CHECK-LABEL: coreai.graph @compressed
coreai.graph @compressed(%indices: tensor<6x2xui2>, %lut: tensor<2x1x4x1xf32>, %values: tensor<3xf32>, %mask: tensor<2x3xui1>, %palette: tensor<4x6xui1, #bitmask>, %small_lut: tensor<1x1x2x1xf16>) {
  %axis = coreai.constant dense<0> : tensor<si16>
  // CHECK: coreai.lut_to_dense %{{.*}}, %{{.*}}, %{{.*}} : (tensor<6x2xui2>, tensor<2x1x4x1xf32>, tensor<si16>) -> tensor<6x2xf32>
  %dense = coreai.lut_to_dense %indices, %lut, %axis : (tensor<6x2xui2>, tensor<2x1x4x1xf32>, tensor<si16>) -> tensor<6x2xf32>
  // CHECK: coreai.lut_to_sparse_with_bitmask %{{.*}} -> tensor<4x6xf16, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %sparse = coreai.lut_to_sparse_with_bitmask %palette, %small_lut, %axis : (tensor<4x6xui1, #bitmask>, tensor<1x1x2x1xf16>, tensor<si16>) -> tensor<4x6xf16, #bitmask>
  // CHECK: coreai.build_sparse_with_bitmask %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<2x3xui1>) -> tensor<2x3xf32, #coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>>
  %built = coreai.build_sparse_with_bitmask %values, %mask : (tensor<3xf32>, tensor<2x3xui1>) -> tensor<2x3xf32, #bitmask>
  // CHECK: coreai.sparse_with_bitmask_to_dense %{{.*}} : tensor<2x3xf32, #coreai.sparse_tensor_encoding<{{.*}}>> -> tensor<2x3xf32> {test.note}
  %filled = coreai.sparse_with_bitmask_to_dense %built : tensor<2x3xf32, #bitmask> -> tensor<2x3xf32> {test.note}
  coreai.output
}
