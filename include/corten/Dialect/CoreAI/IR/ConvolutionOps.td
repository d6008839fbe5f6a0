// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions and pools. Inputs are [N, C, spatial...]; there is no bias, and
// no padding except for the transposed forms: pad first.

#ifndef CORTEN_DIALECT_COREAI_IR_CONVOLUTIONOPS_TD
#define CORTEN_DIALECT_COREAI_IR_CONVOLUTIONOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIBase.td"

def InferConvolution : CoreAI_SharedInference<"inferConvolution">;
def InferPool : CoreAI_SharedInference<"inferSumPool">;

/// One number per spatial axis.
class CoreAI_SpatialVector<int spatial>
    : CoreAI_VectorOfLength<[CoreAI_UIDX], spatial>;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

class CoreAI_ConvOperand<int spatial>
    : CoreAI_DenseTensorOfRank<[CoreAI_F, CoreAI_F8, CoreAI_C],
                               [!add(spatial, 2)]>;

/// `vector` is the type of stride and dilation: the 2-D forms accept a vector
/// of unknown length, the 3-D forms do not.
class CoreAI_ConvOp<string mnemonic, int spatial, TypeConstraint vector>
    : CoreAI_FamilyInferredOp<
          mnemonic, InferConvolution, CoreAI_Unchecked,
          [AllElementTypesMatch<["input", "weight"]>, Pure]> {
  let arguments = (ins
    CoreAI_ConvOperand<spatial>:$input,
    CoreAI_ConvOperand<spatial>:$weight,
    vector:$stride,
    vector:$dilation,
    CoreAI_Scalar<[CoreAI_UIDX]>:$groups);
  let results = (outs
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_C]>:$output);
  let description = [{
    Cross-correlation of [N, Cin, spatial...] with [Cout, Cin/groups,
    kernel...]; an extent n becomes `floor((n - d(k-1) - 1) / s) + 1`. f16
    accumulates in f32. `groups` must be a constant. The declared result is not
    compared with the inferred one.
  }];
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_Conv2dOp : CoreAI_ConvOp<"conv2d", 2, CoreAI_Sizes> {
  let summary = "2-D convolution";
}

def CoreAI_Conv3dOp : CoreAI_ConvOp<"conv3d", 3, CoreAI_SpatialVector<3>> {
  let summary = "3-D convolution";
}

class CoreAI_ConvTransposeOp<string mnemonic, int spatial,
                             TypeConstraint vector>
    : CoreAI_PureOp<mnemonic> {
  let arguments = (ins
    CoreAI_ConvOperand<spatial>:$input,
    CoreAI_ConvOperand<spatial>:$weight,
    vector:$stride,
    vector:$padding,
    vector:$dilation,
    vector:$output_pad,
    CoreAI_Scalar<[CoreAI_UIDX]>:$groups);
  let results = (outs
    CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_C]>:$output);
  let description = [{
    The weight is [Cin, Cout/groups, kernel...]; an extent n becomes
    `(n-1)s - 2p + d(k-1) + output_pad + 1`. The result type is not inferred,
    and the runtime takes the declared extents as the true ones.
  }];
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

def CoreAI_ConvTranspose2dOp
    : CoreAI_ConvTransposeOp<"conv_transpose2d", 2, CoreAI_Sizes> {
  let summary = "transposed 2-D convolution";
}

def CoreAI_ConvTranspose3dOp
    : CoreAI_ConvTransposeOp<"conv_transpose3d", 3, CoreAI_SpatialVector<3>> {
  let summary = "transposed 3-D convolution";
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

class CoreAI_PoolOperand<int spatial>
    : CoreAI_DenseTensorOfRank<[CoreAI_F, CoreAI_F8, CoreAI_I],
                               [!add(spatial, 2)]>;

class CoreAI_MaxPoolOp<string mnemonic, int spatial>
    : CoreAI_PureOp<mnemonic, [AllElementTypesMatch<["input", "output"]>]> {
  let arguments = (ins
    CoreAI_PoolOperand<spatial>:$input,
    CoreAI_SpatialVector<spatial>:$kernel_size,
    CoreAI_SpatialVector<spatial>:$stride,
    CoreAI_SpatialVector<spatial>:$dilation,
    CoreAI_Flag:$ceil_mode);
  let results = (outs CoreAI_PoolOperand<spatial>:$output);
  let description = [{
    NaN wins. With `ceil_mode` a window may stick out at the end. The result
    type is not inferred.
  }];
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

def CoreAI_MaxPool2dOp : CoreAI_MaxPoolOp<"max_pool_2d", 2> {
  let summary = "2-D window maximum";
}

def CoreAI_MaxPool3dOp : CoreAI_MaxPoolOp<"max_pool_3d", 3> {
  let summary = "3-D window maximum";
}

class CoreAI_SumPoolOp<string mnemonic, int spatial>
    : CoreAI_FamilyInferredOp<mnemonic, InferPool, CoreAI_ElementAndRank> {
  let arguments = (ins
    CoreAI_PoolOperand<spatial>:$input,
    CoreAI_SpatialVector<spatial>:$kernel_size,
    CoreAI_SpatialVector<spatial>:$strides,
    CoreAI_SpatialVector<spatial>:$dilation);
  let results = (outs CoreAI_PoolOperand<spatial>:$output);
  let description = [{
    Integers wrap; f16 accumulates in f32. Averages are this op times a
    constant.
  }];
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

def CoreAI_SumPool2dOp : CoreAI_SumPoolOp<"sum_pool_2d", 2> {
  let summary = "2-D window sum";
}

def CoreAI_SumPool3dOp : CoreAI_SumPoolOp<"sum_pool_3d", 3> {
  let summary = "3-D window sum";
}

#endif // CORTEN_DIALECT_COREAI_IR_CONVOLUTIONOPS_TD
