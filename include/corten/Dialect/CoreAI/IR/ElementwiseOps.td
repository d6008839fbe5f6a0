// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that compute each element of the result from the elements at the same
// place: unary and binary arithmetic, comparisons, logic, selection, casts, and
// their forms with NumPy broadcasting.

#ifndef CORTEN_DIALECT_COREAI_IR_ELEMENTWISEOPS_TD
#define CORTEN_DIALECT_COREAI_IR_ELEMENTWISEOPS_TD

include "corten/Dialect/CoreAI/IR/CoreAIAttributes.td"
include "corten/Dialect/CoreAI/IR/CoreAIBase.td"

/// The shape on which all operands agree, a static extent winning over `?`, and
/// the element type of the first operand.
def InferElementwise : CoreAI_SharedInference<"inferElementwise">;

/// The same shape with the element type i1.
def InferComparison : CoreAI_SharedInference<"inferComparison">;

/// The shape that all operands broadcast to. `?` against 1 or `?` stays `?`;
/// against a larger static extent it takes that.
def InferBroadcasting : CoreAI_SharedInference<"inferBroadcasting">;
def InferBroadcastingComparison
    : CoreAI_SharedInference<"inferBroadcastingComparison">;

/// The element type of the parts of a complex tensor, in its shape.
def InferComplexPart : CoreAI_SharedInference<"inferComplexPart">;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class CoreAI_UnaryOp<string mnemonic, list<Type> elements>
    : CoreAI_FamilyInferredOp<
          mnemonic, InferElementwise, CoreAI_Compatible,
          [Elementwise, Pure, SameOperandsAndResultElementType]> {
  let arguments = (ins CoreAI_DenseTensor<elements>:$x);
  let results = (outs CoreAI_DenseTensor<elements>:$output);
  let assemblyFormat = "$x `:` type($x) `->` type($output) attr-dict";
}

def CoreAI_AbsOp : CoreAI_UnaryOp<"abs", [CoreAI_F, CoreAI_I]> {
  let summary = "absolute value";
  let description = [{
    `|x|`. The smallest signed integer maps to itself; `abs(-0.0)` is `0.0`.
  }];
}

def CoreAI_AcosOp : CoreAI_UnaryOp<"acos", [CoreAI_F]> {
  let summary = "inverse cosine";
  let description = [{ `arccos(x)`, NaN outside `[-1, 1]`. }];
}

def CoreAI_AcoshOp : CoreAI_UnaryOp<"acosh", [CoreAI_F]> {
  let summary = "inverse hyperbolic cosine";
  let description = [{ `arcosh(x)`, NaN below 1. }];
}

def CoreAI_AsinOp : CoreAI_UnaryOp<"asin", [CoreAI_F]> {
  let summary = "inverse sine";
  let description = [{ `arcsin(x)`, NaN outside `[-1, 1]`. }];
}

def CoreAI_AsinhOp : CoreAI_UnaryOp<"asinh", [CoreAI_F]> {
  let summary = "inverse hyperbolic sine";
  let description = [{ `arsinh(x)`. }];
}

def CoreAI_AtanOp : CoreAI_UnaryOp<"atan", [CoreAI_F]> {
  let summary = "inverse tangent";
  let description = [{ `arctan(x)`; infinities map to ±π/2. }];
}

def CoreAI_AtanhOp : CoreAI_UnaryOp<"atanh", [CoreAI_F]> {
  let summary = "inverse hyperbolic tangent";
  let description = [{
    `artanh(x)`: ±1 map to ±infinity, anything beyond to NaN.
  }];
}

def CoreAI_CosOp : CoreAI_UnaryOp<"cos", [CoreAI_F, CoreAI_C]> {
  let summary = "cosine";
  let description = [{ `cos(x)`, NaN for infinities. }];
}

def CoreAI_CoshOp : CoreAI_UnaryOp<"cosh", [CoreAI_F, CoreAI_C]> {
  let summary = "hyperbolic cosine";
  let description = [{ `(e^x + e^-x) / 2`. }];
}

def CoreAI_ErfOp : CoreAI_UnaryOp<"erf", [CoreAI_F]> {
  let summary = "Gauss error function";
  let description = [{ `2/sqrt(π) · ∫₀ˣ e^(-t²) dt`. }];
}

def CoreAI_ExpOp : CoreAI_UnaryOp<"exp", [CoreAI_F, CoreAI_F8, CoreAI_C]> {
  let summary = "exponential function";
  let description = [{
    `e^x`. In f16 it overflows to infinity above 11.09.
  }];
}

def CoreAI_LogOp : CoreAI_UnaryOp<"log", [CoreAI_F, CoreAI_C]> {
  let summary = "natural logarithm";
  let description = [{
    `ln(x)`: minus infinity for either zero, NaN below. The complex logarithm
    of zero has a NaN imaginary part.
  }];
}

def CoreAI_RoundOp : CoreAI_UnaryOp<"round", [CoreAI_F, CoreAI_I]> {
  let summary = "rounding to the nearest integer";
  let description = [{
    Ties go to the even neighbour and the sign of zero is kept. Integers pass
    unchanged.
  }];
}

def CoreAI_RsqrtOp : CoreAI_UnaryOp<"rsqrt", [CoreAI_F]> {
  let summary = "reciprocal square root";
  let description = [{
    `1 / sqrt(x)`: `0.0` gives infinity, `-0.0` minus infinity, negative
    numbers NaN.
  }];
}

def CoreAI_SinOp : CoreAI_UnaryOp<"sin", [CoreAI_F, CoreAI_C]> {
  let summary = "sine";
  let description = [{ `sin(x)`, NaN for infinities. }];
}

def CoreAI_SinhOp : CoreAI_UnaryOp<"sinh", [CoreAI_F, CoreAI_F8, CoreAI_C]> {
  let summary = "hyperbolic sine";
  let description = [{ `(e^x - e^-x) / 2`. }];
}

def CoreAI_SqrtOp : CoreAI_UnaryOp<"sqrt", [CoreAI_F]> {
  let summary = "square root";
  let description = [{ `sqrt(x)`: `-0.0` is kept, numbers below are NaN. }];
}

def CoreAI_TanOp : CoreAI_UnaryOp<"tan", [CoreAI_F, CoreAI_C]> {
  let summary = "tangent";
  let description = [{ `tan(x)`, NaN for infinities. }];
}

def CoreAI_TanhOp : CoreAI_UnaryOp<"tanh", [CoreAI_F]> {
  let summary = "hyperbolic tangent";
  let description = [{ `(e^x - e^-x) / (e^x + e^-x)`. }];
}

def CoreAI_NotOp : CoreAI_InferredOp<"not", CoreAI_Exact, [Elementwise, Pure]> {
  let summary = "logical negation";
  let description = [{
    Unlike the other unary ops this one refines nothing: the result type is the
    operand type.
  }];
  let arguments = (ins CoreAI_Bools:$x);
  let results = (outs CoreAI_Bools:$result);
  let assemblyFormat = "$x `:` type($x) `->` type($result) attr-dict";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

class CoreAI_ActivationOp<string mnemonic, list<Type> elements, Trait shape>
    : CoreAI_FamilyInferredOp<
          mnemonic, InferElementwise, CoreAI_Compatible,
          [shape, Pure, SameOperandsAndResultElementType]> {
  let arguments = (ins CoreAI_DenseTensor<elements>:$input);
  let results = (outs CoreAI_DenseTensor<elements>:$output);
  let assemblyFormat = CoreAI_DecomposableFormat;
}

def CoreAI_ReluOp : CoreAI_ActivationOp<
    "relu", [CoreAI_F, CoreAI_F8, CoreAI_I], SameOperandsAndResultShape> {
  let summary = "rectifier";
  let description = [{ `max(x, 0)`. NaN and `-0.0` pass unchanged. }];
}

def CoreAI_SigmoidOp : CoreAI_ActivationOp<
    "sigmoid", [CoreAI_F, CoreAI_F8, CoreAI_C], Elementwise> {
  let summary = "logistic function";
  let description = [{ `1 / (1 + e^-x)`. }];
}

def CoreAI_SiluOp : CoreAI_ActivationOp<
    "silu", [CoreAI_F, CoreAI_F8, CoreAI_C], Elementwise> {
  let summary = "sigmoid-weighted linear unit";
  let description = [{ `x · sigmoid(x)`. Minus infinity gives NaN. }];
}

def CoreAI_GeluOp : CoreAI_FamilyInferredOp<
    "gelu", InferElementwise, CoreAI_Compatible,
    [Pure, SameOperandsAndResultElementType, SameOperandsAndResultShape]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `x · Φ(x)` by one of three formulas:

    - `none`: `x/2 · (1 + erf(x/sqrt 2))`;
    - `tanh`: `x/2 · (1 + tanh(sqrt(2/π) · (x + 0.044715 x³)))`;
    - `sigmoid`: `x · sigmoid(1.702 x)`.

    Minus infinity gives NaN in all of them.
  }];
  let arguments = (ins
    CoreAI_DenseTensor<[CoreAI_F]>:$input,
    DefaultValuedAttr<CoreAI_ApproximateAttr,
                      "::corten::coreai::Approximate::None">:$approximate);
  let results = (outs CoreAI_DenseTensor<[CoreAI_F]>:$output);
  let assemblyFormat = [{
    $input (`approximate` `=` $approximate^)? `:` type($input) `->`
    type($output) attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class CoreAI_BinaryOp<string mnemonic, list<Type> elements,
                      list<Trait> traits = []>
    : CoreAI_FamilyInferredOp<
          mnemonic, InferElementwise, CoreAI_Compatible,
          !listconcat(traits, [Elementwise, Pure,
                               SameOperandsAndResultElementType])> {
  let arguments = (ins
    CoreAI_DenseTensor<elements>:$x,
    CoreAI_DenseTensor<elements>:$y);
  let results = (outs CoreAI_DenseTensor<elements>:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_AddOp : CoreAI_BinaryOp<
    "add", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C, CoreAI_B],
    [Commutative]> {
  let summary = "sum";
  let description = [{ `x + y`. Integers wrap; on booleans it is `or`. }];
}

def CoreAI_SubOp : CoreAI_BinaryOp<
    "sub", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C]> {
  let summary = "difference";
  let description = [{ `x - y`. Integers wrap. }];
}

def CoreAI_MulOp : CoreAI_BinaryOp<
    "mul", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C, CoreAI_B],
    [Commutative]> {
  let summary = "product";
  let description = [{ `x · y`. Integers wrap; on booleans it is `and`. }];
}

def CoreAI_DivideOp : CoreAI_BinaryOp<
    "divide", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C]> {
  let summary = "quotient";
  let description = [{
    `x / y`. Integers truncate toward zero. Dividing an integer by zero, or the
    smallest one by -1, ends the process on the Linux runtime.
  }];
}

def CoreAI_FloorDivideOp : CoreAI_BinaryOp<"floor_divide",
                                           [CoreAI_F, CoreAI_I]> {
  let summary = "quotient rounded toward minus infinity";
  let description = [{
    `floor(x / y)`. Integers have the traps of `coreai.divide`; floats keep the
    infinities and NaNs of the division.
  }];
}

def CoreAI_ModuloOp : CoreAI_BinaryOp<"modulo", [CoreAI_F, CoreAI_I]> {
  let summary = "remainder with the sign of the dividend";
  let description = [{
    `x - y · trunc(x / y)`, as C's `fmod` and `%`. Integers have the traps of
    `coreai.divide`; a float modulo zero is NaN.
  }];
}

def CoreAI_PowOp : CoreAI_BinaryOp<"pow", [CoreAI_F, CoreAI_I, CoreAI_C]> {
  let summary = "power";
  let description = [{
    `x^y`. Floats as C's `pow`: `x^0 = 1` and `1^y = 1` even for NaN. Integers
    wrap, and any negative exponent gives 0, even for the bases 1 and -1.
    Complex `0^y` is NaN.
  }];
}

def CoreAI_MaximumOp : CoreAI_BinaryOp<
    "maximum", [CoreAI_F, CoreAI_F8, CoreAI_I], [Commutative]> {
  let summary = "the larger of two";
  let description = [{
    NaN on either side wins; of two zeros the first operand is taken.
  }];
}

def CoreAI_MinimumOp : CoreAI_BinaryOp<
    "minimum", [CoreAI_F, CoreAI_F8, CoreAI_I], [Commutative]> {
  let summary = "the smaller of two";
  let description = [{
    NaN on either side wins; of two zeros the first operand is taken.
  }];
}

def CoreAI_BitwiseAndOp : CoreAI_BinaryOp<
    "bitwise_and", [CoreAI_I, CoreAI_B], [Commutative]> {
  let summary = "and of each bit";
  let description = [{ Booleans are single bits. }];
}

def CoreAI_BitwiseOrOp : CoreAI_BinaryOp<
    "bitwise_or", [CoreAI_I, CoreAI_B], [Commutative]> {
  let summary = "or of each bit";
  let description = [{ Booleans are single bits. }];
}

def CoreAI_BitwiseXorOp : CoreAI_BinaryOp<
    "bitwise_xor", [CoreAI_I, CoreAI_B], [Commutative]> {
  let summary = "exclusive or of each bit";
  let description = [{ Booleans are single bits. }];
}

def CoreAI_AndOp : CoreAI_BinaryOp<"and", [CoreAI_B], [Commutative]> {
  let summary = "logical and";
  let description = [{ `x ∧ y`, on booleans only. }];
}

def CoreAI_OrOp : CoreAI_BinaryOp<"or", [CoreAI_B], [Commutative]> {
  let summary = "logical or";
  let description = [{ `x ∨ y`, on booleans only. }];
}

def CoreAI_XorOp : CoreAI_BinaryOp<"xor", [CoreAI_B], [Commutative]> {
  let summary = "logical exclusive or";
  let description = [{ `x ≠ y`, on booleans only. }];
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

class CoreAI_ComparisonOp<string mnemonic, list<Type> elements>
    : CoreAI_FamilyInferredOp<
          mnemonic, InferComparison, CoreAI_Compatible,
          [Elementwise, Pure, SameOperandsElementType]> {
  let arguments = (ins
    CoreAI_DenseTensor<elements>:$input,
    CoreAI_DenseTensor<elements>:$other);
  let results = (outs CoreAI_Bools:$output);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_EqualOp : CoreAI_ComparisonOp<
    "equal", [CoreAI_F, CoreAI_I, CoreAI_C, CoreAI_B]> {
  let summary = "equality test";
  let description = [{
    NaN equals nothing. Complex numbers compare both parts.
  }];
}

def CoreAI_NotEqualOp : CoreAI_ComparisonOp<
    "not_equal", [CoreAI_F, CoreAI_I, CoreAI_C, CoreAI_B]> {
  let summary = "inequality test";
  let description = [{ The negation of `coreai.equal`: true for NaN. }];
}

def CoreAI_GreaterOp : CoreAI_ComparisonOp<
    "greater", [CoreAI_F, CoreAI_F8, CoreAI_I]> {
  let summary = "strict greater-than test";
  let description = [{
    `input > other`, false for NaN. This is the only ordering test: the others
    are built by exchanging operands and combining with `coreai.equal`.
    The Linux runtime refuses the eight-bit floats.
  }];
}

//===----------------------------------------------------------------------===//
// Selection and conversion
//===----------------------------------------------------------------------===//

def CoreAI_WhereOp : CoreAI_InferredOp<
    "where", CoreAI_Element, [AllTypesMatch<["a", "b"]>, Pure]> {
  let summary = "selection by a condition";
  let description = [{
    `condition ? a : b`, copying values untouched. `a` and `b` have one type,
    which is that of the result; the condition's shape must be compatible.
  }];
  let arguments = (ins
    CoreAI_Bools:$condition,
    CoreAI_AnyData:$a,
    CoreAI_AnyData:$b);
  let results = (outs CoreAI_AnyData:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
  let hasVerifier = 1;
}

def CoreAI_CastOp : CoreAI_PureOp<"cast", [SameOperandsAndResultShape]> {
  let summary = "conversion of the element type";
  let description = [{
    Any element type to any other. Also a way to state extents: `?` may appear
    and disappear.

    Float to integer truncates and saturates, NaN gives 0; integer to integer
    saturates as well. Anything but zero, NaN included, is true. Narrowing of
    floats rounds to the nearest, ties to even; overflow gives infinity (f16,
    bf16, f8E5M2), NaN (f8E4M3FN) or the largest number (f4E2M1FN). Complex to
    real keeps the real part.
  }];
  let arguments = (ins CoreAI_AnyData:$input);
  let results = (outs CoreAI_AnyData:$output);
  let assemblyFormat = "$input `:` type($input) `to` type($output) attr-dict";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

def CoreAI_CreateComplexOp : CoreAI_InferredOp<
    "create_complex", CoreAI_Exact, [Pure, SameOperandsAndResultShape]> {
  let summary = "complex numbers from their parts";
  let description = [{ The result has the shape of `real`. }];
  let arguments = (ins
    CoreAI_DenseTensor<[F32]>:$real,
    CoreAI_DenseTensor<[F32]>:$imaginary);
  let results = (outs CoreAI_DenseTensor<[CoreAI_C]>:$result);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

class CoreAI_ComplexPartOp<string mnemonic>
    : CoreAI_FamilyInferredOp<mnemonic, InferComplexPart, CoreAI_Exact,
                              [Pure, SameOperandsAndResultShape]> {
  let arguments = (ins CoreAI_DenseTensor<[CoreAI_C]>:$input);
  let assemblyFormat = CoreAI_PrimitiveFormat;
}

def CoreAI_RealPartOp : CoreAI_ComplexPartOp<"real_part"> {
  let summary = "real part";
  let description = [{ An f32 tensor of the same shape. }];
  let results = (outs CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8]>:$real);
}

def CoreAI_ImaginaryPartOp : CoreAI_ComplexPartOp<"imaginary_part"> {
  let summary = "imaginary part";
  let description = [{ An f32 tensor of the same shape. }];
  let results = (outs CoreAI_DenseTensor<[CoreAI_F, CoreAI_F8]>:$result);
}

//===----------------------------------------------------------------------===//
// Broadcasting forms
//===----------------------------------------------------------------------===//

class CoreAI_BroadcastingOp<string mnemonic, CoreAI_SharedInference inference,
                            list<Trait> traits>
    : CoreAI_FamilyInferredOp<
          "decomposable.broadcasting_" # mnemonic, inference, CoreAI_Element,
          !listconcat(traits, [Pure, ResultsBroadcastableShape])> {
  let assemblyFormat = CoreAI_DecomposableFormat;
}

class CoreAI_BroadcastingBinaryOp<string mnemonic, list<Type> elements,
                                  list<Trait> traits = []>
    : CoreAI_BroadcastingOp<
          mnemonic, InferBroadcasting,
          !listconcat(traits, [SameOperandsAndResultElementType])> {
  let summary = "`coreai." # mnemonic # "` with NumPy broadcasting";
  let description = "Shapes align at their last axes, and an extent of 1 "
                    "stretches. Numbers as for `coreai." # mnemonic # "`.";
  let arguments = (ins
    CoreAI_DenseTensor<elements>:$input,
    CoreAI_DenseTensor<elements>:$other);
  let results = (outs CoreAI_DenseTensor<elements>:$output);
}

class CoreAI_BroadcastingComparisonOp<string mnemonic, list<Type> elements>
    : CoreAI_BroadcastingOp<mnemonic, InferBroadcastingComparison,
                            [SameOperandsElementType]> {
  let summary = "`coreai." # mnemonic # "` with NumPy broadcasting";
  let description = "Shapes align at their last axes, and an extent of 1 "
                    "stretches. Numbers as for `coreai." # mnemonic # "`.";
  let arguments = (ins
    CoreAI_DenseTensor<elements>:$input,
    CoreAI_DenseTensor<elements>:$other);
  let results = (outs CoreAI_Bools:$output);
}

// Of the commutative ops only add and mul are marked so in this form: the trait
// decides how operands are ordered, and so whether a module prints the same.

def CoreAI_BroadcastingAddOp : CoreAI_BroadcastingBinaryOp<
    "add", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C, CoreAI_B],
    [Commutative]> {
  let description = [{ The runtime refuses booleans here. }];
}

def CoreAI_BroadcastingSubOp : CoreAI_BroadcastingBinaryOp<
    "sub", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C]>;

def CoreAI_BroadcastingMulOp : CoreAI_BroadcastingBinaryOp<
    "mul", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C, CoreAI_B],
    [Commutative]> {
  let description = [{ The runtime refuses booleans here. }];
}

def CoreAI_BroadcastingDivideOp : CoreAI_BroadcastingBinaryOp<
    "divide", [CoreAI_F, CoreAI_F8, CoreAI_I, CoreAI_C]>;

def CoreAI_BroadcastingFloorDivideOp : CoreAI_BroadcastingBinaryOp<
    "floor_divide", [CoreAI_F, CoreAI_I]>;

def CoreAI_BroadcastingModuloOp : CoreAI_BroadcastingBinaryOp<
    "modulo", [CoreAI_F, CoreAI_I]>;

def CoreAI_BroadcastingPowOp : CoreAI_BroadcastingBinaryOp<
    "pow", [CoreAI_F, CoreAI_I]> {
  let description = [{ Unlike the plain form it takes no complex numbers. }];
}

def CoreAI_BroadcastingMaximumOp : CoreAI_BroadcastingBinaryOp<
    "maximum", [CoreAI_F, CoreAI_F8, CoreAI_I]>;

def CoreAI_BroadcastingMinimumOp : CoreAI_BroadcastingBinaryOp<
    "minimum", [CoreAI_F, CoreAI_F8, CoreAI_I]>;

def CoreAI_BroadcastingBitwiseAndOp : CoreAI_BroadcastingBinaryOp<
    "bitwise_and", [CoreAI_I, CoreAI_B]>;

def CoreAI_BroadcastingBitwiseOrOp : CoreAI_BroadcastingBinaryOp<
    "bitwise_or", [CoreAI_I, CoreAI_B]>;

def CoreAI_BroadcastingBitwiseXorOp : CoreAI_BroadcastingBinaryOp<
    "bitwise_xor", [CoreAI_I, CoreAI_B]>;

def CoreAI_BroadcastingAndOp : CoreAI_BroadcastingBinaryOp<"and", [CoreAI_B]>;

def CoreAI_BroadcastingOrOp : CoreAI_BroadcastingBinaryOp<"or", [CoreAI_B]>;

def CoreAI_BroadcastingXorOp : CoreAI_BroadcastingBinaryOp<"xor", [CoreAI_B]>;

def CoreAI_BroadcastingEqualOp : CoreAI_BroadcastingComparisonOp<
    "equal", [CoreAI_F, CoreAI_I, CoreAI_C, CoreAI_B]> {
  let description = [{ The runtime refuses complex numbers here. }];
}

def CoreAI_BroadcastingNotEqualOp : CoreAI_BroadcastingComparisonOp<
    "not_equal", [CoreAI_F, CoreAI_I, CoreAI_C, CoreAI_B]> {
  let description = [{ The runtime refuses complex numbers here. }];
}

def CoreAI_BroadcastingGreaterOp : CoreAI_BroadcastingComparisonOp<
    "greater", [CoreAI_F, CoreAI_I, CoreAI_B]> {
  let description = [{
    Booleans pass the verifier but cannot be saved in an asset.
  }];
}

def CoreAI_BroadcastingWhereOp : CoreAI_BroadcastingOp<
    "where", CoreAI_SharedInference<"inferBroadcastingWhere">,
    [AllElementTypesMatch<["a", "b", "results"]>]> {
  let summary = "`coreai.where` with NumPy broadcasting";
  let description = [{ All three operands broadcast against each other. }];
  let arguments = (ins
    CoreAI_Bools:$condition,
    CoreAI_AnyData:$a,
    CoreAI_AnyData:$b);
  let results = (outs CoreAI_AnyData:$results);
}

#endif // CORTEN_DIALECT_COREAI_IR_ELEMENTWISEOPS_TD
