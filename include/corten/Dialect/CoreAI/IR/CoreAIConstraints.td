// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element sets and tensor kinds of operands and results.
//
// A tensor here is always ranked. Any encoding except the sparse one is
// tolerated: it says where a tensor lives, not what it is.

#ifndef CORTEN_DIALECT_COREAI_IR_COREAICONSTRAINTS_TD
#define CORTEN_DIALECT_COREAI_IR_COREAICONSTRAINTS_TD

include "mlir/IR/CommonTypeConstraints.td"

//===----------------------------------------------------------------------===//
// Element sets
//===----------------------------------------------------------------------===//

/// Floats that arithmetic is done in. Storage-only forms are in F8 and MX.
def CoreAI_F : AnyTypeOf<[BF16, F16, F32, F64], "bf16, f16, f32 or f64">;

/// The same without f64, which quantization has no use for.
def CoreAI_F32Down : AnyTypeOf<[BF16, F16, F32], "bf16, f16 or f32">;

def CoreAI_F8 : AnyTypeOf<[F8E4M3FN, F8E5M2], "f8E4M3FN or f8E5M2">;

/// Microscaling formats: four-bit data and the power-of-two scale.
def CoreAI_MX : AnyTypeOf<[F4E2M1FN, F8E8M0FNU], "f4E2M1FN or f8E8M0FNU">;

def CoreAI_I8 : AnyTypeOf<[SI8, UI8], "si8 or ui8">;
def CoreAI_I16 : AnyTypeOf<[SI16, UI16], "si16 or ui16">;
def CoreAI_I32 : AnyTypeOf<[SI32, UI32], "si32 or ui32">;
def CoreAI_I64 : AnyTypeOf<[SI64, UI64], "si64 or ui64">;
def CoreAI_I : AnyTypeOf<
    [SI8, UI8, SI16, UI16, SI32, UI32, SI64, UI64],
    "signed or unsigned integer of 8, 16, 32 or 64 bits">;

def CoreAI_I2 : AnyTypeOf<[SI<2>, UI<2>], "si2 or ui2">;
def CoreAI_I4 : AnyTypeOf<[SI<4>, UI<4>], "si4 or ui4">;
def CoreAI_I24 : AnyTypeOf<[SI<2>, UI<2>, SI<4>, UI<4>],
                           "si2, ui2, si4 or ui4">;

def CoreAI_C : AnyTypeOf<[Complex<F32>], "complex<f32>">;

/// The boolean, and the only signless integer there is.
def CoreAI_B : AnyTypeOf<[I1], "i1">;

/// Signed indices: axes, starts, ends, gather and scatter indices.
def CoreAI_IDX : AnyTypeOf<[SI16, SI32], "si16 or si32">;

/// Unsigned indices: extents, permutations, strides, paddings.
def CoreAI_UIDX : AnyTypeOf<[UI16, UI32], "ui16 or ui32">;

/// Indices into a lookup table.
def CoreAI_PaletteIndex : AnyTypeOf<
    [UI<1>, UI<2>, UI<3>, UI<4>, UI<6>, UI<8>],
    "unsigned integer of 1, 2, 3, 4, 6 or 8 bits">;

/// Sub-byte palette widths, for the values of a sparse tensor.
def CoreAI_PackedIndex : AnyTypeOf<
    [UI<1>, UI<2>, UI<3>, UI<4>, UI<6>],
    "unsigned integer of 1, 2, 3, 4 or 6 bits">;

/// What quantized data may be stored as.
def CoreAI_Quantized : AnyTypeOf<
    [SI8, UI8, SI<4>, UI<4>, F8E4M3FN, F8E5M2, F4E2M1FN],
    "si8, ui8, si4, ui4, f8E4M3FN, f8E5M2 or f4E2M1FN">;

//===----------------------------------------------------------------------===//
// Tensor kinds
//===----------------------------------------------------------------------===//

/// A test of a ranked tensor by a function of TensorKinds.h.
class CoreAI_TensorPred<string function> : CPred<
    "::corten::coreai::" # function #
    "(::llvm::cast<::mlir::RankedTensorType>($_self))">;

def CoreAI_IsDensePred : CoreAI_TensorPred<"isDense">;
def CoreAI_IsSparsePred : CoreAI_TensorPred<"isSparse">;
def CoreAI_IsMetalBufferPred : CoreAI_TensorPred<"isMetalBuffer">;

class CoreAI_HasLengthPred<int length> : CPred<
    "::llvm::cast<::mlir::ShapedType>($_self).getDimSize(0) == " # length>;

/// Dense, any rank.
class CoreAI_DenseTensor<list<Type> elements>
    : RankedTensorOf<elements, [CoreAI_IsDensePred], "dense tensor">;

class CoreAI_DenseTensorOfRank<list<Type> elements, list<int> ranks>
    : RankedTensorOf<
          elements, [HasAnyRankOfPred<ranks>, CoreAI_IsDensePred],
          !interleave(!foreach(rank, ranks, rank # "D"), " or ")
              # " dense tensor">;

class CoreAI_Scalar<list<Type> elements>
    : CoreAI_DenseTensorOfRank<elements, [0]>;
class CoreAI_Vector<list<Type> elements>
    : CoreAI_DenseTensorOfRank<elements, [1]>;
class CoreAI_ScalarOrVector<list<Type> elements>
    : CoreAI_DenseTensorOfRank<elements, [0, 1]>;

/// A vector whose length is part of its type.
class CoreAI_StaticVector<list<Type> elements>
    : RankedTensorOf<
          elements,
          [HasAnyRankOfPred<[1]>, HasStaticShapePred, CoreAI_IsDensePred],
          "dense vector of static length">;

class CoreAI_VectorOfLength<list<Type> elements, int length>
    : RankedTensorOf<
          elements,
          [HasAnyRankOfPred<[1]>, CoreAI_HasLengthPred<length>,
           CoreAI_IsDensePred],
          "dense vector of length " # length>;

/// Bitmask-sparse, any rank.
class CoreAI_SparseTensor<list<Type> elements>
    : RankedTensorOf<elements, [CoreAI_IsSparsePred],
                     "bitmask-sparse tensor">;

/// Laid out for a Metal kernel, any rank.
class CoreAI_MetalBuffer<list<Type> elements>
    : RankedTensorOf<elements, [CoreAI_IsMetalBufferPred],
                     "MTLBuffer-constrained tensor">;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Everything a tensor can hold: what ops that only move data accept.
def CoreAI_AnyData : CoreAI_DenseTensor<
    [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I24, CoreAI_MX, CoreAI_C,
     CoreAI_B]>;

/// What gathers and scatters accept.
def CoreAI_IndexableData : CoreAI_DenseTensor<
    [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_I24, CoreAI_C, CoreAI_B]>;

/// The real numbers that can be ordered.
def CoreAI_OrderedData : CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8, CoreAI_I]>;

def CoreAI_Bools : CoreAI_DenseTensor<[CoreAI_B]>;
def CoreAI_Flag : CoreAI_Scalar<[CoreAI_B]>;

/// One axis, or several; negative ones count from the end.
def CoreAI_Axis : CoreAI_Scalar<[CoreAI_IDX]>;
def CoreAI_Axes : CoreAI_Vector<[CoreAI_IDX]>;

/// Extents, permutations, repetitions, paddings.
def CoreAI_Sizes : CoreAI_Vector<[CoreAI_UIDX]>;

/// Positions to gather from or scatter to.
def CoreAI_Indices : CoreAI_DenseTensor<[CoreAI_IDX]>;

#endif // CORTEN_DIALECT_COREAI_IR_COREAICONSTRAINTS_TD
