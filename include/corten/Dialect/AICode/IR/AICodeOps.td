// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of the `aicode` dialect. What an op computes is said once, at its
// counterpart in `coreai`; here it is a name with operands and properties.
// Properties are written in the alphabetical order of their names.

#ifndef CORTEN_DIALECT_AICODE_IR_AICODEOPS_TD
#define CORTEN_DIALECT_AICODE_IR_AICODEOPS_TD

include "corten/Dialect/AICode/IR/AICodeDialect.td"
include "mlir/IR/OpBase.td"

class AICode_Op<string opMnemonic, list<Trait> traits = []>
    : Op<AICode_Dialect, opMnemonic, traits> {
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
}

/// An op whose region repeats it in simpler ops, for readers that lack it.
class AICode_Decomposable<string opMnemonic>
    : AICode_Op<opMnemonic, [IsolatedFromAbove]> {
  let regions = (region AnyRegion:$decomposition);
}

/// An op with a body that sees nothing but its arguments.
class AICode_WithBody<string opMnemonic, list<Trait> traits = []>
    : AICode_Op<opMnemonic, !listconcat([IsolatedFromAbove], traits)> {
  let regions = (region AnyRegion:$body);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def AICode_AssetOp
    : AICode_WithBody<"serialization.asset", [NoTerminator]> {
  let summary = "What a file holds";
  let arguments = (ins OptionalAttr<AnyAttr>:$source,
                       OptionalAttr<AnyAttr>:$version);
  let results = (outs);
}

def AICode_GraphV1Op : AICode_WithBody<"dataflow.graph_v1"> {
  let arguments = (ins AnyAttr:$argAttrs, OptionalAttr<AnyAttr>:$compositeDecl,
                       AnyAttr:$externalize, AnyAttr:$functionType,
                       AnyAttr:$isPrivate, AnyAttr:$name, AnyAttr:$noInline,
                       AnyAttr:$paramDecls, AnyAttr:$resAttrs);
  let results = (outs);
}

def AICode_NamespaceV1Op
    : AICode_WithBody<"dataflow.namespace_v1", [NoTerminator]> {
  let arguments = (ins AnyAttr:$name, AnyAttr:$paramDecls);
  let results = (outs);
}

def AICode_InvokeV1Op : AICode_Op<"dataflow.invoke_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$arg_attrs,
                       AnyAttr:$callee, AnyAttr:$res_attrs);
}

def AICode_IsolatedGroupV1Op
    : AICode_WithBody<"dataflow.isolated_group_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$arg_attrs,
                       AnyAttr:$delegate_id, AnyAttr:$res_attrs);
}

def AICode_OutputV1Op : AICode_Op<"dataflow.output_v1", [Terminator]>;
def AICode_YieldV1Op : AICode_Op<"dataflow.yield_v1", [Terminator]>;

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

def AICode_IfV1Op : AICode_Op<"controlflow.if_v1"> {
  let regions = (region AnyRegion:$thenRegion, AnyRegion:$elseRegion);
}

def AICode_WhileV1Op : AICode_Op<"controlflow.while_v1"> {
  let regions = (region AnyRegion:$condition, AnyRegion:$body);
}

def AICode_ConditionV1Op
    : AICode_Op<"controlflow.condition_v1", [Terminator]>;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

def AICode_CreateTokenV1Op : AICode_Op<"dataflow.create_token_v1">;
def AICode_JoinTokenV1Op : AICode_Op<"dataflow.join_token_v1">;
def AICode_ReadHandleV1Op : AICode_Op<"dataflow.read_handle_v1">;
def AICode_WriteHandleV1Op : AICode_Op<"dataflow.write_handle_v1">;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

def AICode_DelegateV2Op : AICode_Op<"execution.delegate_v2"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$arg_attrs,
                       OptionalAttr<AnyAttr>:$delegate_attrs,
                       AnyAttr:$delegate_id, AnyAttr:$lifecycle,
                       AnyAttr:$res_attrs, AnyAttr:$resource);
}

def AICode_TargetSpecV1Op : AICode_Op<"execution.target_spec_v1"> {
  let arguments = (ins AnyAttr:$compilation, AnyAttr:$spec);
  let results = (outs);
}

def AICode_Metal4KernelV1Op : AICode_Op<"metal.metal4_kernel_v1"> {
  let summary = "Metal kernel";
  let description = [{
    The last operands are the shapes of the results, one for each, before them
    the threads of the grid and of a group.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$kernel_name,
                       AnyAttr:$kernel_source);
}

def AICode_CopyWithConstraintsV1Op
    : AICode_Op<"ax.copy_with_constraints_v1">;
def AICode_CopyDiscardingConstraintsV1Op
    : AICode_Op<"ax.copy_discarding_constraints_v1">;

//===----------------------------------------------------------------------===//
// Functions of other front ends
//===----------------------------------------------------------------------===//

def AICode_FuncV1Op : AICode_WithBody<"udml.func_v1"> {
  let arguments = (ins AnyAttr:$argAttrs, AnyAttr:$functionType, AnyAttr:$name,
                       AnyAttr:$noInline, AnyAttr:$paramDecls,
                       AnyAttr:$resAttrs);
  let results = (outs);
}

def AICode_CallV1Op : AICode_Op<"udml.call_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$arg_attrs,
                       AnyAttr:$callee, AnyAttr:$res_attrs);
}

def AICode_ReturnV1Op : AICode_Op<"udml.return_v1", [Terminator]>;

def AICode_PlaceholderV1Op : AICode_Op<"udml.placeholder_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$annotations,
                       OptionalAttr<AnyAttr>:$keep_placeholder,
                       AnyAttr:$opname);
}

//===----------------------------------------------------------------------===//
// Variables of the source program
//===----------------------------------------------------------------------===//

def AICode_RecordV1Op : AICode_Op<"debuginfo.record_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$id);
}

def AICode_ValueV1Op : AICode_Op<"debuginfo.value_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs, AnyAttr:$variable);
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

def AICode_AbsV1Op : AICode_Op<"primitive.abs_v1">;
def AICode_AcosV1Op : AICode_Op<"primitive.acos_v1">;
def AICode_AcoshV1Op : AICode_Op<"primitive.acosh_v1">;
def AICode_AddV1Op : AICode_Op<"primitive.add_v1">;
def AICode_ArgsortV1Op : AICode_Op<"primitive.argsort_v1">;
def AICode_AsinV1Op : AICode_Op<"primitive.asin_v1">;
def AICode_AsinhV1Op : AICode_Op<"primitive.asinh_v1">;
def AICode_AtanV1Op : AICode_Op<"primitive.atan_v1">;
def AICode_AtanhV1Op : AICode_Op<"primitive.atanh_v1">;
def AICode_BatchMatmulV1Op : AICode_Op<"primitive.batch_matmul_v1">;
def AICode_BitwiseAndV1Op : AICode_Op<"primitive.bitwise_and_v1">;
def AICode_BitwiseOrV1Op : AICode_Op<"primitive.bitwise_or_v1">;
def AICode_BitwiseXorV1Op : AICode_Op<"primitive.bitwise_xor_v1">;
def AICode_BlockwiseShiftScaleV1Op
    : AICode_Op<"primitive.blockwise_shift_scale_v1">;
def AICode_BlockwiseShiftScaleV2Op
    : AICode_Op<"primitive.blockwise_shift_scale_v2">;
def AICode_BroadcastInDimsV1Op : AICode_Op<"primitive.broadcast_in_dims_v1">;
def AICode_BroadcastShapesV1Op : AICode_Op<"primitive.broadcast_shapes_v1">;
def AICode_BroadcastToV1Op : AICode_Op<"primitive.broadcast_to_v1">;
def AICode_BuildSparseWithBitmaskV1Op
    : AICode_Op<"primitive.build_sparse_with_bitmask_v1">;
def AICode_CastV1Op : AICode_Op<"primitive.cast_v1">;
def AICode_ConcatV1Op : AICode_Op<"primitive.concat_v1">;
def AICode_ConstantV1Op : AICode_Op<"primitive.constant_v1"> {
  let arguments = (ins AnyAttr:$value);
}
def AICode_Conv2dV1Op : AICode_Op<"primitive.conv2d_v1">;
def AICode_Conv3dV1Op : AICode_Op<"primitive.conv3d_v1">;
def AICode_ConvTranspose2dV1Op : AICode_Op<"primitive.conv_transpose2d_v1">;
def AICode_ConvTranspose3dV1Op : AICode_Op<"primitive.conv_transpose3d_v1">;
def AICode_CosV1Op : AICode_Op<"primitive.cos_v1">;
def AICode_CoshV1Op : AICode_Op<"primitive.cosh_v1">;
def AICode_CreateComplexV1Op : AICode_Op<"primitive.create_complex_v1">;
def AICode_DivideV1Op : AICode_Op<"primitive.divide_v1">;
def AICode_EqualV1Op : AICode_Op<"primitive.equal_v1">;
def AICode_ErfV1Op : AICode_Op<"primitive.erf_v1">;
def AICode_ExpV1Op : AICode_Op<"primitive.exp_v1">;
def AICode_ExpandDimsV1Op : AICode_Op<"primitive.expand_dims_v1">;
def AICode_FloorDivideV1Op : AICode_Op<"primitive.floor_divide_v1">;
def AICode_GatherAlongAxisV1Op : AICode_Op<"primitive.gather_along_axis_v1">;
def AICode_GatherNdV1Op : AICode_Op<"primitive.gather_nd_v1">;
def AICode_GeluV1Op : AICode_Op<"primitive.gelu_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs,
                       AnyAttr:$approximate);
}
def AICode_GetShapeV1Op : AICode_Op<"primitive.get_shape_v1">;
def AICode_GetShapeV2Op : AICode_Op<"primitive.get_shape_v2">;
def AICode_GreaterV1Op : AICode_Op<"primitive.greater_v1">;
def AICode_ImageToTensorV1Op : AICode_Op<"primitive.image_to_tensor_v1">;
def AICode_ImaginaryPartV1Op : AICode_Op<"primitive.imaginary_part_v1">;
def AICode_InterpolateCoordinatesV1Op
    : AICode_Op<"primitive.interpolate_coordinates_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs,
                       AnyAttr:$interpolation_mode);
}
def AICode_InterpolateV1Op : AICode_Op<"primitive.interpolate_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs,
                       AnyAttr:$interpolation_mode);
}
def AICode_LogV1Op : AICode_Op<"primitive.log_v1">;
def AICode_LogicalAndV1Op : AICode_Op<"primitive.logical_and_v1">;
def AICode_LogicalOrV1Op : AICode_Op<"primitive.logical_or_v1">;
def AICode_LogicalXorV1Op : AICode_Op<"primitive.logical_xor_v1">;
def AICode_LutToDenseV1Op : AICode_Op<"primitive.lut_to_dense_v1">;
def AICode_LutToSparseWithBitmaskV1Op
    : AICode_Op<"primitive.lut_to_sparse_with_bitmask_v1">;
def AICode_MaxPool2dV1Op : AICode_Op<"primitive.max_pool_2d_v1">;
def AICode_MaxPool3dV1Op : AICode_Op<"primitive.max_pool_3d_v1">;
def AICode_MaximumV1Op : AICode_Op<"primitive.maximum_v1">;
def AICode_MinimumV1Op : AICode_Op<"primitive.minimum_v1">;
def AICode_ModuloV1Op : AICode_Op<"primitive.modulo_v1">;
def AICode_MulV1Op : AICode_Op<"primitive.mul_v1">;
def AICode_NonZeroV1Op : AICode_Op<"primitive.non_zero_v1">;
def AICode_NotEqualV1Op : AICode_Op<"primitive.not_equal_v1">;
def AICode_NotV1Op : AICode_Op<"primitive.not_v1">;
def AICode_PadV1Op : AICode_Op<"primitive.pad_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs,
                       AnyAttr:$padding_mode);
}
def AICode_PowV1Op : AICode_Op<"primitive.pow_v1">;
def AICode_RangeV1Op : AICode_Op<"primitive.range_v1">;
def AICode_RealPartV1Op : AICode_Op<"primitive.real_part_v1">;
def AICode_ReduceIndexV1Op : AICode_WithBody<"primitive.reduce_index_v1">;
def AICode_ReduceV1Op : AICode_WithBody<"primitive.reduce_v1">;
def AICode_ReshapeV1Op : AICode_Op<"primitive.reshape_v1">;
def AICode_ReshapeV2Op : AICode_Op<"primitive.reshape_v2">;
def AICode_ReverseV1Op : AICode_Op<"primitive.reverse_v1">;
def AICode_RoundV1Op : AICode_Op<"primitive.round_v1">;
def AICode_RsqrtV1Op : AICode_Op<"primitive.rsqrt_v1">;
def AICode_ScanV1Op : AICode_Op<"primitive.scan_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs,
                       AnyAttr:$combiner);
}
def AICode_ScatterAlongAxisV1Op : AICode_Op<"primitive.scatter_along_axis_v1"> {
  let arguments = (ins Variadic<AnyType>:$inputs,
                       AnyAttr:$scatter_mode);
}
def AICode_ScatterNdV1Op : AICode_WithBody<"primitive.scatter_nd_v1">;
def AICode_ShrinkDimsV1Op : AICode_Op<"primitive.shrink_dims_v1">;
def AICode_SinV1Op : AICode_Op<"primitive.sin_v1">;
def AICode_SinhV1Op : AICode_Op<"primitive.sinh_v1">;
def AICode_SliceUpdateV1Op : AICode_Op<"primitive.slice_update_v1">;
def AICode_SliceV1Op : AICode_Op<"primitive.slice_v1">;
def AICode_SparseWithBitmaskBlockwiseShiftScaleV1Op
    : AICode_Op<"primitive.sparse_with_bitmask_blockwise_shift_scale_v1">;
def AICode_SparseWithBitmaskToDenseV1Op
    : AICode_Op<"primitive.sparse_with_bitmask_to_dense_v1">;
def AICode_SplitV1Op : AICode_Op<"primitive.split_v1">;
def AICode_SqrtV1Op : AICode_Op<"primitive.sqrt_v1">;
def AICode_SubV1Op : AICode_Op<"primitive.sub_v1">;
def AICode_SumPool2dV1Op : AICode_Op<"primitive.sum_pool_2d_v1">;
def AICode_SumPool3dV1Op : AICode_Op<"primitive.sum_pool_3d_v1">;
def AICode_TanV1Op : AICode_Op<"primitive.tan_v1">;
def AICode_TanhV1Op : AICode_Op<"primitive.tanh_v1">;
def AICode_TensorToImageV1Op : AICode_Op<"primitive.tensor_to_image_v1">;
def AICode_TransposeV1Op : AICode_Op<"primitive.transpose_v1">;
def AICode_WhereV1Op : AICode_Op<"primitive.where_v1">;

//===----------------------------------------------------------------------===//
// Ops that are written with their decomposition
//===----------------------------------------------------------------------===//

def AICode_AllV1Op : AICode_Decomposable<"all_v1">;
def AICode_AnyV1Op : AICode_Decomposable<"any_v1">;
def AICode_ArgmaxV1Op : AICode_Decomposable<"argmax_v1">;
def AICode_AsymmetricQuantizationStatisticsV1Op
    : AICode_Decomposable<"asymmetric_quantization_statistics_v1">;
def AICode_BroadcastingAddV1Op : AICode_Decomposable<"broadcasting_add_v1">;
def AICode_BroadcastingBatchMatmulV1Op
    : AICode_Decomposable<"broadcasting_batch_matmul_v1">;
def AICode_BroadcastingBitwiseAndV1Op
    : AICode_Decomposable<"broadcasting_bitwise_and_v1">;
def AICode_BroadcastingBitwiseOrV1Op
    : AICode_Decomposable<"broadcasting_bitwise_or_v1">;
def AICode_BroadcastingBitwiseXorV1Op
    : AICode_Decomposable<"broadcasting_bitwise_xor_v1">;
def AICode_BroadcastingDivideV1Op
    : AICode_Decomposable<"broadcasting_divide_v1">;
def AICode_BroadcastingEqualV1Op : AICode_Decomposable<"broadcasting_equal_v1">;
def AICode_BroadcastingFloorDivideV1Op
    : AICode_Decomposable<"broadcasting_floor_divide_v1">;
def AICode_BroadcastingGreaterV1Op
    : AICode_Decomposable<"broadcasting_greater_v1">;
def AICode_BroadcastingLogicalAndV1Op
    : AICode_Decomposable<"broadcasting_logical_and_v1">;
def AICode_BroadcastingLogicalOrV1Op
    : AICode_Decomposable<"broadcasting_logical_or_v1">;
def AICode_BroadcastingLogicalXorV1Op
    : AICode_Decomposable<"broadcasting_logical_xor_v1">;
def AICode_BroadcastingMaximumV1Op
    : AICode_Decomposable<"broadcasting_maximum_v1">;
def AICode_BroadcastingMinimumV1Op
    : AICode_Decomposable<"broadcasting_minimum_v1">;
def AICode_BroadcastingModuloV1Op
    : AICode_Decomposable<"broadcasting_modulo_v1">;
def AICode_BroadcastingMulV1Op : AICode_Decomposable<"broadcasting_mul_v1">;
def AICode_BroadcastingNotEqualV1Op
    : AICode_Decomposable<"broadcasting_not_equal_v1">;
def AICode_BroadcastingPowV1Op : AICode_Decomposable<"broadcasting_pow_v1">;
def AICode_BroadcastingSubV1Op : AICode_Decomposable<"broadcasting_sub_v1">;
def AICode_BroadcastingWhereV1Op : AICode_Decomposable<"broadcasting_where_v1">;
def AICode_DequantizeV1Op : AICode_Decomposable<"dequantize_v1">;
def AICode_DequantizeV2Op : AICode_Decomposable<"dequantize_v2">;
def AICode_QuantizeV1Op : AICode_Decomposable<"quantize_v1">;
def AICode_QuantizeV2Op : AICode_Decomposable<"quantize_v2">;
def AICode_ReduceMaxV1Op : AICode_Decomposable<"reduce_max_v1">;
def AICode_ReduceMeanV1Op : AICode_Decomposable<"reduce_mean_v1">;
def AICode_ReduceMinV1Op : AICode_Decomposable<"reduce_min_v1">;
def AICode_ReduceProductV1Op : AICode_Decomposable<"reduce_product_v1">;
def AICode_ReduceSumV1Op : AICode_Decomposable<"reduce_sum_v1">;
def AICode_ReluV1Op : AICode_Decomposable<"relu_v1">;
def AICode_SigmoidV1Op : AICode_Decomposable<"sigmoid_v1">;
def AICode_SiluV1Op : AICode_Decomposable<"silu_v1">;
def AICode_SoftmaxV1Op : AICode_Decomposable<"softmax_v1">;
def AICode_SortV1Op : AICode_Decomposable<"sort_v1">;
def AICode_SymmetricQuantizationStatisticsV1Op
    : AICode_Decomposable<"symmetric_quantization_statistics_v1">;
def AICode_TileV1Op : AICode_Decomposable<"tile_v1">;
def AICode_TileV2Op : AICode_Decomposable<"tile_v2">;

#endif // CORTEN_DIALECT_AICODE_IR_AICODEOPS_TD
