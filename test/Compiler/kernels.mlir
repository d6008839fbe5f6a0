// RUN: corten-opt --coreai-to-plan %s | FileCheck %s
//
// One kernel for one operation, which nothing is put into or taken from.

// CHECK-LABEL: plan.function @pooled
// CHECK: plan.kernel "MaxPool"(%arg0) numbers [2, 2, 2, 2, 1, 1, 0, 0]
// CHECK: plan.kernel "SumPool"(%arg0) numbers [2, 2, 2, 2, 1, 1, 0, 0]
coreai.graph @pooled(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  %twos = coreai.constant dense<2> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %ceil = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.max_pool_2d %x, %twos, %twos, %ones, %ceil : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<i1>) -> tensor<1x4x4x4xf32>
  %1 = coreai.sum_pool_2d %x, %twos, %twos, %ones : (tensor<1x4x8x8xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>) -> tensor<1x4x4x4xf32>
  coreai.output %0, %1 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

// CHECK-LABEL: plan.function @resized
// CHECK: plan.kernel "Interpolate"({{.*}}) numbers [0]
// CHECK: plan.kernel "Interpolate"({{.*}}) numbers [1]
// CHECK: plan.kernel "InterpolateCoordinates"({{.*}}) numbers [1]
coreai.graph @resized(%x: tensor<1x3x4x4xf32>, %places: tensor<5x4xf32>) -> (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>, tensor<5xf32>) {
  %shape = coreai.constant dense<[1, 3, 8, 8]> : tensor<4xsi32>
  %scale = coreai.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %offset = coreai.constant dense<0.0> : tensor<4xf32>
  %0 = coreai.interpolate %x, %shape, %scale, %offset {interpolation_mode = #coreai.interpolation_mode<linear>} : (tensor<1x3x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x3x8x8xf32>
  %1 = coreai.interpolate %x, %shape, %scale, %offset {interpolation_mode = #coreai.interpolation_mode<nearest_neighbor>} : (tensor<1x3x4x4xf32>, tensor<4xsi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x3x8x8xf32>
  %2 = coreai.interpolate_coordinates %x, %places {interpolation_mode = #coreai.interpolation_mode<nearest_neighbor>} : (tensor<1x3x4x4xf32>, tensor<5x4xf32>) -> tensor<5xf32>
  coreai.output %0, %1, %2 : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>, tensor<5xf32>
}

// CHECK-LABEL: plan.function @scanned
// CHECK: plan.kernel "ScanSum"(%arg0) numbers [1, 0]
// CHECK: plan.kernel "ScanProduct"(%arg0) numbers [1, 0]
// CHECK: plan.kernel "ScanMin"(%arg0) numbers [1, 0]
// CHECK: plan.kernel "ScanMax"(%arg0) numbers [1, 1]
coreai.graph @scanned(%x: tensor<3x20xf32>) -> (tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>) {
  %axis = coreai.constant dense<1> : tensor<ui32>
  %no = coreai.constant dense<false> : tensor<i1>
  %yes = coreai.constant dense<true> : tensor<i1>
  %0 = coreai.scan %x, %axis, %no combiner = <sum> : (tensor<3x20xf32>, tensor<ui32>, tensor<i1>) -> tensor<3x20xf32>
  %1 = coreai.scan %x, %axis, %no combiner = <product> : (tensor<3x20xf32>, tensor<ui32>, tensor<i1>) -> tensor<3x20xf32>
  %2 = coreai.scan %x, %axis, %no combiner = <min> : (tensor<3x20xf32>, tensor<ui32>, tensor<i1>) -> tensor<3x20xf32>
  %3 = coreai.scan %x, %axis, %yes combiner = <max> : (tensor<3x20xf32>, tensor<ui32>, tensor<i1>) -> tensor<3x20xf32>
  coreai.output %0, %1, %2, %3 : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>
}

// CHECK-LABEL: plan.function @sorted
// CHECK: plan.kernel "Sort"(%arg0) numbers [1, 0]
// CHECK: plan.kernel "Argsort"(%arg0) numbers [1, 0]
coreai.graph @sorted(%x: tensor<3x20xf32>) -> (tensor<3x20xf32>, tensor<3x20xsi32>) {
  %axis = coreai.constant dense<1> : tensor<si32>
  %no = coreai.constant dense<false> : tensor<i1>
  %0 = coreai.sort %x, %axis, %no, %no : (tensor<3x20xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<3x20xf32>
  %1 = coreai.argsort %x, %axis, %no, %no : (tensor<3x20xf32>, tensor<si32>, tensor<i1>, tensor<i1>) -> tensor<3x20xsi32>
  coreai.output %0, %1 : tensor<3x20xf32>, tensor<3x20xsi32>
}

// CHECK-LABEL: plan.function @along
// CHECK: plan.kernel "GatherAlongAxis"(%arg0, %arg1) numbers [0]
// CHECK: plan.kernel "ScatterAlongAxis"(%arg0, %arg1, %arg2) numbers [0, 0]
// CHECK: plan.kernel "ScatterAlongAxis"(%arg0, %arg1, %arg2) numbers [0, 1]
coreai.graph @along(%x: tensor<4x3xf32>, %places: tensor<2x3xsi32>, %new: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  %axis = coreai.constant dense<0> : tensor<si32>
  %0 = coreai.gather_along_axis %x at %places along %axis : (tensor<4x3xf32>, tensor<2x3xsi32>, tensor<si32>) to tensor<2x3xf32>
  %1 = coreai.scatter_along_axis %x, %places, %new, %axis scatter_mode = <update> : (tensor<4x3xf32>, tensor<2x3xsi32>, tensor<2x3xf32>, tensor<si32>) -> tensor<4x3xf32>
  %2 = coreai.scatter_along_axis %x, %places, %new, %axis scatter_mode = <add> : (tensor<4x3xf32>, tensor<2x3xsi32>, tensor<2x3xf32>, tensor<si32>) -> tensor<4x3xf32>
  coreai.output %0, %1, %2 : tensor<2x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}

// CHECK-LABEL: plan.function @reduced
// CHECK: plan.kernel "ReduceProduct"(%arg0)
// CHECK: plan.kernel "ReduceMin"(%arg0)
// CHECK: plan.kernel "ReduceMean"(%arg0)
// CHECK: plan.kernel "ReduceAll"(%arg1)
// CHECK: plan.kernel "ReduceAny"(%arg1)
coreai.graph @reduced(%x: tensor<4x8xf32>, %b: tensor<4x8xi1>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xi1>, tensor<4x1xi1>) {
  %axis = coreai.constant dense<[1]> : tensor<1xsi32>
  %0 = coreai.reduce_product %x, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  %1 = coreai.reduce_min %x, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  %2 = coreai.reduce_mean %x, %axis : (tensor<4x8xf32>, tensor<1xsi32>) -> tensor<4x1xf32>
  %3 = coreai.all %b, %axis : (tensor<4x8xi1>, tensor<1xsi32>) -> tensor<4x1xi1>
  %4 = coreai.any %b, %axis : (tensor<4x8xi1>, tensor<1xsi32>) -> tensor<4x1xi1>
  coreai.output %0, %1, %2, %3, %4 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xi1>, tensor<4x1xi1>
}

// CHECK-LABEL: plan.function @padded
// CHECK: plan.kernel "Fill"
// CHECK: plan.kernel "PadByRule"(%arg0)
coreai.graph @padded(%x: tensor<5x6xf32>) -> (tensor<5x9xf32>, tensor<5x9xf32>) {
  %margins = coreai.constant dense<[0, 0, 1, 2]> : tensor<4xui32>
  %zero = coreai.constant dense<0.0> : tensor<f32>
  %0 = coreai.pad %x, %margins, %zero mode = <constant> : (tensor<5x6xf32>, tensor<4xui32>, tensor<f32>) -> tensor<5x9xf32>
  %1 = coreai.pad %x, %margins, %zero mode = <reflect> : (tensor<5x6xf32>, tensor<4xui32>, tensor<f32>) -> tensor<5x9xf32>
  coreai.output %0, %1 : tensor<5x9xf32>, tensor<5x9xf32>
}

// CHECK-LABEL: plan.function @counted
// CHECK: plan.kernel "RangeCount"
// CHECK: plan.kernel "Range"
coreai.graph @counted(%start: tensor<f32>) -> (tensor<?xf32>) {
  %stop = coreai.constant dense<9.0> : tensor<f32>
  %step = coreai.constant dense<2.0> : tensor<f32>
  %0 = coreai.range %start, %stop, %step : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  coreai.output %0 : tensor<?xf32>
}

// CHECK-LABEL: plan.function @shape
// CHECK: plan.kernel "Numbers"
coreai.graph @shape(%x: tensor<?x4xf32>) -> (tensor<2xui32>) {
  %0 = coreai.get_shape %x : tensor<?x4xf32> -> tensor<2xui32>
  coreai.output %0 : tensor<2xui32>
}

// Nobody has packed weights that come as inputs.
// CHECK-LABEL: plan.function @convolved
// CHECK: plan.kernel "Convolution"(%arg0, %arg1)
// CHECK: plan.kernel "ConvolutionTransposed"(%arg0, %arg2)
coreai.graph @convolved(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %wt: tensor<4x6x3x3xf32>) -> (tensor<1x6x6x6xf32>, tensor<1x6x10x10xf32>) {
  %zeros = coreai.constant dense<0> : tensor<2xui32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %groups = coreai.constant dense<1> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %groups : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x6x6xf32>
  %1 = coreai.conv_transpose2d %x, %wt, %ones, %zeros, %ones, %zeros, %groups : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x6x10x10xf32>
  coreai.output %0, %1 : tensor<1x6x6x6xf32>, tensor<1x6x10x10xf32>
}

// CHECK-LABEL: plan.function @depthwise
// CHECK: plan.kernel "ConvolutionDepthwise"
coreai.graph @depthwise(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x4x4xf32>) {
  %w = coreai.constant dense<0.5> : tensor<8x1x3x3xf32>
  %ones = coreai.constant dense<1> : tensor<2xui32>
  %groups = coreai.constant dense<8> : tensor<ui32>
  %0 = coreai.conv2d %x, %w, %ones, %ones, %groups : (tensor<1x8x6x6xf32>, tensor<8x1x3x3xf32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>) -> tensor<1x8x4x4xf32>
  coreai.output %0 : tensor<1x8x4x4xf32>
}

// CHECK-LABEL: plan.function @quantized
// CHECK: plan.kernel "Quantize"
// CHECK: plan.kernel "Dequantize"
coreai.graph @quantized(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %zero: tensor<3xsi8>, %offset: tensor<3xf32>) -> (tensor<2x3xsi8>, tensor<2x3xf32>) {
  %axis = coreai.constant dense<1> : tensor<si32>
  %0 = coreai.quantize %x, %scale, %zero, %offset, %axis : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xsi8>
  %1 = coreai.dequantize %0, %scale, %zero, %offset, %axis : (tensor<2x3xsi8>, tensor<3xf32>, tensor<3xsi8>, tensor<3xf32>, tensor<si32>) -> tensor<2x3xf32>
  coreai.output %0, %1 : tensor<2x3xsi8>, tensor<2x3xf32>
}

// Programs have no lanes for these.
// CHECK-LABEL: plan.function @unsigned
// CHECK: plan.kernel "BitwiseAnd"(%arg0, %arg1)
// CHECK: plan.kernel "BitwiseOr"(%arg0, %arg1)
// CHECK: plan.kernel "BitwiseXor"(%arg0, %arg1)
// CHECK: plan.kernel "Maximum"(%arg0, %arg1)
// CHECK: plan.kernel "Minimum"(%arg0, %arg1)
// CHECK: plan.kernel "Equal"(%arg0, %arg1)
// CHECK: plan.kernel "NotEqual"(%arg0, %arg1)
// CHECK: plan.kernel "Greater"(%arg0, %arg1)
coreai.graph @unsigned(%x: tensor<3x40xui32>, %y: tensor<3x40xui32>) -> (tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xi1>, tensor<3x40xi1>, tensor<3x40xi1>) {
  %0 = coreai.bitwise_and %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xui32>
  %1 = coreai.bitwise_or %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xui32>
  %2 = coreai.bitwise_xor %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xui32>
  %3 = coreai.maximum %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xui32>
  %4 = coreai.minimum %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xui32>
  %5 = coreai.equal %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xi1>
  %6 = coreai.not_equal %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xi1>
  %7 = coreai.greater %x, %y : (tensor<3x40xui32>, tensor<3x40xui32>) -> tensor<3x40xi1>
  coreai.output %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xui32>, tensor<3x40xi1>, tensor<3x40xi1>, tensor<3x40xi1>
}

// CHECK-LABEL: plan.function @complex
// CHECK: plan.kernel "CreateComplex"
// CHECK: plan.kernel "Mul"
// CHECK: plan.kernel "RealPart"
// CHECK: plan.kernel "ImaginaryPart"
coreai.graph @complex(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = coreai.create_complex %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
  %1 = coreai.mul %0, %0 : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %2 = coreai.real_part %1 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %3 = coreai.imaginary_part %1 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  coreai.output %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// Elements of four bits share bytes in a file: whole bytes are gathered.
// CHECK-LABEL: plan.function @unpacked
// CHECK: plan.kernel "GatherNd"({{.*}}) -> tensor<3x3xui8>
// CHECK: plan.kernel "Unpack"
coreai.graph @unpacked(%i: tensor<3x1xsi32>) -> (tensor<3x6xf32>) {
  %codes = coreai.constant dense_resource<codes> : tensor<2x6xui4>
  %axis = coreai.constant dense<0> : tensor<si16>
  %lut = coreai.constant dense<0.5> : tensor<1x1x16x1xf32>
  %0 = coreai.lut_to_dense %codes, %lut, %axis : (tensor<2x6xui4>, tensor<1x1x16x1xf32>, tensor<si16>) -> tensor<2x6xf32>
  %1 = coreai.gather_nd %0 at %i : (tensor<2x6xf32>, tensor<3x1xsi32>) to tensor<3x6xf32>
  coreai.output %1 : tensor<3x6xf32>
}

{-#
  dialect_resources: {
    builtin: {
      codes: "0x10000000214365563412"
    }
  }
#-}
