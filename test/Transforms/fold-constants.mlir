// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: corten-opt %s -coreai-fold-constants -coreai-remove-dead-code -split-input-file | FileCheck %s
// RUN: corten-opt %s -pass-pipeline='builtin.module(coreai-fold-constants{decompress=true},coreai-remove-dead-code)' -split-input-file | FileCheck %s --check-prefix=DECOMPRESS
// RUN: corten-opt %s -pass-pipeline='builtin.module(coreai-fold-constants{max-growth=0},coreai-remove-dead-code)' -split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: corten-opt %s -pass-pipeline='builtin.module(coreai-fold-constants{max-bytes=12},coreai-remove-dead-code)' -split-input-file | FileCheck %s --check-prefix=TINY

// Only the end of a chain becomes a constant.
// CHECK-LABEL: @chain
// CHECK-NEXT:    coreai.constant dense<{{\[}}[1.000000e+00, 2.000000e+00], [1.000000e+00, 2.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT:    coreai.add
coreai.graph @chain(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = coreai.constant dense<0> : tensor<si32>
  %one = coreai.constant dense<1> : tensor<si32>
  %two = coreai.constant dense<2> : tensor<si32>
  %ones = coreai.constant dense<1> : tensor<2xsi32>
  %shape = coreai.constant dense<[2, 2]> : tensor<2xui32>
  %0 = coreai.range %zero, %two, %one : (tensor<si32>, tensor<si32>, tensor<si32>) -> tensor<2xsi32>
  %1 = coreai.add %0, %ones : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32>
  %2 = coreai.cast %1 : tensor<2xsi32> to tensor<2xf32>
  %3 = coreai.broadcast_to %2, %shape : (tensor<2xf32>, tensor<2xui32>) -> tensor<2x2xf32>
  %4 = coreai.add %x, %3 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  coreai.output %4 : tensor<2x2xf32>
}

// Every type, small ones and complex ones too.
// CHECK-LABEL: @types
// CHECK-DAG:     coreai.constant dense<[7, -8]> : tensor<2xsi4>
// CHECK-DAG:     coreai.constant dense<[4.480000e+02, 0x7F]> : tensor<2xf8E4M3FN>
// CHECK-DAG:     coreai.constant dense<[6.000000e+00, 5.000000e-01]> : tensor<2xf4E2M1FN>
// CHECK-DAG:     coreai.constant dense<[true, false]> : tensor<2xi1>
// CHECK-DAG:     coreai.constant dense<(-3.000000e+00,4.000000e+00)> : tensor<complex<f32>>
// CHECK-DAG:     coreai.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
// CHECK-DAG:     coreai.constant dense<3.000000e+00> : tensor<2xbf16>
coreai.graph @types() -> (tensor<2xsi4>, tensor<2xf8E4M3FN>, tensor<2xf4E2M1FN>, tensor<2xi1>, tensor<complex<f32>>, tensor<2xui64>, tensor<2xbf16>) {
  %0 = coreai.constant dense<[100, -100]> : tensor<2xsi32>
  %1 = coreai.cast %0 : tensor<2xsi32> to tensor<2xsi4>
  %2 = coreai.constant dense<[448.0, 1.0e6]> : tensor<2xf32>
  %3 = coreai.cast %2 : tensor<2xf32> to tensor<2xf8E4M3FN>
  %4 = coreai.constant dense<[100.0, 0.4]> : tensor<2xf32>
  %5 = coreai.cast %4 : tensor<2xf32> to tensor<2xf4E2M1FN>
  %6 = coreai.constant dense<[3, -8]> : tensor<2xsi4>
  %7 = coreai.cast %6 : tensor<2xsi4> to tensor<2xsi8>
  %8 = coreai.constant dense<[2, 0]> : tensor<2xsi8>
  %9 = coreai.greater %7, %8 : (tensor<2xsi8>, tensor<2xsi8>) -> tensor<2xi1>
  %10 = coreai.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %11 = coreai.mul %10, %10 : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %12 = coreai.constant dense<[0, 1]> : tensor<2xui64>
  %13 = coreai.constant dense<1> : tensor<2xui64>
  %14 = coreai.sub %12, %13 : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
  %15 = coreai.constant dense<1.5> : tensor<2xbf16>
  %16 = coreai.add %15, %15 : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  coreai.output %1, %3, %5, %9, %11, %14, %16 : tensor<2xsi4>, tensor<2xf8E4M3FN>, tensor<2xf4E2M1FN>, tensor<2xi1>, tensor<complex<f32>>, tensor<2xui64>, tensor<2xbf16>
}

// -----

// CHECK-LABEL: @movement
// CHECK-NOT:     coreai.transpose
// CHECK-DAG:     dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xsi32>
// CHECK-DAG:     dense<{{\[}}[3, 2, 1], [6, 5, 4]]> : tensor<2x3xsi32>
// CHECK-DAG:     dense<{{\[}}[6, 4]]> : tensor<1x2xsi32>
// CHECK-DAG:     dense<{{\[}}[9, 2, 9], [4, 5, 6]]> : tensor<2x3xsi32>
// CHECK-DAG:     dense<{{\[}}[7, 1, 2, 3, 7], [7, 4, 5, 6, 7]]> : tensor<2x5xsi32>
// CHECK-DAG:     dense<{{\[}}[1, 1, 2, 3, 3], [4, 4, 5, 6, 6]]> : tensor<2x5xsi32>
// CHECK-DAG:     dense<{{\[}}[1], [4]]> : tensor<2x1xsi32>
// CHECK-DAG:     dense<{{\[}}[2, 3], [5, 6]]> : tensor<2x2xsi32>
coreai.graph @movement() -> (tensor<3x2xsi32>, tensor<2x3xsi32>, tensor<1x2xsi32>, tensor<2x3xsi32>, tensor<2x5xsi32>, tensor<2x5xsi32>, tensor<2x1xsi32>, tensor<2x2xsi32>) {
  %x = coreai.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xsi32>
  %p = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %0 = coreai.transpose %x, %p : (tensor<2x3xsi32>, tensor<2xui32>) -> tensor<3x2xsi32>
  %columns = coreai.constant dense<-1> : tensor<1xsi32>
  %1 = coreai.reverse %x, %columns : (tensor<2x3xsi32>, tensor<1xsi32>) -> tensor<2x3xsi32>
  %starts = coreai.constant dense<[1, 2]> : tensor<2xsi32>
  %ends = coreai.constant dense<[2, -4]> : tensor<2xsi32>
  %steps = coreai.constant dense<[1, -2]> : tensor<2xsi32>
  %2 = coreai.slice %x, %starts, %ends, %steps : (tensor<2x3xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) -> tensor<1x2xsi32>
  %from = coreai.constant dense<0> : tensor<2xsi32>
  %to = coreai.constant dense<[1, 3]> : tensor<2xsi32>
  %by = coreai.constant dense<[1, 2]> : tensor<2xsi32>
  %nine = coreai.constant dense<9> : tensor<1x2xsi32>
  %3 = coreai.slice_update %x with %nine at (%from, %to, %by) : (tensor<2x3xsi32>, tensor<1x2xsi32>, tensor<2xsi32>, tensor<2xsi32>, tensor<2xsi32>) to tensor<2x3xsi32>
  %margins = coreai.constant dense<[0, 0, 1, 1]> : tensor<4xui32>
  %seven = coreai.constant dense<7> : tensor<si32>
  %4 = coreai.pad %x, %margins, %seven mode = <constant> : (tensor<2x3xsi32>, tensor<4xui32>, tensor<si32>) -> tensor<2x5xsi32>
  %5 = coreai.pad %x, %margins, %seven mode = <replicate> : (tensor<2x3xsi32>, tensor<4xui32>, tensor<si32>) -> tensor<2x5xsi32>
  %parts = coreai.constant dense<[1, 2]> : tensor<2xui32>
  %axis = coreai.constant dense<1> : tensor<si32>
  %6:2 = coreai.split %x, %parts, %axis : (tensor<2x3xsi32>, tensor<2xui32>, tensor<si32>) -> (tensor<2x1xsi32>, tensor<2x2xsi32>)
  coreai.output %0, %1, %2, %3, %4, %5, %6#0, %6#1 : tensor<3x2xsi32>, tensor<2x3xsi32>, tensor<1x2xsi32>, tensor<2x3xsi32>, tensor<2x5xsi32>, tensor<2x5xsi32>, tensor<2x1xsi32>, tensor<2x2xsi32>
}

// CHECK-LABEL: @combining
// CHECK-NOT:     = coreai.{{[abd-z]}}
// CHECK-DAG:     dense<{{\[}}[6.000000e+00], [1.500000e+01]]> : tensor<2x1xf32>
// CHECK-DAG:     dense<2> : tensor<2x1xui32>
// CHECK-DAG:     dense<{{\[}}[3.000000e+00, 2.000000e+00, 1.000000e+00], [6.000000e+00, 5.000000e+00, 4.000000e+00]]> : tensor<2x3xf32>
// CHECK-DAG:     dense<{{\[}}[1.000000e+00, 3.000000e+00, 6.000000e+00], [4.000000e+00, 9.000000e+00, 1.500000e+01]]> : tensor<2x3xf32>
// CHECK-DAG:     dense<{{\[}}[1.400000e+01, 3.200000e+01], [3.200000e+01, 7.700000e+01]]> : tensor<2x2xf32>
// CHECK-DAG:     dense<{{\[}}{{\[}}{{\[}}[5.000000e+00, 7.000000e+00, 9.000000e+00]]]]> : tensor<1x1x1x3xf32>
// CHECK-DAG:     dense<{{\[}}[3.000000e+00, 1.000000e+00], [4.000000e+00, 6.000000e+00]]> : tensor<2x2xf32>
// CHECK:         coreai.output
coreai.graph @combining() -> (tensor<2x1xf32>, tensor<2x1xui32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<1x1x1x3xf32>, tensor<2x2xf32>) {
  %x = coreai.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %axes = coreai.constant dense<1> : tensor<1xsi32>
  %axis = coreai.constant dense<-1> : tensor<si32>
  %uaxis = coreai.constant dense<1> : tensor<ui32>
  %true = coreai.constant dense<true> : tensor<i1>
  %false = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.reduce_sum %x, %axes : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<2x1xf32>
  %1 = coreai.argmax %x, %axis : (tensor<2x3xf32>, tensor<si32>) -> tensor<2x1xui32>
  %2 = coreai.sort %x, %axis, %true, %false : (tensor<2x3xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<2x3xf32>
  %3 = coreai.scan %x, %uaxis, %false combiner = <sum> : (tensor<2x3xf32>, tensor<ui32>, tensor<i1>) -> tensor<2x3xf32>
  %p = coreai.constant dense<[1, 0]> : tensor<2xui32>
  %t = coreai.transpose %x, %p : (tensor<2x3xf32>, tensor<2xui32>) -> tensor<3x2xf32>
  %4 = coreai.batch_matmul %x, %t : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %image = coreai.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]> : tensor<1x1x2x3xf32>
  %weight = coreai.constant dense<1.0> : tensor<1x1x2x1xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %group = coreai.constant dense<1> : tensor<ui32>
  %5 = coreai.conv2d %image, %weight, %ones, %ones, %group : (tensor<1x1x2x3xf32>, tensor<1x1x2x1xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x1x1x3xf32>
  %where = coreai.constant dense<[[2, 0], [0, -1]]> : tensor<2x2xsi32>
  %6 = coreai.gather_along_axis %x at %where along %axis : (tensor<2x3xf32>, tensor<2x2xsi32>, tensor<si32>) to tensor<2x2xf32>
  coreai.output %0, %1, %2, %3, %4, %5, %6 : tensor<2x1xf32>, tensor<2x1xui32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<1x1x1x3xf32>, tensor<2x2xf32>
}

// -----

// What is an error when it runs is one afterwards; a value that is not known
// stays; and so does an op whose type does not say how much there is.
// CHECK-LABEL: @errors
// CHECK:         coreai.divide
// CHECK:         coreai.gather_along_axis
// CHECK:         coreai.non_zero
// CHECK:         coreai.add
coreai.graph @errors(%x: tensor<si32>) -> (tensor<si32>, tensor<1xsi32>, tensor<?x1xsi32>, tensor<si32>) {
  %one = coreai.constant dense<1> : tensor<si32>
  %zero = coreai.constant dense<0> : tensor<si32>
  %0 = coreai.divide %one, %zero : (tensor<si32>, tensor<si32>) -> tensor<si32>
  %values = coreai.constant dense<[1, 2, 3]> : tensor<3xsi32>
  %index = coreai.constant dense<3> : tensor<1xsi32>
  %1 = coreai.gather_along_axis %values at %index along %zero : (tensor<3xsi32>, tensor<1xsi32>, tensor<si32>) to tensor<1xsi32>
  %2 = coreai.non_zero %values : tensor<3xsi32> -> tensor<?x1xsi32>
  %3 = coreai.add %x, %one : (tensor<si32>, tensor<si32>) -> tensor<si32>
  coreai.output %0, %1, %2, %3 : tensor<si32>, tensor<1xsi32>, tensor<?x1xsi32>, tensor<si32>
}

// -----

// A weight in another shape has the same data; splats stay splats of any size;
// what grows beyond the limit stays.
// CHECK-LABEL: @sizes
// CHECK-DAG:     coreai.constant dense_resource<w> : tensor<8x32xf32>
// CHECK-DAG:     coreai.constant dense<2.000000e+00> : tensor<1024x1024xf32>
// CHECK-DAG:     coreai.broadcast_to %{{.*}} : (tensor<256xf32>, tensor<2xui32>) -> tensor<1024x256xf32>
// SMALL-LABEL: @sizes
// SMALL:         coreai.range
// CHECK-DAG:     coreai.constant dense<[0, 1, 2, 3]> : tensor<4xsi32>
// TINY-LABEL: @sizes
// TINY:          dense<2.000000e+00> : tensor<1024x1024xf32>
// TINY:          coreai.range
coreai.graph @sizes() -> (tensor<8x32xf32>, tensor<1024x1024xf32>, tensor<1024x256xf32>, tensor<4xsi32>) {
  %w = coreai.constant dense_resource<w> : tensor<256xf32>
  %shape = coreai.constant dense<[8, 32]> : tensor<2xui32>
  %0 = coreai.reshape %w, %shape : (tensor<256xf32>, tensor<2xui32>) -> tensor<8x32xf32>
  %one = coreai.constant dense<1.0> : tensor<1024x1024xf32>
  %1 = coreai.add %one, %one : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %large = coreai.constant dense<[1024, 256]> : tensor<2xui32>
  %2 = coreai.broadcast_to %w, %large : (tensor<256xf32>, tensor<2xui32>) -> tensor<1024x256xf32>
  %from = coreai.constant dense<0> : tensor<si32>
  %step = coreai.constant dense<1> : tensor<si32>
  %to = coreai.constant dense<4> : tensor<si32>
  %3 = coreai.range %from, %to, %step : (tensor<si32>, tensor<si32>, tensor<si32>) -> tensor<4xsi32>
  %use = coreai.add %step, %to : (tensor<si32>, tensor<si32>) -> tensor<si32>
  coreai.output %0, %1, %2, %3 : tensor<8x32xf32>, tensor<1024x1024xf32>, tensor<1024x256xf32>, tensor<4xsi32>
}

{-# dialect_resources: { builtin: { w: "0x080000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F" } } #-}

// -----

// Weights stay compressed.
// CHECK-LABEL: @compressed
// CHECK:         coreai.blockwise_shift_scale
// CHECK:         coreai.lut_to_dense
// CHECK:         coreai.dequantize
// DECOMPRESS-LABEL: @compressed
// DECOMPRESS-DAG: dense<{{\[}}[1.000000e+00, 2.000000e+00, -4.000000e+00, 1.400000e+01]]> : tensor<1x4xf32>
// DECOMPRESS-DAG: dense<{{\[}}5.000000e+00, 7.000000e+00, 5.000000e+00]> : tensor<3xf32>
// DECOMPRESS-DAG: dense<{{\[}}[0.000000e+00, 1.000000e+00], [4.000000e+00, 6.000000e+00]]> : tensor<2x2xf32>
coreai.graph @compressed() -> (tensor<1x4xf32>, tensor<3xf32>, tensor<2x2xf32>) {
  %data = coreai.constant dense<[[1, 2, -2, 7]]> : tensor<1x4xsi4>
  %scale = coreai.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %none = coreai.constant dense<0> : tensor<1x2xsi4>
  %zero = coreai.constant dense<0.0> : tensor<1x2xf32>
  %0 = coreai.blockwise_shift_scale %data, %scale, %none, %zero : (tensor<1x4xsi4>, tensor<1x2xf32>, tensor<1x2xsi4>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %indices = coreai.constant dense<[0, 1, 0]> : tensor<3xui1>
  %table = coreai.constant dense<[[[5.0], [7.0]]]> : tensor<1x2x1xf32>
  %axis = coreai.constant dense<0> : tensor<si16>
  %1 = coreai.lut_to_dense %indices, %table, %axis : (tensor<3xui1>, tensor<1x2x1xf32>, tensor<si16>) -> tensor<3xf32>
  %bytes = coreai.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
  %scales = coreai.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %points = coreai.constant dense<1> : tensor<2xui8>
  %offsets = coreai.constant dense<0.0> : tensor<2xf32>
  %rows = coreai.constant dense<0> : tensor<si32>
  %2 = coreai.dequantize %bytes, %scales, %points, %offsets, %rows : (tensor<2x2xui8>, tensor<2xf32>, tensor<2xui8>, tensor<2xf32>, tensor<si32>) -> tensor<2x2xf32>
  coreai.output %0, %1, %2 : tensor<1x4xf32>, tensor<3xf32>, tensor<2x2xf32>
}
