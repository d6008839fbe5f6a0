// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images and resampling.

#ifndef CORTEN_DIALECT_COREAI_IR_IMAGEOPS_TD
#define CORTEN_DIALECT_COREAI_IR_IMAGEOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIAttributes.td"
include "corten/Dialect/CoreAI/IR/CoreAIBase.td"
include "corten/Dialect/CoreAI/IR/CoreAITypes.td"

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

def CoreAI_ImageToTensorOp : CoreAI_InferredOp<
    "image_to_tensor", CoreAI_Exact> {
  let summary = "the pixels of an image";
  let description = [{
    [H, W, 3] for `k24RGB`, [H, W, 4] for `k32ARGB` and `k32BGRA`, a flat
    vector of H·W·3/2 for `k420YpCbCr8Planar` and of H·W otherwise.
  }];
  let arguments = (ins CoreAI_ImageType:$source);
  let results = (outs CoreAI_DenseTensor<[UI8]>:$result);
  let assemblyFormat = "$source `:` type($source) `->` type($result) attr-dict";
}

def CoreAI_TensorToImageOp : CoreAI_PureOp<"tensor_to_image"> {
  let summary = "an image from its pixels";
  let description = [{
    The result type says which image; the shape is not compared with it.
  }];
  let arguments = (ins CoreAI_DenseTensor<[UI8]>:$source);
  let results = (outs CoreAI_ImageType:$result);
  let assemblyFormat = "$source `:` type($source) `->` type($result) attr-dict";
}

//===----------------------------------------------------------------------===//
// Resampling
//===----------------------------------------------------------------------===//

class CoreAI_ResamplingOp<string mnemonic>
    : CoreAI_InferredOp<mnemonic, CoreAI_ElementAndRank> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

def CoreAI_InterpolateOp : CoreAI_ResamplingOp<"interpolate"> {
  let summary = "a tensor sampled on a regular grid";
  let description = [{
    Element i of an axis is taken at `(i + 0.5 - offset) / scale - 0.5`,
    clamped to the edge. Half-pixel sampling has scale = out/in and offset 0;
    aligned corners scale = (out-1)/(in-1) and offset = (1 - scale)/2; an axis
    that is left alone scale 1. Linear is N-linear over all axes; nearest
    rounds ties to even; integers truncate.
  }];
  let arguments = (ins
    CoreAI_OrderedData:$input,
    CoreAI_StaticVector<[CoreAI_IDX]>:$output_shape,
    CoreAI_StaticVector<[F32]>:$scale,
    CoreAI_StaticVector<[F32]>:$offset,
    CoreAI_InterpolationModeAttr:$interpolation_mode);
  let results = (outs CoreAI_OrderedData:$result);
}

def CoreAI_InterpolateCoordinatesOp
    : CoreAI_ResamplingOp<"interpolate_coordinates"> {
  let summary = "a tensor sampled at given places";
  let description = [{
    Row i of `coords` is an absolute position, clamped to the edge; the result
    has one element per row.
  }];
  let arguments = (ins
    CoreAI_OrderedData:$input,
    CoreAI_DenseTensorOfRank<[F32], [2]>:$coords,
    CoreAI_InterpolationModeAttr:$interpolation_mode);
  let results = (outs CoreAI_Vector<[CoreAI_F, CoreAI_F8, CoreAI_I]>:$result);
}

#endif // CORTEN_DIALECT_COREAI_IR_IMAGEOPS_TD
